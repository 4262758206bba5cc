package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// moduleProgram is what a loader of the tests makes of a module.
type moduleProgram struct{ name, sum string }

func (m moduleProgram) Usage() sandbox.Usage {
	return sandbox.Usage{Name: m.name, Kind: "wasm", SHA256: m.sum}
}

func (m moduleProgram) Run(_ context.Context, p *sandbox.Proc) error {
	fmt.Fprintf(p.Stdout, "%s ran %q\n", m.name, p.Args)
	return nil
}

// A module in the files runs when the policy lets it be loaded and then
// started. It is known by its path and content, never by a command's name.
// Threats: WA-8.
func TestModuleInFiles(t *testing.T) {
	var asked []string
	denied := map[policy.Kind]bool{}
	engine := &rules{deny: func(a policy.Action) string {
		switch {
		case a.Module != nil:
			asked = append(asked, fmt.Sprint("module ", a.Module.Name, " ", a.Module.Size))
		case a.Exec != nil && a.Exec.Kind == "wasm":
			asked = append(asked, fmt.Sprint("exec ", a.Exec.Name, " ", a.Exec.SHA256, " ", a.Exec.Args))
		}
		if denied[a.Kind] {
			return "no"
		}
		return ""
	}}
	load := func(ctx context.Context, m sandbox.Module) (sandbox.Program, error) {
		if strings.HasSuffix(string(m.Code), "bad") {
			return nil, errors.New("too many of something")
		}
		if err := m.Admit(ctx, policy.Module{Name: m.Name, Size: int64(len(m.Code))}); err != nil {
			return nil, fmt.Errorf("loading: %w", err)
		}
		return moduleProgram{m.Name, "sum"}, nil
	}
	s := newSession(t, engine, func(c *sandbox.Config) { c.Load = load })
	setup := `printf '\0asm1' > rm; printf '\0asmbad' > bad; chmod +x rm bad; mkdir d; ln -s ../rm d/link`
	if _, errw, status, err := do(t, s, setup, ""); status != 0 || err != nil {
		t.Fatal(errw, status, err)
	}
	for _, c := range []struct{ line, out, errw, asked string }{
		{"./rm a b", "/workspace/rm ran [\"./rm\" \"a\" \"b\"]\n", "", "module /workspace/rm 5; exec /workspace/rm sum [a b]"},
		{"d/link", "/workspace/rm ran [\"d/link\"]\n", "", "module /workspace/rm 5; exec /workspace/rm sum []"},
		{"PATH=/workspace; rm", "/workspace/rm ran [\"rm\"]\n", "", "module /workspace/rm 5; exec /workspace/rm sum []"},
		{"echo x | xargs ./rm", "/workspace/rm ran [\"./rm\" \"x\"]\n", "", "module /workspace/rm 5; exec /workspace/rm sum [x]"},
		{"./bad || echo $?", "126\n", "bash: line 1: ./bad: too many of something\n", ""},
	} {
		asked = nil
		out, errw, _, err := do(t, s, c.line, "")
		if out != c.out || errw != c.errw || err != nil || strings.Join(asked, "; ") != c.asked {
			t.Errorf("%s: %q %q %v; asked %q", c.line, out, errw, err, asked)
		}
	}
	denied[policy.KindModule] = true
	out, errw, status, err := do(t, s, "./rm; echo $?", "")
	if out != "126\n" || !strings.Contains(errw, "./rm: denied by policy: no") || status != 0 || err != nil {
		t.Errorf("denied module: %q %q %d %v", out, errw, status, err)
	}
	denied[policy.KindModule], denied[policy.KindExec] = false, true
	if out, errw, _, _ := do(t, s, "./rm", ""); out != "" || !strings.Contains(errw, "denied by policy") {
		t.Errorf("denied exec: %q %q", out, errw)
	}
}
