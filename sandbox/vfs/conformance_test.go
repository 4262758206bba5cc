package vfs_test

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// kinds are all file systems that can be written, each empty and in a
// namespace of its own.
func kinds(t testing.TB) map[string]vfs.FS {
	t.Helper()
	overlay := func(lower vfs.FS) vfs.FS {
		ov, err := vfs.NewOverlay(vfs.NewReadOnly(lower), vfs.MemConfig{})
		want(t, err, 0)
		return ov
	}
	root := func() vfs.FS { return openRoot(t, t.TempDir()) }
	mem := func() vfs.FS { return vfs.NewMem(vfs.MemConfig{}) }
	q := func() *vfs.Quota { return vfs.NewQuota(vfs.QuotaConfig{}) }
	out := map[string]vfs.FS{
		"mem": mem(), "overlay of root": overlay(root()), "overlay of overlay": overlay(overlay(mem())),
		"root": root(), "limited root": q().Limit(root()), "protected root": vfs.NewProtect(root(), vfs.ProtectConfig{}),
		"limited protected root": q().Limit(vfs.NewProtect(root(), vfs.ProtectConfig{})), "limited mem": q().Limit(mem()),
	}
	for name, fsys := range out {
		out[name] = mount(t, fsys)
	}
	if real := realFolder(t); real != nil {
		out["a real folder"] = real
	}
	return out
}

// conformance is what every writable kind does, as a real folder does.
var conformance = []struct {
	name string
	run  func(t *testing.T, fsys vfs.FS)
}{
	{"create, exclusive, truncate", func(t *testing.T, fsys vfs.FS) {
		_, err := fsys.Open("/f", os.O_WRONLY, 0)
		want(t, err, syscall.ENOENT)
		write(t, fsys, "/f", "text")
		_, err = fsys.Open("/f", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		want(t, err, syscall.EEXIST)
		is(t, fsys, "/f", "text")
		write(t, fsys, "/f", "x")
		is(t, fsys, "/f", "x")
		_, err = fsys.Open("/f/g", os.O_WRONLY|os.O_CREATE, 0o644)
		want(t, err, syscall.ENOTDIR)
		_, err = fsys.Open("/", os.O_WRONLY, 0)
		want(t, err, syscall.EISDIR)
		_, err = fsys.Open("/", os.O_RDONLY|os.O_CREATE, 0)
		want(t, err, syscall.EISDIR)
	}},
	{"append", func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/f", "one")
		a := open(t, fsys, "/f", os.O_RDWR|os.O_APPEND)
		b := open(t, fsys, "/f", os.O_WRONLY|os.O_APPEND)
		put(t, a, " two")
		put(t, b, " three")
		if _, err := a.Seek(0, io.SeekStart); err != nil {
			t.Error(err)
		}
		put(t, a, " four")
		is(t, fsys, "/f", "one two three four")
		// WriteAt appends, too, and leaves the position.
		if _, err := a.WriteAt([]byte("!"), 0); err != nil {
			t.Error(err)
		}
		if pos, err := a.Seek(0, io.SeekCurrent); pos != int64(len("one two three four")) || err != nil {
			t.Error(pos, err)
		}
		is(t, fsys, "/f", "one two three four!")
	}},
	{"a file without a name", func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/f", "still here")
		f := open(t, fsys, "/f", os.O_RDWR)
		want(t, fsys.Remove("/f"), 0)
		_, err := fsys.Stat("/f")
		want(t, err, syscall.ENOENT)
		if b, err := io.ReadAll(f); string(b) != "still here" {
			t.Error(string(b), err)
		}
		put(t, f, ", growing")
		if fi, err := f.Stat(); err != nil || fi.Size() != 19 || nlink(fi) != 0 {
			t.Error(fi, err)
		}
		write(t, fsys, "/f", "another")
		b := make([]byte, 5)
		if _, err := f.ReadAt(b, 0); err != nil || string(b) != "still" {
			t.Error(string(b), err)
		}
	}},
	{"replaced while open", func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/old", "old")
		write(t, fsys, "/new", "new")
		f := open(t, fsys, "/old", os.O_RDONLY)
		want(t, fsys.Rename("/new", "/old"), 0)
		if b, err := io.ReadAll(f); string(b) != "old" {
			t.Error(string(b), err)
		}
		is(t, fsys, "/old", "new")
	}},
	{"holes", func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/f", "abc")
		f := open(t, fsys, "/f", os.O_RDWR)
		if _, err := f.WriteAt([]byte("z"), 200_000); err != nil {
			t.Fatal(err)
		}
		want(t, f.Truncate(2), 0)
		want(t, f.Truncate(5), 0)
		is(t, fsys, "/f", "ab\x00\x00\x00")
		if n, err := f.ReadAt(make([]byte, 10), 3); n != 2 || err != io.EOF {
			t.Error(n, err)
		}
		if n, err := f.ReadAt(make([]byte, 10), 99); n != 0 || err != io.EOF {
			t.Error(n, err)
		}
	}},
	{"handles", func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/f", "abc")
		r, w := open(t, fsys, "/f", os.O_RDONLY), open(t, fsys, "/f", os.O_WRONLY)
		_, err := r.Write([]byte("x"))
		want(t, err, syscall.EBADF)
		want(t, r.Truncate(0), syscall.EINVAL)
		_, err = w.Read(make([]byte, 1))
		want(t, err, syscall.EBADF)
		_, err = r.Seek(-1, io.SeekStart)
		want(t, err, syscall.EINVAL)
		want(t, w.Truncate(-1), syscall.EINVAL)
		d := open(t, fsys, "/", os.O_RDONLY)
		_, err = d.Read(make([]byte, 1))
		want(t, err, syscall.EISDIR)
		_, err = r.ReadDir(-1)
		want(t, err, syscall.ENOTDIR)
	}},
	{"hard links", func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/f", "abc")
		want(t, fsys.Link("/f", "/g"), 0)
		want(t, fsys.Link("/f", "/g"), syscall.EEXIST)
		want(t, fsys.Link("/none", "/h"), syscall.ENOENT)
		want(t, fsys.Mkdir("/d", 0o755), 0)
		want(t, fsys.Link("/d", "/e"), syscall.EPERM)
		write(t, fsys, "/g", "through g")
		is(t, fsys, "/f", "through g")
		links(t, fsys, "/f", 2)
		want(t, fsys.Rename("/f", "/g"), 0) // one file: nothing happens
		links(t, fsys, "/f", 2)
		want(t, fsys.Remove("/f"), 0)
		links(t, fsys, "/g", 1)
	}},
	{"rename", func(t *testing.T, fsys vfs.FS) {
		for _, d := range []string{"/d", "/d/e", "/empty", "/full", "/full/x"} {
			want(t, fsys.Mkdir(d, 0o755), 0)
		}
		write(t, fsys, "/f", "f")
		for _, r := range []struct {
			from, to string
			e        syscall.Errno
		}{
			{"/d", "/d", 0}, {"/d", "/d/x", syscall.EINVAL}, {"/d", "/d/e/x", syscall.EINVAL}, {"/d/e", "/d", syscall.ENOTEMPTY},
			{"/d", "/full", syscall.ENOTEMPTY}, {"/f", "/d", syscall.EISDIR}, {"/d", "/f", syscall.ENOTDIR},
			{"/none", "/x", syscall.ENOENT}, {"/f", "/none/x", syscall.ENOENT}, {"/f", "/f/x", syscall.ENOTDIR},
			{"/f", "/x/", syscall.ENOTDIR}, {"/d/.", "/x", syscall.EBUSY}, {"/", "/x", syscall.EBUSY}, {"/d", "/empty", 0}, {"/empty", "/moved/", 0},
		} {
			if err := fsys.Rename(r.from, r.to); errno(err) != r.e {
				t.Errorf("rename %s %s: %v, want %v", r.from, r.to, err, r.e)
			}
		}
		want(t, fsys.Rename("/f", "/moved/e/f"), 0)
		is(t, fsys, "/moved/e/f", "f")
		if got, _ := list(fsys, "/"); strings.Join(got, " ") != "full moved" {
			t.Error(got)
		}
	}},
	{"folders", func(t *testing.T, fsys vfs.FS) {
		want(t, fsys.Mkdir("/d", 0o750), 0)
		want(t, fsys.Mkdir("/d", 0o750), syscall.EEXIST)
		want(t, fsys.Mkdir("/x/y", 0o750), syscall.ENOENT)
		want(t, fsys.Mkdir("/d/e/", 0o750), 0)
		want(t, fsys.Rmdir("/d"), syscall.ENOTEMPTY)
		want(t, fsys.Remove("/d"), syscall.EISDIR)
		want(t, fsys.Rmdir("/d/e/."), syscall.EINVAL)
		want(t, fsys.Rmdir("/d/e/.."), syscall.ENOTEMPTY)
		write(t, fsys, "/f", "")
		want(t, fsys.Rmdir("/f"), syscall.ENOTDIR)
		want(t, fsys.Remove("/f/"), syscall.ENOTDIR)
		d := open(t, fsys, "/d/e", os.O_RDONLY)
		want(t, fsys.Rmdir("/d/e"), 0)
		if ents, err := d.ReadDir(-1); len(ents) != 0 || err != nil && errno(err) != syscall.ENOENT {
			t.Error(ents, err)
		}
		if fi, err := fsys.Stat("/d"); err != nil || !fi.IsDir() || fi.Mode().Perm() != 0o750 {
			t.Error(fi, err)
		}
	}},
	{"symlinks", func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/f", "text")
		want(t, fsys.Symlink("f", "/l"), 0)
		want(t, fsys.Symlink("f", "/l"), syscall.EEXIST)
		want(t, fsys.Symlink("", "/m"), syscall.ENOENT)
		if s, err := fsys.Readlink("/l"); s != "f" {
			t.Error(s, err)
		}
		_, err := fsys.Readlink("/f")
		want(t, err, syscall.EINVAL)
		is(t, fsys, "/l", "text")
		want(t, fsys.Symlink("self", "/self"), 0)
		_, err = fsys.Stat("/self")
		want(t, err, syscall.ELOOP)
		want(t, fsys.Symlink("made", "/dangling"), 0)
		write(t, fsys, "/dangling", "now")
		is(t, fsys, "/made", "now")
		want(t, fsys.Link("/dangling", "/dangling2"), 0)
		if s, err := fsys.Readlink("/dangling2"); s != "made" {
			t.Error(s, err)
		}
		want(t, fsys.Remove("/l"), 0)
		is(t, fsys, "/f", "text")
	}},
	{"modes and times", func(t *testing.T, fsys vfs.FS) {
		f, err := fsys.Open("/f", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
		want(t, err, 0)
		defer f.Close()
		want(t, fsys.Chmod("/f", 0o751), 0)
		a, m := time.Unix(1_000_000, 123_456_000), time.Unix(2_000_000, 789_000)
		want(t, fsys.Chtimes("/f", a, m), 0)
		fi, err := f.Stat()
		want(t, err, 0)
		if fi.Mode() != 0o751 || !fi.ModTime().Equal(m) {
			t.Error(fi.Mode(), fi.ModTime())
		}
		want(t, fsys.Chtimes("/f", time.Time{}, time.Unix(3, 0)), 0)
		fi, err = fsys.Stat("/f")
		want(t, err, 0)
		if st, ok := fi.Sys().(*vfs.Stat); ok && (!st.Atime.Equal(a) || !fi.ModTime().Equal(time.Unix(3, 0))) {
			t.Error(st.Atime, fi.ModTime())
		}
		put(t, f, "x")
		if fi, err = fsys.Stat("/f"); err != nil || time.Since(fi.ModTime()) > time.Hour {
			t.Error("writing did not set the time:", fi.ModTime())
		}
		want(t, fsys.Chmod("/none", 0o644), syscall.ENOENT)
		want(t, fsys.Chtimes("/none", a, m), syscall.ENOENT)
	}},
	{"listing under changes", func(t *testing.T, fsys vfs.FS) {
		var all []string
		for i := range 50 {
			all = append(all, fmt.Sprintf("f%02d", i))
			write(t, fsys, "/"+all[i], "")
		}
		d := open(t, fsys, "/", os.O_RDONLY)
		var got []string
		for {
			ents, err := d.ReadDir(7)
			if err == io.EOF {
				break
			}
			want(t, err, 0)
			for _, e := range ents {
				got = append(got, e.Name())
				want(t, fsys.Remove("/"+e.Name()), 0)
			}
		}
		if slices.Sort(got); !slices.Equal(got, all) {
			t.Error(got)
		}
		if _, err := d.Seek(0, io.SeekStart); err != nil {
			t.Error(err)
		}
		if ents, err := d.ReadDir(-1); len(ents) != 0 || err != nil {
			t.Error(ents, err)
		}
	}},
}

func TestConformance(t *testing.T) {
	for _, tt := range conformance {
		for kind, fsys := range kinds(t) {
			t.Run(tt.name+"/"+kind, func(t *testing.T) { tt.run(t, fsys) })
		}
	}
}

func is(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	if s, err := read(fsys, name); s != text || err != nil {
		t.Errorf("%s holds %q (%v), want %q", name, s, err, text)
	}
}

func open(t *testing.T, fsys vfs.FS, name string, flag int) vfs.File {
	t.Helper()
	f, err := fsys.Open(name, flag, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func put(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if n, err := io.WriteString(w, text); n != len(text) || err != nil {
		t.Errorf("wrote %d: %v", n, err)
	}
}

func links(t *testing.T, fsys vfs.FS, name string, n uint64) {
	t.Helper()
	fi, err := fsys.Lstat(name)
	if err != nil || nlink(fi) != n {
		t.Errorf("%s: %v, %d links, want %d", name, err, nlink(fi), n)
	}
}

// Modes bind in memory as they bind a user on a real machine.
func TestModesBind(t *testing.T) {
	for _, kind := range []string{"mem", "overlay of root"} {
		fsys := kinds(t)[kind]
		write(t, fsys, "/f", "x")
		want(t, fsys.Mkdir("/d", 0o755), 0)
		write(t, fsys, "/d/g", "x")
		want(t, fsys.Chmod("/f", 0o400), 0)
		_, err := fsys.Open("/f", os.O_WRONLY, 0)
		want(t, err, syscall.EACCES)
		want(t, fsys.Chmod("/f", 0o200), 0)
		_, err = fsys.Open("/f", os.O_RDONLY, 0)
		want(t, err, syscall.EACCES)
		want(t, fsys.Chmod("/d", 0o500), 0)
		want(t, fsys.Remove("/d/g"), syscall.EACCES)
		want(t, fsys.Mkdir("/d/n", 0o755), syscall.EACCES)
		want(t, fsys.Rename("/f", "/d/f"), syscall.EACCES)
		want(t, fsys.Chmod("/d", 0o600), 0)
		_, err = fsys.Stat("/d/g")
		want(t, err, syscall.EACCES)
		want(t, fsys.Chmod("/d", 0o300), 0)
		_, err = list(fsys, "/d")
		want(t, err, syscall.EACCES)
	}
}

// Many goroutines on few names: no crash, no deadlock, and a quota that comes
// back to nothing.
func TestConcurrency(t *testing.T) {
	q := vfs.NewQuota(vfs.QuotaConfig{MaxBytes: 1 << 20, MaxFiles: 100})
	ov, err := vfs.NewOverlay(openRoot(t, t.TempDir()), vfs.MemConfig{Quota: q})
	want(t, err, 0)
	for kind, fsys := range map[string]vfs.FS{
		"mem": mount(t, vfs.NewMem(vfs.MemConfig{Quota: q})), "overlay": mount(t, ov),
		"limited root": mount(t, q.Limit(openRoot(t, t.TempDir()))),
	} {
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 150 {
					a, b := fmt.Sprintf("/d%d", (g+i)%3), fmt.Sprintf("/d%d/f%d", i%3, (g*i)%5)
					fsys.Mkdir(a, 0o755)
					if f, err := fsys.Open(b, os.O_RDWR|os.O_CREATE, 0o644); err == nil {
						f.WriteAt(make([]byte, 100+i), int64(i))
						f.Stat()
						f.ReadAt(make([]byte, 50), 0)
						f.Truncate(int64(i))
						f.Close()
					}
					fsys.Rename(b, a+"/g")
					fsys.Link(a+"/g", a+"/h")
					list(fsys, a)
					fsys.Chmod(b, 0o600)
					fsys.Remove(a + "/g")
					fsys.Remove(a + "/h")
					fsys.Stat(b)
				}
			}()
		}
		wg.Wait()
		for d := range 3 {
			dir := fmt.Sprintf("/d%d", d)
			all, _ := list(fsys, dir)
			for _, n := range all {
				want(t, fsys.Remove(dir+"/"+n), 0)
			}
			want(t, fsys.Rmdir(dir), 0)
		}
		if b, n := q.Used(); b != 0 || n != 0 {
			t.Errorf("%s: %d bytes and %d files are still counted", kind, b, n)
		}
	}
}
