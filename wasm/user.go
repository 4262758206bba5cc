package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/donax-sh/donax/wasm/wasi"
)

// A UserModule is a program that a user brings: a WebAssembly command for
// WASI preview 1.
type UserModule struct {
	Usage sandbox.Usage // Kind is set by Load

	// SHA256 is the hex digest that the module must have: what was pinned.
	SHA256 string
	Read   func() ([]byte, error)

	// Limits bounds what the module may declare; zero fields are the defaults of
	// package rewrite, but memory, which is that of the Runtime.
	Limits rewrite.Limits

	// Preopens are the folders that a run finds open, from descriptor 3 on. An
	// empty Path is the working directory. Nil means "/" and, as ".", the working
	// directory; an empty list means none, and neither are there any in a run
	// without files.
	Preopens []wasi.Preopen

	// Source is where the module comes from, for Admit.
	Source string

	// Admit is asked before the module is compiled, when it is known what it is.
	// Its error ends Load. Nil admits nothing.
	Admit func(context.Context, policy.Module) error
}

// Errors of [Runtime.Load].
var (
	ErrNotPinned  = errors.New("wasm: the module is not the one that was pinned")
	ErrNoCompiler = errors.New("wasm: modules of users need a cache and a process to compile them in")
	ErrNoCommand  = errors.New("wasm: the module is no command: it exports no _start")
	errNotAsked   = errors.New("wasm: nobody was asked whether the module may be loaded")
)

// Load checks a module, has it compiled in another process, and returns it as
// a program of kind "wasm". It imports nothing but WASI, and every run has an
// instance of its own.
//
// A hostile module ends in an error: in a *rewrite.LimitError when it declares
// too much, and in that of Config.Compile when it takes too long to compile.
func (r *Runtime) Load(ctx context.Context, u UserModule) (sandbox.Program, error) {
	if r.compile == nil || r.cache.wz == nil {
		return nil, ErrNoCompiler
	}
	bin, err := u.Read()
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(bin); hex.EncodeToString(sum[:]) != u.SHA256 {
		return nil, fmt.Errorf("%w: %s is %x, not %s", ErrNotPinned, u.Usage.Name, sum, u.SHA256)
	}
	if u.Limits.Pages == 0 {
		u.Limits.Pages = uint64(r.memory) / pageSize
	}
	out, info, err := rewrite.Module(bin, rewrite.Options{
		Limits:    u.Limits,
		Fuel:      true,
		MergeData: true,
		// Nothing but WASI: the functions of module donax start programs.
		Import: func(module, name string) bool { return module == wasi.Module && wasi.Serves(module, name) },
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Usage.Name, err)
	}
	if !slices.Contains(info.Exports, "_start") {
		return nil, fmt.Errorf("%w: %s", ErrNoCommand, u.Usage.Name)
	}
	if info.Start { // the bound on the stack does not hold there
		return nil, fmt.Errorf("wasm: %s has a start section, which is not supported", u.Usage.Name)
	}
	slices.Sort(info.Imports)
	if u.Admit == nil {
		return nil, errNotAsked
	}
	if err := u.Admit(ctx, policy.Module{Name: u.Usage.Name, SHA256: u.SHA256, Size: int64(len(bin)), Source: u.Source, Imports: info.Imports}); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(out)
	digest := hex.EncodeToString(sum[:])
	if !r.cache.has(digest) {
		if err := r.compile(ctx, out); err != nil {
			return nil, fmt.Errorf("wasm: compiling %s: %w", u.Usage.Name, err)
		}
		if !r.cache.has(digest) { // or this process would compile it, unbounded
			return nil, fmt.Errorf("wasm: compiling %s left nothing in the cache", u.Usage.Name)
		}
	}
	m := newModule(r, digest, "program "+u.Usage.Name, func() ([]byte, error) { return out, nil })
	m.fresh = true
	u.Usage.Kind, u.Usage.SHA256 = "wasm", u.SHA256
	return &userProgram{rt: r, mod: m, usage: u.Usage, preopens: u.Preopens}, nil
}

// CompileInto compiles a module that [Runtime.Load] has rewritten into a
// cache. It is for the process that Config.Compile starts, with limits on its
// memory and time: what the module does to the compiler it does there.
func CompileInto(ctx context.Context, cacheDir string, module []byte) error {
	sum := sha256.Sum256(module)
	r, err := New(Config{CacheDir: cacheDir, Box: []Tier{{
		Name:   "module",
		SHA256: hex.EncodeToString(sum[:]),
		Module: func() ([]byte, error) { return module, nil },
	}}})
	if err != nil {
		return err
	}
	return errors.Join(r.Warm(ctx), r.Close())
}

// userProgram is a module of a user.
type userProgram struct {
	rt    *Runtime
	mod   *module
	usage sandbox.Usage

	preopens []wasi.Preopen
}

var _ sandbox.Program = (*userProgram)(nil)

// Usage describes the program.
func (p *userProgram) Usage() sandbox.Usage { return p.usage }

// Run runs the program in an instance of its own.
func (p *userProgram) Run(ctx context.Context, proc *sandbox.Proc) error {
	pre := slices.Clone(p.preopens)
	if pre == nil && proc.FS != nil {
		pre = everything(proc.FS, proc.Dir)
	}
	for i := range pre {
		if pre[i].Path == "" {
			pre[i].Path = proc.Dir
		}
	}
	return p.rt.run(ctx, p.mod, p.usage.Name, proc, proc.Args, pre, func(ctx context.Context, mc *machine, mt *meter) (uint64, error) {
		_, err := mc.call(ctx, mt, "_start")
		return 0, err
	})
}
