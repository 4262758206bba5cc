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

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Quote quotes a name as GNU commands do in messages: in single quotes.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
