package applet

import (
	"io/fs"
	"syscall"
)

// Umask returns the permissions that new files do not get.
func Umask() fs.FileMode {
	m := syscall.Umask(0) // asking is setting
	syscall.Umask(m)
	return fs.FileMode(m)
}
