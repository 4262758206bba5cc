package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/donax-sh/donax/wasm/wasi"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// machine is one instance of a module, for one run at a time.
type machine struct {
	mod   api.Module
	alloc *allocator
	fuel  api.MutableGlobal
}

// take returns a machine whose memory may grow to limit bytes. ctx carries
// the job that will run.
func (m *module) take(ctx context.Context, limit uint64) (mc *machine, err error) {
	alloc := &allocator{limit: limit}
	defer func() {
		if p := recover(); p != nil { // wazero has no other way to say that the first allocation failed
			mc, err = nil, fmt.Errorf("wasm: no instance: %v", p)
		}
		if err != nil && alloc.refused {
			err = alloc.err()
		}
	}()
	mod, err := m.rt.wz.InstantiateModule(experimental.WithMemoryAllocator(ctx, alloc), m.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	fuel, ok := mod.ExportedGlobal(rewrite.FuelGlobal).(api.MutableGlobal)
	if !ok { // it could not be stopped
		mod.Close(ctx)
		return nil, errNoFuel
	}
	return &machine{mod: mod, alloc: alloc, fuel: fuel}, nil
}

// give takes a machine back after a run.
func (m *module) give(mc *machine) { mc.mod.Close(context.Background()) }

var (
	errNoExport = errors.New("wasm: the module does not export what it is called by")
	errNoFuel   = errors.New("wasm: the module was not rewritten")
)

// call calls an export without parameters and returns its result, or 0.
func (mc *machine) call(ctx context.Context, m *meter, name string) (uint64, error) {
	f := mc.mod.ExportedFunction(name)
	if f == nil || len(f.Definition().ParamTypes()) != 0 {
		return 0, fmt.Errorf("%w: %s", errNoExport, name)
	}
	mc.fuel.Set(ration)
	m.fuel, m.call = mc.fuel, f
	res, err := f.Call(ctx)
	if e := m.settle(); e != nil && err == nil {
		err = &wasi.Stop{Err: e}
	}
	if err != nil || len(res) == 0 {
		return 0, err
	}
	return res[0], nil
}
