//go:build unix

package audit

import (
	"os"
	"syscall"
)

// lockFile keeps a second process from writing the same log: two would break
// each other's chain. The lock goes with the process.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
