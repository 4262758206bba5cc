package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/donax-sh/donax/wasm/wasi"
)

// A UserModule is a program that a user brings: a WebAssembly command for
// WASI preview 1.
type UserModule struct {
	Usage sandbox.Usage // Kind and SHA256 are set by Load

	// SHA256 is the hex digest that the module must have: what was pinned.
	SHA256 string
	Read   func() ([]byte, error)

	// Limits bounds what the module may declare; zero fields are the defaults of
	// package rewrite, but memory, which is that of the Runtime.
	Limits rewrite.Limits

	Args []string // come before the arguments of each run
	Env  []string // NAME=VALUE, win over those of each run

	// Preopens are the folders that a run finds open, from descriptor 3 on. An
	// empty Path is the working directory. Nil means "/" and, as ".", the working
	// directory; an empty list means none, and neither are there any in a run
	// without files.
	Preopens []Preopen

	// Source is where the module comes from, for Admit.
	Source string

	// Admit is asked before the module is compiled, when it is known what it is.
	// Its error ends Load. Nil admits nothing.
	Admit func(context.Context, policy.Module) error
}

// Preopen is a folder that a program finds open.
type Preopen = wasi.Preopen

// Errors of [Runtime.Load].
var (
	ErrNotPinned  = errors.New("wasm: the module is not the one that was pinned")
	ErrNoCompiler = errors.New("wasm: modules of users need a cache and a process to compile them in")
	ErrNoCommand  = errors.New("wasm: the module is no command: it exports no _start and has no start section")
	errNotAsked   = errors.New("wasm: nobody was asked whether the module may be loaded")
)

// Load checks a module, has it compiled in another process, and returns it as
// a program of kind "wasm". It imports nothing but WASI, and every run has an
// instance of its own.
//
// A hostile module ends in an error: in a *rewrite.LimitError when it declares
// too much, and in that of Config.Compile when it takes too long to compile.
// Such an error is remembered, as is the code of the modules used last.
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
	key := userKey{u.SHA256, u.Limits}
	code, err := r.users.get(key, func() (*userCode, error) { return r.rewrite(u, bin) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Usage.Name, err)
	}
	if u.Admit == nil {
		return nil, errNotAsked
	}
	if err := u.Admit(ctx, policy.Module{Name: u.Usage.Name, SHA256: u.SHA256, Size: int64(len(bin)), Source: u.Source, Imports: code.imports}); err != nil {
		return nil, err
	}
	if err := code.load(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) { // another time it may be faster
			r.users.forget(key)
		}
		return nil, fmt.Errorf("%s: %w", u.Usage.Name, err)
	}
	u.Usage.Kind, u.Usage.SHA256, u.Read, u.Admit = "wasm", u.SHA256, nil, nil
	return &userProgram{rt: r, code: code, UserModule: u}, nil
}

// rewrite makes code of a module, which is not compiled yet.
func (r *Runtime) rewrite(u UserModule, bin []byte) (*userCode, error) {
	out, info, err := rewrite.Module(bin, rewrite.Options{
		Limits:    u.Limits,
		Fuel:      true,
		MergeData: true,
		// Nothing but WASI: the functions of module donax start programs.
		Import: func(module, name string) bool { return module == wasi.Module && wasi.Serves(module, name) },
	})
	if err != nil {
		return nil, err
	}
	command := slices.Contains(info.Exports, "_start")
	if !command && !info.Start || info.Functions == 0 {
		return nil, ErrNoCommand
	}
	slices.Sort(info.Imports)
	sum := sha256.Sum256(out)
	c := &userCode{size: len(out), imports: info.Imports}
	c.module = newModule(r, hex.EncodeToString(sum[:]), "program "+u.Usage.Name, func() ([]byte, error) { return out, nil })
	c.fresh, c.apart = true, true
	if info.Start {
		c.calls = append(c.calls, rewrite.StartFunc)
	}
	if command {
		c.calls = append(c.calls, "_start")
	}
	runtime.AddCleanup(c, (*module).discard, c.module)
	return c, nil
}

// CompileInto compiles a module that [Runtime.Load] has rewritten into a
// cache. It is for the process that Config.Compile starts, with limits on its
// memory and time: what the module does to the compiler it does there.
func CompileInto(ctx context.Context, cacheDir string, module []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("wasm: panic: %v", p)
		}
	}()
	c, err := openCache(cacheDir)
	if err != nil {
		return err
	}
	if c.wz == nil {
		return ErrNoCompiler
	}
	sum := sha256.Sum256(module)
	return errors.Join(c.fill(compileContext(ctx), runtimeConfig(), hex.EncodeToString(sum[:]), module), c.close())
}

// userProgram is a module of a user.
type userProgram struct {
	UserModule
	rt   *Runtime
	code *userCode
}

var (
	_ sandbox.Program = (*userProgram)(nil)
	_ sandbox.Loader  = (*userProgram)(nil)
)

// Usage describes the program.
func (p *userProgram) Usage() sandbox.Usage { return p.UserModule.Usage }

// Load implements [sandbox.Loader].
func (p *userProgram) Load(ctx context.Context) error { return p.code.module.load(ctx) }

// Run runs the program in an instance of its own.
func (p *userProgram) Run(ctx context.Context, proc *sandbox.Proc) error {
	if len(proc.Args) == 0 {
		return errNoArgs
	}
	pre := preopens(p.Preopens, proc)
	job := *proc
	job.Args = slices.Concat(proc.Args[:1], p.Args, proc.Args[1:])
	job.Env = overlay(proc.Env, p.Env)
	name := p.UserModule.Usage.Name
	return p.rt.run(ctx, p.code.module, name, &job, job.Args, pre, func(ctx context.Context, mc *machine, mt *meter) (uint64, error) {
		for _, f := range p.code.calls {
			if _, err := mc.call(ctx, mt, f); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
}

// overlay returns the variables of env, but those that over has instead.
func overlay(env, over []string) []string {
	if len(over) == 0 {
		return env
	}
	out := slices.Clone(over)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(over, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			out = append(out, kv)
		}
	}
	return out
}
