package vfs_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// benchKinds hold /a/b/c/file of 4 KiB and /many with 1,000 files.
func benchKinds(b *testing.B) map[string]vfs.FS {
	b.Helper()
	dir := b.TempDir()
	for _, d := range []string{"a/b/c", "many"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	mem := vfs.NewMem(vfs.MemConfig{})
	for _, d := range []string{"/a", "/a/b", "/a/b/c", "/many"} {
		want(b, mem.Mkdir(d, 0o755), 0)
	}
	text := string(make([]byte, 4096))
	both := func(name string) {
		write(b, mem, name, text)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	both("/a/b/c/file")
	for i := range 1000 {
		both(fmt.Sprintf("/many/f%03d", i))
	}
	root := openRoot(b, dir)
	ov, err := vfs.NewOverlay(vfs.NewReadOnly(root), vfs.MemConfig{})
	want(b, err, 0)
	return map[string]vfs.FS{"mem": mem, "mount-mem": mount(b, mem), "mount-root": mount(b, root), "mount-overlay": mount(b, ov)}
}

func eachKind(b *testing.B, f func(b *testing.B, fsys vfs.FS)) {
	kinds := benchKinds(b)
	for _, kind := range []string{"mem", "mount-mem", "mount-root", "mount-overlay"} {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			f(b, kinds[kind])
		})
	}
}

func BenchmarkStat(b *testing.B) {
	eachKind(b, func(b *testing.B, fsys vfs.FS) {
		for b.Loop() {
			if _, err := fsys.Stat("/a/b/c/file"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkOpenReadClose(b *testing.B) {
	buf := make([]byte, 4096)
	eachKind(b, func(b *testing.B, fsys vfs.FS) {
		for b.Loop() {
			f, err := fsys.Open("/a/b/c/file", os.O_RDONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			f.Read(buf)
			f.Close()
		}
	})
}

func BenchmarkReadDir1000(b *testing.B) {
	eachKind(b, func(b *testing.B, fsys vfs.FS) {
		for b.Loop() {
			f, err := fsys.Open("/many", os.O_RDONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			if ents, err := f.ReadDir(-1); len(ents) != 1000 || err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}

func BenchmarkAppend1MiB(b *testing.B) {
	chunk := make([]byte, 32<<10)
	fsys := mount(b, vfs.NewMem(vfs.MemConfig{}))
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		f, err := fsys.Open("/f", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o644)
		if err != nil {
			b.Fatal(err)
		}
		for range 32 {
			if _, err := f.Write(chunk); err != nil {
				b.Fatal(err)
			}
		}
		f.Close()
	}
}

func BenchmarkCopyUp(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 1<<20), 0o644); err != nil {
		b.Fatal(err)
	}
	root := openRoot(b, dir)
	b.SetBytes(1 << 20)
	for b.Loop() {
		ov, err := vfs.NewOverlay(root, vfs.MemConfig{})
		want(b, err, 0)
		f, err := ov.Open("/f", os.O_RDWR, 0)
		want(b, err, 0)
		if _, err := io.WriteString(f, "x"); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

func BenchmarkHostStat(b *testing.B) { // what mount-root is to be compared with
	dir := b.TempDir()
	name := filepath.Join(dir, "a/b/c/file")
	os.MkdirAll(filepath.Dir(name), 0o755)
	os.WriteFile(name, nil, 0o644)
	root, err := os.OpenRoot(dir)
	want(b, err, 0)
	defer root.Close()
	b.Run("os", func(b *testing.B) {
		for b.Loop() {
			os.Stat(name)
		}
	})
	b.Run("os.Root", func(b *testing.B) {
		for b.Loop() {
			root.Stat("a/b/c/file")
		}
	})
}
