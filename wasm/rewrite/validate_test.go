package rewrite

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestValidates has a second implementation of the format look at what comes
// out: wabt's wasm-validate.
func TestValidates(t *testing.T) {
	tool, err := exec.LookPath("wasm-validate")
	if err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip("wasm-validate (Debian: wabt) is not installed")
	}
	dir := t.TempDir()
	guest := filepath.Join(dir, "guest.go")
	if err := os.WriteFile(guest, []byte("package main\n\nfunc main() { println(len(\"guest\")) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	goModule := filepath.Join(dir, "guest.wasm")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", goModule, guest)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	big, err := os.ReadFile(goModule)
	if err != nil {
		t.Fatal(err)
	}
	for name, bin := range map[string][]byte{
		"loop":       run(opLoop, blockEmpty, 0x0c, 0, opEnd),
		"call":       run(opCall, 0),
		"fill":       run(opI32Const, 0, opI32Const, 0, opI32Const, 9, opMisc, miscMemoryFill, 0),
		"grow":       run(opI32Const, 1, opMemoryGrow, 0, 0x1a),
		"go program": big,
	} {
		for mode, o := range map[string]Options{
			"fuel":  {Fuel: true, ExportGlobals: true, MergeData: true},
			"image": {Fuel: true, ExportGlobals: true, TakeData: true},
			"plain": {},
		} {
			o.Import = func(module, _ string) bool { return module == "wasi_snapshot_preview1" }
			out, info, err := Module(bin, o)
			if err != nil {
				t.Fatal(name, mode, err)
			}
			if name == "go program" && o.TakeData && len(info.Data) < 100_000 {
				t.Errorf("the image has %d bytes", len(info.Data))
			}
			file := filepath.Join(dir, "out.wasm")
			if err := os.WriteFile(file, out, 0o600); err != nil {
				t.Fatal(err)
			}
			if msg, err := exec.Command(tool, "--enable-tail-call", file).CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %v\n%s", name, mode, err, msg)
			}
		}
	}
}

// BenchmarkModule rewrites a small Go program.
func BenchmarkModule(b *testing.B) {
	src := run(opLoop, blockEmpty, 0x0c, 0, opEnd)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, _, err := Module(src, Options{Fuel: true, ExportGlobals: true}); err != nil {
			b.Fatal(err)
		}
	}
}
