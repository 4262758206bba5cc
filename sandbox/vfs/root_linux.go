package vfs

import (
	"io/fs"
	"syscall"
	"time"
)

// hostStat takes what a *Stat holds out of a host FileInfo. Dev is the
// host's.
func hostStat(fi fs.FileInfo, _ string) Stat {
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
	}
	return Stat{
		Dev: uint64(s.Dev), Ino: s.Ino, Nlink: uint64(s.Nlink),
		Atime: time.Unix(int64(s.Atim.Sec), int64(s.Atim.Nsec)),
		Ctime: time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec)),
	}
}
