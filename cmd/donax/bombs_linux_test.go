//go:build linux && !race

package main

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestBombMemory looks at what donax itself holds at most while a line takes
// all it can, with the limits that it has without flags. A worker maps the
// machine code of the box, too, which all share.
func TestBombMemory(t *testing.T) {
	bin := donaxBinary(t)
	bombs := []string{
		`for ((;;)); do a+=(x); done`,
		`a=aaaaaaaaaa; while :; do a=$a$a; done`,
		`mapfile x < <(yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)`,
	}
	for isolation, most := range map[string]int64{"none": 256, "terminal": 256 + 128} {
		for _, line := range bombs {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			c := exec.CommandContext(ctx, bin, "--isolation", isolation, "--timeout", "6s", "-c", line)
			out, err := c.CombinedOutput()
			cancel()
			if status := c.ProcessState.ExitCode(); status != 124 && status != 137 {
				t.Errorf("%s: %s: %v, no limit\n%s", isolation, line, err, out)
			}
			held := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // with that of the worker, which it has waited for
			t.Logf("%s: %s: %d MiB", isolation, line, held)
			if held > most {
				t.Errorf("%s: %s: held %d MiB, want at most %d", isolation, line, held, most)
			}
		}
	}
}
