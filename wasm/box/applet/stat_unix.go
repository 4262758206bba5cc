//go:build linux || darwin

package applet

import (
	"io/fs"
	"syscall"
)

// Stat returns what fi.Sys() holds.
func Stat(fi fs.FileInfo) Info {
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
	}
	atime, ctime := times(s)
	return Info{Dev: uint64(s.Dev), Ino: s.Ino, Nlink: uint64(s.Nlink), Atime: atime, Ctime: ctime}
}
