// Package wasmtest has what the tests of this room share.
package wasmtest

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// Dir returns a file system over the host folder dir, for tests: nothing
// outside of it can be reached.
func Dir(t testing.TB, dir string) vfs.FS {
	t.Helper()
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return dirFS{r}
}

type dirFS struct{ r *os.Root }

func rel(name string) string {
	if name == "/" {
		return "."
	}
	return name[1:]
}

func (d dirFS) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&vfs.NoFollow != 0 {
		flag &^= vfs.NoFollow
		if fi, err := d.r.Lstat(rel(name)); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
	}
	f, err := d.r.OpenFile(rel(name), flag, perm)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

type file struct{ *os.File }

func (f file) Stat() (fs.FileInfo, error) { return stat(f.File.Stat()) }

type info struct {
	fs.FileInfo
	st vfs.Stat
}

func (i info) Sys() any { return &i.st }

func stat(fi fs.FileInfo, err error) (fs.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	i := info{FileInfo: fi, st: vfs.Stat{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}}
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		i.st.Ino, i.st.Nlink = s.Ino, uint64(s.Nlink)
	}
	return i, nil
}

func (d dirFS) Stat(name string) (fs.FileInfo, error)       { return stat(d.r.Stat(rel(name))) }
func (d dirFS) Lstat(name string) (fs.FileInfo, error)      { return stat(d.r.Lstat(rel(name))) }
func (d dirFS) Readlink(name string) (string, error)        { return d.r.Readlink(rel(name)) }
func (d dirFS) Mkdir(name string, perm fs.FileMode) error   { return d.r.Mkdir(rel(name), perm) }
func (d dirFS) Rename(from, to string) error                { return d.r.Rename(rel(from), rel(to)) }
func (d dirFS) Link(from, to string) error                  { return d.r.Link(rel(from), rel(to)) }
func (d dirFS) Symlink(target, name string) error           { return d.r.Symlink(target, rel(name)) }
func (d dirFS) Chmod(name string, mode fs.FileMode) error   { return d.r.Chmod(rel(name), mode) }
func (d dirFS) Chtimes(name string, at, mt time.Time) error { return d.r.Chtimes(rel(name), at, mt) }

func (d dirFS) Remove(name string) error {
	fi, err := d.r.Lstat(rel(name))
	if err == nil && fi.IsDir() {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.EISDIR}
	}
	return d.r.Remove(rel(name))
}

func (d dirFS) Rmdir(name string) error {
	fi, err := d.r.Lstat(rel(name))
	if err == nil && !fi.IsDir() {
		return &fs.PathError{Op: "rmdir", Path: name, Err: syscall.ENOTDIR}
	}
	return d.r.Remove(rel(name))
}
