package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
	"github.com/donax-sh/donax/policy/brake"
	"github.com/donax-sh/donax/termhost"
)

// waist is a server with brakes and a record before its tools, as serve makes it.
type waist struct {
	*mcp.Server
	brake brake.Switch
	log   string
	calls chan policy.Origin // of the host's own tool
}

func newWaist(t *testing.T, c mcp.Config) *waist {
	t.Helper()
	w := &waist{log: filepath.Join(t.TempDir(), "log"), calls: make(chan policy.Origin, 10)}
	rec, err := audit.Open(audit.Config{Path: w.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	c.Host = termhost.New(termhost.Config{Runner: rec.Runner(fake{}), Engine: rec.Engine(policy.Stack(&w.brake, policy.EngineFunc(rules)))})
	c.Gate = rec.Gate(&w.brake)
	c.Tools = append(c.Tools, mcp.Tool{Name: "own", InputSchema: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, _ *mcp.Call) (*mcp.Result, error) {
		w.calls <- policy.OriginFrom(ctx)
		return &mcp.Result{Text: "done"}, nil
	}})
	w.Server = newServer(t, c)
	return w
}

// events returns the types and effects of the record.
func (w *waist) events(t *testing.T) (list []string, last audit.Line) {
	t.Helper()
	for l, err := range audit.Read(w.log) {
		if err != nil {
			t.Fatal(err)
		}
		s := l.Type
		if l.Result != nil {
			s += " " + l.Result.Effect
		}
		if tool, ok := l.Custom["tool"]; ok {
			s += " " + tool.(string)
		}
		list, last = append(list, s), l
	}
	return list[1:], last
}

// Threats: BR-7.
func TestEveryCallPassesTheWaist(t *testing.T) {
	w := newWaist(t, mcp.Config{Goal: "tidy", Scope: "repo"})
	c := serve(t, context.Background(), w.Server)
	trace := `,"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","tracestate":"k=v"`
	c.send(callLine(1, "own", `{}`, trace))
	if m := parse(t, c.next()); m.Result.IsError {
		t.Fatalf("%+v", m)
	}
	if o := <-w.calls; o.Goal != "tidy" || o.Scope != "repo" || o.Server != "donax 0.0.0-test" || !strings.HasPrefix(o.Trace.Parent, "00-4bf9") {
		t.Errorf("%+v", o)
	}
	id := c.start("echo hi")
	c.call(2, "terminal_wait_for_exit", idArg(id))
	denied := c.call(3, "terminal_create", `{"command":"rm x"}`)
	events, _ := w.events(t)
	want := []string{
		"call allow own", "call.end own",
		"call allow terminal_create", "command allow", "command.start", "call.end terminal_create", "command.end", "call.end terminal_wait_for_exit",
		"call allow terminal_create", "command deny", "call.end terminal_create",
	}
	slices.Sort(events) // a command ends when it likes
	slices.Sort(want)
	if !slices.Equal(events, want) {
		t.Errorf("got  %q\nwant %q", events, want)
	}
	for l, err := range audit.Read(w.log) {
		switch {
		case err != nil:
			t.Fatal(err)
		case l.Type == "call" && l.Custom["tool"] == "own" && (l.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || l.SpanID != "00f067aa0ba902b7" || l.Labels["goal"] != "tidy"):
			t.Errorf("%s", l.Raw)
		case l.Type == "command" && l.Result.Effect == "deny" && !strings.Contains(denied.Result.Content[0].Text, "decision "+l.DecisionID+"]"):
			t.Errorf("%s is not quoted in %q", l.DecisionID, denied.Result.Content[0].Text)
		}
	}
}

// Threats: BR-7.
func TestTheBrakeRefusesTheRest(t *testing.T) {
	w := newWaist(t, mcp.Config{})
	c := serve(t, context.Background(), w.Server)
	id := c.start("echo kept")
	c.call(1, "terminal_wait_for_exit", idArg(id))
	w.brake.On("smoke")
	for tool, args := range map[string]string{"terminal_create": `{"command":"echo hi"}`, "own": `{}`} {
		m := c.call(2, tool, args)
		_, last := w.events(t)
		if text := m.Result.Content[0].Text; !m.Result.IsError || !strings.HasPrefix(text, "refused: the brake is on: smoke [decision "+last.DecisionID+"]") || last.Result.Effect != "deny" {
			t.Errorf("%s: %q\n%s", tool, text, last.Raw)
		}
	}
	if len(w.calls) != 0 {
		t.Error("a host's own tool was called")
	}
	if m := c.call(3, "terminal_output", idArg(id)); m.Result.Structured.Output != "kept\n" {
		t.Errorf("what was written is lost: %+v", m.Result)
	}
	if m := c.call(4, "terminal_release", idArg(id)); m.Result.IsError {
		t.Errorf("nothing can be ended: %+v", m.Result)
	}
	w.brake.Off()
	c.call(5, "terminal_release", idArg(c.start("echo hi")))
}

// A program that embeds the server binds what holds for one client to the
// context of Serve, or to the base of the handler.
// Threats: BR-4.
func TestWhatAContextCarriesHolds(t *testing.T) {
	var own brake.Switch
	bind := func(ctx context.Context) context.Context {
		ctx = policy.WithOrigin(ctx, policy.Origin{Goal: "of this client"})
		return policy.Bind(policy.Bind(ctx, &own), brake.Grant{Tools: []string{"own", "terminal_create"}, Commands: []string{"echo"}, Name: "intern"})
	}
	w := newWaist(t, mcp.Config{Goal: "of the server"})
	free, bound := serve(t, context.Background(), w.Server), serve(t, bind(context.Background()), w.Server)
	srv := httptest.NewServer(w.Handler(bind(t.Context()), mcp.HTTPConfig{Auth: tokenAuth{}}))
	defer srv.Close()
	calls := map[string]func(tool, args string) message{
		"stdio": func(tool, args string) message { return bound.call(1, tool, args) },
		"http":  func(tool, args string) message { _, m := post(t, srv.URL, aliceToken, 1, tool, args, ""); return m },
	}
	for way, call := range calls {
		if m := call("own", `{}`); m.Result.IsError {
			t.Errorf("%s: %+v", way, m.Result)
		}
		if o := <-w.calls; o.Goal != "of this client" {
			t.Errorf("%s: goal %q", way, o.Goal)
		}
		m := call("terminal_kill", idArg("t_0"))
		if text := m.Result.Content[0].Text; !m.Result.IsError || !strings.Contains(text, "refused: the tool terminal_kill is not granted") {
			t.Errorf("%s: %q", way, text)
		}
		own.On("only here")
		m = call("terminal_create", `{"command":"echo hi"}`)
		_, last := w.events(t)
		if text := m.Result.Content[0].Text; !m.Result.IsError || !strings.Contains(text, "the brake is on: only here [decision "+last.DecisionID+"]") {
			t.Errorf("%s: %q %s", way, text, last.Raw)
		}
		own.Off()
	}
	own.On("only here")
	free.call(9, "terminal_release", idArg(free.start("echo hi"))) // another client is not touched
}

// Threats: BR-6.
func TestAGrantOfTheServer(t *testing.T) {
	w := newWaist(t, mcp.Config{Isolation: policy.IsolationNone, Grant: &brake.Grant{Tools: []string{brake.Any}, Commands: []string{brake.Any}, Isolation: policy.IsolationTerminal}})
	c := serve(t, context.Background(), w.Server)
	m := c.call(1, "terminal_create", `{"command":"echo hi"}`)
	_, last := w.events(t)
	if text := m.Result.Content[0].Text; !m.Result.IsError || !strings.Contains(text, `requires isolation "terminal", and this server has "none"`) || last.Result.Effect != "deny" || last.Labels["isolation"] != "none" {
		t.Errorf("%q\n%s", text, last.Raw)
	}

	w = newWaist(t, mcp.Config{Grant: &brake.Grant{Tools: []string{brake.Any}, Until: time.Now().Add(time.Hour)}})
	c = serve(t, context.Background(), w.Server)
	m = c.call(1, "terminal_create", `{"command":"echo hi"}`)
	_, last = w.events(t)
	if text := m.Result.Content[0].Text; !m.Result.IsError || !strings.Contains(text, "denied by policy: no command is granted") {
		t.Errorf("%q\n%s", text, last.Raw)
	}
}

func TestHealthAndMetricsOfTheWaist(t *testing.T) {
	sick := false
	w := newWaist(t, mcp.Config{Health: func() error {
		if sick {
			return errors.New("the audit log cannot be written")
		}
		return nil
	}, Metrics: []func(io.Writer){func(w io.Writer) { io.WriteString(w, "donax_more 1\n") }}})
	srv := httptest.NewServer(w.Handler(t.Context(), mcp.HTTPConfig{Auth: tokenAuth{}}))
	defer srv.Close()
	w.brake.On("smoke")
	post(t, srv.URL, aliceToken, 1, "own", `{}`, "")
	get := func(path string) string {
		var session string
		return strings.Join(answer(t, request(t, srv.URL, "GET"+path, "", ""), &session), "\n")
	}
	if got := get("/metrics"); !strings.Contains(got, "\ndonax_more 1\n") || !strings.Contains(got, "\ndonax_calls_refused_total 1\n") {
		t.Errorf("%s", got)
	}
	if got := get("/healthz"); !strings.HasPrefix(got, "200") {
		t.Errorf("%s", got)
	}
	sick = true
	if got := get("/healthz"); !strings.HasPrefix(got, "503") || !strings.Contains(got, "cannot be written") {
		t.Errorf("%s", got)
	}
}
