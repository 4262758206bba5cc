package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServeLeavesNothing counts what a server leaves behind that had terminals,
// of which some were killed, when its client goes, when it is asked to end, and
// when it is killed itself: no process and no temporary file.
//
// Threats: WO-6.
func TestServeLeavesNothing(t *testing.T) {
	for name, end := range map[string]func(*process){
		"the client goes": func(p *process) { p.in.Close() },
		"SIGTERM":         func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGKILL":         func(p *process) { _ = p.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			donaxBinary(t) // its building has temporary files of its own
			t.Setenv("TMPDIR", tmp)
			p := start(t, "-q")
			var ids []string
			for i, line := range []string{"while :; do :; done", "sleep 100 | cat", "yes > /tmp/big", "cat <(sleep 99)", "sleep 98 & sleep 97 & wait", "seq 1000000 | sort -rn | sleep 50"} {
				p.call(i, "terminal_create", fmt.Sprintf(`{"command":%q}`, line))
				ids = append(ids, terminalID.FindString(p.line()))
			}
			for i, id := range ids[:3] {
				p.call(10+i, "terminal_kill", fmt.Sprintf(`{"terminalId":%q}`, id))
				if l := p.line(); !strings.Contains(l, "SIGKILL") {
					t.Error(l)
				}
			}
			workers := children(t, p.cmd.Process.Pid)
			if len(workers) == 0 {
				t.Error("no worker runs")
			}
			end(p)
			p.rest(20 * time.Second)
			for _, w := range workers {
				for until := time.Now().Add(30 * time.Second); isWorker(w); time.Sleep(10 * time.Millisecond) {
					if time.Now().After(until) {
						t.Errorf("worker %d is left", w)
						break
					}
				}
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("temporary files are left: %v %v", left, err)
			}
		})
	}
}

// isWorker tells whether a process runs and is one of ours: numbers are used
// again.
func isWorker(pid int) bool {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.HasPrefix(string(line), "donax\x00worker")
}
