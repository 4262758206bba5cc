package fsinfo

import (
	"io/fs"
	"syscall"
	"time"
)

// Of returns what fi.Sys() holds.
func Of(fi fs.FileInfo) Info {
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
	}
	return Info{
		Dev: uint64(s.Dev), Ino: s.Ino, Nlink: uint64(s.Nlink),
		Atime: time.Unix(s.Atim.Unix()), Ctime: time.Unix(s.Ctim.Unix()),
	}
}
