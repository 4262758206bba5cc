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
	"sync/atomic"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/worker"
)

func pidOf(t *testing.T, p *worker.Pool, sub string) string {
	t.Helper()
	r := do(as(t.Context(), sub), p, "pid")
	if r.status != 0 {
		t.Fatalf("%+v", r)
	}
	return strings.TrimSpace(r.out)
}

// TestReuse: a worker goes on serving its principal, and never another.
//
// Threats: WO-8.
func TestReuse(t *testing.T) {
	t.Parallel()
	p := pool(t, config(t))
	first := pidOf(t, p, "a")
	seen := map[string]bool{}
	for range 5 {
		if got := pidOf(t, p, "a"); got != first {
			t.Errorf("a line got process %s, the one before it %s", got, first)
		}
		seen[pidOf(t, p, "b")] = true
	}
	if seen[first] {
		t.Error("a worker served two principals")
	}
}

// TestOwnProcess: running terminals have processes of their own, as long as
// there are enough, and then share those of their own principal.
//
// Threats: WO-8.
func TestOwnProcess(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		level worker.Isolation
		max   int
		want  int
	}{{worker.PerTerminal, 8, 4}, {worker.PerTerminal, 2, 2}, {worker.PerSession, 8, 1}} {
		c := config(t)
		c.Isolation, c.Limits.Max = tt.level, tt.max
		p := pool(t, c)
		ctx, cancel := context.WithCancel(as(t.Context(), "a"))
		pids := map[string]bool{}
		var all []chan result
		for range 4 {
			w, ended := begin(ctx, t, p, "pid; sleep 60")
			pids[strings.Fields(<-w.has)[0]] = true
			all = append(all, ended)
		}
		if len(pids) != tt.want {
			t.Errorf("isolation %s, at most %d: 4 terminals in %d processes, want %d", tt.level, tt.max, len(pids), tt.want)
		}
		if tt.max == 2 {
			// All are taken: another principal waits for one, and never shares.
			short, stop := context.WithTimeout(as(t.Context(), "b"), 100*time.Millisecond)
			if r := do(short, p, "pid"); !errors.Is(r.fail, context.DeadlineExceeded) {
				t.Errorf("another principal: %+v", r)
			}
			stop()
		}
		cancel()
		for _, ch := range all {
			within(t, ch)
		}
		if tt.max == 2 {
			if got := pidOf(t, p, "b"); pids[got] {
				t.Error("another principal got a used worker")
			}
		}
		p.Close()
	}
}

// TestRetire: an idle worker ends, and a fresh one is there.
func TestRetire(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Limits.Idle, c.Limits.Warm = 50*time.Millisecond, 1
	p := pool(t, c)
	pid := pidOf(t, p, "a")
	for range 5000 {
		if s := p.Stats(); s.Idle == 0 && s.Fresh == 1 && !running(pid) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%+v, process %s runs: %v", p.Stats(), pid, running(pid))
}

// A counting engine says who asks and how often.
type counting struct {
	asked    atomic.Int64
	deny     atomic.Bool
	repeats  bool
	constant bool
	subjects sync.Map
}

func (e *counting) Decide(_ context.Context, a policy.Action) (policy.Decision, error) {
	e.asked.Add(1)
	e.subjects.Store(a.Principal.Sub+"/"+a.Terminal.ID, true)
	if e.deny.Load() {
		return policy.Decision{Reasons: []policy.Reason{{Msg: "stopped"}}}, nil
	}
	return policy.Decision{Effect: policy.Allow}, nil
}

func (e *counting) Repeats(policy.Action) bool { return e.repeats }

func (e *counting) Constant(policy.Kind) (policy.Decision, bool) {
	return policy.Decision{Effect: policy.Allow}, e.constant && !e.deny.Load()
}

// TestDecisions: every program is asked about in the server, as who is known
// there, unless the policy says that the answer holds.
//
// Threats: WO-9.
func TestDecisions(t *testing.T) {
	t.Parallel()
	loop := "for i in 1 2 3 4 5 6 7 8 9 10; do env true; done"
	for _, tt := range []struct {
		name     string
		e        *counting
		min, max int64
	}{{"each", &counting{}, 20, 1000}, {"facts", &counting{repeats: true}, 2, 12}, {"constant", &counting{constant: true}, 0, 0}} {
		c := config(t)
		c.Policy = tt.e
		p := pool(t, c)
		ctx := policy.WithSubject(t.Context(), policy.Subject{Principal: policy.Principal{Sub: "a"}, Terminal: policy.Terminal{ID: "t1"}})
		if r := do(ctx, p, loop); r.status != 0 {
			t.Fatalf("%s: %+v", tt.name, r)
		}
		if n := tt.e.asked.Load(); n < tt.min || n > tt.max {
			t.Errorf("%s: asked %d times", tt.name, n)
		}
		tt.e.subjects.Range(func(k, _ any) bool {
			if k != "a/t1" {
				t.Errorf("%s: asked for %v", tt.name, k)
			}
			return true
		})
		// When the policy changes, what was kept is void at once, in a line that
		// runs already.
		w, ended := begin(ctx, t, p, "while env echo x; do :; done")
		<-w.has
		tt.e.deny.Store(true)
		p.Forget()
		if r := within(t, ended); r.status != 0 || !strings.Contains(r.err, "denied by policy: stopped") {
			t.Errorf("%s, after the change: %d %v %.200q", tt.name, r.status, r.fail, r.err)
		}
		p.Close()
	}
}

// TestFailures: what cannot be decided is denied, and what cannot start is said.
//
// Threats: WO-9.
func TestFailures(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Policy = policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) {
		return policy.Decision{ID: "d7"}, &policy.Failure{Class: policy.FailTimeout, Err: errors.New("rule x of /etc/rules")}
	})
	p := pool(t, c)
	r := do(as(t.Context(), "a"), p, "env true")
	if r.status != 126 || !strings.Contains(r.err, "policy could not decide: timeout") || strings.Contains(r.err, "/etc/rules") {
		t.Errorf("%+v", r)
	}
	c.Policy = nil
	if r := do(as(t.Context(), "a"), pool(t, c), "env true"); r.status != 126 || !strings.Contains(r.err, "no policy engine") {
		t.Errorf("%+v", r)
	}
	for _, bad := range []worker.Config{{}, {Isolation: worker.None, Argv: c.Argv}, {Isolation: worker.PerTerminal}} {
		if _, err := worker.NewPool(t.Context(), bad); err == nil {
			t.Errorf("%+v makes a pool", bad)
		}
	}
	c.Argv = []string{c.Argv[0], "-test.run=^$"} // it says nothing, and ends
	if _, err := worker.NewPool(t.Context(), c); err == nil || !strings.Contains(err.Error(), "cannot start") {
		t.Errorf("a worker that is none: %v", err)
	}
}

// TestKeptShell: the state of a shell goes from line to line in its worker, and
// its loss is told once.
func TestKeptShell(t *testing.T) {
	t.Parallel()
	p := pool(t, config(t))
	sh := p.NewShell()
	defer sh.Close()
	ctx := as(t.Context(), "a")
	run := func(line string) result {
		c, err := sh.Inspect(ctx, policy.Command{Text: line})
		if err != nil {
			return result{fail: err}
		}
		var out, errw bytes.Buffer
		status, err := sh.Run(ctx, c, nil, &out, &errw)
		return result{out.String(), errw.String(), status, err}
	}
	run("mkdir d; cd d; x=1; f(){ echo \"f $x $PWD\"; }")
	if r := run("f; pid"); !strings.HasPrefix(r.out, "f 1 /workspace/d\n") {
		t.Errorf("%+v", r)
	}
	if r := do(ctx, p, "echo ${x-unset} $PWD"); r.out != "unset /workspace\n" {
		t.Errorf("another terminal: %+v", r)
	}
	run("crash")
	if r := run("f"); r.fail == nil || !strings.Contains(r.fail.Error(), "without its variables") {
		t.Errorf("after the worker was lost: %+v", r)
	}
	if r := run("echo ${x-unset}; cd d; pwd"); r.out != "unset\n/workspace/d\n" {
		t.Errorf("the new shell: %+v", r)
	}
	if err := sh.Close(); err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s.Busy != 0 {
		t.Errorf("%+v", s)
	}
}

// TestNextAfterKills: however many workers are killed at once, the next line
// runs as if nothing had been.
//
// Threats: WO-4.
func TestNextAfterKills(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Limits.Max = 8
	p := pool(t, c)
	a := as(t.Context(), "a")
	for round := range 2 {
		ctx, cancel := context.WithCancel(a)
		var pids []int
		var all []chan result
		for range 3 {
			w, ended := begin(ctx, t, p, "pid; sleep 600")
			pid, err := strconv.Atoi(strings.Fields(<-w.has)[0])
			if err != nil {
				t.Fatal(err)
			}
			pids, all = append(pids, pid), append(all, ended)
		}
		cancel()
		for _, ch := range all {
			within(t, ch)
		}
		for _, pid := range pids {
			if proc, err := os.FindProcess(pid); err != nil || proc.Kill() != nil {
				t.Log("a worker was gone already")
			}
		}
		if r := do(a, p, "cat; echo hi"); r.out != "in\nhi\n" || r.err != "" || r.status != 0 || r.fail != nil {
			t.Errorf("round %d: %+v", round, r)
		}
	}
	if s := p.Stats(); s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}

// TestWidth: a line that lasts gets the processors that there are, and one that
// comes after a while begins on one again.
func TestWidth(t *testing.T) {
	t.Parallel()
	p := pool(t, config(t))
	ctx := as(t.Context(), "a")
	_, ended := begin(ctx, t, p, "until [ $(width) = "+strconv.Itoa(min(4, runtime.NumCPU()))+" ]; do :; done")
	if r := within(t, ended); r.status != 0 {
		t.Errorf("%+v", r)
	}
	for range 100 {
		time.Sleep(600 * time.Millisecond)
		if r := do(ctx, p, "width"); r.out == "1\n" {
			return
		}
	}
	t.Error("it stays wide")
}

// TestFolders: a line starts where it would without a worker, through links and
// in folders that only a worker has.
func TestFolders(t *testing.T) {
	t.Parallel()
	p, s := pool(t, config(t)), here(t, policy.AllowAll{}, sandbox.Limits{})
	ctx := as(t.Context(), "a")
	lay := "mkdir -p a/b; ln -s a/b link; ln -s /dev out; echo $PWD"
	for _, r := range []result{do(ctx, p, lay), doHere(ctx, s, lay)} {
		if r.out != "/workspace\n" || r.status != 0 {
			t.Fatalf("%+v", r)
		}
	}
	for _, tt := range []struct {
		cwd  string
		env  []string
		want string
	}{
		{"/workspace/a/b", nil, "/workspace/a/b /workspace/a/b\n"},
		{"/workspace/link/", nil, "/workspace/a/b /workspace/a/b\n"},
		{"/workspace/link", []string{"PWD=/workspace/link"}, "/workspace/link /workspace/a/b\n"},
		{"/workspace/link", []string{"PWD=/tmp"}, "/workspace/a/b /workspace/a/b\n"},
		{"/workspace/out", nil, "/dev /dev\n"},
		{"/dev", nil, "/dev /dev\n"},
		{"/", nil, "/ /\n"},
	} {
		for _, r := range []interface {
			Inspect(context.Context, policy.Command) (policy.Command, error)
			Run(context.Context, policy.Command, io.Reader, io.Writer, io.Writer) (int, error)
		}{p, s} {
			c, err := r.Inspect(ctx, policy.Command{Text: "echo $PWD $(pwd -P)", Cwd: tt.cwd, Environ: tt.env})
			if err != nil {
				t.Errorf("%s: %v", tt.cwd, err)
				continue
			}
			var out, errw bytes.Buffer
			if status, err := r.Run(ctx, c, nil, &out, &errw); status != 0 || err != nil || out.String() != tt.want {
				t.Errorf("%T %s %v: %d %v %q %q", r, tt.cwd, tt.env, status, err, out.String(), errw.String())
			}
		}
	}
}
