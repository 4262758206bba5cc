package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// leb is an unsigned number of the binary format.
func leb(n int) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// bomb returns a module of n functions with the same body, the first of which
// is _start, and a memory of these limits unless mem is nil.
func bomb(n int, mem []byte, locals int, code ...byte) []byte {
	section := func(id byte, b []byte) []byte { return slices.Concat([]byte{id}, leb(len(b)), b) }
	body := slices.Concat([]byte{1}, leb(locals), []byte{0x7f}, code, []byte{0x0b})
	body = append(leb(len(body)), body...)
	m := slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), section(1, []byte{1, 0x60, 0, 0}), section(3, append(leb(n), make([]byte, n)...)))
	if mem != nil {
		m = append(m, section(5, append([]byte{1}, mem...))...)
	}
	m = append(m, section(7, []byte("\x01\x06_start\x00\x00"))...)
	return append(m, section(10, append(leb(n), bytes.Repeat(body, n)...))...)
}

// nested is code of depth loops inside each other, each of which changes one
// of 1000 locals: small, valid, and minutes of a compiler's time.
func nested(depth int) []byte {
	var code []byte
	for i := range depth {
		l := leb(i % 1000)
		code = slices.Concat(code, []byte{0x03, 0x40, 0x20}, l, []byte{0x41, 1, 0x6a, 0x21}, l)
	}
	for i := range depth {
		code = slices.Concat(code, []byte{0x20}, leb(i%1000), []byte{0x0d, 0, 0x0b})
	}
	return code
}

// donax runs a command line of this test's donax with a cache of its own.
func donax(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errw bytes.Buffer
	status = run(t.Context(), args, stdio{strings.NewReader(""), &out, &errw})
	return status, out.String(), errw.String()
}

// TestModuleBombs runs the attack cases S047, S048 and S050 and what passes
// the structural limits but not the compiler.
// Threats: WA-2, WA-3.
func TestModuleBombs(t *testing.T) {
	t.Setenv("DONAX_CACHE", t.TempDir())
	for name, c := range map[string]struct {
		bin    []byte
		status int
		want   string
	}{
		"loop":          {bomb(1, nil, 0, 0x03, 0x40, 0x0c, 0, 0x0b), 124, "donax: limit: time 2s (raise with --timeout)"},
		"locals":        {bomb(20_000, nil, 49_999), 125, "too many locals in one function: 49999, at most 1024"},
		"memory":        {bomb(1, []byte{0, 0x80, 0x80, 4}, 0), 125, "memory minimum 4 GiB over limit 64 MiB"},
		"shared memory": {bomb(1, []byte{3, 1, 0x80, 0x80, 4}, 0), 125, "is shared or 64-bit"},
		"memory growth": {bomb(1, []byte{0, 1}, 0, 0x03, 0x40, 0x41, 1, 0x40, 0, 0x1a, 0x0c, 0, 0x0b), 124, "donax: limit: time 2s (raise with --timeout)"},
		"compiler":      {bomb(2, nil, 1000, nested(3000)...), 125, "module too expensive: compiling it takes more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "bomb.wasm")
			if err := os.WriteFile(file, c.bin, 0o600); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			status, _, stderr := donax(t, "run", "--timeout", "2s", "--memory", "64MiB", file)
			if status != c.status || !strings.Contains(stderr, c.want) {
				t.Errorf("status %d, want %d; stderr %q, want %q", status, c.status, stderr, c.want)
			}
			if took := time.Since(start); took > 50*time.Second { // 5 on a machine that has nothing else to do
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestModuleAdmission says who decides which modules are loaded.
// Threats: WA-8.
func TestModuleAdmission(t *testing.T) {
	t.Setenv("DONAX_CACHE", testCache(t))
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, text, 0o755); err != nil {
			t.Fatal(err)
		}
		return name
	}
	bin := bomb(1, nil, 0)
	file, other := write("tool.wasm", bin), sumOf([]byte("other"))
	head := "package donax\n\nallow if input.action == \"command\"\n\nallow if input.exec.kind in {\"box\", \"shell\"}\n"
	closed := write("closed.rego", []byte(head))
	open := write("open.rego", []byte(fmt.Sprintf("%s\nallow if input.exec.kind == \"wasm\"\n\nallow if {\n\tinput.module.sha256 == %q\n\tinput.module.size == %d\n\tinput.module.imports == []\n}\n", head, sumOf(bin), len(bin))))
	// The policy sees another name for what lies in the files.
	named := write("named.rego", []byte(head+"\nallow if input.exec.kind == \"wasm\"\n\nallow if input.module.name == \"tool\"\n"))
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"named on the command line", []string{"-c", "tool && ./tool.wasm && echo fine", "--program", "tool=" + file, "--mount", dir}, 0, ""},
		{"in the files, without policy", []string{"-c", "./tool.wasm", "--mount", dir}, 126, "added programs are not loaded unless a policy allows them"},
		{"in the files, allowed", []string{"-c", "./tool.wasm; cp tool.wasm x; ./x", "--mount", dir, "--policy", open}, 0, ""},
		{"in the files, not allowed", []string{"-c", "./tool.wasm", "--mount", dir, "--policy", closed}, 126, "denied by policy: no rule allows it"},
		{"in the files, another name", []string{"-c", "./tool.wasm", "--mount", dir, "--policy", named}, 126, "denied by policy: no rule allows it"},
		{"run, allowed", []string{"run", file, "--policy", open}, 0, ""},
		{"run, not allowed", []string{"run", file, "--policy", closed}, 126, "input.module.sha256 == \"" + sumOf(bin)},
		{"the right pin", []string{"-c", "tool", "--program", "tool=" + file + "@sha256:" + sumOf(bin)}, 0, ""},
		{"the wrong pin", []string{"-c", "tool", "--program", "tool=" + file + "@sha256:" + other}, 125, "not the one that was pinned"},
		{"a bad pin", []string{"-c", "tool", "--program", "tool=" + file + "@sha256:12"}, 2, "64 hex digits"},
		{"no file", []string{"-c", "tool", "--program", "tool=" + file + "x"}, 2, "no such file"},
		{"no name", []string{"-c", "tool", "--program", file}, 2, "want NAME=FILE.wasm"},
		{"a name with a slash", []string{"-c", "tool", "--program", "a/b=" + file}, 2, "cannot be the name of a command"},
		{"a name of the box", []string{"-c", "ls", "--program", "ls=" + file}, 2, "has a command of that name"},
		{"the name of a shell", []string{"-c", "sh", "--program", "sh=" + file}, 2, "has a command of that name"},
		{"the same name twice", []string{"-c", "a", "--program", "a=" + file, "--program", "a=" + file}, 2, "has a command of that name"},
		{"no module", []string{"-c", "a", "--program", "a=" + closed}, 125, "is no WebAssembly module"},
		{"preopen of a script", []string{"run", closed, "--preopen", "x"}, 2, "is a script"},
		{"preopen of a relative path", []string{"run", file, "--preopen", "x=y"}, 2, "want NAME or NAME=/PATH"},
	} {
		status, out, errw := donax(t, c.args...)
		if status != c.status || !strings.Contains(errw, c.want) || c.want == "" && strings.ReplaceAll(errw, "donax: compiling the program tool (first run only)\n", "") != "" {
			t.Errorf("%s: status %d, want %d; %q %q", c.name, status, c.status, out, errw)
		}
	}
}

// What a process has used is read, so that a busy machine is told from a module
// that costs too much.
func TestUsedCPU(t *testing.T) {
	before, ok := usedCPU(os.Getpid())
	if !ok {
		if runtime.GOOS == "linux" {
			t.Fatal("nothing is said of this process")
		}
		t.Skip("this system does not say")
	}
	after := before
	for n := 0; after-before < 50*time.Millisecond; n++ { // it works while it asks
		if after, ok = usedCPU(os.Getpid()); !ok || n > 1<<20 {
			t.Fatalf("%v, then %v after %d looks", before, after, n)
		}
	}
	if _, ok := usedCPU(1 << 30); ok {
		t.Error("of no process")
	}
}

// A compilation that nobody waits for ends with the runtime.
func TestModuleCompileIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := compileApart(t.TempDir())(ctx, bomb(1, nil, 0)); err == nil || strings.Contains(err.Error(), "too expensive") {
		t.Errorf("%v", err)
	}
}
