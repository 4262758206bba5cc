package termhost_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

func as(sub string) context.Context {
	return policy.WithSubject(context.Background(), policy.Subject{
		Principal: policy.Principal{Sub: sub, Auth: "test"},
		Session:   policy.Session{ID: "session-of-" + sub},
	})
}

func who(sub string) policy.Principal { return policy.Principal{Sub: sub, Auth: "test"} }

func newHost(t *testing.T, l termhost.Limits) *termhost.Host {
	t.Helper()
	h := termhost.New(termhost.Config{Runner: &fake{}, Engine: policy.AllowAll{}, Limits: l})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func create(t *testing.T, h *termhost.Host, line string) *termhost.Terminal {
	t.Helper()
	term, err := h.Create(as("a"), termhost.Spec{Line: line})
	if err != nil {
		t.Fatalf("create %q: %v", line, err)
	}
	return term
}

func wait(t *testing.T, term *termhost.Terminal) termhost.Exit {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := term.Wait(ctx)
	if err != nil {
		t.Fatalf("wait: %v", err)
	}
	if (e.Code != nil) == (e.Signal != "") {
		t.Errorf("exit %+v: want exactly one of code and signal", e)
	}
	return e
}

func show(e termhost.Exit) string {
	code := "null"
	if e.Code != nil {
		code = fmt.Sprint(*e.Code)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", code, e.Signal, e.Reason, e.Detail))
}

func TestExitTable(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	for _, c := range []struct{ line, want string }{
		{"exit 0", "0  exited:"},
		{"exit 1", "1  exited:"},
		{"exit 130", "130  exited:"},
		{"limit", "137  limit: limit: output 1 GiB (raise with --output)"},
		{"denied", "126  denied: denied by policy: no"},
		{"fault", "125  fault: the sandbox failed"},
		{"crash", "null SIGSEGV crashed: the process of the command died"},
		{"panic-run", "125  fault: the sandbox failed"},
		{"impossible", "125  fault: the sandbox returned an impossible status"},
	} {
		if got := show(wait(t, create(t, h, c.line))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
	hang := create(t, h, "hang kept")
	for len(hang.Output().Data) == 0 {
		<-hang.Changed(0)
	}
	hang.Kill()
	if got, want := show(wait(t, hang)), "null SIGKILL killed:"; got != want {
		t.Errorf("kill: got %q, want %q", got, want)
	}
	if got := string(hang.Output().Data); got != "kept" {
		t.Errorf("output after kill: %q", got)
	}
	timed, err := h.Create(as("a"), termhost.Spec{Line: "hang", Timeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(wait(t, timed)), "124  timeout: time limit of 1ms"; got != want {
		t.Errorf("timeout: got %q, want %q", got, want)
	}
}

func TestKillAfterExitChangesNothing(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	term := create(t, h, "exit 3")
	want := show(wait(t, term))
	for range 2 {
		term.Kill()
		if got := show(wait(t, term)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for range 2 {
		term.Release()
	}
	if _, err := h.Get(who("a"), term.ID()); !errors.Is(err, termhost.ErrUnknown) {
		t.Errorf("get after release: %v", err)
	}
	if got := show(wait(t, term)); got != want {
		t.Errorf("wait after release: %q", got)
	}
	if s := term.Output(); len(s.Data) != 0 {
		t.Errorf("output after release: %q", s.Data)
	}
}

func TestNothingIsWrittenAfterAKill(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	term := create(t, h, "stubborn")
	term.Kill()
	if got := show(wait(t, term)); got != "0  exited:" {
		t.Errorf("a command that ended by itself: %q", got)
	}
	if s := term.Output(); s.Written != 0 {
		t.Errorf("written after the kill: %q", s.Data)
	}
}

// Threats: PR-2.
func TestIDsAreBoundToThePrincipal(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	term := create(t, h, "hang x")
	id := term.ID()
	if len(id) < 2+32 {
		t.Errorf("id %q carries fewer than 128 bits", id)
	}
	if got, err := h.Get(who("a"), id); got != term || err != nil {
		t.Errorf("own id: %v, %v", got, err)
	}
	var texts []string
	for _, c := range []struct {
		p  policy.Principal
		id string
	}{
		{who("b"), id},
		{policy.Principal{Sub: "a", Auth: "other"}, id},
		{policy.Principal{Sub: "a", Auth: "test", Tenant: "t"}, id},
		{who("a"), strings.ToUpper(id)},
		{who("a"), id[:len(id)-1]},
		{who("a"), "../" + id},
		{who("a"), ""},
		{policy.Principal{}, id},
	} {
		got, err := h.Get(c.p, c.id)
		if got != nil || !errors.Is(err, termhost.ErrUnknown) {
			t.Errorf("%v %q: %v, %v", c.p, c.id, got, err)
			continue
		}
		texts = append(texts, err.Error())
	}
	for _, s := range texts {
		if s != texts[0] {
			t.Errorf("errors differ: %q and %q", s, texts[0])
		}
	}
}

func TestAdmission(t *testing.T) {
	var asked []policy.Action
	deny := errors.New("rules at /host/rules.rego are broken")
	f := &fake{ran: make(chan string, 10)}
	h := termhost.New(termhost.Config{Runner: f, Engine: policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		asked = append(asked, a)
		switch {
		case strings.HasPrefix(a.Command.Text, "rm"):
			return policy.Decision{ID: "d1", Reasons: []policy.Reason{{Msg: "no rm", Rule: "r", Hint: "use trash"}}}, nil
		case a.Command.Text == "broken":
			return policy.Decision{}, deny
		}
		return policy.Decision{Effect: policy.Allow, Limits: policy.Limits{TimeoutMS: 1, OutputBytes: 7}, Warnings: []policy.Reason{{Msg: "careful"}}}, nil
	})})
	defer h.Close()

	for _, line := range []string{"rm x", "broken"} {
		_, err := h.Create(as("a"), termhost.Spec{Line: line})
		var d *policy.DeniedError
		if !errors.As(err, &d) || strings.Contains(err.Error(), "/host") {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, c := range []struct {
		spec termhost.Spec
		want string
	}{
		{termhost.Spec{Line: "(("}, "command refused: line 1: syntax error"},
		{termhost.Spec{Line: "panic-inspect"}, "command refused: the sandbox failed"},
		{termhost.Spec{}, "the command is empty"},
		{termhost.Spec{Line: " \n"}, "the command is empty"},
		{termhost.Spec{Args: []string{}}, "the command is empty"},
		{termhost.Spec{Args: []string{"a"}, Line: "b"}, "a command is a line or an argv, not both"},
		{termhost.Spec{Line: "a", Env: []string{"=x"}}, "a variable of the environment has no name"},
		{termhost.Spec{Line: "a", Timeout: -1}, "the time limit is negative"},
	} {
		if _, err := h.Create(as("a"), c.spec); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %q", c.spec, err, c.want)
		}
	}
	if _, err := h.Create(context.Background(), termhost.Spec{Line: "echo"}); !errors.Is(err, termhost.ErrNoPrincipal) {
		t.Errorf("without a principal: %v", err)
	}
	if len(f.ran) != 0 {
		t.Fatalf("%q ran", <-f.ran)
	}
	if n := len(h.List(who("a"))); n != 0 {
		t.Errorf("%d terminals after refusals", n)
	}

	term, err := h.Create(as("a"), termhost.Spec{Line: "hang", Timeout: time.Hour, Env: []string{"A=secret"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := show(wait(t, term)); got != "124  timeout: time limit of 1ms" {
		t.Errorf("the policy's time limit: %q", got)
	}
	if c := term.Command(); c.Limits.OutputBytes != 7 || !c.Static {
		t.Errorf("command that ran: %+v", c)
	}
	if w := term.Warnings(); len(w) != 1 || w[0].Msg != "careful" {
		t.Errorf("warnings: %v", w)
	}
	a := asked[len(asked)-1]
	if a.Kind != policy.KindCommand || a.Principal.Sub != "a" || a.Session.ID != "session-of-a" || a.Terminal.ID != term.ID() ||
		a.Terminal.Cwd != "/workspace" || a.Command.Limits.TimeoutMS != 3600_000 || len(a.Command.Env) != 1 || a.Command.Env[0] != "A" {
		t.Errorf("action: %+v", a)
	}
}

func TestArgvIsQuoted(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"echo", "a b", "$(x)", ";", "*", ""}, `echo 'a b' '$(x)' ';' '*' ''`},
		{[]string{"it's"}, `'it'\''s'`},
		{[]string{"if", "if"}, `'if' if`},
		{[]string{"A=b", "~x", "é"}, `'A=b' '~x' 'é'`},
	} {
		term, err := h.Create(as("a"), termhost.Spec{Args: c.args})
		if err != nil {
			t.Fatal(err)
		}
		if got := term.Command().Text; got != c.want {
			t.Errorf("%q: got %s, want %s", c.args, got, c.want)
		}
	}
}

// Threats: PR-5.
func TestCaps(t *testing.T) {
	h := newHost(t, termhost.Limits{Running: 2, Kept: 3, Total: 3})
	var hang []*termhost.Terminal
	for range 2 {
		hang = append(hang, create(t, h, "hang"))
	}
	_, err := h.Create(as("a"), termhost.Spec{Line: "hang"})
	if !errors.Is(err, termhost.ErrTooMany) || !strings.Contains(err.Error(), hang[0].ID()) {
		t.Errorf("third: %v", err)
	}
	if _, err := h.Create(as("b"), termhost.Spec{Line: "hang"}); err != nil {
		t.Errorf("another principal: %v", err)
	}
	if _, err := h.Create(as("c"), termhost.Spec{Line: "hang"}); !errors.Is(err, termhost.ErrTooMany) || strings.Contains(err.Error(), "t_") {
		t.Errorf("the host is full: %v", err)
	}
	hang[1].Kill()
	wait(t, hang[1])
	var last *termhost.Terminal
	for range 5 { // exited terminals make room, the running one stays
		last = create(t, h, "exit 0")
		wait(t, last)
	}
	if n := len(h.List(who("a"))); n != 3 {
		t.Errorf("%d kept, want 3", n)
	}
	for _, term := range []*termhost.Terminal{hang[0], last} {
		if _, err := h.Get(who("a"), term.ID()); err != nil {
			t.Errorf("%v", err)
		}
	}
	if _, err := h.Get(who("a"), hang[1].ID()); !errors.Is(err, termhost.ErrUnknown) {
		t.Errorf("evicted: %v", err)
	}
}

// Threats: PR-5.
func TestIdleTerminalsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, termhost.Limits{Idle: time.Minute})
		exited, hang, watched, asked := create(t, h, "exit 0"), create(t, h, "hang"), create(t, h, "hang"), create(t, h, "hang")
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		go watched.Wait(ctx)
		for range 9 {
			time.Sleep(10 * time.Second)
			asked.Output()
		}
		for _, term := range []*termhost.Terminal{exited, hang} {
			if _, err := h.Get(who("a"), term.ID()); !errors.Is(err, termhost.ErrUnknown) {
				t.Errorf("not expired: %v", err)
			}
		}
		if got := show(wait(t, hang)); got != "null SIGKILL released: nobody asked about it" {
			t.Errorf("expired: %q", got)
		}
		for _, term := range []*termhost.Terminal{watched, asked} {
			if _, err := h.Get(who("a"), term.ID()); err != nil {
				t.Errorf("expired in use: %v", err)
			}
		}
	})
}

func TestWaitersAllGetTheSameExit(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	for _, end := range []func(*termhost.Terminal){(*termhost.Terminal).Kill, (*termhost.Terminal).Release} {
		term := create(t, h, "hang")
		var wg sync.WaitGroup
		exits := make([]string, 20)
		for i := range exits {
			wg.Go(func() { exits[i] = show(wait(t, term)) })
		}
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := term.Wait(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("a waiter that left: %v", err)
		}
		end(term)
		wg.Wait()
		for _, e := range exits {
			if e != exits[0] {
				t.Errorf("%q and %q", e, exits[0])
			}
		}
	}
}

func TestSessionAndHostEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	h := termhost.New(termhost.Config{Runner: &fake{}, Engine: policy.AllowAll{}})
	a, released := create(t, h, "hang"), create(t, h, "hang")
	released.Release()
	b, err := h.Create(as("b"), termhost.Spec{Line: "hang"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.EndSession("session-of-a"); err != nil {
		t.Error(err)
	}
	if a.Running() || released.Running() || !b.Running() {
		t.Errorf("after the end of a's session: %v %v %v", a.Running(), released.Running(), b.Running())
	}
	for range 2 {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := show(wait(t, b)); got != "null SIGKILL closed: the server is shutting down" {
		t.Errorf("closed: %q", got)
	}
	if _, err := h.Create(as("a"), termhost.Spec{Line: "echo"}); !errors.Is(err, termhost.ErrClosed) {
		t.Errorf("create after close: %v", err)
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 1000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestCloseDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := termhost.New(termhost.Config{Runner: &fake{}, Engine: policy.AllowAll{}, Limits: termhost.Limits{CloseLimit: time.Second}})
		create(t, h, "deaf")
		if err := h.Close(); err == nil || err.Error() != "1 command(s) did not stop within 1s" {
			t.Errorf("close: %v", err)
		}
		time.Sleep(time.Minute) // until the command has gone
		if err := h.Close(); err != nil {
			t.Errorf("close again: %v", err)
		}
	})
}

func TestInspectIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := termhost.New(termhost.Config{Runner: &fake{inspected: make(chan struct{})}, Engine: policy.AllowAll{}, Limits: termhost.Limits{Running: 1}})
		defer h.Close()
		for range 2 { // the place is given back
			if _, err := h.Create(as("a"), termhost.Spec{Line: "echo"}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("slow parse: %v", err)
			}
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	h := newHost(t, termhost.Limits{Running: 1000, Kept: 20})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 30 {
				term, err := h.Create(as("a"), termhost.Spec{Line: []string{"hang x", "bytes 500", "exit 1"}[(i+j)%3]})
				if err != nil {
					t.Error(err)
					return
				}
				if j%2 == 0 {
					go term.Output()
				}
				term.Kill()
				wait(t, term)
				term.Release()
			}
		})
	}
	wg.Wait()
	if n := len(h.List(who("a"))); n != 0 {
		t.Errorf("%d left", n)
	}
}
