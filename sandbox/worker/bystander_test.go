package worker_test

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkBystander has one session run a steady loop beside a line of another
// session that takes all that it can, and beside as many processes of the host
// as that keeps busy, which have a worker's niceness: what is left then is a fair share.
// "pace" is the first rate through the second; it must be at least 0.9.
func BenchmarkBystander(b *testing.B) {
	const steady = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo $i"
	for _, bomb := range []struct {
		name, line string
		threads    int // that it keeps busy
	}{
		{"spin", "while :; do :; done", 1},
		{"array", "while :; do a=(); for ((i=0;i<100000;i++)); do a+=(x); done; done", 1},
		{"flood", "yes | cat >/dev/null", 2},
		{"jobs", "while :; do :; done & while :; do :; done & while :; do :; done & wait", 3},
		{"box", "while :; do seq 100000 | sort -rn | tail -1; done >/dev/null", 2},
	} {
		b.Run(bomb.name, func(b *testing.B) {
			c := config(b)
			c.Limits.Max, c.Setup.Limits.Timeout = 4, 10*time.Minute
			p := pool(b, c)
			own, other := as(b.Context(), "a"), as(b.Context(), "b")
			loop := func() time.Duration {
				start := time.Now()
				if r := do(own, p, steady); strings.TrimSpace(r.out) != "20000" {
					b.Fatalf("%+v", r)
				}
				return time.Since(start)
			}
			median := func() time.Duration {
				var took []time.Duration
				for range 15 {
					took = append(took, loop())
				}
				slices.Sort(took)
				return took[len(took)/2]
			}
			loop()
			var fair, beside time.Duration
			for b.Loop() {
				var hogs []*exec.Cmd
				for range bomb.threads {
					hog := exec.Command("nice", "-n", "5", "sh", "-c", "while :; do :; done")
					if err := hog.Start(); err != nil {
						b.Skip("nothing to compare with: ", err)
					}
					hogs = append(hogs, hog)
				}
				time.Sleep(500 * time.Millisecond)
				fair = median()
				for _, hog := range hogs {
					hog.Process.Kill()
					hog.Wait()
				}
				ctx, stop := context.WithCancel(other)
				ended := make(chan result, 1)
				go func() { ended <- do(ctx, p, bomb.line) }()
				time.Sleep(500 * time.Millisecond) // it is under way
				beside = median()
				stop()
				if r := <-ended; r.status == 0 {
					b.Fatalf("it ended by itself: %+v", r)
				}
			}
			b.ReportMetric(float64(fair)/float64(beside), "pace")
		})
	}
}
