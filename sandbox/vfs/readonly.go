package vfs

import (
	"io/fs"
	"syscall"
	"time"
)

// ReadOnly is a file system whose every mutation fails with EROFS: also
// opening for writing, creating or truncating, and links in or out of it.
type ReadOnly struct{ fsys FS }

// NewReadOnly returns fsys without the means to change it.
func NewReadOnly(fsys FS) *ReadOnly { return &ReadOnly{fsys} }

var _ FS = (*ReadOnly)(nil)

func (r *ReadOnly) setDev(d uint64) uint64 { return setDev(r.fsys, d) }

// Open opens for reading.
func (r *ReadOnly) Open(name string, flag int, perm fs.FileMode) (File, error) {
	if e := checkOpen(flag); e != 0 {
		return nil, pathErr("open", name, e)
	}
	if !mutates(flag) {
		return r.fsys.Open(name, flag, perm)
	}
	if r.device(name) {
		return r.fsys.Open(name, flag, perm)
	}
	return nil, pathErr("open", name, r.refuseOpen(name, flag))
}

// device reports whether name is a device: what one takes changes no file, and
// a read-only mount is not in its way.
func (r *ReadOnly) device(name string) bool {
	fi, err := r.fsys.Lstat(name)
	return err == nil && fi.Mode()&fs.ModeDevice != 0
}

// refuseOpen says why opening for a change fails: what is wrong anyway is
// said first, as on a real read-only mount.
func (r *ReadOnly) refuseOpen(name string, flag int) syscall.Errno {
	fi, err := r.fsys.Lstat(name)
	switch {
	case err != nil && errnoOf(err) != syscall.ENOENT:
		return errnoOf(err)
	case err != nil && !creates(flag):
		return syscall.ENOENT
	case err == nil && creates(flag) && !FollowsLast(flag&^NoFollow):
		return syscall.EEXIST
	case err == nil && fi.IsDir():
		return syscall.EISDIR
	case err == nil && fi.Mode()&fs.ModeSymlink != 0:
		return syscall.ELOOP
	}
	return syscall.EROFS
}

// Stat is that of the file system below.
func (r *ReadOnly) Stat(name string) (fs.FileInfo, error) { return r.fsys.Stat(name) }

// Lstat is that of the file system below.
func (r *ReadOnly) Lstat(name string) (fs.FileInfo, error) { return r.fsys.Lstat(name) }

// Readlink is that of the file system below.
func (r *ReadOnly) Readlink(name string) (string, error) { return r.fsys.Readlink(name) }

// Mkdir fails: EEXIST when name is there, else EROFS.
func (r *ReadOnly) Mkdir(name string, _ fs.FileMode) error {
	return pathErr("mkdir", name, r.refuse(name, true))
}

// Remove fails.
func (r *ReadOnly) Remove(name string) error { return pathErr("remove", name, r.refuse(name, false)) }

// Rmdir fails.
func (r *ReadOnly) Rmdir(name string) error { return pathErr("rmdir", name, r.refuse(name, false)) }

// Rename fails.
func (r *ReadOnly) Rename(from, to string) error {
	return linkErr("rename", from, to, r.refuse(from, false))
}

// Link fails.
func (r *ReadOnly) Link(from, to string) error {
	return linkErr("link", from, to, r.refuse(from, false))
}

// Symlink fails.
func (r *ReadOnly) Symlink(target, name string) error {
	return linkErr("symlink", target, name, r.refuse(name, true))
}

// Chmod fails.
func (r *ReadOnly) Chmod(name string, _ fs.FileMode) error {
	return pathErr("chmod", name, r.refuse(name, false))
}

// Chtimes fails.
func (r *ReadOnly) Chtimes(name string, atime, mtime time.Time) error {
	if r.device(name) {
		return r.fsys.Chtimes(name, atime, mtime)
	}
	return pathErr("chtimes", name, r.refuse(name, false))
}

// refuse gives the error of a change to name: EROFS, unless name must not
// exist and does, or must and does not.
func (r *ReadOnly) refuse(name string, isNew bool) syscall.Errno {
	_, err := r.fsys.Lstat(name)
	switch e := errnoOf(err); {
	case e == 0 && isNew:
		return syscall.EEXIST
	case e != 0 && !(isNew && e == syscall.ENOENT):
		return e
	}
	return syscall.EROFS
}
