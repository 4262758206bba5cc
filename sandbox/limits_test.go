package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Each limit ends the whole script, wherever it is reached, with one line and
// its status.
//
// Threats: SH-5.
func TestLimits(t *testing.T) {
	small := sandbox.Limits{Timeout: time.Minute, Output: 1000, Commands: 200, Jobs: 4, Stages: 8, Files: 5, Depth: 50, Source: 5000, Nesting: 40, Memory: 1 << 20}
	short := small
	short.Timeout, short.Output = 50*time.Millisecond, 1<<30
	for _, c := range []struct {
		line   string
		limits sandbox.Limits
		what   string
		status int
	}{
		{"while :; do :; done", short, "time 50ms (raise with --timeout)", 124},
		{"sleep", short, "time", 124},
		{"sleep | cat; echo after", short, "time", 124},
		{"x=$(sleep); echo after", short, "time", 124},
		{"sleep & wait", short, "time", 124},
		{"xargs sleep; echo after", short, "time", 124},
		{"read x < /workspace/none; yes >/dev/null", short, "time", 124},
		{"for ((;;)); do :; done", short, "time", 124},
		{"until false; do :; done | cat", short, "time", 124},
		{"yes", small, "output of 1000 bytes (raise with --output)", 137},
		{"yes; echo after", small, "output", 137},
		{"yes >&2", small, "output", 137},
		{"yes | cat", small, "output", 137},
		{"while :; do echo y; done", small, "output", 137},
		{"yes >&2 | cat; echo after", small, "output", 137},
		{"x=$(yes >&2); echo after", small, "output", 137},
		{"(yes) ; echo after", small, "output", 137},
		{"env yes", small, "output", 137},
		{"sh -c yes; echo after", small, "output", 137},
		{"yes & wait; echo after", small, "output", 137},
		{"x=$(yes); echo after", small, "command substitution of 256 KiB", 137},
		{"x=$(while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done); echo after", small, "command substitution", 137},
		{"f() { f; }; f", small, "depth 50", 137},
		{"f() { eval f; }; f", small, "depth 50", 137},
		{"f() { x=$(f); }; f; echo after", small, "depth 50", 137},
		{"a() { b; }; b() { a; }; a | cat; echo after", small, "depth 50", 137},
		{"f() { f; }; f & wait; echo after", small, "depth 50", 137},
		{"(f() { (f); }; f)", small, "depth 50", 137},
		{"echo '. ./s' > s; . ./s", small, "depth 50", 137},
		{"echo './s' > s; chmod +x s; ./s", small, "depth 50", 137},
		{"trap f EXIT; f() { f; }", small, "depth 50", 137},
		{"while true_; do :; done", small, "200 commands", 137},
		{"while :; do sh -c true_; done", small, "200 commands", 137},
		{"while :; do x=$(true_); done; echo after", small, "200 commands", 137},
		{"while true_; do :; done | cat; echo after", small, "200 commands", 137},
		{"while :; do sleep & done; echo after", small, "4 background jobs", 137},
		{"f() { f & f & }; f; sleep; echo after", small, "", 137},
		{":(){ :|:& };:\nsleep", small, "", 137},
		{"f() { f | f; }; f; echo after", small, "", 137},
		{"cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat; echo after", small, "8 pipeline stages", 137},
		{"for i in 1 2 3 4 5 6 7 8 9; do exec {fd}>> f$i; done; echo after", small, "5 open files", 137},
		{"eval \"" + strings.Repeat("(", 400) + "\"; echo after", small, "nesting of 40", 137},
		{"x='(((((((((('; x=$x$x$x$x; x=$x$x$x$x; eval \"$x\"; echo after", small, "nesting of 40", 137},
		{"x='((((((((('; x=$x$x$x$x$x; trap \"$x$x$x\" EXIT", small, "nesting of 40", 137},
		{"x='((((((((('; x=$x$x$x$x$x; echo \"$x$x$x\" > s; . ./s; echo after", small, "nesting of 40", 137},
		{"x='((((((((('; x=$x$x$x$x$x; sh -c \"$x$x$x\"; echo after", small, "nesting of 40", 137},
		{"x='aaaaaaaaaa'; x=$x$x$x$x$x$x$x$x; x=$x$x$x$x$x$x$x$x; eval \"$x$x$x$x$x$x$x$x\"; echo after", small, "source text of 5000 bytes", 137},
		{"yes | sh; echo after", small, "source text of 5000 bytes", 137},
	} {
		t.Run(c.line[:min(len(c.line), 50)], func(t *testing.T) {
			t.Parallel()
			s := newSession(t, policy.AllowAll{}, func(cfg *sandbox.Config) { cfg.Limits = c.limits })
			out, errw, status, err := do(t, s, c.line, "")
			var le *sandbox.LimitError
			if !errors.As(err, &le) || errors.Is(err, sandbox.ErrAbandoned) {
				t.Errorf("error %v", err)
			}
			last := errw[strings.LastIndexByte(strings.TrimSuffix(errw, "\n"), '\n')+1:]
			if status != c.status || !strings.HasPrefix(last, "donax: limit: "+c.what) || strings.Count(errw, "donax:") != 1 || strings.Contains(out, "after") {
				t.Errorf("status %d, stderr ends %q, stdout %.100q", status, last, out)
			}
			if len(out) > 1000 {
				t.Errorf("%d bytes of output", len(out))
			}
		})
	}
}

// Text that is too much is refused before anything runs, in no time.
//
// Threats: SH-4.
func TestSourceLimits(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, text := range []string{
		strings.Repeat("(", 100_000), strings.Repeat("{ ", 50_000), strings.Repeat("$(", 20_000) + strings.Repeat(")", 20_000), strings.Repeat(`"${a:-`, 20_000),
		"$((" + strings.Repeat("(", 50_000), strings.Repeat("if ", 50_000), strings.Repeat("a=( $(", 20_000), strings.Repeat("${a[", 20_000), strings.Repeat("time ", 50_000),
		strings.Repeat("a&&", 20_000) + "a", strings.Repeat("a|", 20_000) + "a", strings.Repeat("f() ", 50_000), strings.Repeat("case x in a) ", 20_000),
		strings.Repeat("echo\n", 1<<20),
	} {
		_, err := s.Inspect(t.Context(), policy.Command{Text: text})
		var le *sandbox.LimitError
		if !errors.As(err, &le) {
			t.Errorf("%.20q...: error %v", text, err)
		}
		_, err = s.Run(t.Context(), policy.Command{Text: text}, nil, io.Discard, io.Discard)
		if chain := strings.HasPrefix(text, "a&&"); chain && err != nil || !chain && !errors.As(err, &le) { // the shell runs chains in a loop
			t.Errorf("%.20q...: Run: error %v", text, err)
		}
	}
}

// What a caller lowers is lowered, and what a caller raises is not.
func TestCommandLimits(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, func(c *sandbox.Config) { c.Limits.Commands = 10 })
	for want, l := range map[int64]policy.Limits{10: {Commands: 1000}, 5: {Commands: 5}} {
		c, err := s.Inspect(t.Context(), policy.Command{Text: "i=0; while true_; do echo $((++i)); done", Limits: l})
		if err != nil || c.Limits.Commands != want {
			t.Fatalf("limit %d, want %d, %v", c.Limits.Commands, want, err)
		}
		var out bytes.Buffer
		status, _ := s.Run(t.Context(), c, nil, &out, io.Discard)
		if n := strings.Count(out.String(), "\n"); status != 137 || int64(n) != want {
			t.Errorf("%d turns and status %d with a limit of %d", n, status, want)
		}
	}
}

// Cancelling ends everything soon, and nothing is left.
func TestCancel(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, line := range []string{"sleep", "sleep | sleep", "sleep & sleep & wait", "while :; do :; done", "cat", "read x", "x=$(sleep)", "sh -c sleep", "env sleep", "cat | head1", "yes | cat >/dev/null", "yes > f", "mapfile x", "trap 'echo no' EXIT; sleep"} {
		before := runtime.NumGoroutine()
		ctx, cancel := context.WithCancel(context.Background())
		in, w := io.Pipe() // never written
		time.AfterFunc(20*time.Millisecond, cancel)
		start := time.Now()
		var errw bytes.Buffer
		status, err := s.Run(ctx, policy.Command{Text: line}, in, io.Discard, &errw)
		took := time.Since(start)
		if status != 137 || !errors.Is(err, context.Canceled) || errors.Is(err, sandbox.ErrAbandoned) || errw.String() != "donax: killed\n" {
			t.Errorf("%s: %d, %v, %q", line, status, err, errw.String())
		}
		if took > 2*time.Second {
			t.Errorf("%s: took %v", line, took)
		}
		w.Close()
		settle(t, line, before)
	}
}

// settle waits until no more goroutines run than before.
func settle(t *testing.T, what string, before int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%s: %d goroutines, %d before\n%s", what, runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

// What a script leaves in the background ends with it.
func TestNothingOutlivesRun(t *testing.T) {
	fsys := newFS(t)
	s := newSessionFS(t, fsys, policy.AllowAll{}, nil)
	before := runtime.NumGoroutine()
	for _, line := range []string{"(sleep; echo late > late) & echo started", "{ while :; do echo x >> late; done; } & :", "(sleep; echo late > late) | cat & disown 2>/dev/null; true"} {
		if _, _, status, err := do(t, s, line, ""); status != 0 || err != nil {
			t.Errorf("%s: %d, %v", line, status, err)
		}
	}
	settle(t, "background", before)
	text, _ := readFile(t, fsys, "/workspace/late")
	time.Sleep(20 * time.Millisecond)
	if again, _ := readFile(t, fsys, "/workspace/late"); again != text || strings.Contains(text, "late") {
		t.Errorf("late changed from %d to %d bytes", len(text), len(again))
	}
}
