package upstream_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/client/clienttest"
	"github.com/donax-sh/donax/mcp/upstream"
	"github.com/donax-sh/donax/policy"
)

// TestNamesCannotShadow109: whatever a server calls its tools, they are
// commands with its own name in front, all different.
// Threats: UP-1.
func TestNamesCannotShadow109(t *testing.T) {
	b := open(t, config(t, "fake", entry("", "names"), "mcp", entry(""), "a b", entry(""), "a_b", entry(""), "cat", entry("")), nil, nil)
	b.Connect(t.Context())
	seen := map[string]bool{}
	for _, name := range b.Commands() {
		server, tool, ok := strings.Cut(name, ".")
		if !ok || seen[name] || len(name) > 100 || strings.Trim(server+tool, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || tool[0] == '-' {
			t.Errorf("%q", name)
		}
		seen[name] = true
	}
	for _, name := range []string{"fake.rm", "fake.a_b", "fake.a_b_2", "fake.___echo", "fake.__x_", "fake._", "fake._rf", "mcp_2.echo", "a_b.echo", "a_b_2.echo", "cat.echo"} {
		if !seen[name] {
			t.Errorf("there is no %s among %v", name, b.Commands())
		}
	}
	for command, want := range map[string]string{"fake.a_b": "a_b", "fake.a_b_2": "a b", "fake.___echo": "../echo"} {
		if _, tool, _ := b.Resolve(command); tool != want {
			t.Errorf("%s is %q, want %q", command, tool, want)
		}
	}
	if s, _, _ := b.Resolve("a_b_2.echo"); s != "a b" {
		t.Error(s)
	}
	b.want("echo x | cat; mcp_2.echo --text y", "x\ny", "", 0)
	if out, _, _ := b.do("mcp.describe fake.a_b"); strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, "A [31mred[0m tool.") {
		t.Errorf("%q", out)
	}
}

// TestSchemasAreMended109: no schema a server sends can do more than say less.
// Threats: UP-2.
func TestSchemasAreMended109(t *testing.T) {
	b := open(t, config(t, "fake", entry("", "schemas")), nil, nil)
	b.Connect(t.Context())
	for line, want := range map[string]string{
		"fake.none": "no such tool", "fake.null": "no such tool", "fake.text": "no such tool", "fake.array": "no such tool", "fake.deep": "no such tool",
		"fake.ref --a x --b y": "no such tool", "fake.ref --b": "--b needs a value: string", "fake.ref --c x": "unknown flag --c",
		"fake.wide --field0 x": "no such tool", "fake.nullable --json '{\"x\":null}'": "no such tool", "fake.nullable --json '{\"x\":1}'": "want string or null",
		"fake.wide --nothing x": "this tool's schema is not known in full",
	} {
		if _, errw, status := b.do(line); status == 0 || !strings.Contains(errw, want) {
			t.Errorf("%s: %d %s, want %s", line, status, cut(errw), want)
		}
	}
	if out, _, _ := b.do("mcp.list | count; mcp.describe fake.wide | count"); out == "" {
		t.Error("tools with such schemas cannot be listed")
	}
}

// Threats: UP-4.
func TestTextIsData109(t *testing.T) {
	b := open(t, config(t, "fake", entry("")), nil, nil)
	b.want("fake.escape", "a\uFFFD[31mred\uFFFD]0;title\uFFFD\uFFFDb\r\nc\uFFFDd\te\n", "", 0)
}

// TestFaults: a server that hangs, dies or talks too much costs its own call,
// and nobody else's.
// Threats: UP-5, UP-10.
func TestFaults(t *testing.T) {
	b := open(t, config(t,
		"fake", entry(`{"confirm": "trust", "callTimeoutMs": 300}`), "good", entry(""), "banner", entry("", "banner", "noise"), "gone", entry("", "exit"),
		"mute", entry(`{"confirm": "trust", "startupTimeoutMs": 700}`, "mute"), "loop", entry("", "loop"), "lists", entry(`{"confirm": "trust", "startupTimeoutMs": 700}`, "mutelist"),
		"missing", `{"command": "/nonexistent"}`, "unset", `{"command": "x", "env": {"A": "${TEST_IS_NOT_SET}"}}`, "flood", entry("", "flood"),
	), nil, nil)
	for line, want := range map[string]string{
		"fake.hang":   "no answer within 300ms, the call was cancelled",
		"fake.die":    "the call failed",
		"gone.x":      "the upstream server gone cannot be used",
		"mute.x":      "it did not answer within 700ms",
		"lists.x":     "it did not answer within 700ms",
		"loop.x":      "does not end after 100 pages",
		"missing.x":   "cannot be started",
		"fake.sample": "", // refused; the tool says so itself
	} {
		out, errw, status := b.do("( " + line + " ); good.echo --text on")
		if !strings.HasSuffix(out, "on") || !strings.Contains(errw, want) || status != 0 {
			t.Errorf("%s: %q %q %d, want %q", line, out, errw, status, want)
		}
	}
	b.want("unset.x", "", "command not found", 127)
	b.want("fake.echo --text again; banner.echo --text b; flood.echo --text f", "againbf", "", 0)
	b.want("fake.cancelled | count", "1\n", "", 0)
	if out, _, _ := b.do("fake.sample"); !strings.Contains(out, "does not support") {
		t.Errorf("sampling: %s", out)
	}
	states := map[string]upstream.State{}
	for _, s := range b.Status() {
		states[s.Name] = s.State
	}
	if states["good"] != upstream.Connected || states["gone"] != upstream.Failed || states["unset"] != upstream.Failed {
		t.Error(states)
	}
}

// TestKilledCommandCancels: the end of a line reaches the server, and leaves
// the connection to others.
func TestKilledCommandCancels(t *testing.T) {
	b := open(t, config(t, "fake", entry("")), nil, nil)
	b.want("fake.echo --text x", "x", "", 0)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	c, err := b.session.Inspect(ctx, policy.Command{Text: "fake.hang"})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, err := b.session.Run(ctx, c, nil, nil, nil); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	for range 100 {
		if out, _, _ := b.do("fake.cancelled"); out == "1" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the server was not told, or the connection is gone")
}

// TestSecretsStayOutside111 looks for a credential in everything that comes
// out, in the spellings of an echo.
// Threats: UP-8.
func TestSecretsStayOutside111(t *testing.T) {
	const secret = "canary-TOKEN-55A1/x+y"
	t.Setenv("TEST_TOKEN", secret)
	web := httptest.NewServer(&clienttest.Handler{Token: secret})
	defer web.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, config(t,
		"fake", entry(""), "gone", entry("", "exit"),
		"web", `{"type": "http", "url": "`+web.URL+`", "headers": {"Authorization": "Bearer ${TEST_TOKEN}"}, "donax": {"confirm": "trust"}}`,
		"file", `{"url": "`+web.URL+`", "donax": {"confirm": "trust", "bearerFile": "`+filepath.Join(dir, "token")+`"}}`,
		"env", `{"url": "`+web.URL+`", "donax": {"confirm": "trust", "bearerEnv": "TEST_TOKEN"}}`,
		"query", `{"url": "http://127.0.0.1:1/mcp?key=${TEST_TOKEN}", "donax": {"confirm": "trust"}}`,
		"wrong", `{"url": "`+web.URL+`", "headers": {"Authorization": "Bearer x${TEST_TOKEN}"}, "donax": {"confirm": "trust"}}`,
	), func(c *upstream.Config) { c.CacheDir = dir; c.Progress = true }, nil)
	echo := func(s string) string { return "'" + s + "'" }
	lines := []string{
		"fake.env --name FAKE_TOKEN", "printenv", "set", "export -p", "gone.x", "query.x", "wrong.x", "mcp.list", "mcp.describe --json fake.env",
		"fake.echo --json --text " + echo(secret), "fake.echo --text " + echo(base64.StdEncoding.EncodeToString([]byte(secret))),
		"fake.echo --text " + echo(hex.EncodeToString([]byte(secret))), "fake.echo --text " + echo("1234"+secret), "web.echo --text " + echo(secret),
		"file.echo --text " + echo(secret), "env.echo --text " + echo(secret), "fake.env --name FAKE_TOKEN > /tmp/f; cat /tmp/f", "fake.echo --nosuch " + echo(secret),
	}
	out, errw, _ := b.do(strings.Join(lines, "\n"))
	for _, server := range []string{"web", "file", "env"} {
		if o, e, _ := b.do(server + ".echo --text works"); o != "works" {
			t.Errorf("%s: %s %s", server, o, e)
		}
	}
	b.mu.Lock()
	all := out + errw + b.Summary() + b.Instructions() + b.log.String()
	b.mu.Unlock()
	for _, s := range b.Status() {
		all += s.Error
	}
	files, err := filepath.Glob(filepath.Join(dir, "upstream", "*"))
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all += f + string(text)
	}
	if !strings.Contains(all, "[masked]") {
		t.Error("nothing was masked")
	}
	for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)), "CANARY-token-55a1", "canary-TOKEN-55A1%2F"} {
		if i := strings.Index(all, form); i >= 0 {
			t.Errorf("%q comes out: %q", form, all[max(0, i-200):i+len(form)])
		}
	}
}

// TestChangedTools: what a server says of a tool is part of what was agreed
// to; when it changes, pins and approvals are void.
// Threats: UP-3.
func TestChangedTools(t *testing.T) {
	dir := t.TempDir()
	keep := func(c *upstream.Config) { c.CacheDir = dir }
	pin, err := open(t, config(t, "fake", entry("")), nil, nil).PinOf(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, config(t, "fake", entry(`{"confirm": "trust", "pin": "`+pin+`"}`)), keep, nil)
	b.want("fake.echo --text x; fake.change", "xchanged", "", 0)
	for range 300 {
		if b.Status()[0].State == upstream.Changed {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.want("fake.echo --text x", "", "are not those that its configuration pins", 126)
	b.want("fake.big --bytes 16", "", "are not those that its configuration pins", 126)
	// A list that was kept and is no longer true is found out before the call.
	other := open(t, config(t, "fake", entry(`{"confirm": "trust", "pin": "`+strings.Repeat("0", 64)+`"}`)), nil, nil)
	other.want("fake.echo --text x", "", "are not those", 126)
}

// TestStaleListIsNotCalled: the description that was looked up is compared
// with the server's before anything is called.
// Threats: UP-3.
func TestStaleListIsNotCalled(t *testing.T) {
	dir := t.TempDir()
	file := config(t, "fake", entry(""))
	keep := func(c *upstream.Config) { c.CacheDir = dir }
	b := open(t, file, keep, nil)
	b.want("fake.change", "changed", "", 0)
	for range 300 { // the changed list is kept; the next process has the old one again
		if out, _, _ := b.do("mcp.describe fake.echo"); strings.Contains(out, "send it to me too") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Close()
	later := open(t, file, keep, nil)
	later.want("fake.echo --text x", "", "has changed this tool since it was looked up", 126)
	later.want("fake.echo --text x", "x", "", 0)
}
