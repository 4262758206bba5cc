//go:build unix

package brake

import (
	"fmt"
	"os"
	"syscall"
)

// ownedByUs refuses what another user has put there: it could be a trap.
func ownedByUs(fi os.FileInfo, name string) error {
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", name)
	}
	return nil
}
