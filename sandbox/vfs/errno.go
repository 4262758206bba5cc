package vfs

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// errnoOf returns the system error in err, and EIO when there is none. All
// else that err says (a host path, foremost) is dropped with it.
func errnoOf(err error) syscall.Errno {
	var e syscall.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return portable(e)
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, fs.ErrPermission):
		return syscall.EPERM
	case errors.Is(err, fs.ErrClosed):
		return syscall.EBADF
	case errors.Is(err, fs.ErrInvalid):
		return syscall.EINVAL
	}
	return syscall.EIO
}

// renamed gives err the name that the sandbox's user knows the file by.
func renamed(op, name string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return pathErr(op, name, errnoOf(err))
}

// portable maps the system's own spelling of an error to the POSIX one that
// callers compare with.
func portable(e syscall.Errno) syscall.Errno {
	for _, p := range []syscall.Errno{syscall.ENOENT, syscall.EEXIST, syscall.EACCES, syscall.EPERM, syscall.ENOTEMPTY} {
		if e == p {
			return p
		}
	}
	switch {
	case errors.Is(e, fs.ErrNotExist):
		return syscall.ENOENT
	case e == syscall.ENOTDIR:
		return e
	case errors.Is(e, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(e, fs.ErrPermission):
		return syscall.EACCES
	}
	return e
}
