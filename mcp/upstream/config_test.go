package upstream_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/upstream"
)

func load(t *testing.T, text string) (*upstream.File, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), ".mcp.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/me", "TOKEN": "sesame-1234", "EMPTY": ""}
	return upstream.Load(name, func(k string) (string, bool) { v, ok := env[k]; return v, ok })
}

func TestConfigOfClients(t *testing.T) {
	f, err := load(t, `{
  "inputs": [],
  "mcpServers": {
    "zeta": {"type": "stdio", "command": "npx", "args": ["-y", "${NAME:-pkg}@1", "${EMPTY:-x}", "$TOKEN"], "env": {"KEY": "k-${TOKEN}"}, "autoApprove": []},
    "alpha": {"type": "http", "url": "https://h.example/${TOKEN}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "here": {"command": "./bin/server", "cwd": "sub", "disabled": true},
    "lost": {"command": "x", "env": {"A": "${NOT_SET}"}},
    "odd": {"command": "x", "args": ["${input:token}"]},
    "own": {"command": "x", "donax": {"confirm": "ask-always", "allow": ["a*"], "deny": ["ab"], "enabled": false, "startupTimeoutMs": 5, "callTimeoutMs": 6, "idleMs": 7, "group": "g", "pin": "p", "elicit": true, "remember": "tool"}}
  }
}`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range f.Servers {
		names = append(names, s.Name)
	}
	if strings.Join(names, " ") != "zeta alpha here lost odd own" {
		t.Errorf("not in the order of the file: %v", names)
	}
	z := f.Servers[0]
	if strings.Join(z.Command, " ") != "npx -y pkg@1 x $TOKEN" || strings.Join(z.Env, " ") != "HOME=/home/me KEY=k-sesame-1234 PATH=/usr/bin:/bin" || !filepath.IsAbs(z.Dir) || z.Err != nil {
		t.Errorf("%+v", z)
	}
	if a := f.Servers[1]; a.URL != "https://h.example/sesame-1234/mcp" || a.Header.Get("Authorization") != "Bearer sesame-1234" {
		t.Errorf("%+v", a)
	}
	if h := f.Servers[2]; !h.Disabled || !strings.HasSuffix(h.Command[0], "/sub/bin/server") || !filepath.IsAbs(h.Command[0]) {
		t.Errorf("%+v", h)
	}
	for i, want := range map[int]string{3: "the variable NOT_SET is not set", 4: "is no variable"} {
		if s := f.Servers[i]; s.Err == nil || !strings.Contains(s.Err.Error(), want) || strings.Contains(s.Err.Error(), "sesame") {
			t.Errorf("%s: %v", s.Name, s.Err)
		}
	}
	if o := f.Servers[5]; o.Confirm[0] != (upstream.Rule{Tools: "*", Mode: upstream.AskAlways}) || !o.Disabled || o.StartTimeout != 5*time.Millisecond || o.Idle != 7*time.Millisecond || o.Group != "g" || o.Remember != upstream.RememberTool || !o.Elicit {
		t.Errorf("%+v", o)
	}
	if w := strings.Join(f.Warnings, "\n"); !strings.Contains(w, `.mcp.json:2: the key "inputs" is ignored`) || !strings.Contains(w, `.mcp.json:4: zeta: the key "autoApprove" is not known`) {
		t.Error(w)
	}
}

func TestConfigMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                         "no JSON",
		"{\n\n\"a\" 1}":             ".mcp.json:3: no JSON",
		`{"servers": {}}`:           "there is no mcpServers",
		`{"mcpServers": []}`:        "want an object",
		`{"mcpServers": {"a": {}}}`: "want either a command or a url",
		`{"mcpServers": {"a": {"command": "x", "url": "http://h"}}}`:                        "want either a command or a url",
		`{"mcpServers": {"a": {"command": 1}}}`:                                             "command: want a text",
		`{"mcpServers": {"a": {"type": "sse", "url": "http://h"}}}`:                         "sse is not spoken",
		`{"mcpServers": {"a": {"type": "http", "command": "x"}}}`:                           "does not fit",
		`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`:                    `the key "a" is there twice`,
		"{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"donax\": {\"confrim\": \"x\"}}}}": `.mcp.json:2: donax has no key "confrim"`,
		`{"mcpServers": {"a": {"command": "x", "donax": {"confirm": "maybe"}}}}`:            "want block, ask_always, ask_once or trust",
		`{"mcpServers": {"a": {"command": "x", "donax": {"confirm": {"[": "trust"}}}}}`:     "is no glob",
		`{"mcpServers": {"a": {"command": "x", "donax": {"allow": "*"}}}}`:                  "want an array of globs",
		`{"mcpServers": {"a": {"command": "x", "donax": {"idleMs": 0}}}}`:                   "want 1 to 86400000",
		`{"mcpServers": {"a": {"command": "x", "donax": {"remember": "all"}}}}`:             `want "call" or "tool"`,
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := upstream.Load(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a file that is not there loads")
	}
}

// TestManual loads the configurations of docs/upstream.md.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/upstream.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```json\n")[1:]
	for _, b := range blocks {
		src, _, _ := strings.Cut(b, "```")
		f, err := load(t, strings.NewReplacer("${GITHUB_TOKEN}", "${TOKEN}", "${DOCS_TOKEN}", "${TOKEN}").Replace(src))
		if err != nil || len(f.Warnings) > 0 || len(f.Servers) != 2 || f.Servers[0].Err != nil || f.Servers[1].Err != nil {
			t.Errorf("%v %+v", err, f)
		}
	}
	if len(blocks) == 0 {
		t.Error("there is none")
	}
}
