// Package wasm runs the programs of the sandbox: WebAssembly on wazero, which
// nothing else in donax imports.
//
// A [Runtime] is one per process. Its programs (see [Runtime.Programs]) are
// the commands of the box; a tier of the box is compiled when the first of its
// commands runs. Whatever a program touches comes with its sandbox.Proc: its
// files, its streams, its children. Its own memory is bounded, and a fault in
// it is a status, never the end of the process.
package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm/box"
	"github.com/donax-sh/donax/wasm/wasi"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Config is what a [Runtime] is made of. The zero Config works: without a
// cache, with the box that this binary carries.
type Config struct {
	// CacheDir keeps compiled code between processes. It is created for its
	// owner alone. Whoever can write there runs native code in this process:
	// New refuses a folder that others own or may write. "" means no cache.
	CacheDir string

	// CacheLimit is how many bytes CacheDir may hold, in a process that fills it
	// by Compile: what was used longest ago goes, but nothing that a process has
	// loaded. 0 means [CacheLimit].
	CacheLimit int64

	// Memory is the most bytes that one instance may have when its Proc does not
	// say. 0 means sandbox.DefaultLimits.Memory.
	Memory int64

	// CPU is how many instructions one command may execute, about a million a
	// millisecond. 0 means no limit. See also [WithBudget].
	CPU int64

	// Idle is how many bytes instances of one tier that wait for work may hold
	// in all; one may wait in any case. 0 means 128 MiB.
	Idle int

	// Tracker lets instances of one tier share what they have not written to. Nil
	// means one that New makes.
	Tracker *Tracker

	// Compile compiles a module into CacheDir in another process, by
	// [CompileInto], and bounds that process. It is for modules of users, one at
	// a time: nil means that there are none.
	Compile func(ctx context.Context, module []byte) error

	// Log is told what takes long: that a tier is compiled for the first time.
	// It may be called from any goroutine. Nil means nobody.
	Log func(string)

	// Box replaces the box of this binary, for tests.
	Box []Tier
}

// A Tier is one module of a box, rewritten as package build does it. box.Tier
// is one.
type Tier struct {
	Name     string
	SHA256   string // hex digest of the module
	Commands []box.Command
	Module   func() ([]byte, error)
	WASI     bool // a command for WASI preview 1: an instance for each run
}

// A Runtime compiles modules and runs programs. It is safe for concurrent
// use.
type Runtime struct {
	memory  int64
	cpu     int64
	log     func(string)
	cache   *cache
	config  wazero.RuntimeConfig
	compile func(context.Context, []byte) error
	users   users
	wz      wazero.Runtime
	hosts   func() error // makes the host's own modules, once
	tiers   []*module
	progs   []sandbox.Program
	epoch   time.Time // of the guests' monotonic clocks
	idle    int
	tracker *Tracker
	spaces  spaces
	life    context.Context // ends with Close
	end     context.CancelFunc

	compiling chan struct{} // has a token while a module of a user is compiled

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup // runs and compilations; Add only under mu and while not closed
}

// ErrClosed is the error of a run after [Runtime.Close].
var ErrClosed = errors.New("wasm: the runtime is closed")

// New returns a Runtime. Nothing is compiled yet.
func New(c Config) (*Runtime, error) {
	if c.Memory == 0 {
		c.Memory = sandbox.DefaultLimits.Memory
	}
	if c.Memory < pageSize || c.Memory > maxMemory {
		return nil, fmt.Errorf("wasm: a memory limit of %d bytes: need %d to %d", c.Memory, pageSize, int64(maxMemory))
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	if c.Box == nil {
		tiers, err := box.Tiers()
		if err != nil {
			return nil, err
		}
		for _, t := range tiers {
			c.Box = append(c.Box, Tier{Name: t.Name, SHA256: t.SHA256, Commands: t.Commands, Module: t.Module, WASI: t.WASI})
		}
	}
	cache, err := openCache(c.CacheDir)
	if err != nil {
		return nil, err
	}
	cache.keeper, cache.limit = c.Compile != nil, cmp.Or(c.CacheLimit, CacheLimit)
	ctx := context.Background()
	rc := runtimeConfig()
	if cache.wz != nil {
		rc = rc.WithCompilationCache(cache.wz)
	}
	r := &Runtime{
		memory:  c.Memory,
		cpu:     c.CPU,
		idle:    cmp.Or(c.Idle, 128<<20),
		log:     c.Log,
		cache:   cache,
		config:  rc,
		compile: c.Compile,
		wz:      wazero.NewRuntimeWithConfig(ctx, rc),
		epoch:   time.Now(),

		compiling: make(chan struct{}, 1),
	}
	// A line that starts no program has nothing from it.
	r.hosts = sync.OnceValue(func() error { return errors.Join(wasi.Instantiate(ctx, r.wz), instantiateFuel(ctx, r.wz)) })
	if r.tracker = c.Tracker; r.tracker == nil {
		r.tracker = NewTracker(0)
	}
	r.spaces.max = r.idle
	r.life, r.end = context.WithCancel(ctx)
	for _, t := range c.Box {
		m := newModule(r, t.SHA256, "box", t.Module)
		m.pool.stats.Tier = t.Name
		m.fresh = t.WASI
		r.tiers = append(r.tiers, m)
		for _, cmd := range t.Commands {
			r.progs = append(r.progs, &command{rt: r, mod: m, cmd: cmd, sum: commandSum(t.SHA256, cmd.Name)})
		}
	}
	return r, nil
}

// Programs returns the commands of the box.
func (r *Runtime) Programs() []sandbox.Program { return r.progs }

// Warm compiles the tiers of the box with these names, or all when there are
// none, as their first use would.
func (r *Runtime) Warm(ctx context.Context, tiers ...string) error {
	for _, m := range r.tiers {
		if len(tiers) > 0 && !slices.Contains(tiers, m.pool.stats.Tier) {
			continue
		}
		if err := m.load(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Stats says what the machines of each tier do, in the order of the tiers.
func (r *Runtime) Stats() []PoolStats {
	var all []PoolStats
	for _, m := range r.tiers {
		all = append(all, m.pool.read())
	}
	return all
}

// Cached tells whether all tiers of the box are in the compilation cache, so
// that no command will wait for a compilation of seconds.
func (r *Runtime) Cached() bool {
	for _, m := range r.tiers {
		if !r.cache.has(m.sum) {
			return false
		}
	}
	return true
}

// Trim gives back the memory of instances that wait for work. It is for a
// process that has nothing to do for a while.
func (r *Runtime) Trim() {
	for _, m := range r.tiers {
		m.pool.shed()
	}
	r.spaces.trim()
}

// Close waits for what still runs, whose contexts the caller has ended, and
// frees everything.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end()
	r.active.Wait()
	for _, m := range r.tiers {
		m.pool.close()
		m.letGo()
	}
	r.users.close()
	r.tracker.close()
	defer r.spaces.close()
	return errors.Join(r.wz.Close(context.Background()), r.cache.close())
}

// enter counts a run or a compilation in; the caller counts it out.
func (r *Runtime) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.active.Add(1)
	return nil
}

// runtimeConfig is how modules are compiled. Debug information would be read
// from the cache value by value, at many times the cost of the code. Closing
// on the context's end would slow every loop down, and not stop all of them.
func runtimeConfig() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
}

// compileContext lets wazero use all cores.
func compileContext(ctx context.Context) context.Context {
	return experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
}
