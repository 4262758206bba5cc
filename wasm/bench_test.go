package wasm_test

import (
	"context"
	"io"
	"maps"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
)

// cpu returns the CPU time of this process and of those it started.
func cpu() time.Duration {
	var sum int64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		syscall.Getrusage(who, &u)
		sum += u.Utime.Nano() + u.Stime.Nano()
	}
	return time.Duration(sum)
}

// measure runs f b.N times after a few that do not count. Beside the usual
// figures it reports CPU time, which a busy machine changes less, and the
// shortest run, which shows what an idle one would do.
func measure(b *testing.B, f func() error) (cpuPerOp time.Duration) {
	run := func() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	for range 20 {
		run()
	}
	b.ReportAllocs()
	least := time.Hour
	start, n := cpu(), 0
	for b.Loop() {
		t := time.Now()
		run()
		least = min(least, time.Since(t))
		n++
	}
	cpuPerOp = (cpu() - start) / time.Duration(n)
	b.ReportMetric(float64(cpuPerOp.Nanoseconds())/1e3, "cpu-µs/op")
	b.ReportMetric(float64(least.Nanoseconds())/1e3, "min-µs")
	return cpuPerOp
}

// BenchmarkCommand runs pipelines of the box and then the same of the host's
// programs, which are started without a shell. "ratio" is the CPU time of the
// latter through that of the former.
func BenchmarkCommand(b *testing.B) {
	r, err := wasm.New(wasm.Config{CacheDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for _, line := range []string{"true", "echo hi", "ls /", "basename /a/b", "seq 100", "seq 100 | cat", "seq 100 | cat | wc -l"} {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) {
			box, host := pipelines(r, line)
			if box == nil || host == nil {
				b.Skip("not both have the commands")
			}
			var of, on time.Duration
			b.Run("host", func(b *testing.B) { of = measure(b, host) })
			b.Run("box", func(b *testing.B) {
				on = measure(b, func() error { return box(b.Context()) })
				b.ReportMetric(float64(of)/float64(on), "ratio")
			})
		})
	}
	b.Logf("%+v", r.Stats())
}

// pipelines returns functions that run a line of commands in the box and on
// the host; nil where commands are missing.
func pipelines(r *wasm.Runtime, line string) (box func(context.Context) error, host func() error) {
	var argv [][]string
	for part := range strings.SplitSeq(line, " | ") {
		argv = append(argv, strings.Fields(part))
	}
	var progs []sandbox.Program
	onHost := true
	for _, a := range argv {
		for _, p := range r.Programs() {
			if p.Usage().Name == a[0] {
				progs = append(progs, p)
			}
		}
		if _, err := exec.LookPath(a[0]); err != nil {
			onHost = false
		}
	}
	if len(progs) == len(argv) {
		box = func(ctx context.Context) error { return runBox(ctx, progs, argv) }
	}
	if onHost {
		host = func() error { return runHost(argv) }
	}
	return box, host
}

func runBox(ctx context.Context, progs []sandbox.Program, argv [][]string) error {
	var wg sync.WaitGroup
	errs := make([]error, len(argv))
	var in io.Reader
	for i, p := range progs {
		var out io.Writer = io.Discard
		r, w := io.Pipe()
		if i < len(progs)-1 {
			out = w
		}
		proc := &sandbox.Proc{Args: argv[i], Env: []string{"LC_ALL=C"}, Dir: "/", FS: vfs.NewMem(vfs.MemConfig{}), Stdin: in, Stdout: out, Stderr: io.Discard}
		wg.Go(func() {
			errs[i] = p.Run(ctx, proc)
			w.Close()
		})
		in = r
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func runHost(argv [][]string) error {
	var cmds []*exec.Cmd
	for i, a := range argv {
		c := exec.Command(a[0], a[1:]...)
		if i > 0 {
			out, err := cmds[i-1].StdoutPipe()
			if err != nil {
				return err
			}
			c.Stdin = out
		}
		cmds = append(cmds, c)
	}
	for _, c := range cmds {
		if err := c.Start(); err != nil {
			return err
		}
	}
	for i := range cmds {
		if err := cmds[len(cmds)-1-i].Wait(); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkStart runs the smallest command.
func BenchmarkStart(b *testing.B) {
	p := program(b, "exit")
	proc := sandbox.Proc{Args: []string{"exit", "0"}, Dir: "/", FS: vfs.NewMem(vfs.MemConfig{})}
	measure(b, func() error { return p.Run(b.Context(), &proc) })
}

// BenchmarkCollector has the collector stop the world again and again while
// hostile code runs on every processor, each time in a new instance. It reports
// how long that took: "p99-ms" must be at most 50.
func BenchmarkCollector(b *testing.B) {
	stopping := func() *metrics.Float64Histogram {
		s := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
		metrics.Read(s)
		return s[0].Value.Float64Histogram()
	}
	all := hostile()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			p := handmade(b, wasm.Config{}, all[name].pages, all[name].code...)
			ctx, cancel := context.WithCancel(b.Context())
			var guests sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				guests.Go(func() {
					for ctx.Err() == nil {
						run, end := context.WithTimeout(ctx, 100*time.Millisecond)
						p.Run(run, &sandbox.Proc{Args: []string{"x"}})
						end()
					}
				})
			}
			before := stopping()
			for b.Loop() {
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
			after := stopping()
			cancel()
			guests.Wait()
			for i := range after.Counts {
				after.Counts[i] -= before.Counts[i]
			}
			b.ReportMetric(percentile(after, 0.5)*1e3, "p50-ms")
			b.ReportMetric(percentile(after, 0.99)*1e3, "p99-ms")
		})
	}
}

// percentile is the upper end of the bucket that the part q of h ends in.
func percentile(h *metrics.Float64Histogram, q float64) float64 {
	total, seen := uint64(0), uint64(0)
	for _, n := range h.Counts {
		total += n
	}
	for i, n := range h.Counts {
		if seen += n; float64(seen) >= q*float64(total) {
			return h.Buckets[i+1]
		}
	}
	return 0
}
