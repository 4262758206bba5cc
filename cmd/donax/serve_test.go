package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/client"
)

// donaxBinary is this test binary under the name that makes it be donax.
func donaxBinary(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "donax")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// served is a client of a real server process.
type served struct {
	*client.Client
	t   *testing.T
	log strings.Builder
}

func serve(t *testing.T, flags ...string) *served {
	t.Helper()
	s := &served{t: t}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	c, err := client.Start(ctx, client.Config{
		Command: append([]string{donaxBinary(t), "serve"}, flags...), Stderr: &s.log,
		Env: append(os.Environ(), "DONAX_CACHE="+testCache(t)),
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, &s.log)
	}
	t.Cleanup(func() { c.Close() })
	s.Client = c
	return s
}

// call returns what a tool answered; refused says that it was an error result.
func (s *served) call(tool string, args map[string]any) (structured map[string]any, refused string) {
	s.t.Helper()
	r, err := s.Call(s.t.Context(), tool, args, nil)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", tool, err, &s.log)
	}
	if r.IsError {
		return nil, r.Text
	}
	return r.Structured, ""
}

// line runs a line to its end and returns what it wrote and how it ended.
func (s *served) line(args map[string]any) (out string, exit map[string]any) {
	s.t.Helper()
	created, refused := s.call("terminal_create", args)
	if refused != "" {
		s.t.Fatalf("%v: %s", args, refused)
	}
	id := map[string]any{"terminalId": created["terminalId"]}
	for {
		r, _ := s.call("terminal_wait_for_exit", id)
		if r["running"] == false {
			break
		}
	}
	r, _ := s.call("terminal_output", id)
	s.call("terminal_release", id)
	exit, _ = r["exitStatus"].(map[string]any)
	return r["output"].(string), exit
}

// A named session over a real pipe: what carries over, what does not, and
// what ends a line but not the session.
func TestServeSessions(t *testing.T) {
	rc := filepath.Join(t.TempDir(), "team.rc")
	if err := os.WriteFile(rc, []byte("hi() { echo hi $1; }\ncount=$((count+1))\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--rcfile", rc)
	in := func(session, command string) map[string]any {
		a := map[string]any{"command": command}
		if session != "" {
			a["session"] = session
		}
		return a
	}
	for _, c := range []struct {
		session, line, out string
		code               float64
	}{
		{"one", "mkdir -p d && cd d && export A=1 && b=(x y) && hi a", "hi a\n", 0},
		{"one", "shopt -s expand_aliases; alias ll='ls -a'; set -o pipefail; f() { echo f $A; }", "", 0},
		{"one", "pwd; f; echo ${b[1]} $count; ll | head -1; false | true; echo $?", "/workspace/d\nf 1\ny 1\n.\n1\n", 0},
		{"two", "pwd; echo ${A-none} $count; f 2>/dev/null", "/workspace\nnone 1\n", 127},
		{"", "echo ${A-none} $count", "none 1\n", 0},
		{"one", "A=2; exit 3", "", 3},
		{"one", "echo $? $A", "3 2\n", 0},
	} {
		out, exit := s.line(in(c.session, c.line))
		if out != c.out || exit["exitCode"] != c.code {
			t.Errorf("%s: %s: %q %v", c.session, c.line, out, exit)
		}
	}
	limited := in("one", "A=lost; while :; do :; done")
	limited["timeoutMs"] = 100
	if out, exit := s.line(limited); !strings.Contains(out, "timeoutMs") || strings.Contains(out, "--timeout") || exit["exitCode"] != 124.0 {
		t.Errorf("a limit: %q %v", out, exit)
	}
	created, _ := s.call("terminal_create", in("one", "A=lost; sleep 100"))
	if _, refused := s.call("terminal_create", in("one", "echo")); !strings.Contains(refused, "session one is busy") {
		t.Errorf("a second line: %q", refused)
	}
	id := map[string]any{"terminalId": created["terminalId"]}
	s.call("terminal_kill", id)
	if out, _ := s.line(in("one", "echo $A $(f)")); out != "2 f 2\n" {
		t.Errorf("after a limit and a kill: %q", out)
	}
	if out, _ := s.line(in("one", "cd ..; rm -r d; cd /tmp; mkdir gone; cd gone; rmdir /tmp/gone")); out != "" {
		t.Error(out)
	}
	if out, _ := s.line(in("one", "cd /workspace && pwd")); out != "/workspace\n" {
		t.Errorf("after its folder was removed: %q", out)
	}
	var refused string
	for i := range 20 {
		if _, refused = s.call("terminal_create", in(strings.Repeat("s", i+1), "true")); refused != "" {
			break
		}
	}
	if !strings.Contains(refused, "named sessions are open") {
		t.Errorf("no bound on sessions: %q", refused)
	}
}
