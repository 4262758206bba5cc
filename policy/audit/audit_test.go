package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
)

func open(t testing.TB, c audit.Config) *audit.Recorder {
	t.Helper()
	if c.Path == "" {
		c.Path = filepath.Join(t.TempDir(), "log")
	}
	r, err := audit.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func read(t testing.TB, path string) (list []audit.Line) {
	t.Helper()
	for l, err := range audit.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
	return list
}

func subject() policy.Subject {
	return policy.Subject{
		Principal: policy.Principal{Sub: "alice", Tenant: "acme", Claims: map[string]any{"mail": "alice@example.org"}},
		Session:   policy.Session{ID: "s1"}, Terminal: policy.Terminal{ID: "t1"},
	}
}

func command(text string) policy.Action {
	return policy.Action{Kind: policy.KindCommand, Subject: subject(), Command: &policy.Command{Text: text}}
}

func run(args ...string) policy.Action {
	return policy.Action{Kind: policy.KindExec, Subject: subject(), Exec: &policy.Exec{Name: args[0], Args: args[1:]}}
}

var allow = policy.AllowAll{}

// Threats: AU-6.
func TestDecisionsAreRecordedBeforeTheyAreGiven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	rev := "r1"
	r := open(t, audit.Config{Path: path, Labels: map[string]string{"id": "srv"}, Revision: func() string { return rev }})
	deny := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		switch {
		case a.Exec != nil && a.Exec.Name == "rm":
			return policy.Decision{Reasons: []policy.Reason{{Msg: "no rm", Rule: "r", Location: "p.rego:3"}}}, nil
		case a.Exec != nil && a.Exec.Name == "bad":
			return policy.Decision{Effect: policy.Allow}, errors.New("broken")
		case a.Exec != nil && a.Exec.Name == "boom":
			panic("boom")
		}
		return policy.Decision{Effect: policy.Allow}, nil
	})
	e := r.Engine(deny)
	ctx := policy.WithOrigin(context.Background(), policy.Origin{Goal: "tidy up", Scope: "repo", Server: "donax 1",
		Trace: policy.Trace{Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", State: "a=b"}})
	last := func() audit.Line { l := read(t, path); return l[len(l)-1] }
	if _, err := policy.Check(ctx, e, command("ls")); err != nil {
		t.Fatal(err)
	}
	l := last()
	if l.Type != "command" || l.Path != "donax/command" || l.Result.Effect != "allow" || l.RequestedBy != "acme/alice" || l.DecisionID == "" || l.Revision != "r1" ||
		l.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || l.SpanID != "00f067aa0ba902b7" || l.Custom["tracestate"] != "a=b" || l.Labels["goal"] != "tidy up" || l.Labels["scope"] != "repo" || l.Labels["id"] != "srv" {
		t.Errorf("%s", l.Raw)
	}
	if bytes.Contains(l.Raw, []byte("example.org")) || !slices.Contains(l.Erased, "/input/principal/claims") {
		t.Errorf("claims: %s", l.Raw)
	}
	rev = "r2"
	for name, want := range map[string]string{"rm": "no rm", "bad": "", "boom": ""} {
		_, err := policy.Check(ctx, e, run(name, "x"))
		l := last()
		if err == nil || l.Type != "exec" || l.Result.Effect != "deny" || !strings.Contains(err.Error(), "decision "+l.DecisionID+"]") {
			t.Errorf("%s: %v\n%s", name, err, l.Raw)
		}
		if (l.Error != nil) != (want == "") || want != "" && (l.Result.Reasons[0].Msg != want || l.Result.Reasons[0].Location != "p.rego:3") {
			t.Errorf("%s: %s", name, l.Raw)
		}
	}
	var changed []string
	for _, l := range read(t, path) {
		if l.Type == audit.TypePolicy {
			changed = append(changed, fmt.Sprint(l.Custom["old"], " ", l.Custom["new"]))
		}
	}
	if !slices.Equal(changed, []string{"<nil> r1", "r1 r2"}) {
		t.Errorf("changes of policy: %q", changed)
	}
	// What is bound to the context and refuses is recorded too.
	_, err := policy.Check(policy.Bind(ctx, policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) {
		return policy.Decision{Reasons: []policy.Reason{{Msg: "not granted"}}}, nil
	})), e, command("ls"))
	if l := last(); err == nil || l.Result.Effect != "deny" || !strings.Contains(err.Error(), l.DecisionID) {
		t.Errorf("%v %s", err, l.Raw)
	}
}

func TestADryRunIsRecordedAsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, audit.Config{Path: path})
	var on bool
	brakes := policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) {
		if on {
			return policy.Decision{Reasons: []policy.Reason{{Msg: "brake"}}}, nil
		}
		return policy.Decision{Effect: policy.Allow, Limits: policy.Limits{Commands: 7}}, nil
	})
	e := r.Engine(policy.Stack(brakes, policy.DryRun(policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Command.Text == "ls" {
			return policy.Decision{Effect: policy.Allow}, nil
		}
		return policy.Decision{Reasons: []policy.Reason{{Msg: "rule"}}, Limits: policy.Limits{Commands: 1}}, nil
	}), func(policy.Action, policy.Decision, error) {})))
	for _, c := range []struct {
		text, effect string
		on, allowed  bool
		enforced     any
	}{{"ls", "allow", false, true, false}, {"rm", "deny", false, true, false}, {"rm", "deny", true, false, nil}} {
		on = c.on
		d, err := policy.Check(context.Background(), e, command(c.text))
		list := read(t, path)
		l := list[len(list)-1]
		if d.Limits.Commands == 1 || l.DecisionID != d.ID || (err == nil) != c.allowed || l.Result.Effect != c.effect || l.Custom["enforced"] != c.enforced {
			t.Errorf("%+v: %v %s", c, err, l.Raw)
		}
	}
	if n := len(read(t, path)); n != 4 {
		t.Errorf("%d records for 3 decisions", n-1)
	}
}

func TestConstantsAreNotSkipped(t *testing.T) {
	for files, want := range map[bool]map[policy.Kind]bool{
		false: {policy.KindExec: false, policy.KindFile: true, policy.KindOutput: true},
		true:  {policy.KindExec: false, policy.KindFile: false, policy.KindOutput: true},
	} {
		c := open(t, audit.Config{Files: files}).Engine(allow).(policy.Constanter)
		for k, constant := range want {
			if _, ok := c.Constant(k); ok != constant {
				t.Errorf("files %v: %s is constant: %v", files, k, ok)
			}
		}
	}
	if _, ok := open(t, audit.Config{}).Engine(policy.Stack()).(policy.Constanter).Constant(policy.KindFile); ok {
		t.Error("a constant denial of files would not be recorded")
	}
}

// Case S103: no text can make a second line, or one that is not JSON.
// Threats: AU-1.
func TestOneEventIsOneLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, audit.Config{Path: path})
	e := r.Engine(allow)
	nasty := []string{
		"echo hi\n{\"seq\":99,\"type\":\"approved\"}", "a\rb", "a\u2028b\u2029c\u0085d\x1b[2Je\x7ff\u202eg\U000e0041", "\xff\xfe\xc0", strings.Repeat("x", 60<<10), "\x00", `","hash":"` + strings.Repeat("0", 64) + `"}`,
	}
	for _, s := range nasty {
		a := command(s)
		a.Command.Cwd, a.Command.Env, a.Session.Client.Name, a.Terminal.ID, a.Principal.Sub = s, []string{s}, s, s, s
		tool := policy.Action{Kind: policy.KindTool, Subject: a.Subject, Tool: &policy.Tool{Name: s, Server: s, Arguments: map[string]any{s: s}}}
		for _, a := range []policy.Action{a, tool} {
			if _, err := policy.Check(context.Background(), e, a); err != nil {
				t.Error(err)
			}
		}
		leave, err := r.Gate(nil).Enter(policy.WithSubject(context.Background(), a.Subject), policy.ToolCall{Tool: s, Arguments: []byte(s)})
		if err != nil {
			t.Fatal(err)
		}
		leave(policy.OutcomeOK)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(raw, []byte("\n")); lines != 1+4*len(nasty) {
		t.Errorf("%d lines for %d events", lines, 1+4*len(nasty))
	}
	for _, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		if !json.Valid(line) || bytes.ContainsFunc(line, func(r rune) bool {
			return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0x202e || r == 0xe0041
		}) {
			t.Errorf("%q", line)
		}
	}
	if v, err := audit.Verify(path, audit.VerifyOptions{}); err != nil || v.Records != int64(1+4*len(nasty)) {
		t.Errorf("%+v %v", v, err)
	}
}

// Threats: AU-5.
func TestSecretsStayOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, audit.Config{Path: path, Secrets: []string{"configured-one"}, Mask: []string{`card \d+`}})
	e := r.Engine(policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Allow, Redact: []policy.Redaction{{Name: "x", Pattern: "zebra[0-9]"}}}, nil
	}))
	a := command(`curl -H 'Authorization: Bearer hush-hush-1' https://u:hush-hush-2@host/?api_key=hush-hush-3 'https://h/a?page=2&sig=hush8&X-Amz-Signature=hush%2Fhush#access_token=hush' https://h/?key=hush https://h/?q=hush0123hush4567; export K=tok-hushhush4; x=hush5hush; mysql --password hush-hush-6 configured-one card 4242 hush-hush-7 zebra8`)
	a.Command.Environ, a.Command.Env = []string{"A=hush-hush-7"}, []string{"A"}
	if _, err := policy.Check(context.Background(), e, a); err != nil {
		t.Fatal(err)
	}
	for _, x := range []policy.Action{
		run("curl", "-H", "Authorization: Bearer hush-hush-1", "-u", "me:hush-hush-2", "--token", "hush-hush-3", "hush-hush-7", "zebra8", "ghp_0123456789abcdefhush"),
		{Kind: policy.KindTool, Subject: subject(), Tool: &policy.Tool{Name: "t", Arguments: map[string]any{"password": "hush-hush-1", "list": []any{"Bearer hush-hush-2"}}}},
		{Kind: policy.KindNet, Subject: subject(), Net: &policy.Net{Host: "h", Path: "/x?access_token=hush-hush-1"}},
	} {
		before := fmt.Sprintf("%v %v", x.Exec, x.Tool)
		if _, err := policy.Check(context.Background(), e, x); err != nil {
			t.Fatal(err)
		}
		if after := fmt.Sprintf("%v %v", x.Exec, x.Tool); after != before {
			t.Errorf("the action itself was changed: %s", after)
		}
	}
	if err := r.Record(policy.WithSubject(context.Background(), subject()), audit.Event{Type: "x", Custom: map[string]any{"reason": "because of hush-hush-7"}}); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(path)
	for _, bad := range []string{"hush", "configured-one", "4242", "zebra8", "tok-"} {
		if i := bytes.Index(raw, []byte(bad)); i >= 0 {
			t.Errorf("%q is in the log: ...%s", bad, raw[max(0, i-80):min(len(raw), i+40)])
		}
	}
	l := read(t, path)[1]
	if !slices.Contains(l.Masked, "/input/command/text") || l.Custom["raw_sha256"] == nil || !bytes.Contains(l.Raw, []byte("curl")) {
		t.Errorf("%s", l.Raw)
	}
	// Words that are no secrets stay readable.
	for _, plain := range []string{"sort --key=2 -t: file.txt", "echo keyboard monkey", "grep -rn TODO src/main.go", "git log --author=me", "make VERBOSE=1", "curl https://h/list?page=2&sort=name&monkey_bars=3", "a && b=12 && ls *.?ey", "cd /srv/app2024/token"} {
		if _, err := policy.Check(context.Background(), e, command(plain)); err != nil {
			t.Fatal(err)
		}
		list := read(t, path)
		if l := list[len(list)-1]; l.Masked != nil {
			t.Errorf("%s: masked: %s", plain, l.Raw)
		}
	}
}

// fakeRunner is a Runner that writes and fails.
type fakeRunner struct{ err error }

func (fakeRunner) Inspect(_ context.Context, c policy.Command) (policy.Command, error) { return c, nil }
func (f fakeRunner) Run(_ context.Context, _ policy.Command, _ io.Reader, out, errw io.Writer) (int, error) {
	io.WriteString(out, "12345")
	io.WriteString(errw, "67")
	if f.err != nil && f.err.Error() == "panic" {
		panic("boom")
	}
	return 3, f.err
}

func TestCommandsAreFollowedToTheirEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, audit.Config{Path: path})
	ctx := policy.WithSubject(context.Background(), subject())
	for i, err := range []error{nil, errors.New("limit: time"), errors.New("panic")} {
		func() {
			defer func() {
				if p := recover(); (p != nil) != (i == 2) {
					t.Errorf("panic %v", p)
				}
			}()
			status, got := r.Runner(fakeRunner{err}).Run(ctx, policy.Command{}, nil, io.Discard, io.Discard)
			if status != 3 || got != err {
				t.Errorf("%d %v", status, got)
			}
		}()
		l := read(t, path)
		start, end := l[len(l)-2], l[len(l)-1]
		if start.Type != audit.TypeStart || end.Type != audit.TypeEnd || end.Custom["terminal_id"] != "t1" || end.Custom["output_bytes"] != 7.0 || (end.Custom["error"] != nil) != (err != nil) || end.RequestedBy != "acme/alice" {
			t.Errorf("%s\n%s", start.Raw, end.Raw)
		}
	}
}

func TestCallsAreRecordedBeforeAndAfter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, audit.Config{Path: path})
	ctx := policy.WithSubject(context.Background(), subject())
	types := func() (s string) {
		for _, l := range read(t, path)[1:] {
			s += l.Type + " "
			if l.Result != nil {
				s += l.Result.Effect + " "
			}
		}
		return s
	}
	leave, err := r.Gate(nil).Enter(ctx, policy.ToolCall{Tool: "terminal_create", Arguments: []byte(`{"command":"secret"}`)})
	if err != nil || types() != "call allow " {
		t.Fatalf("%v %s", err, types())
	}
	leave(policy.OutcomeError)
	leave, err = r.Gate(nil).Enter(ctx, policy.ToolCall{Tool: "terminal_output", Harmless: true, Arguments: []byte(`{"terminalId":"t9"}`)})
	if err != nil {
		t.Fatal(err)
	}
	leave(policy.OutcomeOK)
	_, err = r.Gate(refusing{}).Enter(ctx, policy.ToolCall{Tool: "terminal_create"})
	if got := types(); got != "call allow call.end call.end call deny " {
		t.Error(got)
	}
	list := read(t, path)
	if l := list[len(list)-1]; err == nil || !strings.Contains(err.Error(), "[decision "+l.DecisionID+"]") {
		t.Errorf("%v %s", err, l.Raw)
	}
	if l := list[3]; l.Custom["terminal_id"] != "t9" || l.Custom["outcome"] != "ok" {
		t.Errorf("%s", l.Raw)
	}
	raw, _ := os.ReadFile(path)
	if bytes.Contains(raw, []byte("secret")) {
		t.Error("arguments are in the log")
	}
}

type refusing struct{}

func (refusing) Enter(context.Context, policy.ToolCall) (func(policy.Outcome), error) {
	return nil, &policy.RefusedError{Msg: "the brake is on"}
}

func TestManyWritersOneChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, audit.Config{Path: path, MaxSize: 20_000})
	e := r.Engine(allow)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range 20 {
				a := command("ls")
				if i%2 == 0 {
					a = run("ls")
				}
				if _, err := policy.Check(context.Background(), e, a); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := audit.Verify(path, audit.VerifyOptions{})
	if err != nil || v.Records != 2+16*20 || v.Files < 3 || v.Last.Seq != v.Records || v.Torn != "" {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := policy.Check(context.Background(), e, command("ls")); err == nil {
		t.Error("a closed log lets things happen")
	}
}
