package sandbox_test

import (
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// Effects are refused whatever program or redirection asks (security 094).
//
// Threats: FS-10, PO-9.
func TestDeniedFiles(t *testing.T) {
	for _, line := range []string{
		"> keep/f", ": >> keep/f", "echo x > keep/new", "echo x &> keep/f", "echo x >| keep/f", "echo x 2> keep/f", "cp x keep/", "cp x keep/f", "cp x keep/new", "mv keep/f /workspace/g",
		"mv x keep/f", "mv x keep/new", "ln -s x keep/g", "ln x keep/g", "rm keep/f", "cd keep && rm f", "exec >> keep/f", "ln -s keep k; echo > k/f",
		"ln -s keep/f k && echo > k", "ln -s ../workspace/keep k; rm k/f", "rm ../workspace/keep/../keep/f", "mv keep k2", "chmod -x keep/f", "mkdir keep/d", "f() { echo > keep/f; }; f",
		"echo hi | cat > keep/f", "(echo > keep/f)", "echo > keep/f & wait", "eval 'echo > keep/f'", "sh -c 'echo > keep/f'", "echo keep/f | xargs rm", "env rm keep/f", "cat > keep/f <<< x",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			fsys := newFS(t)
			if err := fsys.Mkdir("/workspace/keep", 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, fsys, "/workspace/keep/f", "kept", 0o755)
			writeFile(t, fsys, "/workspace/x", "x", 0o644)
			engine := denyFiles("/workspace/keep", "write", "create", "remove", "rename", "link", "chmod")
			s := newSessionFS(t, fsys, engine, nil)
			if line == "cp x keep/" {
				line = "cp x keep/x"
			}
			out, errw, status, err := do(t, s, line, "")
			if text, ok := readFile(t, fsys, "/workspace/keep/f"); !ok || text != "kept" {
				t.Errorf("keep/f is now %q, %v", text, ok)
			}
			if fi, err := fsys.Stat("/workspace/keep/f"); err != nil || fi.Mode().Perm() != 0o755 {
				t.Errorf("keep/f has mode %v, %v", fi, err)
			}
			if d, err := fsys.Open("/workspace/keep", 0, 0); err != nil {
				t.Error(err)
			} else if list, _ := d.ReadDir(-1); len(list) != 1 {
				t.Errorf("keep holds %v", list)
			}
			if err != nil || strings.Count(errw, "denied by policy: the folder is kept [rule keep; decision d1]") != 1 || !strings.Contains(strings.ToLower(errw), "permission denied") {
				t.Errorf("%q %q %d %v", out, errw, status, err)
			}
			if !strings.Contains(line, "wait") && status == 0 {
				t.Error("status 0")
			}
		})
	}
}

// What a policy is asked about is the canonical place, and who asks.
//
// Threats: FS-10.
func TestFileFacts(t *testing.T) {
	engine := denyFiles("/nowhere", "write")
	fsys := newFS(t)
	writeFile(t, fsys, "/workspace/f", "", 0o644)
	s := newSessionFS(t, fsys, engine, nil)
	if _, errw, _, err := do(t, s, "ln -s . l; cat ./l/../workspace/l/f; echo > l/new; cp f /tmp/g; mv f l/h; echo *", ""); err != nil || errw != "" {
		t.Fatal(errw, err)
	}
	want := []policy.File{
		{Op: "link", Path: "/workspace", Requested: "/workspace/l", To: "/workspace/l", Mount: "/workspace", By: "ln"},
		{Op: "read", Path: "/workspace/f", Requested: "/workspace/./l/../workspace/l/f", Mount: "/workspace", By: "cat"},
		{Op: "create", Path: "/workspace/new", Requested: "/workspace/l/new", Mount: "/workspace", By: "shell"},
		{Op: "read", Path: "/workspace/f", Requested: "/workspace/f", Mount: "/workspace", By: "cp"},
		{Op: "create", Path: "/tmp/g", Requested: "/tmp/g", Mount: "/tmp", By: "cp"},
		{Op: "rename", Path: "/workspace/f", Requested: "/workspace/f", To: "/workspace/h", Mount: "/workspace", By: "mv"},
		{Op: "list", Path: "/workspace", Requested: "/workspace", Mount: "/workspace", By: "shell"},
	}
	var got []policy.File
	for _, a := range engine.asked {
		if a.File != nil {
			got = append(got, *a.File)
		}
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("got\n%+v\nwant\n%+v", got, want)
		}
	}
}

// An engine that has no opinion on files is not asked about them.
func TestConstantFilePolicy(t *testing.T) {
	engine := &constant{rules: denyProgram("nothing")}
	s := newSession(t, engine, nil)
	if _, errw, status, err := do(t, s, "echo hi > f; cat f; rm f", ""); status != 0 || err != nil {
		t.Fatal(errw, status, err)
	}
	for _, a := range engine.asked {
		if a.File != nil {
			t.Errorf("asked %+v", a.File)
		}
	}
}

type constant struct{ *rules }

func (c *constant) Constant(k policy.Kind) (policy.Decision, bool) {
	return policy.Decision{Effect: policy.Allow}, k == policy.KindFile
}
