package worker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/worker"
)

// TestDeath ends workers in every way. Each time the line is told why, what it
// wrote before is there, files are whole, and the next line runs at once.
//
// Threats: WO-3.
func TestDeath(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Setup.Limits = sandbox.Limits{Timeout: -1, Memory: 32 << 20, Session: 64 << 20}
	c.Limits.Memory = 512 << 20
	p := pool(t, c)
	ctx := as(t.Context(), "a")
	for i, tt := range []struct{ line, why, signal string }{
		{"hog", "memory limit 512 MiB (raise with --memory)", ""},
		{"recurse", "recursion limit: stack of 64 MiB", ""},
		{"crash", "it failed with status 2", ""},
	} {
		r := do(ctx, p, "echo "+strconv.Itoa(i)+" > kept; echo before; "+tt.line+"; echo after")
		var lost *worker.LostError
		if !errors.As(r.fail, &lost) || lost.Why != tt.why || lost.Signal() != tt.signal || r.status != sandbox.StatusKilled {
			t.Errorf("%s: status %d, error %v", tt.line, r.status, r.fail)
		}
		if r.out != "before\n" || r.err != "donax: worker lost: "+tt.why+"\n" {
			t.Errorf("%s: wrote %q, said %q", tt.line, r.out, r.err)
		}
		if r := do(ctx, p, "cat kept"); r.out != strconv.Itoa(i)+"\n" || r.status != 0 {
			t.Errorf("after %s: %+v", tt.line, r)
		}
	}
}

// TestCPULimit: a worker that has used up its CPU time says so.
//
// Threats: WO-3.
func TestCPULimit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no such limit")
	}
	c := config(t)
	c.Setup.Limits = sandbox.Limits{Timeout: -1}
	c.Limits.CPU = 2 * time.Second
	r := do(as(t.Context(), "a"), pool(t, c), "echo before; while :; do :; done")
	var lost *worker.LostError
	if !errors.As(r.fail, &lost) || r.status != sandbox.StatusKilled || r.out != "before\n" || r.err != "donax: worker lost: CPU limit 2s\n" {
		t.Errorf("%+v", r)
	}
}

// A watcher sees output as it comes.
type watcher struct {
	mu  sync.Mutex
	b   bytes.Buffer
	has chan string // each write
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.has <- string(p):
	default:
	}
	return w.b.Write(p)
}

func begin(ctx context.Context, t *testing.T, p *worker.Pool, line string) (w *watcher, ended chan result) {
	t.Helper()
	c, err := p.Inspect(ctx, policy.Command{Text: line})
	if err != nil {
		t.Fatal(err)
	}
	w, ended = &watcher{has: make(chan string, 16)}, make(chan result, 1)
	go func() {
		var errw bytes.Buffer
		status, err := p.Run(ctx, c, nil, w, &errw)
		ended <- result{w.b.String(), errw.String(), status, err}
	}()
	return w, ended
}

// TestKilledFromOutside kills workers as the system would, at any moment, beside
// a line of the same principal and one of another that must notice nothing.
//
// Threats: WO-4.
func TestKilledFromOutside(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("processes are killed by signal")
	}
	p := pool(t, config(t))
	a, b := as(t.Context(), "a"), as(t.Context(), "b")
	tick := "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done"
	_, same := begin(a, t, p, tick)
	_, other := begin(b, t, p, tick)
	for i, line := range []string{
		"pid; sleep 60", "pid; while :; do :; done", "pid; yes", "pid; while :; do echo x > f; done", "pid; cat | cat; sleep 60", "pid; stuck",
	} {
		w, ended := begin(a, t, p, line)
		pid, err := strconv.Atoi(strings.Fields(<-w.has)[0])
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 20 * time.Millisecond)
		if proc, err := os.FindProcess(pid); err != nil || proc.Kill() != nil {
			t.Fatal("no such worker")
		}
		r := within(t, ended)
		var lost *worker.LostError
		if !errors.As(r.fail, &lost) || lost.Signal() != "SIGKILL" || r.status != 137 || !strings.HasPrefix(r.out, strconv.Itoa(pid)+"\n") {
			t.Errorf("%s: %d %v %.100q %q", line, r.status, r.fail, r.out, r.err)
		}
	}
	for _, ch := range []chan result{same, other} {
		if r := within(t, ch); r.status != 0 || r.out != "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n" {
			t.Errorf("a bystander: %+v", r)
		}
	}
}

// within fails when a run does not end; the bound is far beyond what it takes.
func within(t *testing.T, ended chan result) result {
	t.Helper()
	select {
	case r := <-ended:
		return r
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not end")
		return result{}
	}
}

// TestKill stops lines that do not want to: what runs in a worker is dead when
// Run returns, even what cannot be stopped from inside.
//
// Threats: WO-6.
func TestKill(t *testing.T) {
	t.Parallel()
	p := pool(t, config(t))
	for _, line := range []string{"pid; sleep 60", "pid; while :; do :; done", "pid; stuck", "pid; yes", "pid; (sleep 60 & sleep 60 & wait)"} {
		ctx, cancel := context.WithCancel(as(t.Context(), "a"))
		w, ended := begin(ctx, t, p, line)
		said := <-w.has
		for strings.Contains(line, "stuck") && !strings.Contains(said, "stuck") {
			said += <-w.has
		}
		pid := strings.Fields(said)[0]
		cancel()
		r := within(t, ended)
		if r.status != 137 || !errors.Is(r.fail, context.Canceled) || !strings.Contains(r.err, "donax: killed\n") {
			t.Errorf("%s: %d %v %q", line, r.status, r.fail, r.err)
		}
		if strings.Contains(line, "stuck") && running(pid) {
			t.Errorf("%s: process %s is there still", line, pid)
		}
	}
}

// TestDeadline ends lines at the time of whoever runs them, also one that
// cannot be stopped from inside.
//
// Threats: WO-6.
func TestDeadline(t *testing.T) {
	t.Parallel()
	p := pool(t, config(t))
	for _, line := range []string{"pid; sleep 60", "pid; stuck"} {
		c, err := p.Inspect(as(t.Context(), "a"), policy.Command{Text: line})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(as(t.Context(), "a"), time.Second)
		status, err := p.Run(ctx, c, nil, io.Discard, io.Discard)
		if status != 124 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %d %v", line, status, err)
		}
		cancel()
	}
}

// running reports whether a process is there; where it cannot be seen, it is not.
func running(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return err == nil
}

// TestNothingIsLeft counts what a pool leaves behind.
//
// Threats: WO-6.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	files := descriptors()
	c := config(t)
	p, err := worker.NewPool(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	var all []chan result
	for _, line := range []string{"pid; sleep 60", "pid; stuck", "pid; exec 3>a 4>b; yes >&3", "pid"} {
		w, ended := begin(as(t.Context(), "a"), t, p, line)
		pids = append(pids, strings.Fields(<-w.has)[0])
		all = append(all, ended)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if running(pid) {
			t.Errorf("process %s is left", pid)
		}
	}
	for _, ch := range all {
		within(t, ch)
	}
	if r := do(as(t.Context(), "a"), p, "echo"); !errors.Is(r.fail, worker.ErrClosed) {
		t.Errorf("a closed pool: %+v", r)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before && descriptors() <= files {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, were %d; %d descriptors, were %d\n%s", runtime.NumGoroutine(), before, descriptors(), files, buf[:runtime.Stack(buf, true)])
}

// descriptors counts the open files of this process, where that can be seen.
func descriptors() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}
