package wasm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm/wasi"
)

// suiteSpec says how a module of the public test suite is run, and what must
// come of it. Its older form lists preopens in dirs, its newer has one folder
// as "/" and the run as a list of operations.
type suiteSpec struct {
	Args       []string          `json:"args"`
	Env        map[string]string `json:"env"`
	Dirs       []string          `json:"dirs"`
	Root       string            `json:"root"`
	ExitCode   int               `json:"exit_code"`
	Stdout     *string           `json:"stdout"`
	Stderr     *string           `json:"stderr"`
	Operations []suiteOperation  `json:"operations"`
}

type suiteOperation struct {
	Type     string            `json:"type"`
	ID       string            `json:"id"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Root     string            `json:"root"`
	Payload  string            `json:"payload"`
	ExitCode int               `json:"exit_code"`
}

func readSuiteSpec(module string) (s suiteSpec, err error) {
	b, err := os.ReadFile(strings.TrimSuffix(module, ".wasm") + ".json")
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	for _, o := range s.Operations {
		switch {
		case o.Type == "run":
			s.Args, s.Env, s.Root = o.Args, o.Env, o.Root
		case o.Type == "wait":
			s.ExitCode = o.ExitCode
		case o.Type == "read" && o.ID == "stderr":
			s.Stderr = &o.Payload
		case o.Type == "read":
			s.Stdout = &o.Payload
		}
	}
	return s, err
}

// TestWasiTestsuite runs the modules of the public wasi-testsuite for preview
// 1, if DONAX_WASI_TESTSUITE names a checkout with its binaries: every one
// must pass, over host folders and over a copy in memory.
func TestWasiTestsuite(t *testing.T) {
	suite := os.Getenv("DONAX_WASI_TESTSUITE")
	if suite == "" {
		t.Skip("DONAX_WASI_TESTSUITE is not set")
	}
	modules, err := filepath.Glob(filepath.Join(suite, "tests", "*", "testsuite", "wasm32-wasip1", "*.wasm"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("no modules in %s: %v", suite, err)
	}
	runSuite(t, modules)
}

func runSuite(t *testing.T, modules []string) {
	load := loader(t, t.TempDir())
	for _, file := range modules {
		name := strings.TrimSuffix(filepath.Base(file), ".wasm")
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(file))))+"/"+name, func(t *testing.T) {
			spec, err := readSuiteSpec(file)
			if err != nil {
				t.Fatal(err)
			}
			bin, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []vfs.MountMode{vfs.ReadWrite, vfs.CopyOnWrite} {
				proc, pre := spec.proc(t, file, mode)
				var out, errw bytes.Buffer
				proc.Stdout, proc.Stderr = &out, &errw
				err := load(name, bin, pre).Run(t.Context(), proc)
				status := 0
				var code sandbox.ExitCode
				if errors.As(err, &code) {
					status, err = int(code), nil
				}
				if err != nil || status != spec.ExitCode ||
					spec.Stdout != nil && *spec.Stdout != out.String() || spec.Stderr != nil && *spec.Stderr != errw.String() {
					t.Errorf("%s: status %d, %v\nstdout: %q\nstderr: %s", mode, status, err, out.String(), errw.String())
				}
			}
		})
	}
}

// proc returns what the module is run with, its folders being copies.
func (s suiteSpec) proc(t *testing.T, module string, mode vfs.MountMode) (*sandbox.Proc, []wasi.Preopen) {
	t.Helper()
	p := &sandbox.Proc{Args: append([]string{filepath.Base(module)}, s.Args...), Dir: "/"}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		p.Env = append(p.Env, k+"="+s.Env[k])
	}
	var points []vfs.MountPoint
	pre := []wasi.Preopen{}
	add := func(from, at, name string) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(filepath.Dir(module), from))); err != nil {
			t.Fatal(err)
		}
		m, root, err := vfs.HostMount(vfs.HostConfig{Source: dir, Path: at, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		points = append(points, m)
		pre = append(pre, wasi.Preopen{Name: name, Path: at})
	}
	if s.Root != "" {
		add(s.Root, "/", "/")
	}
	for _, d := range s.Dirs {
		add(d, "/"+filepath.Base(d), d)
	}
	if points != nil {
		fsys, err := vfs.NewMount(points...)
		if err != nil {
			t.Fatal(err)
		}
		p.FS = fsys
	}
	return p, pre
}

// TestSuiteRunner proves the runner on programs of ours, in both forms of the
// specification.
func TestSuiteRunner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c", "testsuite", "wasm32-wasip1")
	var modules []string
	for name, c := range map[string]struct{ program, spec string }{
		"none":  {"bare", `{"args": ["first", "the \"second\" arg", "", "4\n"], "env": {"c": "new\nline", "a": "text", "b": "escap \" ing"}, "exit_code": 33, "stdout": "hello\n", "stderr": ""}`},
		"root":  {"files", `{"operations": [{"type": "run", "root": "fs-tests.dir"}, {"type": "read", "id": "stdout", "payload": ""}, {"type": "wait", "exit_code": 0}]}`},
		"named": {"named", `{"dirs": ["fs-tests.dir"], "args": ["fs-tests.dir"]}`},
	} {
		if err := os.MkdirAll(filepath.Join(dir, "fs-tests.dir"), 0o755); err != nil {
			t.Fatal(err)
		}
		module := filepath.Join(dir, name+".wasm")
		for file, b := range map[string][]byte{
			module:                           compileC(t, c.program),
			filepath.Join(dir, name+".json"): []byte(c.spec),
			filepath.Join(dir, "fs-tests.dir", "file"): []byte("in the folder"),
		} {
			if err := os.WriteFile(file, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		modules = append(modules, module)
	}
	runSuite(t, modules)
}
