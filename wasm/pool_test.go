package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
)

// captured runs commands until machines serve them.
func captured(t testing.TB) wasm.PoolStats {
	t.Helper()
	return eventually(t, func(s wasm.PoolStats) bool { return s.Reused > 0 })
}

// eventually runs commands until the pool is as wanted.
func eventually(t testing.TB, ok func(wasm.PoolStats) bool) wasm.PoolStats {
	t.Helper()
	rt.Warm(t.Context()) // takes its time
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if n := newJob(t, "exit", "0").status(t); n != 0 {
			t.Fatal(n)
		}
		s := rt.Stats()[0]
		if ok(s) {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("the pool is %+v", s)
		}
	}
}

func TestMachinesServeAgain(t *testing.T) {
	before := captured(t)
	for range 20 {
		if n := newJob(t, "exit", "3").status(t); n != 3 {
			t.Fatal(n)
		}
	}
	after := rt.Stats()[0]
	if n := after.Reused - before.Reused; n < 15 {
		t.Errorf("%d of 20 commands ran in a machine that had served before", n)
	}
	if after.Dropped != before.Dropped {
		t.Errorf("%d machines were dropped", after.Dropped-before.Dropped)
	}
	if after.Snapshot < 1<<20 || after.Memory <= 0 || after.Memory > 7<<20 {
		t.Errorf("a machine begins with %d bytes and has %d", after.Snapshot, after.Memory)
	}
}

func TestMachinesAreDropped(t *testing.T) {
	for name, run := range map[string]func(t *testing.T){
		"killed": func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			j := newJob(t, "leak", "spin", "x")
			if err := program(t, "leak").Run(ctx, &j.proc); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		},
		"broken by a stream": func(t *testing.T) {
			j := newJob(t, "errno", "stdout")
			j.proc.Stdout = panicWriter{}
			if n := j.status(t); n != 125 {
				t.Error(n)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := captured(t)
			run(t)
			if after := rt.Stats()[0]; after.Dropped != before.Dropped+1 {
				t.Errorf("%d dropped", after.Dropped-before.Dropped)
			}
		})
	}
	before := captured(t)
	for _, args := range [][]string{{"osexit", "9"}, {"alloc", "2"}, {"alloc", "30"}, {"exit", "0"}} {
		newJob(t, args...).status(t)
		if after := rt.Stats()[0]; after.Dropped != before.Dropped {
			t.Errorf("%q: the machine was dropped", args)
		}
	}
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("in a stream") }

// Commands that start commands that start commands: nobody waits for a
// machine that somebody below holds.
func TestMachinesForChildren(t *testing.T) {
	captured(t)
	args := strings.Fields(strings.Repeat("spawn run ", 30) + "exit 4")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			j := newJob(t, args...)
			j.proc.Spawn = spawner(t, j)
			if n := j.status(t); n != 4 {
				t.Error(n, j.err.String())
			}
		})
	}
	wg.Wait()
}

// Commands that only wait need no machine: one serves them all.
func TestLingerWithoutMachine(t *testing.T) {
	began := time.Now()
	if n := newJob(t, "linger", "50ms").status(t); n != 0 || time.Since(began) < 50*time.Millisecond {
		t.Errorf("status %d after %v", n, time.Since(began))
	}
	if n := newJob(t, "linger", "1h", "failed").status(t); n != 1 { // and does not wait
		t.Error(n)
	}
	before := captured(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	const n = 30
	ended := make(chan error, n)
	for range n {
		j := newJob(t, "linger", "1h")
		go func() { ended <- program(t, "linger").Run(ctx, &j.proc) }()
		for j.out.String() != "lingers" {
			time.Sleep(time.Millisecond)
		}
		for rt.Stats()[0].Ready == 0 { // it has given its machine back, or is about to
			time.Sleep(time.Millisecond)
		}
	}
	if made := rt.Stats()[0].Made - before.Made; made > n/2 {
		t.Errorf("%d commands that wait have had %d machines made", n, made)
	}
	cancel(cause)
	for range n {
		if err := <-ended; !errors.Is(err, cause) {
			t.Error(err)
		}
	}
}

// What waits for work is bounded.
func TestIdleBound(t *testing.T) {
	r, err := wasm.New(wasm.Config{Box: []wasm.Tier{testTier(guest)}, Idle: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for round := range 3 {
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for _, p := range r.Programs() {
					if p.Usage().Name == "sleep" {
						err := p.Run(t.Context(), &sandbox.Proc{Args: []string{"sleep", "5ms"}, Dir: "/", FS: wasmtest.Dir(t, t.TempDir())})
						if err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		if n := r.Stats()[0].Ready; n > 1 {
			t.Errorf("round %d: %d machines wait", round, n)
		}
	}
}

// The box gives Go's runtime fresh randomness for each command in a way that
// hangs on the inside of that runtime. TestLeaks shows that it works; whoever
// comes with a new Go looks at box/build/overlay/runtime.go.txt first.
func TestGoVersionIsKnown(t *testing.T) {
	if v := runtime.Version(); !strings.HasPrefix(v, "go1.26") {
		t.Errorf("this is %s: check that package build reseeds its runtime, then raise this version", v)
	}
}

const secret = "~q7#Kd0!"

// Nothing of a command is left for the next one that runs in the same machine,
// whatever it did and however it ended: where machines show the snapshot, and
// where each has a copy.
func TestLeaks(t *testing.T) {
	t.Run("shown", leaks)
	t.Run("copied", func(t *testing.T) {
		before := rt
		defer func() { rt = before }()
		var err error
		if rt, err = wasm.New(wasm.Config{Box: []wasm.Tier{testTier(guest)}, Tracker: &wasm.Tracker{}}); err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		leaks(t)
		if s := rt.Stats()[0]; s.Memory < s.Snapshot {
			t.Errorf("machines of %d bytes share their %d", s.Memory, s.Snapshot)
		}
	})
}

func leaks(t *testing.T) {
	size := captured(t).Snapshot
	jobs := 1200
	if testing.Short() {
		jobs = 200
	}
	ways := []string{"return", "exit", "panic", "fatal", "grow", "spin", "return", "hunt"}
	var mu sync.Mutex
	drawn := map[string]bool{}
	next := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range next {
				way := ways[i%len(ways)]
				if way != "hunt" {
					leakOnce(t, way, fmt.Sprint(secret, i))
					continue
				}
				random := huntOnce(t, size)
				mu.Lock()
				if drawn[random] {
					t.Error("two commands drew the same numbers")
				}
				drawn[random] = true
				mu.Unlock()
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	t.Logf("%d hunts, %+v", len(drawn), rt.Stats()[0])
}

func leakOnce(t *testing.T, way, s string) {
	j := newJob(t, "leak", way, s, "/"+s)
	j.proc.Env = []string{"SECRET=" + s, s + "=1"}
	j.proc.Dir = "/" + s
	j.proc.Stdin = strings.NewReader(strings.Repeat(s, 100))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if way == "spin" {
		time.AfterFunc(2*time.Millisecond, cancel)
	}
	err := program(t, "leak").Run(ctx, &j.proc)
	var code sandbox.ExitCode
	if err != nil && !errors.As(err, &code) && !errors.Is(err, context.Canceled) {
		t.Errorf("%s: %v", way, err)
	}
}

func huntOnce(t *testing.T, size int64) (random string) {
	j := newJob(t, "hunt", fmt.Sprint(size))
	if n := j.status(t); n != 0 {
		t.Errorf("status %d: %s", n, j.err.String())
	}
	found, random, _ := strings.Cut(j.out.String(), "\n")
	if found != "0 2 [K=v] / 4 <nil> 18 0 0 true 0" {
		t.Errorf("found %s", found)
	}
	return random
}

// As many pipelines at a time as a busy server has; afterwards little is kept.
func TestManyPipelines(t *testing.T) {
	pipelines := 64
	if testing.Short() {
		pipelines = 8
	}
	captured(t)
	text := strings.Repeat("a line of text\n", 10_000)
	var wg sync.WaitGroup
	for range pipelines {
		wg.Go(func() {
			first, second := newJob(t, "cat"), newJob(t, "cat")
			first.proc.Stdin = strings.NewReader(text)
			r, w := io.Pipe()
			first.proc.Stdout, second.proc.Stdin = w, r
			done := make(chan int)
			go func() {
				n := first.status(t)
				w.Close()
				done <- n
			}()
			n := second.status(t)
			if m := <-done; n != 0 || m != 0 || second.out.String() != text {
				t.Errorf("statuses %d and %d, %d bytes", m, n, len(second.out.String()))
			}
		})
	}
	wg.Wait()
	if s := rt.Stats()[0]; int64(s.Ready)*s.Memory > 128<<20+s.Memory {
		t.Errorf("%d machines of %d bytes wait", s.Ready, s.Memory)
	}
}
