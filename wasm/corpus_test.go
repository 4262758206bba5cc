package wasm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
)

// TestCorpus runs the scripts with bash's recorded answers that lie in the
// folder DONAX_SHELL_CORPUS names through the shell and the real box. A fault
// or a step that cannot be stopped fails it, and so does a share of answers as
// bash gives them below testdata/corpus.floor, which only goes up.
// DONAX_SHELL_FAILURES names a file that gets the differing ones.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("DONAX_SHELL_CORPUS")
	if dir == "" {
		t.Skip("DONAX_SHELL_CORPUS is not set")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	rt, err := wasm.New(wasm.Config{CacheDir: filepath.Join(cache, "donax")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	programs := append(rt.Programs(), nativeProgram{"argv.py", argvPy}, nativeProgram{"printenv.py", printenvPy})
	for corpus, floor := range corpusFloors(t) {
		t.Run(corpus, func(t *testing.T) { runCorpus(t, filepath.Join(dir, corpus+".jsonl"), floor, programs) })
	}
}

// corpusFloors reads the least share of each corpus, in tenths of a percent.
func corpusFloors(t *testing.T) map[string]int {
	data, err := os.ReadFile("testdata/corpus.floor")
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]int{}
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(value)
		if !ok || err != nil {
			t.Fatalf("testdata/corpus.floor: %q is no NAME PERMILLE", line)
		}
		floors[name] = n
	}
	return floors
}

// A corpusCase is one line of a corpus: a script and what bash did.
type corpusCase struct {
	File, Name, Src, Stdout string
	Status                  int
	Host                    bool // names paths or programs of a real host
}

func runCorpus(t *testing.T, file string, floor int, programs []sandbox.Program) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, same := 0, 0
	var differing strings.Builder
	for line := range strings.Lines(string(data)) {
		var c corpusCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if only := os.Getenv("DONAX_SHELL_ONLY"); c.Host || !strings.HasPrefix(c.File+"/"+c.Name, only) {
			continue
		}
		all++
		status, out, errs, err := runCorpusCase(t, c, programs)
		var fault *sandbox.Fault
		if errors.As(err, &fault) || errors.Is(err, sandbox.ErrAbandoned) {
			t.Errorf("%s/%s: %v\n%s", c.File, c.Name, err, c.Src)
		}
		if out == c.Stdout && status == c.Status {
			same++
			continue
		}
		fmt.Fprintf(&differing, "##### %s/%s\n%s\n--- want %d\n%s\n--- got %d %v\n%s\n--- stderr\n%s\n\n", c.File, c.Name, c.Src, c.Status, c.Stdout, status, err, out, errs)
	}
	t.Logf("%d of %d as bash (%.1f %%)", same, all, 100*float64(same)/float64(max(all, 1)))
	if os.Getenv("DONAX_SHELL_ONLY") == "" && same*1000 < floor*all {
		t.Errorf("%d of %d as bash, below the floor of %d per mille", same, all, floor)
	}
	if out := os.Getenv("DONAX_SHELL_FAILURES"); out != "" {
		if err := os.WriteFile(out+"."+filepath.Base(file), []byte(differing.String()), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// runCorpusCase runs one script in a sandbox of its own.
func runCorpusCase(t *testing.T, c corpusCase, programs []sandbox.Program) (status int, stdout, stderr string, err error) {
	bin, err := vfs.NewStatic(sandbox.BinFiles(programs), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := vfs.NewMount(
		vfs.MountPoint{Path: "/", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.ReadWrite}, // bash's answers are those of root
		vfs.MountPoint{Path: "/bin", FS: bin, Mode: vfs.ReadOnlyMount},
		vfs.MountPoint{Path: "/dev", FS: dev, Mode: vfs.ReadWrite},
		vfs.MountPoint{Path: "/tmp", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.ReadWrite},
		vfs.MountPoint{Path: "/workspace", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.ReadWrite},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.New(sandbox.Config{FS: fsys, Programs: programs, Policy: policy.AllowAll{}, Dir: "/workspace",
		Limits: sandbox.Limits{Timeout: 10 * time.Second, Output: 1 << 20}, Env: []string{"TMP=/tmp", "LC_ALL=C.UTF-8"}})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	status, err = s.Run(t.Context(), policy.Command{Text: c.Src, Script: true, Name: "case.sh"}, nil, &out, &errs)
	return status, out.String(), errs.String(), err
}

// A nativeProgram is a command of the tests that is not in the box.
type nativeProgram struct {
	name string
	run  func(*sandbox.Proc) error
}

func (p nativeProgram) Usage() sandbox.Usage                            { return sandbox.Usage{Name: p.name} }
func (p nativeProgram) Run(_ context.Context, proc *sandbox.Proc) error { return p.run(proc) }

// argvPy prints its arguments as Python prints a list.
func argvPy(p *sandbox.Proc) error {
	list := make([]string, len(p.Args)-1)
	for i, a := range p.Args[1:] {
		quote := "'"
		if strings.Contains(a, "'") && !strings.Contains(a, `"`) {
			quote = `"`
		}
		list[i] = quote + strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`, `\`, `\\`).Replace(a) + quote
	}
	_, err := fmt.Fprintf(p.Stdout, "[%s]\n", strings.Join(list, ", "))
	return err
}

// printenvPy prints the variables that it is given, None for those not set.
func printenvPy(p *sandbox.Proc) error {
	for _, a := range p.Args[1:] {
		value := "None"
		for _, kv := range p.Env {
			if v, ok := strings.CutPrefix(kv, a+"="); ok {
				value = v
			}
		}
		if _, err := fmt.Fprintln(p.Stdout, value); err != nil {
			return err
		}
	}
	return nil
}
