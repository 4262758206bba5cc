package wasm_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
)

// BenchmarkCold is what a process pays that runs one command with a warm
// cache.
func BenchmarkCold(b *testing.B) {
	dir := b.TempDir()
	if user, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(user, "donax")
	}
	for _, name := range []string{"ls", "sed"} {
		b.Run(name, func(b *testing.B) {
			measure(b, func() error {
				r, err := wasm.New(wasm.Config{CacheDir: dir})
				if err != nil {
					return err
				}
				defer r.Close()
				for _, p := range r.Programs() {
					if p.Usage().Name == name {
						return p.Run(b.Context(), &sandbox.Proc{Args: []string{name, "--version"}, Dir: "/", FS: vfs.NewMem(vfs.MemConfig{}), Stdout: io.Discard, Stderr: io.Discard})
					}
				}
				return os.ErrNotExist
			})
		})
	}
}
