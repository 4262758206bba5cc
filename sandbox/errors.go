package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// errnoOf returns the errno in err, or EIO.
func errnoOf(err error) syscall.Errno {
	var no syscall.Errno
	switch {
	case errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, fs.ErrInvalid):
		return syscall.EINVAL
	case errors.Is(err, fs.ErrClosed):
		return syscall.EBADF
	}
	return syscall.EIO
}

// bareError returns err without the operation and path that Go puts round it.
func bareError(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// reason is what strerror says of err.
func reason(err error) string {
	s := bareError(err).Error()
	if no := errnoOf(err); no != syscall.EIO {
		s = no.Error()
	}
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
