package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

var driving = []string{"terminal_create", "terminal_output", "terminal_wait_for_exit", "terminal_kill", "terminal_release"}

func TestToolsTeachTheirUse(t *testing.T) {
	s := newServer(t, mcp.Config{Host: shellHost()})
	if n := len(mcp.Instructions + mcp.SessionInstructions); n >= 2048 {
		t.Errorf("instructions of %d bytes: clients cut them", n)
	}
	var names []string
	for _, tool := range s.Tools() {
		names = append(names, tool.Name)
		if n := len(tool.Description); n == 0 || n >= 2048 {
			t.Errorf("%s: a description of %d bytes", tool.Name, n)
		}
		if !strings.Contains(mcp.Instructions, tool.Name) {
			t.Errorf("the instructions do not name %s", tool.Name)
		}
		lint(t, tool.Name+" input", tool.InputSchema, false)
		lint(t, tool.Name+" output", tool.OutputSchema, true)
	}
	if !slices.Equal(names, driving) {
		t.Errorf("order %v", names)
	}
}

// lint holds a schema to what every client takes.
func lint(t *testing.T, where string, raw json.RawMessage, output bool) {
	t.Helper()
	var s map[string]json.RawMessage
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	var kind string
	alternatives, ok := s["anyOf"]
	switch {
	case ok && !output:
		t.Errorf("%s: anyOf", where)
	case ok:
		var list []json.RawMessage
		if json.Unmarshal(alternatives, &list) != nil || len(list) != 2 {
			t.Errorf("%s: %s", where, alternatives)
		}
		for _, a := range list {
			lint(t, where, a, output)
		}
		return
	case json.Unmarshal(s["type"], &kind) != nil:
		t.Errorf("%s: type is %s", where, s["type"])
	case kind == "null" && !output:
		t.Errorf("%s: null", where)
	case kind == "array":
		lint(t, where+"[]", s["items"], output)
	}
	var properties map[string]json.RawMessage
	if p, ok := s["properties"]; ok {
		if err := json.Unmarshal(p, &properties); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	for name, p := range properties {
		lint(t, where+"."+name, p, output)
	}
	for keyword := range s {
		if !slices.Contains([]string{"type", "properties", "required", "items", "additionalProperties", "description", "minimum", "enum"}, keyword) {
			t.Errorf("%s: keyword %s", where, keyword)
		}
	}
}

// words is a shell that keeps what "keep WORD" gives it.
type words struct {
	fake
	kept []string
}

func (w *words) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	if word, ok := strings.CutPrefix(c.Text, "keep "); ok {
		w.kept = append(w.kept, word)
		_, err := fmt.Fprintln(out, strings.Join(w.kept, " "))
		return 0, err
	}
	return w.fake.Run(ctx, c, in, out, errw)
}

func (*words) Close() error { return nil }

func shellHost() *termhost.Host {
	return termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}, Shell: func(context.Context) (termhost.Shell, error) { return &words{}, nil }})
}

func TestNamedSessions(t *testing.T) {
	c := serve(t, context.Background(), newServer(t, mcp.Config{Host: shellHost()}))
	c.send(macros.Replace(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{$META}}`))
	if l := c.next(); !strings.Contains(l, `\"session\" name`) {
		t.Errorf("the instructions do not tell: %s", l)
	}
	for _, step := range []struct{ args, want string }{
		{`{"command":"keep a","session":"s"}`, "a\n"},
		{`{"command":"keep b","session":"s"}`, "a b\n"},
		{`{"command":"keep c","session":"other"}`, "c\n"},
	} {
		id := c.call(2, "terminal_create", step.args).Result.Structured.TerminalID
		c.call(3, "terminal_wait_for_exit", idArg(id))
		if got := c.call(4, "terminal_output", idArg(id)).Result.Structured.Output; got != step.want {
			t.Errorf("%s: %q, want %q", step.args, got, step.want)
		}
	}
	if m := c.call(5, "terminal_create", `{"command":"keep d","session":""}`); !m.Result.IsError {
		t.Error("an empty name is taken")
	}
}

func TestHostTools(t *testing.T) {
	named := func(name, text string) mcp.Tool {
		return mcp.Tool{Name: name, Description: text, InputSchema: json.RawMessage(`{"type":"object"}`),
			Call: func(context.Context, *mcp.Call) (*mcp.Result, error) { return &mcp.Result{Text: text}, nil }}
	}
	s := newServer(t, mcp.Config{Tools: []mcp.Tool{named("zeta", "1"), named("alpha", "2"), named("zeta", "3"), named("terminal_kill", "4")}})
	var got []string
	for _, tool := range s.Tools() {
		got = append(got, tool.Name)
	}
	if want := append(slices.Clone(driving), "zeta", "alpha"); !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	c := serve(t, context.Background(), s)
	for name, want := range map[string]string{"zeta": "3", "alpha": "2", "terminal_kill": "4"} {
		if m := c.call(1, name, `{}`); m.Result.Content[0].Text != want {
			t.Errorf("%s: %q", name, m.Result.Content[0].Text)
		}
	}

	host := termhost.New(termhost.Config{Runner: fake{}})
	defer host.Close()
	for _, bad := range []mcp.Tool{
		named("", "x"), named("a b", "x"), named(strings.Repeat("a", 49), "x"), named("a", strings.Repeat("x", 2049)),
		{Name: "a", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "a", Call: named("a", "").Call},
		{Name: "a", Call: named("a", "").Call, InputSchema: json.RawMessage(`{"type":"array"}`)},
		{Name: "a", Call: named("a", "").Call, InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{`)},
	} {
		if _, err := mcp.New(mcp.Config{Host: host, Tools: []mcp.Tool{bad}}); err == nil {
			t.Errorf("%+v is taken", bad.Name)
		}
	}
	if _, err := mcp.New(mcp.Config{}); err == nil {
		t.Error("a server without a host")
	}
}

// Threats: PR-2.
func TestPrincipalsDoNotSeeEachOther(t *testing.T) {
	s := newServer(t, mcp.Config{Tools: fixtures()})
	as := func(sub string) context.Context {
		return policy.WithSubject(context.Background(), policy.Subject{Principal: policy.Principal{Sub: sub, Auth: "test"}})
	}
	alice, bob := serve(t, as("alice"), s), serve(t, as("bob"), s)
	id := alice.start("hang")
	text := func(m message) string { return m.Result.Content[0].Text }
	want := text(bob.call(1, "terminal_output", idArg("t_00000000000000000000000000000000")))
	for _, tool := range driving[1:] {
		m := bob.call(2, tool, idArg(id))
		if !m.Result.IsError || text(m) != want {
			t.Errorf("%s of a foreign id: %q, want %q", tool, text(m), want)
		}
	}
	if m := alice.call(3, "terminal_output", idArg(id)); m.Result.IsError || string(m.Result.Structured.ExitStatus) != "null" {
		t.Errorf("alice's terminal was touched: %+v", m.Result)
	}
	if m := bob.call(4, "whoami", `{}`); !strings.Contains(text(m), `"sub":"bob"`) || !strings.Contains(text(m), `"transport":"stdio"`) {
		t.Errorf("bob is %s", text(m))
	}
}

// The official client is the judge in both eras.
func TestInterop(t *testing.T) {
	for _, era := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run(era, func(t *testing.T) {
			s := newServer(t, mcp.Config{})
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			served := make(chan error, 1)
			go func() {
				served <- s.Serve(context.Background(), inR, outW)
				outW.Close()
			}()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			progress := make(chan string, 100)
			c := sdk.NewClient(&sdk.Implementation{Name: "interop", Version: "1"}, &sdk.ClientOptions{
				Capabilities: &sdk.ClientCapabilities{},
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					progress <- r.Params.Message
				},
			})
			cs, err := c.Connect(ctx, &sdk.IOTransport{Reader: outR, Writer: inW}, &sdk.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			init := cs.InitializeResult()
			if init.ProtocolVersion != era || init.Instructions != mcp.Instructions || init.ServerInfo.Name != "donax" {
				t.Errorf("connected: %+v", init)
			}
			list, err := cs.ListTools(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, tool := range list.Tools {
				if tool.Name != driving[i] {
					t.Errorf("tool %d is %s", i, tool.Name)
				}
			}
			call := func(name string, args map[string]any, meta sdk.Meta) map[string]any {
				t.Helper()
				r, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args, Meta: meta})
				if err != nil || r.IsError {
					t.Fatalf("%s: %v %+v", name, err, r)
				}
				var text any
				if err := json.Unmarshal([]byte(r.Content[0].(*sdk.TextContent).Text), &text); err != nil {
					t.Error(err)
				}
				if fmt.Sprint(text) != fmt.Sprint(r.StructuredContent) {
					t.Errorf("%s: text %v and structure %v differ", name, text, r.StructuredContent)
				}
				return r.StructuredContent.(map[string]any)
			}
			id := call("terminal_create", map[string]any{"command": "slow 20"}, nil)["terminalId"]
			of := map[string]any{"terminalId": id}
			if w := call("terminal_wait_for_exit", of, sdk.Meta{"progressToken": "tok"}); w["running"] != false {
				t.Errorf("wait: %v", w)
			}
			out := call("terminal_output", of, nil)["output"].(string)
			shown := ""
			for !strings.HasSuffix(shown, out) {
				select {
				case m := <-progress:
					shown += m
				case <-ctx.Done():
					t.Fatalf("progress %q, output %q", shown, out)
				}
			}
			call("terminal_release", of, nil)
			if r, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "terminal_create", Arguments: map[string]any{"command": "rm x"}}); err != nil || !r.IsError {
				t.Errorf("denied: %v %+v", err, r)
			}
			// A call that its client gives up.
			id = call("terminal_create", map[string]any{"command": "hang"}, nil)["terminalId"]
			short, stop := context.WithTimeout(ctx, 50*time.Millisecond)
			defer stop()
			if _, err := cs.CallTool(short, &sdk.CallToolParams{Name: "terminal_wait_for_exit", Arguments: map[string]any{"terminalId": id}}); err == nil {
				t.Error("a call that was given up has an answer")
			}
			if k := call("terminal_kill", map[string]any{"terminalId": id}, nil); k["exitStatus"].(map[string]any)["signal"] != "SIGKILL" {
				t.Errorf("kill: %v", k)
			}
			if err := cs.Close(); err != nil {
				t.Error(err)
			}
			inW.Close()
			// The client closes both ends at once: what is still to be said to it finds nobody.
			if err := <-served; err != nil && !errors.Is(err, io.ErrClosedPipe) {
				t.Error(err)
			}
		})
	}
}
