package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/donax-sh/donax/wasm/wasi"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// machine is one instance of a module, for one run at a time.
type machine struct {
	mod     api.Module
	alloc   *allocator
	fuel    api.MutableGlobal
	globals []api.MutableGlobal // all that the module can change
	entry   api.Function        // what was called last
	name    string              // of entry
	stack   reflect.Value       // of entry

	fresh bool      // it was never initialised
	clean bool      // it is as the snapshot is
	spent bool      // it must not be used again
	held  int       // bytes of what the snapshot has that are its own, at the last reset
	idle  time.Time // since when
}

// instantiate makes a machine whose memory may grow to limit bytes, and has
// room for snap unless that is nil: a reset makes it the machine's contents.
func (m *module) instantiate(ctx context.Context, limit uint64, snap *snapshot) (mc *machine, err error) {
	return m.start(ctx, m.compiled, limit, snap)
}

func (m *module) start(ctx context.Context, c wazero.CompiledModule, limit uint64, snap *snapshot) (mc *machine, err error) {
	alloc := &allocator{ctx: ctx, limit: limit, snap: snap, from: &m.rt.spaces}
	if snap == nil {
		alloc.image = m.image
	}
	defer func() {
		if p := recover(); p != nil { // wazero has no other way to say that the first allocation failed
			mc, err = nil, fmt.Errorf("wasm: no instance: %v", p)
		}
		if err != nil {
			alloc.Free()
			switch {
			case alloc.refused.Load():
				err = alloc.err()
			case ctx.Err() != nil:
				err = context.Cause(ctx)
			}
		}
	}()
	mod, err := m.rt.wz.InstantiateModule(experimental.WithMemoryAllocator(ctx, alloc), c,
		wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	mc = &machine{mod: mod, alloc: alloc, fresh: true}
	var ok bool
	if mc.fuel, ok = mod.ExportedGlobal(rewrite.FuelGlobal).(api.MutableGlobal); !ok { // it could not be stopped
		mod.Close(ctx)
		return nil, errNoFuel
	}
	n := 0
	if in, ok := mod.(experimental.InternalModule); ok {
		n = in.NumGlobal()
	}
	for i := range n {
		if g, ok := mod.ExportedGlobal(fmt.Sprint(rewrite.GlobalPrefix, i)).(api.MutableGlobal); ok {
			mc.globals = append(mc.globals, g)
		}
	}
	return mc, nil
}

var (
	errNoExport = errors.New("wasm: the module does not export what it is called by")
	errNoFuel   = errors.New("wasm: the module was not rewritten")
)

// call calls an export without parameters and returns its result, or 0. The
// machine is spent unless the guest returns or exits by itself.
func (mc *machine) call(ctx context.Context, m *meter, name string) (uint64, error) {
	if mc.name != name {
		f := mc.mod.ExportedFunction(name)
		if f == nil || len(f.Definition().ParamTypes()) != 0 {
			return 0, fmt.Errorf("%w: %s", errNoExport, name)
		}
		mc.entry, mc.name, mc.stack = f, name, nativeStack(f)
	}
	mc.spent = true
	mc.fuel.Set(ration)
	m.fuel, m.stack = mc.fuel, mc.stack
	var stack [1]uint64
	err := mc.entry.CallWithStack(ctx, stack[:])
	var exit *wasi.Exit
	if err == nil || errors.As(err, &exit) {
		mc.spent = false
	}
	if e := m.settle(); e != nil && err == nil {
		err = &wasi.Stop{Err: e}
	}
	return stack[0], err
}

// close frees the machine. It must not run.
func (mc *machine) close() { mc.mod.Close(context.Background()) }

// usualHeld is what a machine that shows the snapshot has of its own after most
// commands, for one that was not looked at yet.
const usualHeld = 64 * hostPage

// size is how many bytes of the host's memory the machine holds.
func (mc *machine) size() int {
	switch s := mc.alloc.space; {
	case s == nil:
		return 0
	case mc.alloc.shown:
		return cmp.Or(mc.held, usualHeld) + s.dirty - s.mapped
	default:
		return s.dirty
	}
}

// reset makes the machine what it was, whatever has happened to it: there is
// no state of an instance but its memory and these globals, which package
// rewrite has made sure of. It must be called for every machine after every
// run, also after one that seems to have done nothing. False means that the
// machine must be closed.
func (mc *machine) reset(s *snapshot) bool {
	if len(mc.alloc.bytes()) != s.size && !mc.alloc.shrink(mc.mod.Memory(), s.size) {
		return false
	}
	if !mc.alloc.shown && s.tracker != nil { // it is older than the snapshot
		mc.alloc.shown = s.show(mc.alloc.space)
	}
	if mc.alloc.shown {
		n, ok := s.rewind(mc.alloc.bytes())
		if !ok {
			return false
		}
		mc.held = n
	} else {
		s.restore(mc.alloc.bytes())
		mc.held = s.held
	}
	for i, g := range mc.globals {
		g.Set(s.globals[i])
	}
	if stackSize(mc.stack) > keptStack {
		mc.entry, mc.name, mc.stack = nil, "", reflect.Value{}
	}
	mc.fresh, mc.clean = false, true
	return true
}

// keptStack is how many bytes of native stack a machine keeps.
const keptStack = 256 << 10
