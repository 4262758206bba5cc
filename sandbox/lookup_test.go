package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// looked returns a session whose programs with a dot in their name are looked
// up, and the engine's questions.
func looked(t *testing.T, engine policy.Engine) *sandbox.Session {
	t.Helper()
	tool := func(ctx context.Context, p *sandbox.Proc) error {
		if _, err := p.Admit(ctx, policy.Action{Kind: policy.KindTool, Tool: &policy.Tool{Server: "gh", Name: p.Args[0]}}); err != nil {
			if errors.Is(err, policy.ErrDenied) {
				fmt.Fprintln(p.Stderr, err)
				return sandbox.ExitCode(126)
			}
			return err
		}
		_, err := io.WriteString(p.Stdout, fmt.Sprintln(p.Args[0], "shown", p.Shown))
		return err
	}
	s, err := sandbox.New(sandbox.Config{
		FS: vfs.NewMem(vfs.MemConfig{}), Programs: append(fakes(), fake{"box.cat", cat}), Policy: engine,
		Lookup: func(name string) sandbox.Program {
			if !strings.Contains(name, ".") {
				return fake{name, func(context.Context, *sandbox.Proc) error { panic("shadowed") }}
			}
			if strings.HasPrefix(name, "gh.") || name == "box.cat" {
				return fake{name, tool}
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Threats: UP-1.
func TestLookup(t *testing.T) {
	s := looked(t, policy.AllowAll{})
	for line, want := range map[string]string{
		"gh.issues":                                      "gh.issues shown true\n",
		"gh.issues | cat":                                "gh.issues shown false\n",
		"echo $(gh.issues)":                              "gh.issues shown false\n",
		"gh.issues > f; cat f":                           "gh.issues shown false\n",
		"{ gh.issues; } 2>&1 | cat; gh.x":                "gh.issues shown false\ngh.x shown true\n",
		"command -v gh.issues; type gh.issues":           "/bin/gh.issues\ngh.issues is /bin/gh.issues\n",
		"/bin/gh.issues":                                 "/bin/gh.issues shown true\n",
		"printf 'gh.a\\n' | xargs env":                   "gh.a shown true\n",
		"echo x | box.cat; echo b; sh -c 'pwd'":          "x\nb\n/\n",
		"gh.issues() { echo mine; }; gh.issues":          "mine\n",
		"alias gh.z=gh.y; shopt -s expand_aliases\ngh.z": "gh.y shown true\n",
	} {
		if out, errw, _, err := do(t, s, line, ""); out != want || err != nil {
			t.Errorf("%s: %q %q %v, want %q", line, out, errw, err, want)
		}
	}
	if _, errw, status, _ := do(t, s, "nosuch.tool; command -v no.such", ""); status == 0 || !strings.Contains(errw, "nosuch.tool: command not found") {
		t.Errorf("%q %d", errw, status)
	}
}

// TestToolCallsAreCounted counts over lines and background jobs: a limit on
// calls cannot be passed by starting another line.
// Threats: UP-11.
func TestToolCallsAreCounted(t *testing.T) {
	s := looked(t, policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Kind == policy.KindTool && a.Usage.ToolCalls >= 3 {
			return policy.Decision{Reasons: []policy.Reason{{Msg: "three calls are enough"}}}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	}))
	out, _, _, _ := do(t, s, "gh.a & gh.b & gh.c & gh.d & wait", "")
	if n := strings.Count(out, "shown"); n != 3 {
		t.Errorf("%d calls of 4 at a time", n)
	}
	if out, errw, status, _ := do(t, s, "gh.e", ""); out != "" || status != 126 || !strings.Contains(errw, "three calls are enough") {
		t.Errorf("another line: %q %q %d", out, errw, status)
	}
}
