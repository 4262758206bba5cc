package wasm_test

import (
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
)

// cpu returns the CPU time of this process, and with children of theirs.
func cpu(who int) time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs f b.N times after a few that do not count, and reports CPU
// time and the shortest run beside the usual figures.
func measure(b *testing.B, who int, f func()) {
	for range 20 {
		f()
	}
	b.ReportAllocs()
	least := time.Hour
	start, n := cpu(who), 0
	for b.Loop() {
		t := time.Now()
		f()
		least = min(least, time.Since(t))
		n++
	}
	b.ReportMetric(float64((cpu(who)-start).Nanoseconds())/1e3/float64(n), "cpu-µs/op")
	b.ReportMetric(float64(least.Nanoseconds())/1e3, "min-µs")
}

func BenchmarkExec(b *testing.B) {
	p := program(b, "exit")
	proc := sandbox.Proc{Args: []string{"exit", "0"}, Dir: "/", FS: wasmtest.Dir(b, b.TempDir()), Stdout: io.Discard}
	measure(b, syscall.RUSAGE_SELF, func() {
		if err := p.Run(b.Context(), &proc); err != nil {
			b.Fatal(err)
		}
	})
	b.Logf("%+v", rt.Stats())
}
