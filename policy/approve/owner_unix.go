//go:build unix

package approve

import (
	"io/fs"
	"os"
	"syscall"
)

// othersWrite reports whether group or others may write.
func othersWrite(st fs.FileInfo) bool { return st.Mode().Perm()&0o022 != 0 }

// mine reports whether the file is the user's own or root's.
func mine(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}
