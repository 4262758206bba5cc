//go:build unix

package main

import (
	"os"
	"syscall"
)

// boundProcess bounds this process: the bytes of its memory, and the seconds
// of CPU time after which the system kills it. It also lets others go first.
func boundProcess(memory uint64, seconds int) error {
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10); err != nil {
		return err
	}
	for _, l := range []struct {
		resource int
		max      uint64
	}{
		// The runtime's own reserves are counted, too, and are no use of memory.
		{syscall.RLIMIT_DATA, memory + memory/4},
		{syscall.RLIMIT_CPU, uint64(seconds)},
		{syscall.RLIMIT_CORE, 0},
	} {
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: l.max, Max: l.max}); err != nil {
			return err
		}
	}
	return nil
}

// killed reports whether the system has ended a process.
func killed(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled()
}
