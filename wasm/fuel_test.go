package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/box"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
)

// handmade returns a program of a user whose code is given. Each run has an
// instance of its own, with memory that nobody has used.
func handmade(t testing.TB, c wasm.Config, pages uint32, code ...byte) sandbox.Program {
	t.Helper()
	bin := wasmtest.BulkCommand(pages, code...)
	c.CacheDir, c.Box = t.TempDir(), []wasm.Tier{}
	c.Compile = func(ctx context.Context, module []byte) error { return wasm.CompileInto(ctx, c.CacheDir, module) }
	r, err := wasm.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	p, err := r.Load(t.Context(), wasm.UserModule{
		Usage: sandbox.Usage{Name: "x"}, SHA256: hexSum(bin),
		Read:  func() ([]byte, error) { return bin, nil },
		Admit: func(context.Context, policy.Module) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shape is code that would never end, or not in a thousand years, and the memory
// that it has.
type shape struct {
	pages uint32
	code  []byte
}

// hostile are the shapes that there are, by name.
func hostile() map[string]shape {
	const pages, many = 1030, 64 << 20 // memory, and how much of it is used
	bulk := func(sub byte, operands []int32, immediates ...byte) []byte {
		var code []byte
		for _, n := range operands {
			code = append(code, wasmtest.I32(n)...)
		}
		return append(append(code, wasmtest.Bulk, sub), immediates...)
	}
	loop := func(code ...[]byte) []byte {
		return slices.Concat([]byte{wasmtest.Loop, wasmtest.Empty}, slices.Concat(code...), []byte{wasmtest.Br, 0, wasmtest.End})
	}
	null, drop := []byte{wasmtest.RefNull, wasmtest.FuncRef}, []byte{wasmtest.Drop}
	// A body is never longer than this: 40,000 instructions without a loop.
	three := []byte{wasmtest.F64Const, 0, 0, 0, 0, 0, 0, 8, 0x40}
	floats := slices.Concat(three, bytes.Repeat(slices.Concat(three, []byte{wasmtest.F64Div, wasmtest.F64Sqrt}), 16_000), drop)
	// The next page at each turn, or one after the other without a loop: memory is zero, and what one load gives is the address of the next.
	next := slices.Concat(
		wasmtest.I32(0), wasmtest.I32(0), []byte{wasmtest.I32Load, 2, 0}, wasmtest.I32(4096), []byte{wasmtest.I32Add}, wasmtest.I32(many-1), []byte{wasmtest.I32And, wasmtest.I32Store, 2, 0},
		wasmtest.I32(0), []byte{wasmtest.I32Load, 2, 0}, wasmtest.I32(1), []byte{wasmtest.I32Store, 2, 4},
	)
	chain := wasmtest.I32(0)
	for at := uint32(4096); at < many; at += 4096 {
		chain = append(append(chain, wasmtest.I32Load, 2), wasmtest.Leb(at)...)
	}
	return map[string]shape{
		"page by page":       {pages, loop(next)},
		"page after page":    {pages, slices.Concat(chain, drop, loop())},
		"grow and fill":      {1, slices.Concat(wasmtest.I32(pages), []byte{wasmtest.MemoryGrow, 0}, drop, loop(bulk(11, []int32{0, 0, many}, 0)))},
		"tight loop":         {1, loop()},
		"memory.fill":        {pages, loop(bulk(11, []int32{0, 0, many}, 0))},
		"memory.copy":        {pages, loop(bulk(10, []int32{1, 0, many - 1}, 0, 0))},
		"memory.init":        {20, loop(bulk(8, []int32{0, 0, wasmtest.BulkSize}, 0, 0))},
		"memory.grow":        {1, loop(wasmtest.I32(1), []byte{wasmtest.MemoryGrow, 0}, drop)},
		"table.fill":         {1, loop(wasmtest.I32(0), null, wasmtest.I32(wasmtest.TableSize), bulk(17, nil, 0))},
		"table.copy":         {1, loop(bulk(14, []int32{1, 0, wasmtest.TableSize - 1}, 0, 0))},
		"table.init":         {1, loop(bulk(12, []int32{0, 0, wasmtest.TableSize}, 0, 0))},
		"table.grow":         {1, loop(null, wasmtest.I32(1), bulk(15, nil, 0), drop)},
		"floats":             {1, loop(floats)},
		"doubling recursion": {1, doubling(40)},
		"deep stack":         {1, loop(doubling(20_000))},
	}
}

// doubling calls itself twice, to a depth of n: 2^n calls without a loop. The
// depth is counted in memory.
func doubling(n int32) []byte {
	load, store := []byte{0x28, 2, 0}, []byte{0x36, 2, 0}
	add := func(k int32) []byte {
		return slices.Concat(wasmtest.I32(0), wasmtest.I32(0), load, wasmtest.I32(k), []byte{0x6a}, store)
	}
	return slices.Concat(
		wasmtest.I32(0), load, wasmtest.I32(n), []byte{0x48, 0x04, wasmtest.Empty}, // if depth < n
		add(1), []byte{wasmtest.Call, 1, wasmtest.Drop, wasmtest.Call, 1, wasmtest.Drop}, add(-1),
		[]byte{wasmtest.End},
	)
}

// atMost tries until something takes no longer than max: on a busy machine
// anything may take long once.
func atMost(t *testing.T, max time.Duration, f func() time.Duration) {
	t.Helper()
	var got []time.Duration
	for range 20 {
		d := f()
		if d <= max {
			return
		}
		got = append(got, d)
	}
	t.Errorf("never within %v: %v", max, got)
}

// Whatever a guest does, it ends with the ration that it has when its context
// ends. That is counted in instructions, which no load of the machine and no
// race detector changes: BenchmarkKill shows how long it takes.
//
// Threats: WA-1.
func TestKill(t *testing.T) {
	// What is charged at once, a body without a loop or a piece of a bulk
	// operation, may exceed a ration by so much.
	const most = 8 * wasm.Ration
	for name, s := range hostile() {
		t.Run(name, func(t *testing.T) {
			p := handmade(t, wasm.Config{}, s.pages, s.code...)
			cause := errors.New("the brake")
			spent := wasm.NewBudget(math.MaxInt64)
			ctx, cancel := context.WithCancelCause(wasm.WithBudget(t.Context(), spent))
			killed := make(chan int64, 1)
			time.AfterFunc(30*time.Millisecond, func() {
				cancel(cause)
				killed <- spent.Used()
			})
			if err := p.Run(ctx, &sandbox.Proc{Args: []string{"x"}}); !errors.Is(err, cause) {
				t.Fatal(err)
			}
			if n := spent.Used() - <-killed; n > most {
				t.Errorf("%d instructions after the kill, at most %d are one ration", n, most)
			}
		})
	}
}

// BenchmarkKill reports how long hostile code goes on after a kill: "max-ms" must
// be at most 50.
func BenchmarkKill(b *testing.B) {
	all := hostile()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			p := handmade(b, wasm.Config{}, all[name].pages, all[name].code...)
			var worst time.Duration
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				var killed time.Time
				time.AfterFunc(10*time.Millisecond, func() {
					killed = time.Now()
					cancel()
				})
				p.Run(ctx, &sandbox.Proc{Args: []string{"x"}})
				worst = max(worst, time.Since(killed))
			}
			b.ReportMetric(float64(worst.Microseconds())/1e3, "max-ms")
		})
	}
}

// No guest keeps the collector of the whole process waiting, also not while it
// uses memory for the first time. A collection stops the guest five times. Until
// then it computes, and little else does: bounded is CPU time, and far above
// what is wanted, since machines are made beside and CI is busy. The fault that
// this is about lasts a second for each stop, or for ever; BenchmarkCollector
// shows how long one takes.
func TestCollectorRuns(t *testing.T) {
	for name, s := range hostile() {
		t.Run(name, func(t *testing.T) {
			p := handmade(t, wasm.Config{}, s.pages, s.code...)
			atMost(t, time.Second, func() (worst time.Duration) {
				spent := wasm.NewBudget(math.MaxInt64)
				ctx, cancel := context.WithCancel(wasm.WithBudget(t.Context(), spent))
				done := make(chan struct{})
				go func() {
					defer close(done)
					p.Run(ctx, &sandbox.Proc{Args: []string{"x"}})
				}()
				for running := 0; running < 3; { // collections since the guest has begun
					if spent.Used() > 0 {
						running++
					}
					start := cpu()
					runtime.GC()
					worst = max(worst, cpu()-start)
				}
				cancel()
				<-done
				return worst
			})
		})
	}
}

// An endless recursion ends by itself, and takes little of the host's memory.
//
// Threats: WA-1.
func TestEndlessRecursion(t *testing.T) {
	p := handmade(t, wasm.Config{}, 1, wasmtest.Call, 1, wasmtest.Drop)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var stderr bytes.Buffer
	if err := p.Run(t.Context(), &sandbox.Proc{Args: []string{"x"}, Stderr: &stderr}); err != sandbox.ExitCode(125) {
		t.Errorf("%v", err)
	}
	if got := stderr.String(); got != "x: trap: stack overflow\n" {
		t.Errorf("stderr %q", got)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 64 {
		t.Errorf("the host allocated %d MiB", n)
	}
}

func TestBudget(t *testing.T) {
	var limit *sandbox.LimitError
	loop := hostile()["tight loop"].code
	p := handmade(t, wasm.Config{CPU: 1_000_000}, 1, loop...)
	if err := p.Run(t.Context(), &sandbox.Proc{Args: []string{"x"}}); !errors.As(err, &limit) || !strings.Contains(limit.What, "1000000 instructions") {
		t.Errorf("of a command: %v", err)
	}
	p = handmade(t, wasm.Config{}, 1, loop...)
	b := wasm.NewBudget(10_000_000)
	ctx := wasm.WithBudget(t.Context(), b)
	for range 2 { // the second run has nothing left
		if err := p.Run(ctx, &sandbox.Proc{Args: []string{"x"}}); !errors.As(err, &limit) {
			t.Errorf("of a terminal: %v", err)
		}
	}
	if n := b.Used(); n < 10_000_000 || n > 10_200_000 {
		t.Errorf("used %d", n)
	}
	// Commands too short for a tick count, too.
	p = handmade(t, wasm.Config{}, 1)
	b = wasm.NewBudget(1000)
	for range 10 {
		if err := p.Run(wasm.WithBudget(t.Context(), b), &sandbox.Proc{Args: []string{"x"}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.Used(); n < 10 || n > 1000 {
		t.Errorf("short commands used %d", n)
	}
}

// A module that package rewrite has not seen does not run.
func TestNotRewritten(t *testing.T) {
	bin := wasmtest.Box(1)
	r, err := wasm.New(wasm.Config{Box: []wasm.Tier{{Name: "x", SHA256: "x", Commands: []box.Command{{Name: "x"}},
		Module: func() ([]byte, error) { return bin, nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Programs()[0].Run(t.Context(), &sandbox.Proc{Args: []string{"x"}}); err == nil || !strings.Contains(err.Error(), "rewritten") {
		t.Errorf("%v", err)
	}
}
