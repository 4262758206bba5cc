package vfs_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

func newNamespace(t testing.TB) *vfs.Mount {
	t.Helper()
	bin, err := vfs.NewStatic(map[string]string{"rm": "#!rm\n", "ls": "#!ls\n"}, 0o755)
	want(t, err, 0)
	dev, err := vfs.NewDev(vfs.DevConfig{})
	want(t, err, 0)
	mem := func() vfs.FS { return vfs.NewMem(vfs.MemConfig{}) }
	m, err := vfs.NewMount(
		vfs.MountPoint{Path: "/workspace", FS: mem(), Mode: vfs.CopyOnWrite},
		vfs.MountPoint{Path: "/workspace/deep/in", FS: mem(), Mode: vfs.ReadWrite},
		vfs.MountPoint{Path: "/mnt/a/b", FS: mem(), Mode: vfs.ReadOnlyMount},
		vfs.MountPoint{Path: "/tmp", FS: mem(), Mode: vfs.ReadWrite},
		vfs.MountPoint{Path: "/bin", FS: bin, Mode: vfs.ReadOnlyMount},
		vfs.MountPoint{Path: "/dev", FS: dev, Mode: vfs.ReadOnlyMount},
	)
	want(t, err, 0)
	return m
}

func TestMountTable(t *testing.T) {
	mem := vfs.NewMem(vfs.MemConfig{})
	for _, bad := range [][]vfs.MountPoint{
		{{Path: "rel", FS: mem, Mode: vfs.ReadWrite}}, {{Path: "/a/", FS: mem, Mode: vfs.ReadWrite}},
		{{Path: "/a/../b", FS: mem, Mode: vfs.ReadWrite}}, {{Path: "", FS: mem, Mode: vfs.ReadWrite}},
		{{Path: "/a", Mode: vfs.ReadWrite}}, {{Path: "/a", FS: mem}}, {{Path: "/a", FS: mem, Mode: "rx"}},
		{{Path: "/a", FS: mem, Mode: vfs.ReadWrite}, {Path: "/a", FS: mem, Mode: vfs.ReadWrite}},
	} {
		if _, err := vfs.NewMount(bad...); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func TestMountListing(t *testing.T) {
	m := newNamespace(t)
	for dir, want := range map[string]string{
		"/": "bin dev mnt tmp workspace", "/mnt": "a", "/mnt/a": "b", "/mnt/a/b": "", "/workspace": "deep",
		"/workspace/deep": "in", "/bin": "ls rm", "/dev": "full null random urandom zero",
	} {
		got, err := list(m, dir)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v", dir, got, err)
		}
		fi, err := m.Stat(dir)
		if err != nil || !fi.IsDir() {
			t.Errorf("%s: %v", dir, err)
		}
	}
	// Own entries and mount points stand beside each other; what a mount point
	// covers is not to be seen.
	write(t, m, "/workspace/f", "")
	want(t, m.Mkdir("/workspace/a", 0o755), 0)
	if got, err := list(m, "/workspace"); strings.Join(got, " ") != "a deep f" {
		t.Error(got, err)
	}
	d, err := m.Open("/workspace", os.O_RDONLY, 0)
	want(t, err, 0)
	defer d.Close()
	var got []string
	for {
		ents, err := d.ReadDir(1)
		if err == io.EOF {
			break
		}
		want(t, err, 0)
		got = append(got, ents[0].Name())
		if fi, err := ents[0].Info(); err != nil || fi.Name() != ents[0].Name() {
			t.Error(fi, err)
		}
		want(t, m.Remove("/workspace/f"), [2]syscall.Errno{0, syscall.ENOENT}[min(len(got)-1, 1)])
	}
	if strings.Join(got, " ") != "a deep f" { // the listing was taken at once
		t.Error(got)
	}
	want(t, d.Close(), 0)
	want(t, d.Close(), syscall.EBADF)
}

func TestMountBoundaries(t *testing.T) {
	m := newNamespace(t)
	write(t, m, "/workspace/f", "text")
	want(t, m.Rename("/workspace/f", "/tmp/f"), syscall.EXDEV)
	want(t, m.Link("/workspace/f", "/tmp/f"), syscall.EXDEV)
	want(t, m.Rename("/workspace/f", "/workspace/deep/in/f"), syscall.EXDEV)
	for _, name := range []string{"/tmp", "/workspace", "/mnt", "/mnt/a", "/workspace/deep", "/workspace/deep/in", "/"} {
		want(t, m.Rmdir(name), syscall.EBUSY)
		want(t, m.Remove(name), syscall.EISDIR)
		want(t, m.Rename(name, "/tmp/x"), syscall.EBUSY)
		want(t, m.Mkdir(name, 0o755), syscall.EEXIST)
		want(t, m.Symlink("x", name), syscall.EEXIST)
	}
	for _, name := range []string{"/new", "/mnt/new", "/mnt/a/new", "/mnt/a/b/new", "/bin/new"} {
		want(t, m.Mkdir(name, 0o755), syscall.EROFS)
		want(t, m.Symlink("x", name), syscall.EROFS)
		_, err := m.Open(name, os.O_WRONLY|os.O_CREATE, 0o644)
		want(t, err, syscall.EROFS)
		_, err = m.Open(name, os.O_RDONLY, 0)
		want(t, err, syscall.ENOENT)
	}
	want(t, m.Mkdir("/workspace/deep/x", 0o755), syscall.EROFS)
	want(t, m.Chmod("/mnt", 0o700), syscall.EROFS)
	_, err := m.Open("/mnt", os.O_RDWR, 0)
	want(t, err, syscall.EISDIR)
	_, err = m.Open("/bin/rm", os.O_WRONLY, 0)
	want(t, err, syscall.EROFS)
	if s, err := read(m, "/bin/rm"); s != "#!rm\n" {
		t.Error(s, err)
	}
	if fi, err := m.Stat("/bin/rm"); err != nil || fi.Mode() != 0o755 || fi.Name() != "rm" {
		t.Error(fi, err)
	}
}

func TestMountSymlinks(t *testing.T) {
	m := newNamespace(t)
	write(t, m, "/tmp/f", "in tmp")
	want(t, m.Mkdir("/tmp/d", 0o755), 0)
	for target, name := range map[string]string{
		"/tmp/f": "/workspace/abs", "../tmp/f": "/workspace/rel", "../../../../tmp/f": "/workspace/climb",
		"../..": "/workspace/top", "/workspace/dir/../abs": "/tmp/cross", "/tmp/d": "/workspace/dir",
		"loop2": "/tmp/loop1", "loop1": "/tmp/loop2", "nowhere": "/tmp/dangling", "/tmp/./dangling2": "/workspace/dangling", "f": "/tmp/f2",
	} {
		want(t, m.Symlink(target, name), 0)
	}
	for name, want := range map[string]string{
		"/workspace/abs": "/tmp/f", "/workspace/rel": "/tmp/f", "/workspace/climb": "/tmp/f", "/workspace/top/tmp/f": "/tmp/f",
		"/workspace/dir/..": "/tmp", "/workspace/dir/../f": "/tmp/f", "/tmp/cross": "/tmp/abs", "/workspace/dir/x": "/tmp/d/x",
		"/tmp/dangling": "/tmp/nowhere", "/workspace/dangling": "/tmp/dangling2", "/..": "/", "/../../tmp/./f": "/tmp/f", "/tmp//f": "/tmp/f",
	} {
		l, err := m.Resolve(name, true)
		if err != nil || l.Path != want {
			t.Errorf("%s: %s %v, want %s", name, l.Path, err, want)
		}
	}
	_, err := m.Stat("/tmp/loop1")
	want(t, err, syscall.ELOOP)
	_, err = m.Stat("/tmp/loop1/x")
	want(t, err, syscall.ELOOP)
	_, err = m.Lstat("/tmp/loop1")
	want(t, err, 0)
	_, err = m.Open("/workspace/abs", vfs.NoFollow, 0)
	want(t, err, syscall.ELOOP)
	_, err = m.Open("/tmp/dangling", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	want(t, err, syscall.EEXIST)
	write(t, m, "/workspace/dangling", "through")
	if s, err := read(m, "/tmp/dangling2"); s != "through" {
		t.Error(s, err)
	}
	_, err = m.Stat("/workspace/abs/")
	want(t, err, syscall.ENOTDIR)
	if fi, err := m.Stat("/workspace/abs"); err != nil || fi.Name() != "abs" || fi.Size() != 6 {
		t.Error(fi, err)
	}
	// 40 links are followed, 41 are not.
	want(t, m.Symlink("f", "/tmp/c0"), 0)
	for i := 1; i <= 40; i++ {
		want(t, m.Symlink(fmt.Sprintf("c%d", i-1), fmt.Sprintf("/tmp/c%d", i)), 0)
	}
	_, err = m.Stat("/tmp/c39")
	want(t, err, 0)
	_, err = m.Stat("/tmp/c40")
	want(t, err, syscall.ELOOP)
	// Many long links end in time.
	long := strings.Repeat("d/../", 800) + "x"
	want(t, m.Symlink(long, "/tmp/x"), 0)
	_, err = m.Stat("/tmp/x")
	want(t, err, syscall.ELOOP)
}

func TestNames(t *testing.T) {
	m := newNamespace(t)
	name := strings.Repeat("n", 255)
	write(t, m, "/tmp/"+name, "")
	for _, long := range []string{"/tmp/" + name + "n", "/tmp/" + name + "n/x", "/tmp/" + strings.Repeat("d/", 2046)} {
		_, err := m.Stat(long)
		want(t, err, syscall.ENAMETOOLONG)
		want(t, m.Mkdir(long, 0o755), syscall.ENAMETOOLONG)
		_, err = m.Open(long, os.O_WRONLY|os.O_CREATE, 0o644)
		want(t, err, syscall.ENAMETOOLONG)
		want(t, m.Rename("/tmp/"+name, long), syscall.ENAMETOOLONG)
	}
	_, err := m.Stat("/tmp/" + strings.Repeat("./", 2045))
	want(t, err, 0)
	want(t, m.Mkdir("/tmp/a\x00b", 0o755), syscall.EINVAL)
	write(t, m, "/tmp/ \n\xff*", "odd")
	if got, _ := list(m, "/tmp"); !slices.Contains(got, " \n\xff*") {
		t.Error(got)
	}
	_, err = m.Open("/tmp/f", os.O_WRONLY|os.O_RDWR, 0)
	want(t, err, syscall.EINVAL)
	_, err = m.Open("/tmp/f", 1<<25, 0)
	want(t, err, syscall.EINVAL)
}

func TestIdentity(t *testing.T) {
	m := newNamespace(t)
	seen := map[vfs.Stat]string{}
	write(t, m, "/tmp/f", "")
	write(t, m, "/workspace/f", "")
	for _, name := range []string{"/", "/mnt", "/mnt/a", "/mnt/a/b", "/tmp", "/tmp/f", "/workspace", "/workspace/deep", "/workspace/deep/in", "/workspace/f", "/bin", "/bin/ls", "/bin/rm", "/dev", "/dev/null", "/dev/zero"} {
		fi, err := m.Lstat(name)
		want(t, err, 0)
		st := *fi.Sys().(*vfs.Stat)
		if st.Nlink == 0 || st.Ino == 0 || st.Atime.IsZero() || st.Ctime.IsZero() {
			t.Errorf("%s: %+v", name, st)
		}
		id := vfs.Stat{Dev: st.Dev, Ino: st.Ino}
		if other, dup := seen[id]; dup {
			t.Errorf("%s and %s are both %v", name, other, id)
		}
		seen[id] = name
		if f, err := m.Open(name, os.O_RDONLY, 0); err == nil {
			if fi, err := f.Stat(); err != nil || fi.Sys().(*vfs.Stat).Ino != st.Ino || fi.Sys().(*vfs.Stat).Dev != st.Dev {
				t.Errorf("%s: the handle is %v", name, fi)
			}
			f.Close()
		}
	}
	want(t, m.Link("/tmp/f", "/tmp/g"), 0)
	a, _ := m.Lstat("/tmp/f")
	b, _ := m.Lstat("/tmp/g")
	if a.Sys().(*vfs.Stat).Ino != b.Sys().(*vfs.Stat).Ino || a.Sys().(*vfs.Stat).Nlink != 2 {
		t.Error("hard links differ")
	}
}

func TestDev(t *testing.T) {
	m := newNamespace(t)
	open := func(name string, flag int) vfs.File {
		t.Helper()
		f, err := m.Open(name, flag, 0o644)
		want(t, err, 0)
		fi, err := f.Stat()
		want(t, err, 0)
		if fi.Mode() != fs.ModeDevice|fs.ModeCharDevice|0o666 {
			t.Errorf("%s: %v", name, fi.Mode())
		}
		return f
	}
	b := []byte("xxxxxxxx")
	null := open("/dev/null", os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if n, err := null.Read(b); n != 0 || err != io.EOF {
		t.Error(n, err)
	}
	if n, err := null.Write(b); n != 8 || err != nil {
		t.Error(n, err)
	}
	zero := open("/dev/zero", os.O_RDONLY)
	if n, err := zero.Read(b); n != 8 || err != nil || string(b) != strings.Repeat("\x00", 8) {
		t.Error(n, err, b)
	}
	_, err := zero.Write(b)
	want(t, err, syscall.EBADF)
	full := open("/dev/full", os.O_WRONLY|os.O_APPEND)
	_, err = full.Write(b)
	want(t, err, syscall.ENOSPC)
	random := open("/dev/urandom", os.O_RDONLY)
	if n, err := random.Read(b); n != 8 || err != nil || string(b) == strings.Repeat("\x00", 8) {
		t.Error(n, err, b)
	}
	want(t, m.Remove("/dev/null"), syscall.EROFS)
	want(t, m.Chmod("/dev/null", 0o600), syscall.EROFS)
	want(t, m.Chtimes("/dev/null", time.Now(), time.Now()), 0)
	_, err = m.Open("/dev/mem", os.O_RDONLY, 0)
	want(t, err, syscall.ENOENT)
	_, err = m.Open("/dev/new", os.O_WRONLY|os.O_CREATE, 0o644)
	want(t, err, syscall.EROFS)
	d, err := m.Open("/dev", os.O_RDONLY, 0)
	want(t, err, 0)
	ents, err := d.ReadDir(-1)
	if err != nil || ents[1].Type() != fs.ModeDevice|fs.ModeCharDevice {
		t.Error(ents, err)
	}
}
