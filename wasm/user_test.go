package wasm_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
	"github.com/donax-sh/donax/wasm/rewrite"
)

func TestUserModule(t *testing.T) {
	dir := t.TempDir()
	compiled := 0
	var facts policy.Module
	r, err := wasm.New(wasm.Config{CacheDir: dir, Box: []wasm.Tier{}, Compile: func(ctx context.Context, module []byte) error {
		compiled++
		return wasm.CompileInto(ctx, dir, module)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	load := func(bin []byte, change func(*wasm.UserModule)) (sandbox.Program, error) {
		sum := sha256.Sum256(bin)
		u := wasm.UserModule{
			Usage:  sandbox.Usage{Name: "hello"},
			SHA256: hex.EncodeToString(sum[:]),
			Read:   func() ([]byte, error) { return bin, nil },
			Admit: func(_ context.Context, m policy.Module) error {
				facts = m
				return nil
			},
		}
		if change != nil {
			change(&u)
		}
		return r.Load(t.Context(), u)
	}
	hello := wasmtest.Command("wasi_snapshot_preview1", "hello\n", 3)
	p, err := load(hello, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var out bytes.Buffer
		err := p.Run(t.Context(), &sandbox.Proc{Args: []string{"hello"}, Dir: "/", FS: vfs.NewMem(vfs.MemConfig{}), Stdout: &out})
		if err != sandbox.ExitCode(3) || out.String() != "hello\n" {
			t.Errorf("%v %q", err, out.String())
		}
	}
	if u := p.Usage(); u.Kind != "wasm" || u.SHA256 != facts.SHA256 || u.Name != "hello" {
		t.Errorf("%+v", u)
	}
	if facts.Size != int64(len(hello)) || strings.Join(facts.Imports, " ") != "wasi_snapshot_preview1.fd_write wasi_snapshot_preview1.proc_exit" {
		t.Errorf("%+v", facts)
	}
	if _, err := load(hello, nil); err != nil || compiled != 1 {
		t.Errorf("again: %v; compiled %d times", err, compiled)
	}

	denied := errors.New("denied")
	var limit *rewrite.LimitError
	var bad *rewrite.Error
	other := wasmtest.Command("wasi_snapshot_preview1", "other", 0)
	for name, c := range map[string]struct {
		bin    []byte
		change func(*wasm.UserModule)
		ok     func(error) bool
	}{
		"another module": {other, func(u *wasm.UserModule) { u.SHA256 = facts.SHA256 }, func(err error) bool { return errors.Is(err, wasm.ErrNotPinned) }},
		"denied": {other, func(u *wasm.UserModule) {
			u.Admit = func(context.Context, policy.Module) error { return denied }
		}, func(err error) bool { return errors.Is(err, denied) }},
		"nobody asked":  {other, func(u *wasm.UserModule) { u.Admit = nil }, func(err error) bool { return err != nil }},
		"other imports": {wasmtest.Command("donax", "x", 0), nil, func(err error) bool { return errors.As(err, &bad) }},
		"too large":     {other, func(u *wasm.UserModule) { u.Limits.Body = 10 }, func(err error) bool { return errors.As(err, &limit) }},
		"no command":    {wasmtest.Box(1), nil, func(err error) bool { return errors.Is(err, wasm.ErrNoCommand) }},
		"no module":     {[]byte("#!/bin/sh\n"), nil, func(err error) bool { return errors.As(err, &bad) }},
	} {
		if _, err := load(c.bin, c.change); !c.ok(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if compiled != 1 {
		t.Errorf("compiled %d times, also what was refused", compiled)
	}
	plain, err := wasm.New(wasm.Config{Box: []wasm.Tier{}})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.Load(t.Context(), wasm.UserModule{}); !errors.Is(err, wasm.ErrNoCompiler) {
		t.Errorf("without a compiler: %v", err)
	}
}

// The folders that a program finds open are looked for on its behalf: a
// policy is asked, and the program is not told of a denial that it did not
// cause.
func TestUserModuleQuiet(t *testing.T) {
	p := loader(t, t.TempDir())("hello", wasmtest.Command("wasi_snapshot_preview1", "hello\n", 0), nil)
	asked := false
	deny := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Kind == policy.KindFile && a.File.Op == "list" {
			asked = true
			return policy.Decision{Effect: policy.Deny}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	})
	fsys := vfs.NewMem(vfs.MemConfig{})
	if err := fsys.Mkdir("/w", 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.New(sandbox.Config{FS: fsys, Programs: []sandbox.Program{p}, Policy: deny, Dir: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Inspect(t.Context(), policy.Command{Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	var out, errw bytes.Buffer
	status, err := s.Run(t.Context(), c, nil, &out, &errw)
	if status != 0 || err != nil || out.String() != "hello\n" || errw.Len() > 0 || !asked {
		t.Errorf("%d %v %q %q, asked %v", status, err, out.String(), errw.String(), asked)
	}
}

// What the other process could not compile is an error, not this one's work.
func TestUserModuleCompiler(t *testing.T) {
	bin := wasmtest.Command("wasi_snapshot_preview1", "hello\n", 0)
	sum := sha256.Sum256(bin)
	slow := errors.New("too slow")
	for name, compile := range map[string]func(context.Context, []byte) error{
		"fails":        func(context.Context, []byte) error { return slow },
		"does nothing": func(context.Context, []byte) error { return nil },
	} {
		r, err := wasm.New(wasm.Config{CacheDir: t.TempDir(), Box: []wasm.Tier{}, Compile: compile})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Load(t.Context(), wasm.UserModule{
			Usage: sandbox.Usage{Name: "x"}, SHA256: hex.EncodeToString(sum[:]),
			Read:  func() ([]byte, error) { return bin, nil },
			Admit: func(context.Context, policy.Module) error { return nil },
		})
		if err == nil || name == "fails" && !errors.Is(err, slow) {
			t.Errorf("%s: %v", name, err)
		}
		r.Close()
	}
}

// loadOne returns what loads a module as one user does.
func loadOne(t *testing.T) func(bin []byte, change func(*wasm.UserModule)) (sandbox.Program, error) {
	t.Helper()
	dir := t.TempDir()
	r, err := wasm.New(wasm.Config{CacheDir: dir, Box: []wasm.Tier{}, Compile: func(ctx context.Context, module []byte) error {
		return wasm.CompileInto(ctx, dir, module)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return func(bin []byte, change func(*wasm.UserModule)) (sandbox.Program, error) {
		sum := sha256.Sum256(bin)
		u := wasm.UserModule{
			Usage:  sandbox.Usage{Name: "x"},
			SHA256: hex.EncodeToString(sum[:]),
			Read:   func() ([]byte, error) { return bin, nil },
			Admit:  func(context.Context, policy.Module) error { return nil },
		}
		if change != nil {
			change(&u)
		}
		return r.Load(t.Context(), u)
	}
}

// What a start section names runs like the rest of the program: it can be
// stopped, and its stack is bounded.
// Threats: WA-9.
func TestUserModuleStart(t *testing.T) {
	load := loadOne(t)
	for name, c := range map[string]struct {
		bin  []byte
		want string
	}{
		"loop":      {wasmtest.Start(nil, wasmtest.Loop, wasmtest.Empty, wasmtest.Br, 0, wasmtest.End), context.DeadlineExceeded.Error()},
		"recursion": {wasmtest.Start(nil, wasmtest.Call, 0), "exit status 125"},
		"trap":      {wasmtest.Start(nil, wasmtest.Unreachable), "exit status 125"},
		"nothing":   {wasmtest.Start(nil), ""},
	} {
		p, err := load(c.bin, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		err = p.Run(ctx, &sandbox.Proc{Args: []string{"x"}, Dir: "/"})
		cancel()
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// The same code serves under several names, and a module that nobody uses any
// more is let go.
func TestUserModuleReuse(t *testing.T) {
	load := loadOne(t)
	for i := range 40 {
		p, err := load(wasmtest.Command("wasi_snapshot_preview1", fmt.Sprintf("%d\n", i), 0), func(u *wasm.UserModule) { u.Usage.Name = fmt.Sprint("n", i) })
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		var out bytes.Buffer
		if err := p.Run(t.Context(), &sandbox.Proc{Args: []string{"x"}, Dir: "/", Stdout: &out}); err != nil || out.String() != fmt.Sprintf("%d\n", i) {
			t.Fatalf("%d: %q %v", i, out.String(), err)
		}
		if p.Usage().Name != fmt.Sprint("n", i) {
			t.Errorf("%d: name %q", i, p.Usage().Name)
		}
	}
}

// A module cannot ask for more memory than a program may have, neither at its
// start nor while it runs (case S050).
// Threats: WA-3.
func TestUserModuleMemory(t *testing.T) {
	load := loadOne(t)
	var limit *rewrite.LimitError
	if _, err := load(wasmtest.Start([]byte{0, 0x80, 0x80, 4}), nil); !errors.As(err, &limit) || !strings.Contains(err.Error(), "memory minimum 4 GiB over limit 256 MiB") {
		t.Errorf("4 GiB: %v", err)
	}
	// Grow until it fails, then trap if the memory is not of 16 pages.
	grow := slices.Concat(
		[]byte{wasmtest.Loop, wasmtest.Empty}, wasmtest.I32(1), []byte{wasmtest.MemoryGrow, 0}, wasmtest.I32(-1), []byte{0x47, 0x0d, 0, wasmtest.End}, // i32.ne, br_if
		[]byte{0x3f, 0}, wasmtest.I32(16), []byte{0x47, 0x04, wasmtest.Empty, wasmtest.Unreachable, wasmtest.End}, // memory.size, i32.ne, if
	)
	p, err := load(wasmtest.Start([]byte{0, 1}, grow...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), &sandbox.Proc{Args: []string{"x"}, Dir: "/", Memory: 1 << 20}); err != nil {
		t.Errorf("growing to the limit: %v", err)
	}
}
