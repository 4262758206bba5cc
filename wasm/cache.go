package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/tetratelabs/wazero"
)

// cache is the folder of compiled code, if there is one.
type cache struct {
	dir string
	wz  wazero.CompilationCache
}

// openCache creates dir or checks that it is ours alone. wazero guards its
// files by a checksum only, and maps them executable.
func openCache(dir string) (*cache, error) {
	if dir == "" {
		return &cache{}, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("wasm: cache: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("wasm: cache: %w", err)
	}
	if err := checkPrivate(dir); err != nil {
		return nil, err
	}
	ents, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("wasm: cache: %w", err)
	}
	for _, e := range ents {
		if e.Type()&os.ModeSymlink != 0 || e.IsDir() {
			if err := checkPrivate(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	wz, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("wasm: cache: %w", err)
	}
	return &cache{dir: dir, wz: wz}, nil
}

// checkPrivate refuses a folder that someone else could have filled.
func checkPrivate(dir string) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("wasm: cache: %w", err)
	}
	switch {
	case !fi.IsDir():
		return fmt.Errorf("wasm: cache: %s is not a folder", dir)
	case runtime.GOOS != "windows" && fi.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("wasm: cache: others may write to %s (mode %#o): try chmod 700, or another folder", dir, fi.Mode().Perm())
	case !owned(fi):
		return fmt.Errorf("wasm: cache: %s belongs to another user: use another folder", dir)
	}
	return nil
}

// marker names the file that says that the module with this digest has been
// compiled by this version of wazero, on this kind of machine.
func (c *cache) marker(sum string) string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				version = d.Version
			}
		}
	}
	return filepath.Join(c.dir, "ready-"+version+"-"+runtime.GOARCH+"-"+sum)
}

func (c *cache) has(sum string) bool {
	if c.wz == nil {
		return false
	}
	_, err := os.Stat(c.marker(sum))
	return err == nil
}

// mark is a courtesy to the next process: failing costs a message too many.
func (c *cache) mark(sum string) {
	if c.wz == nil {
		return
	}
	if f, err := os.OpenFile(c.marker(sum), os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.Close()
	}
}

// hollow returns the hollow form of a module whose code is kept, or nil.
func (c *cache) hollow(sum string) []byte {
	if c.wz == nil {
		return nil
	}
	bin, err := os.ReadFile(c.marker(sum) + hollowSuffix)
	if err != nil {
		return nil
	}
	return bin
}

const hollowSuffix = ".hollow"

// kept lists the files of compiled code.
func (c *cache) kept() map[string]bool {
	if c.wz == nil {
		return nil
	}
	return kept(c.dir)
}

// clear removes all compiled code.
func (c *cache) clear() {
	for n := range c.kept() {
		os.Remove(n)
	}
}

func kept(dir string) map[string]bool {
	names, _ := filepath.Glob(filepath.Join(dir, "wazero-*", "*")) // the pattern is fine
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set
}

// keepHollow keeps the hollow form of bin and makes its compiled code, under
// the name that the runtime will look for, the one file that is not in before:
// what bin was just compiled to. It is a courtesy like mark: without it the
// next process reads and validates all of bin.
func (c *cache) keepHollow(ctx context.Context, rc wazero.RuntimeConfig, sum string, bin []byte, before map[string]bool) error {
	if c.wz == nil {
		return nil
	}
	var code string
	for n := range c.kept() {
		if !before[n] && !strings.HasSuffix(n, ".tmp") {
			if code != "" {
				return nil // another process has compiled something, too
			}
			code = n
		}
	}
	if code == "" {
		return nil
	}
	tmp, err := os.MkdirTemp(c.dir, tmpPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	return c.pair(ctx, rc, sum, bin, code, tmp)
}

// tmpPrefix begins the names of folders that are gone when their process is.
const tmpPrefix = "hollow-"

// fill compiles bin and keeps it in the cache, as only the hollow form finds
// it. Nothing is left of a try that ends on its way but a folder.
func (c *cache) fill(ctx context.Context, rc wazero.RuntimeConfig, sum string, bin []byte) error {
	tmp, err := os.MkdirTemp(c.dir, tmpPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	code, err := compileOne(ctx, rc, bin, filepath.Join(tmp, "full"))
	if err != nil {
		return err
	}
	if err := c.pair(ctx, rc, sum, bin, code, tmp); err != nil {
		return err
	}
	c.mark(sum)
	return nil
}

// pair makes code, which bin was compiled to, be found for the hollow form of
// bin, and keeps that. tmp is a folder of the cache for what is in the making.
func (c *cache) pair(ctx context.Context, rc wazero.RuntimeConfig, sum string, bin []byte, code, tmp string) error {
	hollow, err := rewrite.Hollow(bin)
	if err != nil {
		return err
	}
	trap, err := compileOne(ctx, rc, hollow, filepath.Join(tmp, "trap"))
	if err != nil {
		return err
	}
	dir := filepath.Join(c.dir, filepath.Base(filepath.Dir(trap)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// In one step, over what may be there: code that only traps.
	link := filepath.Join(tmp, "code")
	if err := os.Link(code, link); err != nil {
		return err
	}
	if err := os.Rename(link, filepath.Join(dir, filepath.Base(trap))); err != nil {
		return err
	}
	file := filepath.Join(tmp, "bin")
	if err := os.WriteFile(file, hollow, 0o600); err != nil {
		return err
	}
	return os.Rename(file, c.marker(sum)+hollowSuffix)
}

// compileOne compiles bin into a cache of its own and returns the one file in
// there.
func compileOne(ctx context.Context, rc wazero.RuntimeConfig, bin []byte, dir string) (string, error) {
	wz, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return "", err
	}
	defer wz.Close(ctx)
	r := wazero.NewRuntimeWithConfig(ctx, rc.WithCompilationCache(wz))
	defer r.Close(ctx)
	if _, err := r.CompileModule(ctx, bin); err != nil {
		return "", err
	}
	for n := range kept(dir) {
		return n, nil
	}
	return "", errors.New("the compiled code was not kept")
}

// dropHollow forgets a hollow form whose code was not found.
func (c *cache) dropHollow(sum string) { os.Remove(c.marker(sum) + hollowSuffix) }

func (c *cache) close() error {
	if c.wz == nil {
		return nil
	}
	return errors.Join(c.wz.Close(context.Background()))
}
