package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLostLine ends the worker of a line of the command line in every way. Who
// typed it keeps what was written before, is told the reason and gets a status,
// and no process is left.
//
// Threats: WO-4, WO-6.
func TestLostLine(t *testing.T) {
	spin := "echo before; while :; do :; done"
	for _, c := range []struct {
		name, line string
		flags      []string
		end        syscall.Signal // for the worker
		says       string
		status     int
	}{
		{"killed", spin, nil, syscall.SIGKILL, "donax: worker lost: it was ended by SIGKILL\n", 137},
		{"time", spin, []string{"--timeout", "2s"}, 0, "donax: limit: time 2s (raise with --timeout)\n", 124},
		{"memory", "echo before; x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", nil, 0, "donax: limit: expansion of 48 MiB (raise with --memory)\n", 137},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(donaxBinary(t), append([]string{"--isolation", "terminal", "-c", c.line}, c.flags...)...)
			cmd.Env = append(os.Environ(), "DONAX_CACHE="+testCache(t))
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			overdue := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
			defer overdue.Stop()
			first, err := bufio.NewReader(out).ReadString('\n')
			if first != "before\n" {
				t.Errorf("before its end it wrote %q, %v", first, err)
			}
			workers := children(t, cmd.Process.Pid)
			if c.end != 0 {
				if len(workers) == 0 {
					t.Fatal("no worker runs the line")
				}
				for _, pid := range workers {
					_ = syscall.Kill(pid, c.end) // one may have ended
				}
			}
			_ = cmd.Wait() // the status says it
			if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.HasPrefix(said.String(), c.says) || strings.Count(said.String(), "\n") != 1 {
				t.Errorf("status %d, want %d; said %q, want %q", got, c.status, said.String(), c.says)
			}
			if left := gone(workers); left != nil {
				t.Errorf("processes %v are left", left)
			}
		})
	}
}
