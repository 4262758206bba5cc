package shell

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestScripts runs the scripts of testdata/script: each archive holds a
// script, its standard output and its status.
func TestScripts(t *testing.T) { eachScript(t, runHere) }

// TestScriptsInBash runs the same scripts in bash, which is the judge.
func TestScriptsInBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("bash is not installed")
	}
	eachScript(t, runBash)
}

func eachScript(t *testing.T, run func(*testing.T, string) (string, int)) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			part := map[string]string{}
			for _, x := range a.Files {
				part[x.Name] = string(x.Data)
			}
			out, st := run(t, part["script"])
			want, _ := strconv.Atoi(strings.TrimSpace(part["status"]))
			if out != part["stdout"] || st != want {
				t.Errorf("%s\n--- got %d\n%s--- want %d\n%s", bytes.TrimSpace(a.Comment), st, out, want, part["stdout"])
			}
		})
	}
}

func runHere(t *testing.T, src string) (string, int) {
	h := newTestHost(t)
	f, err := h.fs.Open("/case.sh", os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte(src))
	f.Close()
	r := runScript(t, h, `exec bash /case.sh`)
	if r.fault != nil {
		t.Fatalf("%v", r.fault)
	}
	if testing.Verbose() {
		t.Log(r.err)
	}
	return r.out, r.status
}

func runBash(t *testing.T, src string) (string, int) {
	dir := t.TempDir()
	file := filepath.Join(dir, "case.sh")
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.Mkdir(work, 0o755), os.WriteFile(file, []byte(src), 0o755)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", file)
	c.Dir = work
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C.UTF-8", "TZ=UTC"}
	out, err := c.Output()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}
