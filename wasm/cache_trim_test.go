package wasm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
)

// trimming is a process that fills a cache of at most limit bytes.
func trimming(t *testing.T, dir string, limit int64) *wasm.Runtime {
	t.Helper()
	r, err := wasm.New(wasm.Config{CacheDir: dir, CacheLimit: limit, Box: []wasm.Tier{}, Compile: func(ctx context.Context, module []byte) error {
		return wasm.CompileInto(ctx, dir, module)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func loadText(t *testing.T, r *wasm.Runtime, text string) sandbox.Program {
	t.Helper()
	bin := wasmtest.Command("wasi_snapshot_preview1", text, 0)
	p, err := r.Load(t.Context(), wasm.UserModule{
		Usage: sandbox.Usage{Name: text}, SHA256: hexSum(bin), Read: func() ([]byte, error) { return bin, nil },
		Admit: func(context.Context, policy.Module) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What was used longest ago leaves the cache, whole, when it is too large;
// what a process has loaded stays, and so does what is being made.
func TestCacheTrim(t *testing.T) {
	dir := t.TempDir()
	first := trimming(t, dir, 0)
	markers := map[string]string{}
	for i, text := range []string{"old", "used", "held"} {
		before, _ := filepath.Glob(filepath.Join(dir, "module-*"))
		loadText(t, first, text)
		after, _ := filepath.Glob(filepath.Join(dir, "module-*"))
		for _, n := range after {
			if !strings.HasSuffix(n, ".hollow") && !strings.Contains(strings.Join(before, "\n"), n) {
				markers[text] = n
				then := time.Now().Add(time.Duration(i-50) * time.Hour)
				if err := os.Chtimes(n, then, then); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if len(markers) != 3 {
		t.Fatalf("%q", markers)
	}
	left, fresh := filepath.Join(dir, "compile-left"), filepath.Join(dir, "compile-fresh")
	orphan := filepath.Join(dir, "wazero-v0", "code") // of an earlier version
	for _, d := range []string{left, fresh, filepath.Dir(orphan)} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(orphan, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-100 * time.Hour)
	for _, n := range []string{left, orphan} {
		if err := os.Chtimes(n, long, long); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(text string) bool { _, err := os.Stat(markers[text]); return err != nil }

	// The first process has them all.
	second := trimming(t, dir, 1)
	held := loadText(t, second, "held")
	loadText(t, second, "new")
	if gone("old") || gone("used") || gone("held") {
		t.Error("what is in use was removed")
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a compilation left is still there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("what is being made was removed")
	}
	if _, err := os.Stat(orphan); err == nil {
		t.Error("code of another version is still there")
	}

	first.Close()
	loadText(t, second, "newer")
	if !gone("old") || !gone("used") || gone("held") {
		t.Errorf("gone: old %v, used %v, held %v", gone("old"), gone("used"), gone("held"))
	}
	code, _ := filepath.Glob(filepath.Join(dir, "code-*", "*"))
	hollow, _ := filepath.Glob(filepath.Join(dir, "*.hollow"))
	if len(code) != 3 || len(hollow) != 3 {
		t.Errorf("left are %q and %q", code, hollow)
	}
	if err := held.Run(t.Context(), &sandbox.Proc{Args: []string{"held"}}); err != nil {
		t.Error(err)
	}
	second.Close()

	// With room for one, the one that was used last stays.
	third := trimming(t, dir, 1)
	loadText(t, third, "last")
	if code, _ := filepath.Glob(filepath.Join(dir, "code-*", "*")); len(code) != 1 {
		t.Errorf("left are %q", code)
	}
}
