package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the want sections from bash")

// TestScripts runs each testdata/script/*.txtar in the sandbox and in real
// bash: stdout and status must be alike, and as in its section "want". The
// section "script" is the line, "stdin" its input, and all others are files.
// A line in front of the sections may say
//
//	differs: WHY   donax is other than bash on purpose; want is donax's
//	pending: WHY   the evaluator cannot do it yet; the test fails once it can
func TestScripts(t *testing.T) {
	names, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no scripts", err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil && os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
		t.Fatal("DONAX_REQUIRE_TOOLS=1 and there is no bash")
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			sc := readScript(t, name)
			if bash != "" && sc.marks["differs"] == "" {
				got := sc.inBash(t, bash)
				if *update {
					sc.write(t, name, got)
					sc.want = got
				}
				if got != sc.want {
					t.Errorf("bash prints\n%swant\n%s", got, sc.want)
				}
			}
			got, errw := sc.inSandbox(t)
			switch pending := sc.marks["pending"]; {
			case pending != "" && got == sc.want:
				t.Errorf("it works: take out the line %q", "pending: "+pending)
			case pending == "" && got != sc.want:
				t.Errorf("donax prints\n%swant\n%sstderr\n%s", got, sc.want, errw)
			}
		})
	}
}

type scriptFile struct {
	archive     *txtar.Archive
	marks       map[string]string
	text, stdin string
	want        string
	files       map[string]string
}

func readScript(t *testing.T, name string) *scriptFile {
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sc := &scriptFile{archive: ar, marks: map[string]string{}, files: map[string]string{}}
	for _, f := range ar.Files {
		switch f.Name {
		case "script":
			sc.text = string(f.Data)
		case "stdin":
			sc.stdin = string(f.Data)
		case "want":
			sc.want = string(f.Data)
		default:
			sc.files[f.Name] = string(f.Data)
		}
	}
	for line := range strings.Lines(string(ar.Comment)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			sc.marks[k] = v
		}
	}
	return sc
}

func (sc *scriptFile) write(t *testing.T, name, want string) {
	files := sc.archive.Files[:0]
	for _, f := range sc.archive.Files {
		if f.Name != "want" {
			files = append(files, f)
		}
	}
	sc.archive.Files = append(files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(name, txtar.Format(sc.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// result is stdout and the status, as a want section has them.
func result(out string, status int) string {
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "<no newline>\n"
	}
	return fmt.Sprintf("%s[%d]\n", out, status)
}

func (sc *scriptFile) inSandbox(t *testing.T) (got, stderr string) {
	fsys := newFS(t)
	for n, text := range sc.files {
		writeFile(t, fsys, "/workspace/"+n, text, 0o644)
	}
	s := newSessionFS(t, fsys, policy.AllowAll{}, func(c *sandbox.Config) { c.Env = []string{"HOME=/workspace"} })
	var out, errw bytes.Buffer
	status, err := s.Run(t.Context(), policy.Command{Text: sc.text}, strings.NewReader(sc.stdin), &out, &errw)
	var pe *sandbox.ParseError
	if err != nil && !errors.As(err, &pe) {
		t.Errorf("error %v", err)
	}
	return result(out.String(), status), errw.String()
}

func (sc *scriptFile) inBash(t *testing.T, bash string) string {
	dir := t.TempDir()
	for n, text := range sc.files {
		if err := os.WriteFile(filepath.Join(dir, n), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "-c", sc.text)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=" + dir}
	cmd.Stdin = strings.NewReader(sc.stdin)
	out, err := cmd.Output()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return result(string(out), cmd.ProcessState.ExitCode())
}
