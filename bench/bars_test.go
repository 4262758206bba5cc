package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
)

// cacheDir is the cache that the tests share with the user.
func cacheDir(b *testing.B) string {
	if d := os.Getenv("DONAX_CACHE"); d != "" {
		return d
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return b.TempDir()
	}
	return filepath.Join(d, "donax")
}

// session is one over files in memory, with the box.
type session struct {
	*sandbox.Session
	rt *wasm.Runtime
	fs *vfs.Mount
}

func newSession(b *testing.B) *session {
	b.Helper()
	rt, err := wasm.New(wasm.Config{CacheDir: cacheDir(b)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rt.Close() })
	if err := rt.Warm(b.Context()); err != nil {
		b.Fatal(err)
	}
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		b.Fatal(err)
	}
	m, err := vfs.NewMount(
		vfs.MountPoint{Path: "/dev", FS: dev, Mode: vfs.ReadWrite},
		vfs.MountPoint{Path: "/workspace", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.ReadWrite},
	)
	if err != nil {
		b.Fatal(err)
	}
	return (&session{rt: rt, fs: m}).under(b, policy.AllowAll{})
}

// under returns a session over the same files and machines with another policy.
func (x *session) under(b *testing.B, e policy.Engine) *session {
	b.Helper()
	s, err := sandbox.New(sandbox.Config{FS: x.fs, Programs: x.rt.Programs(), Policy: e, Dir: "/workspace", Limits: sandbox.Limits{Timeout: -1}})
	if err != nil {
		b.Fatal(err)
	}
	return &session{s, x.rt, x.fs}
}

// line runs a line and returns what it wrote.
func (x *session) line(ctx context.Context, text string) (string, error) {
	c, err := x.Inspect(ctx, policy.Command{Text: text, Cwd: "/workspace"})
	if err != nil {
		return "", err
	}
	var out, errs bytes.Buffer
	status, err := x.Run(ctx, c, nil, &out, &errs)
	if status != 0 || err != nil {
		return "", fmt.Errorf("%s: status %d, %w: %s", text, status, err, errs.String())
	}
	return out.String(), nil
}

func (x *session) discard(b *testing.B, text string) func() error {
	return func() error { _, err := x.line(b.Context(), text); return err }
}

func host(b *testing.B, name string, args ...string) func() error {
	b.Helper()
	if _, err := exec.LookPath(name); err != nil {
		b.Skip(err)
	}
	return func() error { return exec.Command(name, args...).Run() }
}

// repeated runs f n times.
func repeated(n int, f func() error) func() error {
	return func() error {
		for range n {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}
}

// BenchmarkStart compares the start of a command that does nothing with that
// of a process, and a loop of a thousand commands with bash's.
func BenchmarkStart(b *testing.B) {
	x := newSession(b)
	b.Run("true", func(b *testing.B) {
		var true1 sandbox.Program
		for _, p := range x.rt.Programs() {
			if p.Usage().Name == "true" {
				true1 = p
			}
		}
		fsys := vfs.NewMem(vfs.MemConfig{})
		ours := func() error {
			return true1.Run(b.Context(), &sandbox.Proc{Args: []string{"true"}, Dir: "/", FS: fsys, Stdout: io.Discard, Stderr: io.Discard})
		}
		const n = 20
		other := host(b, "true")
		if err := repeated(200, ours)(); err != nil { // a machine is reset and ready
			b.Fatal(err)
		}
		var l, h least
		for b.Loop() {
			l.run(b, repeated(n, ours))
			h.run(b, repeated(n, other))
		}
		allocs := testing.AllocsPerRun(n, func() { _ = ours() })
		l, h = l/n, h/n
		compare(b, "Starts", "true", l, h, "fork and exec", 0.1)
		table.add("Starts", line{what: "true, allocations", ours: fmt.Sprint(allocs), bar: "under 50", ok: allocs < 50})
	})
	b.Run("loop", func(b *testing.B) {
		const text = "for i in $(seq 1000); do basename /a/$i; done"
		ours, other := x.discard(b, text), host(b, "bash", "-c", text)
		var l, h least
		for b.Loop() {
			l.run(b, ours)
			h.run(b, other)
		}
		compare(b, "Starts", text, l, h, "bash", 0.25)
	})
	b.Run("builtins", func(b *testing.B) {
		const text = "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done"
		ours, other := x.discard(b, text), host(b, "bash", "-c", text)
		var l, h least
		for b.Loop() {
			l.run(b, ours)
			h.run(b, other)
		}
		compare(b, "Starts", text, l, h, "bash", 2)
	})
}

// compare reports two CPU times; the first may be at most bar times the second.
func compare(b *testing.B, name, what string, ours, other least, of string, bar float64) {
	ratio := float64(ours) / float64(other)
	b.ReportMetric(ratio, "ratio")
	table.add(name, line{what: what, ours: ours.String(), other: other.String() + " " + of, ratio: ratio, bar: fmt.Sprintf("at most %v", bar), ok: ratio <= bar})
}

// BenchmarkCold is what a process of donax costs that runs one line, with a
// warm cache.
func BenchmarkCold(b *testing.B) {
	exe := filepath.Join(b.TempDir(), "donax")
	if out, err := exec.Command("go", "build", "-o", exe, "../cmd/donax").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		text string
		most time.Duration
	}{{"echo hi", 60 * time.Millisecond}, {"ls", 150 * time.Millisecond}} {
		b.Run(strings.Fields(c.text)[0], func(b *testing.B) {
			ours := func() error {
				cmd := exec.Command(exe, "-c", c.text)
				cmd.Env = append(os.Environ(), "DONAX_CACHE="+cacheDir(b))
				return cmd.Run()
			}
			other := host(b, "bash", "-c", c.text)
			if err := ours(); err != nil {
				b.Fatal(err)
			}
			var l, h least
			for b.Loop() {
				l.run(b, ours)
				h.run(b, other)
			}
			b.ReportMetric(float64(l)/1e6, "cpu-ms/op")
			table.add("From cold", line{what: "donax -c '" + c.text + "'", ours: l.String(), other: h.String() + " bash -c", ratio: float64(l) / float64(h), bar: fmt.Sprintf("%v", c.most), ok: time.Duration(l) <= c.most})
		})
	}
}

// BenchmarkPipe measures how much goes through a pipeline in a second of CPU
// time.
func BenchmarkPipe(b *testing.B) {
	x := newSession(b)
	const size = 64 << 20
	f, err := x.fs.Open("/workspace/big", os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.Write(bytes.Repeat([]byte("0123456789abcde\n"), size/16)); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	const text = "cat big | cat | wc -c"
	var l, h least
	big := filepath.Join(b.TempDir(), "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte("0123456789abcde\n"), size/16), 0o600); err != nil {
		b.Fatal(err)
	}
	other := host(b, "sh", "-c", "cat "+big+" | cat | wc -c")
	for b.Loop() {
		l.run(b, func() error {
			out, err := x.line(b.Context(), text)
			if err == nil && strings.TrimSpace(out) != fmt.Sprint(size) {
				err = fmt.Errorf("%q bytes came out", out)
			}
			return err
		})
		h.run(b, other)
	}
	rate := func(l least) float64 { return float64(size) / 1e6 / time.Duration(l).Seconds() }
	b.ReportMetric(rate(l), "MB/cpu-s")
	table.add("Streams", line{what: text, ours: fmt.Sprintf("%.0f MB/s", rate(l)), other: fmt.Sprintf("%.0f MB/s natively", rate(h)), ratio: rate(l) / rate(h), bar: "500 MB/s", ok: rate(l) >= 500})
}

// BenchmarkTerminals runs 64 pipelines at a time. Meanwhile the collector of
// the process has to stop all of them, again and again.
func BenchmarkTerminals(b *testing.B) {
	x := newSession(b)
	const n = 64
	before := pauses()
	done := make(chan struct{})
	var collector sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				runtime.GC()
			}
		}
	})
	failed := 0
	for b.Loop() {
		var wg sync.WaitGroup
		errs := make([]error, n)
		for i := range n {
			wg.Go(func() {
				out, err := x.line(b.Context(), "seq 5000 | sort -rn | head -1")
				if err == nil && out != "5000\n" {
					err = fmt.Errorf("%q", out)
				}
				errs[i] = err
			})
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				failed++
				b.Error(err)
			}
		}
	}
	close(done)
	collector.Wait()
	p99 := percentile(pauses(), before, 0.99)
	b.ReportMetric(p99*1e3, "gc-p99-ms")
	table.add("64 terminals", line{what: "seq 5000 | sort -rn | head -1", ours: fmt.Sprintf("%d failed", failed), bar: "none", ok: failed == 0})
	table.add("64 terminals", line{what: "stopping all guests for the collector, p99", ours: fmt.Sprintf("%.1f ms", p99*1e3), bar: "50 ms", ok: p99 <= 0.05})
	for _, s := range x.rt.Stats() {
		if s.Memory == 0 { // it was not used
			continue
		}
		mb := float64(s.Memory) / 1e6
		table.add("64 terminals", line{what: "an idle machine of the tier " + s.Tier, ours: fmt.Sprintf("%.1f MB", mb), bar: "7 MB", ok: mb <= 7})
	}
}

// pauses reads how long it took to stop the world for the collector: what a
// guest that does not yield prolongs.
func pauses() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64Histogram()
}

// percentile returns the upper end of the bucket in which the part q of what
// came since before lies.
func percentile(now, before *metrics.Float64Histogram, q float64) float64 {
	counts, total := make([]uint64, len(now.Counts)), uint64(0)
	for i := range counts {
		counts[i] = now.Counts[i] - before.Counts[i]
		total += counts[i]
	}
	seen := uint64(0)
	for i, n := range counts {
		if seen += n; float64(seen) >= q*float64(total) {
			return now.Buckets[i+1]
		}
	}
	return 0
}
