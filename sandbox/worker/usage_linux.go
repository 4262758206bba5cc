package worker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// usageOf returns what a process has used: CPU time, and the memory that it
// has now, in bytes.
func usageOf(pid int) (cpu time.Duration, memory int64, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	// The name in front is in parentheses and may hold anything.
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 22 {
		return 0, 0, false
	}
	const userHz = 100 // of every architecture that Go runs on
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	pages, err3 := strconv.ParseInt(f[21], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return 0, 0, false
	}
	return time.Duration(user+system) * time.Second / userHz, pages * int64(os.Getpagesize()), true
}
