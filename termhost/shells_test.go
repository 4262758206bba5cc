package termhost_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// keptShell remembers the words that "keep WORD" gave it; "kept" prints them.
type keptShell struct {
	fake
	words []string
	open  *atomic.Int64
}

func (k *keptShell) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	switch verb, rest, _ := strings.Cut(c.Text, " "); verb {
	case "keep":
		k.words = append(k.words, rest)
		return 0, nil
	case "kept":
		fmt.Fprint(out, strings.Join(k.words, " "))
		return 0, nil
	}
	return k.fake.Run(ctx, c, in, out, errw)
}

func (k *keptShell) Close() error {
	k.open.Add(-1)
	return nil
}

func shellHost(l termhost.Limits, open *atomic.Int64) *termhost.Host {
	return termhost.New(termhost.Config{Runner: &fake{}, Engine: policy.AllowAll{}, Limits: l, Shell: func(context.Context) (termhost.Shell, error) {
		open.Add(1)
		return &keptShell{open: open}, nil
	}})
}

func TestNamedSessions(t *testing.T) {
	var open atomic.Int64
	h := shellHost(termhost.Limits{Shells: 2}, &open)
	in := func(who, session, line string) (string, error) {
		term, err := h.Create(as(who), termhost.Spec{Line: line, Session: session})
		if err != nil {
			return "", err
		}
		wait(t, term)
		return string(term.Output().Data), nil
	}
	for _, line := range []string{"keep a", "keep b", "exit 3"} {
		if _, err := in("a", "one", line); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ who, session, want string }{{"a", "one", "a b"}, {"a", "two", ""}, {"b", "one", ""}, {"a", "one", "a b"}} {
		if got, err := in(c.who, c.session, "kept"); got != c.want || err != nil {
			t.Errorf("%s's %s: %q, %v; want %q", c.who, c.session, got, err, c.want)
		}
	}
	if _, err := in("a", "three", "kept"); !errors.Is(err, termhost.ErrTooMany) {
		t.Errorf("one too many: %v", err)
	}
	for _, bad := range []string{"a b", "../x", strings.Repeat("x", 65)} {
		if _, err := in("a", bad, "kept"); err == nil || !strings.Contains(err.Error(), "name") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := in("a", "one", "(("); err == nil {
		t.Error("a bad line runs")
	}
	if got, err := in("a", "one", "kept"); got != "a b" || err != nil {
		t.Errorf("after a refusal: %q, %v", got, err)
	}

	hang, err := h.Create(as("a"), termhost.Spec{Line: "hang", Session: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in("a", "one", "kept"); err == nil || !strings.Contains(err.Error(), "busy with terminal "+hang.ID()) {
		t.Errorf("while it is busy: %v", err)
	}
	hang.Kill()
	wait(t, hang)
	if got, err := in("a", "one", "kept"); got != "a b" || err != nil {
		t.Errorf("after a kill: %q, %v", got, err)
	}
	if _, err := in("a", "one", "fault"); err != nil {
		t.Fatal(err)
	}
	if got, err := in("a", "one", "kept"); got != "" || err != nil {
		t.Errorf("after a fault it starts anew: %q, %v", got, err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d shells are left open", n)
	}
}

func TestNamedSessionsInAll(t *testing.T) {
	var open atomic.Int64
	h := shellHost(termhost.Limits{ShellsTotal: 2}, &open)
	defer h.Close()
	for i, who := range []string{"a", "b", "c"} {
		term, err := h.Create(as(who), termhost.Spec{Line: "keep x", Session: "s"})
		if i < 2 {
			if err != nil {
				t.Fatal(err)
			}
			wait(t, term)
		} else if !errors.Is(err, termhost.ErrTooMany) {
			t.Errorf("the third: %v", err)
		}
	}
}

func TestNamedSessionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		h := shellHost(termhost.Limits{Idle: time.Minute}, &open)
		term, err := h.Create(as("a"), termhost.Spec{Line: "keep x", Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, term)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d shells are left open", n)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutNamedSessions(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	if _, err := h.Create(as("a"), termhost.Spec{Line: "echo", Session: "s"}); err == nil || !strings.Contains(err.Error(), "not available") {
		t.Errorf("%v", err)
	}
}

func TestApproval(t *testing.T) {
	f := &fake{ran: make(chan string, 10)}
	effect := policy.Ask
	h := termhost.New(termhost.Config{Runner: f, Engine: policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) {
		return policy.Decision{Effect: effect, Reasons: []policy.Reason{{Msg: "careful"}}, Limits: policy.Limits{OutputBytes: 5}}, nil
	})})
	defer h.Close()
	if _, err := h.Create(as("a"), termhost.Spec{Line: "echo 1"}); !errors.Is(err, policy.ErrDenied) {
		t.Errorf("nobody to ask: %v", err)
	}
	no := errors.New("no")
	var asked policy.Action
	answer := no
	said := policy.ApprovedOnce
	approve := func(_ context.Context, a policy.Action, d policy.Decision) (policy.Approval, error) {
		asked = a
		return said, answer
	}
	if _, err := h.Create(as("a"), termhost.Spec{Line: "echo 2", Approve: approve}); !errors.Is(err, no) {
		t.Errorf("refused: %v", err)
	}
	answer, said = nil, policy.Refused
	if _, err := h.Create(as("a"), termhost.Spec{Line: "echo 2", Approve: approve}); !errors.Is(err, policy.ErrDenied) || !strings.Contains(err.Error(), "said no") {
		t.Errorf("refused: %v", err)
	}
	said = policy.ApprovedOnce
	term, err := h.Create(as("a"), termhost.Spec{Line: "echo 3", Approve: approve})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, term)
	if asked.Command.Text != "echo 3" || term.Command().Limits.OutputBytes != 5 {
		t.Errorf("asked about %q, limits %+v", asked.Command.Text, term.Command().Limits)
	}
	effect = policy.Deny // nobody can approve what is denied
	if _, err := h.Create(as("a"), termhost.Spec{Line: "echo 4", Approve: approve}); !errors.Is(err, policy.ErrDenied) {
		t.Errorf("denied: %v", err)
	}
	if got := <-f.ran; got != "echo 3" || len(f.ran) != 0 {
		t.Errorf("%q ran", got)
	}
}
