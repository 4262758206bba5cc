package vfs_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// seed makes the same small tree in both.
func seed(t testing.TB, dir string, fsys vfs.FS) {
	t.Helper()
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"a", "a/b", "c", "c/d"} {
		do(os.Mkdir(filepath.Join(dir, d), 0o755))
		do(fsys.Mkdir("/"+d, 0o755))
	}
	for _, f := range []string{"b", "a/a", "a/b/c", "c/d/a"} {
		do(os.WriteFile(filepath.Join(dir, f), []byte("lower "+f), 0o644))
		write(t, fsys, "/"+f, "lower "+f)
	}
	for f, target := range map[string]string{"d": "a/b", "c/a": "../b"} {
		do(os.Symlink(target, filepath.Join(dir, f)))
		do(fsys.Symlink(target, "/"+f))
	}
}

func memVsReal(t testing.TB, prog []byte) {
	p := &pair{t: t, got: mount(t, vfs.NewMem(vfs.MemConfig{})), want: newReal(t), nlinkOfDir: dirLinksCount(t)}
	p.run(prog)
}

func rootVsReal(t testing.TB, prog []byte) {
	want := newReal(t)
	p := &pair{t: t, got: mount(t, vfs.NewQuota(vfs.QuotaConfig{}).Limit(openRoot(t, tempDir(t)))), want: want, contained: true, nlinkOfDir: true}
	p.run(prog)
}

func overlayVsMem(t testing.TB, prog []byte) {
	dir := tempDir(t)
	mem := vfs.NewMem(vfs.MemConfig{})
	seed(t, dir, mem)
	ov, err := vfs.NewOverlay(vfs.NewReadOnly(openRoot(t, dir)), vfs.MemConfig{})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{t: t, got: mount(t, ov), want: mount(t, mem), nlinkOfDir: dirLinksCount(t)}
	before := hostTree(t, dir)
	p.run(prog)
	if after := hostTree(t, dir); after != before {
		t.Fatalf("the lower folder changed:\n%s\nwas:\n%s", after, before)
	}
	checkChanges(t, ov, openRoot(t, dir))
}

// dirLinksCount reports whether the host counts subfolders as links.
func dirLinksCount(t testing.TB) bool {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(dir)
	return err == nil && nlink(fi) == 3
}

func randomProgram(r *rand.Rand) []byte {
	prog := make([]byte, 60+r.IntN(500))
	for i := range prog {
		prog[i] = byte(r.Uint32())
	}
	return prog
}

func TestModel(t *testing.T) {
	for name, f := range map[string]func(testing.TB, []byte){
		"mem":     memVsReal,
		"root":    rootVsReal,
		"overlay": overlayVsMem,
	} {
		t.Run(name, func(t *testing.T) {
			n := uint64(60)
			if testing.Short() {
				n = 20
			}
			for i := range n {
				f(t, randomProgram(rand.New(rand.NewPCG(i, 7))))
			}
		})
	}
}

func FuzzMemAgainstReal(f *testing.F) {
	f.Add([]byte("\x00\x01\x0d\x04\x41\x0f\x00\x04\x41"))
	f.Fuzz(func(t *testing.T, prog []byte) { memVsReal(t, prog) })
}

func FuzzOverlayAgainstMem(f *testing.F) {
	f.Add([]byte("\x04\x00\x03\x0d\x02\x41\x0f\x00\x04\x41"))
	f.Fuzz(func(t *testing.T, prog []byte) { overlayVsMem(t, prog) })
}

func FuzzRootAgainstReal(f *testing.F) {
	f.Add([]byte("\x07\x04\x03\x0d\x02\x41\x0f\x00\x04\x41"))
	f.Fuzz(func(t *testing.T, prog []byte) { rootVsReal(t, prog) })
}
