package wasm_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
)

// TestReload: a runtime that cannot compile runs what another has loaded, as
// that would, and says so when the code is gone.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	open := func(compile func(context.Context, []byte) error) *wasm.Runtime {
		r, err := wasm.New(wasm.Config{CacheDir: dir, Box: []wasm.Tier{}, Compile: compile})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	first := open(func(ctx context.Context, module []byte) error { return wasm.CompileInto(ctx, dir, module) })
	bin := wasmtest.Command("wasi_snapshot_preview1", "hello\n", 3)
	sum := sha256.Sum256(bin)
	loaded, err := first.Load(t.Context(), wasm.UserModule{
		Usage: sandbox.Usage{Name: "hello", Summary: "s"}, SHA256: hex.EncodeToString(sum[:]),
		Read:  func() ([]byte, error) { return bin, nil },
		Admit: func(context.Context, policy.Module) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(first.Loaded([]sandbox.Program{loaded}))
	var all []wasm.Loaded
	if err != nil || json.Unmarshal(text, &all) != nil || len(all) != 1 {
		t.Fatal(err, string(text))
	}
	run := func(p sandbox.Program) (string, error) {
		var out bytes.Buffer
		err := p.Run(t.Context(), &sandbox.Proc{Args: []string{"hello"}, Dir: "/", FS: vfs.NewMem(vfs.MemConfig{}), Stdout: &out})
		return out.String(), err
	}
	p, ready := open(nil).Reload(all[0])
	if !reflect.DeepEqual(p.Usage(), loaded.Usage()) {
		t.Errorf("%+v, want %+v", p.Usage(), loaded.Usage())
	}
	for range 2 {
		if out, err := run(p); out != "hello\n" || err != sandbox.ExitCode(3) {
			t.Errorf("%q %v", out, err)
		}
	}
	if err := ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	p, ready = open(nil).Reload(all[0])
	if err := ready(t.Context()); err == nil || !strings.Contains(err.Error(), "start donax again") {
		t.Errorf("without its code: %v", err)
	}
	if out, err := run(p); err == nil || out != "" {
		t.Errorf("without its code: %q %v", out, err)
	}
}
