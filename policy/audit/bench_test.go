package audit_test

import (
	"context"
	"sync"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
)

// BenchmarkExec is what one program costs that is decided and recorded. The
// ratio to the cost of starting one is what matters: see the benchmark of that
// name in cmd/donax.
func BenchmarkExec(b *testing.B) {
	r := open(b, audit.Config{})
	e, ctx, a := r.Engine(allow), policy.WithSubject(context.Background(), subject()), run("grep", "-rn", "TODO", ".")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := policy.Check(ctx, e, a); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommand is the same for what waits for the disk, by how many wait
// at a time.
func BenchmarkCommand(b *testing.B) {
	for name, n := range map[string]int{"1": 1, "64": 64} {
		b.Run("terminals="+name, func(b *testing.B) {
			r := open(b, audit.Config{})
			e, a := r.Engine(allow), command("grep -rn TODO .")
			var wg sync.WaitGroup
			todo := make(chan struct{}, n)
			for range n {
				wg.Go(func() {
					for range todo {
						if _, err := policy.Check(context.Background(), e, a); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for b.Loop() {
				todo <- struct{}{}
			}
			close(todo)
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
