package applet

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Reason returns what the C library's strerror says of err, without the
// operation and the path that Go puts before it: "No such file or directory".
func Reason(err error) string {
	var errno syscall.Errno
	var pe *fs.PathError
	var le *os.LinkError
	var se *os.SyscallError
	switch {
	case errors.As(err, &errno):
		if text, ok := strerror[errno]; ok {
			return text
		}
		return capital(errno.Error())
	case errors.As(err, &pe):
		return capital(pe.Err.Error())
	case errors.As(err, &le):
		return capital(le.Err.Error())
	case errors.As(err, &se):
		return capital(se.Err.Error())
	}
	return capital(err.Error())
}

// strerror holds the C library's words where those of Go differ, or differ
// between the systems that Go runs on.
var strerror = map[syscall.Errno]string{
	syscall.EACCES:       "Permission denied",
	syscall.EBADF:        "Bad file descriptor",
	syscall.EBUSY:        "Device or resource busy",
	syscall.EDQUOT:       "Disk quota exceeded",
	syscall.EEXIST:       "File exists",
	syscall.EFBIG:        "File too large",
	syscall.EINVAL:       "Invalid argument",
	syscall.EIO:          "Input/output error",
	syscall.EISDIR:       "Is a directory",
	syscall.ELOOP:        "Too many levels of symbolic links",
	syscall.EMFILE:       "Too many open files",
	syscall.EMLINK:       "Too many links",
	syscall.ENAMETOOLONG: "File name too long",
	syscall.ENOENT:       "No such file or directory",
	syscall.ENOMEM:       "Cannot allocate memory",
	syscall.ENOSPC:       "No space left on device",
	syscall.ENOSYS:       "Function not implemented",
	syscall.ENOTDIR:      "Not a directory",
	syscall.ENOTEMPTY:    "Directory not empty",
	syscall.ENOTSUP:      "Operation not supported",
	syscall.EPERM:        "Operation not permitted",
	syscall.EPIPE:        "Broken pipe",
	syscall.EROFS:        "Read-only file system",
	syscall.EXDEV:        "Invalid cross-device link",
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
