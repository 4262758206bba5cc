package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// A program that does not stop is left behind without its streams and files.
func TestStuckProgram(t *testing.T) {
	t.Parallel()
	var begun context.CancelFunc
	release, finished := make(chan struct{}), make(chan [3]error, 1)
	p := fake{"stuck", func(ctx context.Context, p *sandbox.Proc) error {
		f, err := p.FS.Open("/workspace/f", 0o101, 0o644) // write, create
		if err != nil {
			return err
		}
		begun()
		<-release
		_, outErr := io.WriteString(p.Stdout, "late\n")
		_, fileErr := io.WriteString(f, "late")
		finished <- [3]error{outErr, fileErr, p.FS.Mkdir("/workspace/late", 0o755)}
		return nil
	}}
	fsys := newFS(t)
	s := newSessionFS(t, fsys, policy.AllowAll{}, func(c *sandbox.Config) { c.Programs = append(c.Programs, p) })
	for _, line := range []string{"stuck", "stuck | cat", "x=$(stuck)", "env stuck", "stuck & wait"} {
		release = make(chan struct{})
		var out, errw bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		begun = cancel
		status, err := s.Run(ctx, policy.Command{Text: line}, nil, &out, &errw)
		if !errors.Is(err, sandbox.ErrAbandoned) || !strings.Contains(errw.String(), "abandoned") || status == 0 {
			t.Errorf("%s: %d, %v, %q", line, status, err, &errw)
		}
		close(release)
		for i, err := range <-finished {
			if err == nil {
				t.Errorf("%s: effect %d of a program that was left behind", line, i)
			}
		}
		if text, _ := readFile(t, fsys, "/workspace/f"); text != "" || out.Len() > 0 {
			t.Errorf("%s: wrote %q %q", line, text, &out)
		}
		if _, err := fsys.Stat("/workspace/late"); err == nil {
			t.Error("made a folder")
		}
	}
}

// blockedWriter blocks from its first write on, after saying so.
type blockedWriter struct {
	entered func()
	closed  chan struct{}
}

func (w blockedWriter) Write(p []byte) (int, error) { w.entered(); <-w.closed; return len(p), nil }

// A caller that reads no output cannot keep Run from returning.
func TestStuckWriter(t *testing.T) {
	t.Parallel()
	s := newSession(t, policy.AllowAll{}, nil)
	for _, line := range []string{"echo hi", "yes", "yes | cat"} {
		ctx, cancel := context.WithCancel(t.Context())
		w := blockedWriter{cancel, make(chan struct{})}
		status, err := s.Run(ctx, policy.Command{Text: line}, nil, w, w)
		close(w.closed)
		if status != 137 || !errors.Is(err, sandbox.ErrAbandoned) {
			t.Errorf("%s: %d, %v", line, status, err)
		}
	}
}

// Obligations of an exec decision bind the program it is about.
func TestObligations(t *testing.T) {
	var memory atomic.Int64
	p := fake{"mem", func(_ context.Context, p *sandbox.Proc) error { memory.Store(p.Memory); return nil }}
	engine := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		d := policy.Decision{Effect: policy.Allow}
		if a.Exec != nil && len(a.Exec.Args) > 0 && a.Exec.Args[0] == "limited" {
			d.Limits = policy.Limits{MemoryBytes: 1 << 20}
			d.Warnings = []policy.Reason{{Msg: "mind the limits"}}
		}
		return d, nil
	})
	s := newSession(t, engine, func(c *sandbox.Config) { c.Programs = append(c.Programs, p) })
	do(t, s, "mem", "")
	if memory.Load() != sandbox.DefaultLimits.Memory {
		t.Errorf("memory %d", memory.Load())
	}
	_, errw, _, _ := do(t, s, "mem limited", "")
	if memory.Load() != 1<<20 || errw != "donax: warning: mem: mind the limits\n" {
		t.Errorf("memory %d, %q", memory.Load(), errw)
	}
}

// A limit on one program ends that program, with what it started, says so with
// a status of its own, and lets the script go on.
func TestLimitsOfOneProgram(t *testing.T) {
	t.Parallel()
	hold := fake{"hold", func(ctx context.Context, _ *sandbox.Proc) error { <-ctx.Done(); return ctx.Err() }}
	big := fake{"big", func(_ context.Context, p *sandbox.Proc) error {
		if p.Memory < 2<<20 {
			return &sandbox.LimitError{What: "memory 1 MiB", Flag: "--memory"}
		}
		return nil
	}}
	slow := &loader{fake: fake{"slow", func(_ context.Context, p *sandbox.Proc) error {
		_, err := io.WriteString(p.Stdout, "ran\n")
		return err
	}}}
	engine := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		d := policy.Decision{Effect: policy.Allow}
		if a.Exec != nil && a.Exec.Name != "env" && slices.Contains(a.Exec.Args, "bounded") {
			for arg, l := range map[string]policy.Limits{"out": {OutputBytes: 100}, "ms": {TimeoutMS: 50}, "two": {Commands: 2}, "mem": {MemoryBytes: 1 << 20}} {
				if slices.Contains(a.Exec.Args, arg) {
					d.Limits = d.Limits.Least(l)
				}
			}
		}
		return d, nil
	})
	s := newSession(t, engine, func(c *sandbox.Config) { c.Programs = append(c.Programs, hold, big, slow) })
	for line, want := range map[string]string{
		"hold bounded ms":                                                 "124|hold: limit: time 50ms (set by policy)",
		"env hold bounded ms":                                             "124|hold: limit: time 50ms (set by policy)",
		"hold bounded ms | cat":                                           "0|hold: limit: time 50ms (set by policy)",
		"x=$(hold bounded ms)":                                            "124|hold: limit: time 50ms (set by policy)",
		"hold bounded ms & wait $!":                                       "124|hold: limit: time 50ms (set by policy)",
		"sh -c 'hold; echo not reached' bounded ms":                       "124|sh: limit: time 50ms (set by policy)",
		"sh -c 'while :; do :; done' bounded ms":                          "124|sh: limit: time 50ms (set by policy)",
		"sh -c 'hold & hold | cat' bounded ms":                            "124|sh: limit: time 50ms (set by policy)",
		"yes bounded out >/dev/null":                                      "137|yes: limit: output of 100 bytes (set by policy)",
		"yes bounded out | cat >/dev/null":                                "0|yes: limit: output of 100 bytes (set by policy)",
		"sh -c yes bounded out >f":                                        "137|sh: limit: output of 100 bytes (set by policy)",
		"sh -c 'while :; do echo y; done' bounded out >f":                 "137|sh: limit: output of 100 bytes (set by policy)",
		"sh -c 'cat /dev/null; cat /dev/null; cat /dev/null' bounded two": "137|sh: limit: 2 commands (set by policy)",
		"sh -c 'sh -c \"cat /dev/null; cat /dev/null\"; echo not reached' bounded two": "137|sh: limit: 2 commands (set by policy)",
		"sh -c 'cat /dev/null; cat /dev/null' bounded two":                             "0|",
		"big bounded mem":                  "137|big: limit: memory 1 MiB (set by policy)",
		"sh -c 'big; exit $?' bounded mem": "137|big: limit: memory 1 MiB (set by policy)",
		"slow bounded ms > f; cat f > g":   "0|",
	} {
		out, errw, status, err := do(t, s, line+"; echo after $?", "")
		code, text, _ := strings.Cut(want, "|")
		if out != "after "+code+"\n" || strings.TrimSuffix(errw, "\n") != text || status != 0 || err != nil {
			t.Errorf("%s: %q %q %d %v", line, out, errw, status, err)
		}
	}
	if slow.loads.Load() != 1 {
		t.Errorf("loaded %d times", slow.loads.Load())
	}
	// The line's own limits still end the line, also inside a bounded program.
	s = newSession(t, engine, func(c *sandbox.Config) { c.Limits.Commands = 3 })
	if out, errw, status, _ := do(t, s, "sh -c 'cat /dev/null; cat /dev/null; cat /dev/null' bounded out; echo after", ""); out != "" || status != 137 || errw != "donax: limit: 3 commands\n" {
		t.Errorf("%q %q %d", out, errw, status)
	}
}

// loader takes longer to load than it may run.
type loader struct {
	fake
	loads atomic.Int64
}

func (l *loader) Load(context.Context) error {
	l.loads.Add(1)
	time.Sleep(100 * time.Millisecond)
	return nil
}

// An engine that hangs until its context ends does not keep a script alive.
func TestSlowEngine(t *testing.T) {
	engine := policy.EngineFunc(func(ctx context.Context, a policy.Action) (policy.Decision, error) {
		<-ctx.Done()
		return policy.Decision{Effect: policy.Allow}, ctx.Err()
	})
	s := newSession(t, engine, func(c *sandbox.Config) { c.Limits.Timeout = 20 * time.Millisecond })
	if _, errw, status, err := do(t, s, "rm x; echo after", ""); status != 124 || errors.Is(err, sandbox.ErrAbandoned) || strings.Contains(errw, "denied") {
		t.Errorf("%q %d %v", errw, status, err)
	}
}
