package vfs_test

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// realFS is a real folder seen as a chroot would see it: the judge of what a
// file system does.
type realFS struct{ fd int }

func newReal(t testing.TB) *realFS {
	t.Helper()
	dir := tempDir(t)
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.Openat2(fd, "/", &unix.OpenHow{Flags: unix.O_PATH, Resolve: unix.RESOLVE_IN_ROOT}); err != nil {
		t.Skipf("no openat2 here: %v", err)
	}
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
	return &realFS{fd}
}

// tempDir is an empty folder of mode 0755.
func tempDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// open2 opens name with this folder as "/".
func (r *realFS) open2(name string, flag int, perm fs.FileMode) (int, error) {
	how := &unix.OpenHow{Flags: uint64(flag) | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
	if flag&unix.O_CREAT != 0 {
		how.Mode = uint64(perm.Perm())
	}
	if name == "" {
		return -1, syscall.ENOENT
	}
	for {
		fd, err := unix.Openat2(r.fd, name, how)
		if err != syscall.EINTR && err != syscall.EAGAIN {
			return fd, err
		}
	}
}

// at opens the parent of name and calls f with it and the last element, slash
// and all.
func (r *realFS) at(name string, f func(fd int, base string) error) error {
	if name == "" {
		return syscall.ENOENT
	}
	trimmed := strings.TrimRight(name, "/")
	slashes := name[len(trimmed):]
	i := strings.LastIndexByte(trimmed, '/')
	dir, base := "/", trimmed
	if i >= 0 {
		dir, base = trimmed[:i+1], trimmed[i+1:]
	}
	if base == "" {
		base, slashes = ".", ""
	}
	fd, err := r.open2(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return f(fd, base+slashes)
}

func (r *realFS) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&vfs.NoFollow != 0 {
		flag = flag&^vfs.NoFollow | unix.O_NOFOLLOW
	}
	fd, err := r.open2(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return realFile{os.NewFile(uintptr(fd), "real")}, nil
}

type realFile struct{ *os.File }

// WriteAt is the host's own, which package os refuses where it appends.
func (f realFile) WriteAt(b []byte, off int64) (int, error) {
	return unix.Pwrite(int(f.Fd()), b, off)
}

func (f realFile) ReadDir(n int) ([]fs.DirEntry, error) {
	return f.File.ReadDir(n)
}

func (r *realFS) stat(name string, flag int) (fs.FileInfo, error) {
	fd, err := r.open2(name, unix.O_PATH|flag, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "real")
	defer f.Close()
	return f.Stat()
}

func (r *realFS) Stat(name string) (fs.FileInfo, error)  { return r.stat(name, 0) }
func (r *realFS) Lstat(name string) (fs.FileInfo, error) { return r.stat(name, unix.O_NOFOLLOW) }

func (r *realFS) Readlink(name string) (string, error) {
	var target string
	fd, err := r.open2(name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(fd, "", buf)
	if err == syscall.ENOENT {
		err = syscall.EINVAL // what readlinkat says of an empty name and no link
	}
	if err == nil {
		target = string(buf[:n])
	}
	return target, err
}

func (r *realFS) Mkdir(name string, perm fs.FileMode) error {
	return r.at(name, func(fd int, base string) error { return unix.Mkdirat(fd, base, uint32(perm)) })
}

func (r *realFS) Remove(name string) error {
	return r.at(name, func(fd int, base string) error { return unix.Unlinkat(fd, base, 0) })
}

func (r *realFS) Rmdir(name string) error {
	return r.at(name, func(fd int, base string) error { return unix.Unlinkat(fd, base, unix.AT_REMOVEDIR) })
}

func (r *realFS) Rename(from, to string) error {
	return r.at(from, func(a int, fb string) error {
		return r.at(to, func(b int, tb string) error { return unix.Renameat(a, fb, b, tb) })
	})
}

func (r *realFS) Link(from, to string) error {
	if _, err := r.Lstat(from); err != nil { // as link(2) looks: from first
		return err
	}
	if strings.HasSuffix(from, "/") { // a folder, perhaps behind a link that linkat would follow on the host
		from = "/"
	}
	return r.at(from, func(a int, fb string) error {
		return r.at(to, func(b int, tb string) error { return unix.Linkat(a, fb, b, tb, 0) })
	})
}

func (r *realFS) Symlink(target, name string) error {
	if target == "" {
		return syscall.ENOENT
	}
	return r.at(name, func(fd int, base string) error { return unix.Symlinkat(target, fd, base) })
}

func (r *realFS) Chmod(name string, mode fs.FileMode) error {
	f, err := r.open2(name, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(f)
	return unix.Fchmod(f, uint32(mode.Perm()))
}

func (r *realFS) Chtimes(name string, atime, mtime time.Time) error {
	fd, err := r.open2(name, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "real")
	defer f.Close()
	ts := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_OMIT}}
	for i, t := range []time.Time{atime, mtime} {
		if !t.IsZero() {
			ts[i], _ = unix.TimeToTimespec(t)
		}
	}
	return unix.UtimesNanoAt(fd, "", ts, unix.AT_EMPTY_PATH)
}

// realFolder is the judge as one more kind.
func realFolder(t testing.TB) vfs.FS { return newReal(t) }

// hostLinks is the link count in a FileInfo of package os.
func hostLinks(fi fs.FileInfo) uint64 { return uint64(fi.Sys().(*syscall.Stat_t).Nlink) }
