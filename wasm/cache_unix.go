//go:build unix

package wasm

import (
	"io/fs"
	"os"
	"syscall"
)

// owned says whether the file is ours.
func owned(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// lockShared and lockAlone lock an open file without waiting, until it is
// closed. Many may share a lock, also in one process.
func lockShared(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) }
func lockAlone(f *os.File) error  { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
