package worker_test

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// The machines of a worker show their snapshot, also of one that is taken when
// the worker may not open anything any more.
func TestMachinesShareInWorkers(t *testing.T) {
	if _, err := os.Open("/proc/self/pagemap"); err != nil {
		t.Skip("this system keeps no account of pages: ", err)
	}
	for name, wait := range map[string]time.Duration{"at once": 0, "locked": lockedAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pool(t, config(t))
			ctx := as(t.Context(), "a")
			do(ctx, p, ":")
			time.Sleep(wait)
			var begins, own int
			for range 50 { // a snapshot is taken, and resets are made, beside what runs
				r := do(ctx, p, "seq 1 >/dev/null; seq 1 >/dev/null; machines")
				if _, err := fmt.Sscan(r.out, &begins, &own); err != nil {
					t.Fatalf("%+v", r)
				}
				if own > 0 {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			if own == 0 || own > begins/2 {
				t.Errorf("a machine has %d bytes of the %d that it begins with", own, begins)
			}
		})
	}
}
