package wasm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/box"
	"github.com/donax-sh/donax/wasm/box/build"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
)

// process does what a new process does with a cache: it runs one command. It
// returns how often the module itself was asked for.
func process(t *testing.T, dir string) (read int, log []string) {
	t.Helper()
	bin, _, err := build.Rewrite(wasmtest.Box(1))
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int32
	tier := wasm.Tier{Name: "x", SHA256: "x", Commands: []box.Command{{Name: "x"}}, Module: func() ([]byte, error) {
		n.Add(1)
		return bin, nil
	}}
	r, err := wasm.New(wasm.Config{Box: []wasm.Tier{tier}, CacheDir: dir, Log: func(s string) { log = append(log, s) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 3 {
		if err := r.Programs()[0].Run(t.Context(), &sandbox.Proc{Args: []string{"x"}}); err != nil {
			t.Errorf("%v", err)
		}
	}
	return int(n.Load()), log
}

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if read, log := process(t, dir); read != 1 || len(log) != 1 {
		t.Errorf("first: read %d times, %q", read, log)
	}
	if read, log := process(t, dir); read != 0 || len(log) != 0 {
		t.Errorf("second: read %d times, %q", read, log)
	}
	// The compiled code goes; what is kept beside it does not suffice.
	code, err := filepath.Glob(filepath.Join(dir, "code-*", "*"))
	if err != nil || len(code) != 1 {
		t.Fatalf("%q %v", code, err)
	}
	for _, f := range code {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if read, _ := process(t, dir); read != 1 {
		t.Errorf("without code: read %d times", read)
	}
	if read, _ := process(t, dir); read != 0 {
		t.Errorf("with code again: read %d times", read)
	}
	// Code that is damaged is compiled anew, wherever the damage is.
	for what, damage := range map[string]func(b []byte) []byte{
		"cut short":       func(b []byte) []byte { return b[:100] },
		"without its end": func(b []byte) []byte { return b[:len(b)-1] },
		"other sizes":     func(b []byte) []byte { return append(bytes.Repeat([]byte{0x7f}, 32), b[32:]...) },
		"other code":      func(b []byte) []byte { b[len(b)-20]++; return b },
		"empty":           func([]byte) []byte { return nil },
	} {
		for _, pattern := range []string{"code-*/*", "*.hollow"} {
			files, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, damage(b), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if read, _ := process(t, dir); len(files) != 1 || read != 1 {
				t.Errorf("%s %s: read %d times", pattern, what, read)
			}
			if read, _ := process(t, dir); read != 0 {
				t.Errorf("%s %s, once more: read %d times", pattern, what, read)
			}
		}
	}
}

// Threats: WA-6.
func TestCacheIsOurs(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := wasm.New(wasm.Config{CacheDir: dir}); err == nil {
		t.Error("a folder that anybody may write to")
	}
	if _, err := wasm.New(wasm.Config{CacheDir: filepath.Join(dir, "new")}); err != nil {
		t.Error(err)
	}
	if fi, err := os.Stat(filepath.Join(dir, "new")); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", fi, err)
	}
}
