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
	return Info{Dev: s.Dev, Ino: s.Ino, Nlink: s.Nlink, Atime: time.Unix(0, int64(s.Atime)), Ctime: time.Unix(0, int64(s.Ctime))}
}
