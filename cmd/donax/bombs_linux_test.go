//go:build linux && !race

package main

import (
	"context"
	"math"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestBombMemory looks at what donax itself holds at most while a line takes
// all it can, with the limits that it has without flags. A worker maps the
// machine code of the box, too, which all share. On a machine that is busy with
// other things the collector may come late: not three times.
func TestBombMemory(t *testing.T) {
	bin := donaxBinary(t)
	bombs := []string{
		`for ((;;)); do a+=(x); done`,
		`a=aaaaaaaaaa; while :; do a=$a$a; done`,
		`mapfile x < <(yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)`,
	}
	for isolation, most := range map[string]int64{"none": 256, "terminal": 256 + 128} {
		for _, line := range bombs {
			held := int64(math.MaxInt64)
			for try := 0; try < 3 && held > most; try++ {
				held = min(held, explode(t, bin, isolation, line))
			}
			t.Logf("%s: %s: %d MiB", isolation, line, held)
			if held > most {
				t.Errorf("%s: %s: held %d MiB, want at most %d", isolation, line, held, most)
			}
		}
	}
}

// explode runs a line and returns the most memory, in MiB, that donax or its
// worker held.
func explode(t *testing.T, bin, isolation, line string) int64 {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, bin, "--isolation", isolation, "--timeout", "6s", "-c", line)
	out, err := c.CombinedOutput()
	if status := c.ProcessState.ExitCode(); status != 124 && status != 137 {
		t.Errorf("%s: %s: %v, no limit\n%s", isolation, line, err, out)
	}
	return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // with that of the worker, which it has waited for
}
