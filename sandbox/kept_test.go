package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// next inspects and runs a line in a kept shell.
func next(t *testing.T, k *sandbox.Shell, c policy.Command) (out, errw string, status int, err error) {
	t.Helper()
	c, err = k.Inspect(t.Context(), c)
	if err != nil {
		return "", err.Error(), 0, err
	}
	var o, e strings.Builder
	status, err = k.Run(t.Context(), c, nil, &o, &e)
	return o.String(), e.String(), status, err
}

func TestShell(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	k, other := s.NewShell(), s.NewShell()
	for _, c := range []struct{ line, out string }{
		{"mkdir_() { echo made $1; }; export X=1; y=2; cd /tmp", ""},
		{"mkdir_ a; echo $y; pwd", "made a\n2\n/tmp\n"},
		{"env X=9 sh -c 'echo $X ${y-unset}'; echo $X", "9 unset\n1\n"},
		{"y=3; exit 4", ""},
		{"echo $y $?", "3 4\n"},
		{"rm -r /tmp/gone 2>/dev/null; cd /workspace", ""},
	} {
		out, errw, _, err := next(t, k, policy.Command{Text: c.line})
		if out != c.out || err != nil {
			t.Errorf("%s: %q %q %v", c.line, out, errw, err)
		}
	}
	if out, _, _, _ := next(t, other, policy.Command{Text: "echo ${y-unset}; mkdir_"}); out != "unset\n" {
		t.Errorf("another shell: %q", out)
	}
	if out, _, _, _ := do(t, s, "echo ${y-unset}", ""); out != "unset\n" {
		t.Errorf("a fresh shell: %q", out)
	}
	if out, _, _, _ := next(t, k, policy.Command{Text: "echo $y $X $PWD", Cwd: "/tmp", Environ: []string{"X=new"}}); out != "3 new /tmp\n" {
		t.Errorf("given a folder and a variable: %q", out)
	}
	if out, _, _, _ := next(t, k, policy.Command{Text: "echo $X $PWD"}); out != "new /tmp\n" {
		t.Errorf("they stay: %q", out)
	}
	if _, errw, _, err := next(t, k, policy.Command{Text: "echo", Cwd: "/nowhere"}); err == nil || !strings.Contains(errw, "/nowhere") {
		t.Errorf("a folder that is not there: %q", errw)
	}
	if out, _, _, _ := next(t, k, policy.Command{Args: []string{"cat", "a b"}}); out != "" {
		t.Errorf("an argv: %q", out)
	}
}

// What ends a line from outside leaves the shell as it was.
// TestShellUnset proves that what a policy takes out of the environment of a
// line is gone in a kept shell too, however the shell came to it.
func TestShellUnset(t *testing.T) {
	k := newSession(t, policy.AllowAll{}, nil).NewShell()
	next(t, k, policy.Command{Text: "export SECRET=s; readonly LOCKED=l; plain=p"})
	out, errw, _, err := next(t, k, policy.Command{Text: "echo ${SECRET-} ${LOCKED-} ${GIVEN-} $plain", Environ: []string{"GIVEN=g"}, UnsetEnv: []string{"SECRET", "LOCKED", "GIVEN"}})
	if out != "p\n" || err != nil {
		t.Errorf("%q %q %v", out, errw, err)
	}
}

func TestShellEnded(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, func(c *sandbox.Config) { c.Limits = sandbox.Limits{Output: 1000, State: 1 << 20} })
	k := s.NewShell()
	if _, _, _, err := next(t, k, policy.Command{Text: "x=before"}); err != nil {
		t.Fatal(err)
	}
	var le *sandbox.LimitError
	for _, c := range []policy.Command{
		{Text: "x=after; while :; do :; done", Limits: policy.Limits{TimeoutMS: 30}},
		{Text: "x=after; yes"},
		{Text: "x=after; y=$(printf %02000000d 0)"},
	} {
		_, errw, _, err := next(t, k, c)
		if !errors.As(err, &le) || !strings.Contains(errw, "limit: ") {
			t.Errorf("%s: %q %v", c.Text, errw, err)
		}
		if out, _, _, err := next(t, k, policy.Command{Text: "echo $x"}); out != "before\n" || err != nil {
			t.Errorf("after %s: %q %v", c.Text, out, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	started := writer(func(p []byte) (int, error) {
		if _, err := k.Run(t.Context(), policy.Command{Text: "echo"}, nil, nil, nil); !errors.Is(err, sandbox.ErrBusy) {
			t.Errorf("a second line: %v", err)
		}
		cancel()
		return len(p), nil
	})
	if _, err := k.Run(ctx, policy.Command{Text: "x=after; echo go; while :; do :; done"}, nil, started, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if out, _, _, _ := next(t, k, policy.Command{Text: "echo $x"}); out != "before\n" {
		t.Errorf("after a kill: %q", out)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// Admission sees each line of a shell with what only its past tells.
func TestShellFacts(t *testing.T) {
	deny := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Kind == policy.KindExec && a.Exec.Name == "rm" {
			return policy.Decision{Reasons: []policy.Reason{{Msg: "no"}}}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	})
	k := newSession(t, deny, nil).NewShell()
	c, err := k.Inspect(t.Context(), policy.Command{Text: "ls"})
	if err != nil || !c.Static || c.Cwd != "/workspace" {
		t.Errorf("a fresh shell: %+v, %v", c, err)
	}
	if _, _, _, err := next(t, k, policy.Command{Text: "shopt -s expand_aliases; alias ls=rm; cd /tmp"}); err != nil {
		t.Fatal(err)
	}
	c, err = k.Inspect(t.Context(), policy.Command{Text: "ls"})
	if err != nil || c.Static || c.Cwd != "/tmp" {
		t.Errorf("with an alias: %+v, %v", c, err)
	}
	if _, errw, status, _ := next(t, k, policy.Command{Text: "ls x"}); status != 126 || !strings.Contains(errw, "denied") {
		t.Errorf("the alias runs: %q %d", errw, status)
	}
}

func TestRC(t *testing.T) {
	sourced := ""
	engine := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Kind == policy.KindExec && a.Exec.Name == "source" {
			sourced = a.Exec.Args[0]
		}
		if a.Kind == policy.KindExec && a.Exec.Name == "rm" {
			return policy.Decision{}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	})
	s := newSession(t, engine, func(c *sandbox.Config) {
		c.RC, c.RCName = "greet() { echo hi $1; }\nexport FROM=rc\nrm x 2>/dev/null\nn=$((n+1))", "team.rc"
	})
	if out, _, status, _ := do(t, s, "echo $?; greet a; sh -c 'echo $FROM; greet b' 2>/dev/null", ""); out != "0\nhi a\nrc\n" || status != 127 {
		t.Errorf("%q %d", out, status)
	}
	if sourced != "team.rc" {
		t.Errorf("admission was asked about %q", sourced)
	}
	if c, err := s.Inspect(t.Context(), policy.Command{Text: "ls"}); err != nil || c.Static {
		t.Errorf("%+v %v", c, err)
	}
	k := s.NewShell()
	for range 2 {
		if out, _, _, _ := next(t, k, policy.Command{Text: "echo $n"}); out != "1\n" {
			t.Errorf("%q: it is read once in a shell", out)
		}
	}
	bad := newSession(t, engine, func(c *sandbox.Config) { c.RC, c.RCName = "x() {\nif", "bad.rc" })
	if out, errw, _, _ := do(t, bad, "echo line", ""); out != "line\n" || !strings.Contains(errw, "bad.rc: line") {
		t.Errorf("%q %q", out, errw)
	}
	loop := newSession(t, engine, func(c *sandbox.Config) { c.RC, c.Limits.Depth = "f() { f; }; f", 50 })
	if out, errw, status, _ := do(t, loop, "echo line", ""); out != "" || status != 137 || !strings.Contains(errw, "limit: depth") {
		t.Errorf("%q %q %d", out, errw, status)
	}
	if _, err := sandbox.New(sandbox.Config{FS: newFS(t), RC: "a\x00b"}); err == nil {
		t.Error("a NUL byte")
	}
}

func TestLimitWords(t *testing.T) {
	raise := func(flag string, lowered bool) string {
		if lowered {
			return "lowered " + flag
		}
		return "ask about " + flag
	}
	for _, c := range []struct {
		raise  func(string, bool) string
		limits policy.Limits
		line   string
		want   string
	}{
		{nil, policy.Limits{}, "yes", "output of 1000 bytes (raise with --output)"},
		{nil, policy.Limits{OutputBytes: 500}, "yes", "output of 500 bytes (set by policy)"},
		{nil, policy.Limits{TimeoutMS: 20}, "while :; do :; done", "time 20ms (set by policy)"},
		{raise, policy.Limits{TimeoutMS: 20}, "while :; do :; done", "time 20ms (lowered --timeout)"},
		{raise, policy.Limits{}, "yes", "output of 1000 bytes (ask about --output)"},
		{raise, policy.Limits{}, "x=$(printf %0200000000d 0)", "(ask about --memory)"},
	} {
		s := newSession(t, policy.AllowAll{}, func(cfg *sandbox.Config) { cfg.Raise, cfg.Limits.Output = c.raise, 1000 })
		var errw strings.Builder
		if _, err := s.Run(t.Context(), policy.Command{Text: c.line, Limits: c.limits}, nil, nil, &errw); err == nil || !strings.Contains(errw.String(), c.want) {
			t.Errorf("%s: %q, want %q", c.line, errw.String(), c.want)
		}
	}
}
