package worker_test

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// BenchmarkEcho is a whole terminal, inspected and run: in this process, in a
// warm worker, and the smallest thing that a worker can be asked.
func BenchmarkEcho(b *testing.B) {
	run := func(b *testing.B, r func() result) {
		for b.Loop() {
			if got := r(); got.out != "hi\n" {
				b.Fatalf("%+v", got)
			}
		}
	}
	ctx := as(b.Context(), "a")
	b.Run("here", func(b *testing.B) {
		s := here(b, policy.AllowAll{}, sandbox.Limits{})
		run(b, func() result { return doHere(ctx, s, "echo hi") })
	})
	p := pool(b, config(b))
	b.Run("worker", func(b *testing.B) { run(b, func() result { return do(ctx, p, "echo hi") }) })
	b.Run("worker-inspect", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.Inspect(ctx, policy.Command{Text: ":"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkBox is a terminal that starts a program of the box.
func BenchmarkBox(b *testing.B) {
	ctx := as(b.Context(), "a")
	s := here(b, policy.AllowAll{}, sandbox.Limits{})
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			doHere(ctx, s, "seq 3 | cat")
		}
	})
	p := pool(b, config(b))
	b.Run("worker", func(b *testing.B) {
		for b.Loop() {
			do(ctx, p, "seq 3 | cat")
		}
	})
}

// BenchmarkAdmission compares an admission over the socket with a round trip
// that carries next to nothing, and with one that is kept. The worker itself
// does the asking, so that nothing else is in the numbers.
func BenchmarkAdmission(b *testing.B) {
	for _, e := range []struct {
		name   string
		engine policy.Engine
		what   string
	}{
		{"bare", policy.AllowAll{}, "trip"},
		{"asked", policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow}, nil
		}), "ask"},
		{"kept", &counting{repeats: true}, "ask"},
	} {
		b.Run(e.name, func(b *testing.B) {
			c := config(b)
			c.Policy = e.engine
			p := pool(b, c)
			for b.Loop() {
			}
			ctx := as(b.Context(), "a")
			const each = 10_000
			r := do(ctx, p, e.what+" "+strconv.Itoa(each))
			ns, err := strconv.Atoi(strings.TrimSpace(r.out))
			if err != nil {
				b.Fatalf("%+v", r)
			}
			b.ReportMetric(float64(ns)/each, "ns/admission")
		})
	}
}

// lockedAfter is when a worker has loaded all that it may ever run.
const lockedAfter = 5 * time.Second

// BenchmarkIdle reports what one more idle worker costs in memory: what it has
// to itself. Code is mapped from files and shared.
func BenchmarkIdle(b *testing.B) {
	c := config(b)
	c.Limits.Max = 8
	p := pool(b, c)
	var pids []string
	for i := range 4 { // more would not be kept
		r := do(as(b.Context(), strconv.Itoa(i)), p, "echo a | cat; pid")
		pids = append(pids, strings.Fields(r.out)[1])
	}
	time.Sleep(lockedAfter) // all is loaded, and what the lines needed is given back
	for b.Loop() {
	}
	total := 0.0
	for _, pid := range pids {
		total += ownMemory(b, pid)
	}
	b.ReportMetric(total/float64(len(pids))/1024, "MiB/worker")
}

// ownMemory is in KiB. Its other half, the share of what is mapped by several,
// may be looked up by nobody: a worker cannot be traced.
func ownMemory(b *testing.B, pid string) float64 {
	b.Helper()
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		b.Skip("memory of others can be read on Linux: ", err)
	}
	for line := range bytes.Lines(data) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == "RssAnon:" {
			n, _ := strconv.ParseFloat(string(f[1]), 64)
			return n
		}
	}
	b.Fatal("no RssAnon")
	return 0
}
