//go:build linux || darwin

package worker

import (
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is the worker's end, the only descriptor that it was born with beside
// the three of every process.
func socket() (io.ReadWriteCloser, error) {
	if err := unix.SetNonblock(3, true); err != nil {
		return nil, err
	}
	unix.CloseOnExec(3)
	return os.NewFile(3, "server"), nil
}

func signalOf(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return unix.SignalName(ws.Signal())
	}
	return ""
}

// procs is how many threads of one worker may run at a time: enough for a
// pipeline, not enough to crowd out the others.
func procs() int { return min(4, runtime.NumCPU()) }

// limit sets the limits that the system holds for a process. None of them can
// be raised again.
func limit(s Setup, resources map[int]uint64) error {
	for r, v := range resources {
		if err := unix.Setrlimit(r, &unix.Rlimit{Cur: v, Max: v}); err != nil {
			return err
		}
	}
	return nil
}
