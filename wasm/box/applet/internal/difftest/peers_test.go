package difftest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

func TestMain(m *testing.M) { difftest.Main(m, heavy.Commands()...) }

func TestSorted(t *testing.T) {
	var names []string
	for _, c := range heavy.Commands() {
		names = append(names, c.Name)
		if c.Summary == "" || c.Run == nil || strings.HasSuffix(c.Summary, ".") {
			t.Errorf("%s: incomplete entry", c.Name)
		}
	}
	if !sort.StringsAreSorted(names) {
		t.Errorf("not sorted: %q", names)
	}
}

// TestPeers runs scripts whose results were recorded from the GNU tools.
func TestPeers(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("bash is not installed")
	}
	ar, err := txtar.ParseFile("testdata/peers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range ar.Files {
		files[f.Name] = string(f.Data)
	}
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range heavy.Commands() {
		if err := os.Symlink(self, filepath.Join(bin, c.Name)); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) != 3*14 {
		t.Fatalf("%d files of cases", len(files))
	}
	for name := range files {
		id, ok := strings.CutSuffix(name, ".command")
		if !ok {
			continue
		}
		t.Run(id, func(t *testing.T) {
			cmd := exec.Command(bash, "-c", files[id+".setup"]+files[name])
			cmd.Dir = t.TempDir()
			cmd.Env = []string{"LC_ALL=C.UTF-8", "TZ=UTC", "PATH=" + bin + ":" + os.Getenv("PATH")}
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, _ := cmd.Output()
			if string(out) != files[id+".stdout"] {
				t.Errorf("printed\n%swant\n%s%s", out, files[id+".stdout"], errs.String())
			}
		})
	}
}
