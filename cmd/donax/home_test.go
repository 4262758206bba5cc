package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// line runs a line to its end and returns what terminal_output says of it.
func (r *remote) line(session, command string) string {
	r.t.Helper()
	args := map[string]string{"command": command}
	if session != "" {
		args["session"] = session
	}
	b, err := json.Marshal(args)
	if err != nil {
		r.t.Fatal(err)
	}
	made := r.call("terminal_create", string(b))
	m := terminalID.FindString(made)
	if m == "" {
		r.t.Fatal(made)
	}
	id := `{"terminalId":"` + m + `"}`
	for !strings.Contains(r.call("terminal_wait_for_exit", id), `"running":false`) {
	}
	return r.call("terminal_output", id)
}

// TestPrincipalsShareNoFiles: what one principal of a server writes, to /tmp,
// to /workspace or over a cow mount, no other sees; it sees its own.
//
// Threats: WO-12.
func TestPrincipalsShareNoFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"terminal", "none"} {
		a := serveHTTP(t, "-q", "--isolation", level, "--mount", dir+":/workspace/m")
		b := a.as(otherToken)
		const write = "echo canary > /tmp/x; echo canary > w; echo canary > m/f; echo canary > m/new; ln -s /tmp/x m/l; echo written"
		const look = "cat /tmp/x w m/new m/l; ls -a /tmp . m; cat m/f"
		if out := a.line("", write); !strings.Contains(out, "written") {
			t.Fatalf("%s: %s", level, out)
		}
		for _, session := range []string{"", "s"} {
			if out := a.line(session, look); strings.Count(out, "canary") < 5 {
				t.Errorf("%s, its own: %s", level, out)
			}
			if out := b.line(session, look); strings.Contains(out, "canary") || !strings.Contains(out, "theirs") || strings.Contains(out, "new\\n") {
				t.Errorf("%s, of another: %s", level, out)
			}
		}
		if b, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(b) != "theirs\n" {
			t.Errorf("the folder itself: %q %v", b, err)
		}
	}
}

// TestHomes: each principal has one, and there is an end to them.
func TestHomes(t *testing.T) {
	made := 0
	h := &homes{spare: &ownHome{}, make: func() (*ownHome, error) { made++; return &ownHome{}, nil }}
	first, err := h.get(policy.Principal{Sub: "0"})
	if err != nil || made != 0 {
		t.Fatal(made, err)
	}
	for i := range maxHomes + 5 {
		_, err = h.get(policy.Principal{Sub: "x", Tenant: string(rune('a' + i))})
	}
	if err == nil || !strings.Contains(err.Error(), "no more") || made != maxHomes-1 {
		t.Errorf("%d were made: %v", made, err)
	}
	if again, err := h.get(policy.Principal{Sub: "0", Roles: []string{"r"}}); err != nil || again != first {
		t.Errorf("the first again: %v", err)
	}
}
