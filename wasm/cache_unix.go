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
