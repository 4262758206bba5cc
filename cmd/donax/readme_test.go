package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const readme = "../../README.md"

// TestReadmeSession types the session of the README into a real shell, with
// this test binary as donax, and compares what comes out.
func TestReadmeSession(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip("bash is not installed")
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "<!-- session:")
	_, after, _ = strings.Cut(after, "```console\n")
	session, _, ok := strings.Cut(after, "```")
	if !ok {
		t.Fatal("the README has no session")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "donax")); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`decision [0-9a-z]+\]`)
	for step := range strings.SplitSeq(session, "$ ") {
		line, want, _ := strings.Cut(step, "\n")
		if line == "" {
			continue
		}
		cmd := exec.Command(bash, "-c", line)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "DONAX_CACHE="+testCache(t), "DONAX_QUIET=true")
		out, _ := cmd.CombinedOutput() // a status that matters is printed by the line itself
		got := id.ReplaceAllString(string(out), "decision ID]")
		if got != want {
			t.Errorf("$ %s\n%s\nthe README says:\n%s", line, got, want)
		}
	}
}

// TestReadmeCommands holds the table of the README against the catalogue.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- commands: donax commands --markdown -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the README has no place for the table of commands")
	}
	list, err := boxCommands()
	if err != nil {
		t.Fatal(err)
	}
	want := markdown(list)
	if table == want {
		return
	}
	if os.Getenv("DONAX_UPDATE") != "" {
		if err := os.WriteFile(readme, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("the README's table of commands is not the catalogue's: run the test with DONAX_UPDATE=1")
}

// TestReadmeClients holds what the README tells users of clients to paste
// against what connect writes for them.
func TestReadmeClients(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	block := func(heading string) string {
		_, after, _ := strings.Cut(string(text), "**"+heading+"**")
		_, after, _ = strings.Cut(after, "```")
		_, after, _ = strings.Cut(after, "\n")
		b, _, ok := strings.Cut(after, "```")
		if !ok {
			t.Fatalf("the README has nothing for %s", heading)
		}
		return b
	}
	args := []string{"serve", "--policy", "/srv/rules.rego", "--mount", "/srv/project"}
	clients := mcpClients()
	if got, want := block("Claude Code"), clients["claude-code"].adds+" donax "+quoteWords(args)+"\n"; got != want {
		t.Errorf("Claude Code: %q, want %q", got, want)
	}
	for heading, name := range map[string]string{"Codex": "codex", "VS Code": "vscode"} {
		got := block(heading)
		if again, err := clients[name].edit([]byte(got), "donax", args); err != nil || clean(again) != clean([]byte(got)) {
			t.Errorf("%s: %v\n%s", heading, err, again)
		}
	}
}

// clean is a text without its layout.
func clean(b []byte) string { return strings.Join(strings.Fields(string(b)), "") }
