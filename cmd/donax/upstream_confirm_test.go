package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/client"
)

// asked is a client that can ask a person, who says yes to all but "no".
type asked struct {
	*served
	mu        sync.Mutex
	questions []string
}

func (a *asked) elicit(_ context.Context, e client.Elicitation) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.questions = append(a.questions, e.Message)
	return !strings.Contains(e.Message, `"no"`)
}

func (a *asked) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.questions)
}

// The confirm modes of upstream tools reach the person at the client, in both
// eras and wherever the line runs, and no mode of --confirm loosens them.
// Threats: UP-7.
func TestConfirmOverMCP(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fake := filepath.Join(dir, "fake-mcp")
	if err := os.Symlink(self, fake); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"rules.rego": "package donax\n\nallow if input.action in {\"command\", \"exec\", \"tool\"}\n\nask contains \"sure?\" if input.exec.name == \"rm\"\n",
		"mcp.json": fmt.Sprintf(`{"mcpServers": {"fake": {"command": %q, "donax": {"elicit": true,
			"confirm": {"echo": "ask_once", "big": "ask_always", "args": "block", "ask": "trust"}}}}}`, fake),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		revision string
		flags    []string
	}{
		{"2025-11-25", []string{"--isolation", "none"}},
		{"2026-07-28", []string{"--isolation", "none", "--confirm", "trust"}},
		{"2026-07-28", []string{"--isolation", string(servedIsolation())}},
	} {
		t.Run(c.revision+strings.Join(c.flags, ""), func(t *testing.T) {
			a := &asked{served: &served{t: t}}
			open := func(elicit func(context.Context, client.Elicitation) bool) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				t.Cleanup(cancel)
				conn, err := client.Start(ctx, client.Config{
					Command: append([]string{donaxBinary(t), "serve", "--upstream", filepath.Join(dir, "mcp.json"), "--policy", filepath.Join(dir, "rules.rego")}, c.flags...),
					Env:     append(os.Environ(), "DONAX_CACHE="+testCache(t)), Stderr: &a.log,
					Revision: c.revision, Elicit: elicit, Limits: client.Limits{Probe: time.Minute},
				})
				if err != nil {
					t.Fatalf("%v\n%s", err, &a.log)
				}
				t.Cleanup(func() { conn.Close() })
				a.Client = conn
			}
			open(a.elicit)
			for _, step := range []struct {
				line, out string
				questions int
			}{
				{"fake.echo --text a", "a", 1},
				{"fake.echo --text a | cat", "a", 0},
				{"fake.echo --text no", "fake.echo: denied: the person who was asked said no", 1},
				{"fake.big --bytes 16; fake.big --bytes 16", "0123456789abcde\n0123456789abcde\n", 2},
				{"fake.args", "denied: blocked by the confirm mode", 0},
				{"fake.ask", "accept", 1},
				{"fake.ask", "accept", 1}, // a server's question is never remembered
			} {
				before := a.count()
				out, _ := a.line(map[string]any{"command": step.line})
				if n := a.count() - before; !strings.Contains(out, step.out) || n != step.questions {
					t.Errorf("%s: %q, %d questions; want %q and %d", step.line, out, n, step.out, step.questions)
				}
			}
			if q := a.questions[0]; !strings.Contains(q, "fake") || !strings.Contains(q, "echo") {
				t.Errorf("the question is %q", q)
			}
			// A client that can ask nobody is told what would help.
			a.Close()
			open(nil)
			if out, exit := a.line(map[string]any{"command": "fake.echo --text a"}); !strings.Contains(out, "needs a person's approval (confirm mode ask_once), and nobody can be asked here") || !strings.Contains(out, "try: ") || exit["exitCode"] != 126.0 {
				t.Errorf("%q %v", out, exit)
			}
		})
	}
}
