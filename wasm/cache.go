package wasm

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/tetratelabs/wazero"
)

// cache is the folder of compiled code, if there is one.
type cache struct {
	dir    string
	kind   string // of machine and version: whose code it is
	wz     wazero.CompilationCache
	keeper bool  // this process compiles, and so trims
	limit  int64 // bytes
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
	c := &cache{dir: dir, kind: machineKind()}
	if c.wz, err = compilationCache(&codeFiles{dir: c.code("")}); err != nil {
		return nil, err
	}
	return c, nil
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

// machineKind names what compiled code is for: this version of wazero, and this
// kind of machine. The features of the processor are in the keys.
func machineKind() string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				version = d.Version
			}
		}
	}
	return version + "-" + runtime.GOARCH
}

const (
	markerPrefix = "module-"
	hollowSuffix = ".hollow"
	codePrefix   = "code-"
	tmpPrefix    = "compile-" // of folders that are gone when their process is
)

// marker names the file that says that the module with this digest has been
// compiled, and where its code is.
func (c *cache) marker(sum string) string {
	return filepath.Join(c.dir, markerPrefix+c.kind+"-"+sum)
}

// code names a file of compiled code, or their folder.
func (c *cache) code(name string) string {
	return filepath.Join(c.dir, codePrefix+c.kind, name)
}

// has reports whether all of an entry is there.
func (c *cache) has(sum string) bool {
	if c.wz == nil {
		return false
	}
	name, err := os.ReadFile(c.marker(sum))
	if err != nil || len(name) == 0 {
		return false
	}
	for _, f := range []string{c.marker(sum) + hollowSuffix, filepath.Join(c.dir, string(name))} {
		if _, err := os.Stat(f); err != nil {
			return false
		}
	}
	return true
}

// hollow returns the hollow form of a module whose code is kept, and the image
// of its memory; nil when it is not.
func (c *cache) hollow(sum string) ([]byte, *image) {
	if c.wz == nil {
		return nil, nil
	}
	f, err := os.Open(c.marker(sum) + hollowSuffix)
	if err != nil {
		return nil, nil
	}
	bin, img, err := readHollow(f)
	if err != nil || img.size == 0 {
		f.Close()
	}
	if err != nil {
		return nil, nil
	}
	return bin, img
}

// fill compiles bin and keeps it in the cache, as only the hollow form finds
// it. Nothing is left of a try that ends on its way but a folder.
func (c *cache) fill(ctx context.Context, rc wazero.RuntimeConfig, sum string, bin []byte) error {
	hollow, data, err := rewrite.Hollow(bin)
	if err != nil {
		return err
	}
	if err := os.Mkdir(c.code(""), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	tmp, err := os.MkdirTemp(c.dir, tmpPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var key [32]byte
	ask := &codeFiles{asked: func(k [32]byte) { key = k }}
	if err := compileInto(ctx, rc, ask, hollow); !errors.Is(err, errAsked) {
		return fmt.Errorf("wasm: the hollow form: %w", err)
	}
	if err := compileInto(ctx, rc, &codeFiles{dir: tmp, write: true}, bin); err != nil {
		return err
	}
	made, _ := filepath.Glob(filepath.Join(tmp, "*")) // the pattern is fine
	if len(made) != 1 {
		return errors.New("wasm: the compiled code was not kept")
	}
	// In one step, over what may be there: code that only traps.
	code := c.code(hex.EncodeToString(key[:]))
	if err := os.Rename(made[0], code); err != nil {
		return err
	}
	file := filepath.Join(tmp, "hollow")
	if err := writeHollow(file, hollow, data); err != nil {
		return err
	}
	if err := os.Rename(file, c.marker(sum)+hollowSuffix); err != nil {
		return err
	}
	// In place: whoever holds the entry has locked this very file.
	name, err := filepath.Rel(c.dir, code)
	if err != nil {
		return err
	}
	return os.WriteFile(c.marker(sum), []byte(name), 0o600)
}

// errAsked ends a compilation that was begun to learn the key of its code.
var errAsked = errors.New("wasm: only the key was asked for")

// compileInto compiles bin and keeps the code in files.
func compileInto(ctx context.Context, rc wazero.RuntimeConfig, files *codeFiles, bin []byte) error {
	wz, err := compilationCache(files)
	if err != nil {
		return err
	}
	defer wz.Close(ctx)
	r := wazero.NewRuntimeWithConfig(ctx, rc.WithCompilationCache(wz))
	defer r.Close(ctx)
	_, err = r.CompileModule(ctx, bin)
	return err
}

// dropHollow forgets a hollow form whose code was not found.
func (c *cache) dropHollow(sum string) { os.Remove(c.marker(sum) + hollowSuffix) }

func (c *cache) close() error {
	if c.wz == nil {
		return nil
	}
	return errors.Join(c.wz.Close(context.Background()))
}
