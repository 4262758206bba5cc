package wasm

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/donax-sh/donax/wasm/wasi"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// ration is how many instructions a guest runs before it calls tick. Compiled
// code cannot be preempted: for as long as a ration takes, the guest cannot be
// killed and the garbage collector of the whole process waits for it. It takes
// some 20 µs, and a call of tick 0.1. Code whose every instruction waits for
// memory, in regions that are priced below their length, takes some 40 ms.
const ration = 25_000

// maxStack is how many bytes the native stack of a guest may have before it
// counts as an endless recursion. The stack is no part of the guest's memory:
// its limit does not hold there. The runtime's own bound is 50 MB, which it
// overshoots by a factor of three.
const maxStack = 16 << 20

// A Budget is an amount of CPU work, counted in instructions, that all
// commands share that run in its context: those of one terminal, say. It is
// safe for concurrent use.
type Budget struct {
	total int64
	used  atomic.Int64
}

// NewBudget returns a budget of n instructions. A millisecond of CPU time is
// about a million.
func NewBudget(n int64) *Budget { return &Budget{total: n} }

// Used returns how many instructions have been spent. It may be more than the
// budget by what a guest runs between two looks at it.
func (b *Budget) Used() int64 { return b.used.Load() }

type budgetKey struct{}

// WithBudget returns a context whose commands draw on b. When it is used up
// each of them ends with a sandbox.LimitError.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// meter counts what one run spends and ends it when it has to end. Only the
// guest's goroutine uses it.
type meter struct {
	limit  int64 // of this run; 0 means none
	used   int64
	budget *Budget // may be nil

	fuel  api.Global // the guest's counter; nil while it is instantiated
	stack reflect.Value
}

type meterKey struct{}

// instantiateFuel gives modules the import that package rewrite makes them
// call.
func instantiateFuel(ctx context.Context, wz wazero.Runtime) error {
	_, err := wz.NewHostModuleBuilder(rewrite.FuelModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(tick), nil, []api.ValueType{api.ValueTypeI64}).
		Export(rewrite.FuelFunc).Instantiate(ctx)
	return err
}

// tick hands out the next ration. It is also where Go's scheduler and
// collector get hold of the guest's goroutine.
func tick(ctx context.Context, stack []uint64) {
	m, _ := ctx.Value(meterKey{}).(*meter)
	if m == nil {
		panic(errNoMeter)
	}
	if ctx.Err() != nil {
		panic(&wasi.Stop{Err: context.Cause(ctx)})
	}
	if err := m.settle(); err != nil {
		panic(&wasi.Stop{Err: err})
	}
	if stackSize(m.stack) > maxStack {
		panic(&trapError{"stack overflow"})
	}
	stack[0] = ration
}

var errNoMeter = fmt.Errorf("wasm: a guest was called without a meter")

// settle books what was spent since the last ration was handed out.
func (m *meter) settle() error {
	n := int64(ration)
	if m.fuel != nil {
		n -= int64(m.fuel.Get())
	}
	return m.spend(n)
}

// spend books work that is worth n instructions.
func (m *meter) spend(n int64) error {
	m.used += n
	if m.limit > 0 && m.used > m.limit {
		return &sandbox.LimitError{What: fmt.Sprintf("cpu of %d instructions", m.limit)}
	}
	if b := m.budget; b != nil && b.used.Add(n) > b.total {
		return &sandbox.LimitError{What: fmt.Sprintf("cpu of %d instructions", b.total)}
	}
	return nil
}

// nativeStack returns the field of f that is the native stack it runs on. The
// runtime tells nobody, so this looks at what is private; a test fails when a
// new version has it no more. The zero Value means that there is none: the
// interpreter bounds the depth of calls by itself.
func nativeStack(f api.Function) reflect.Value {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}
	}
	if v = v.Elem().FieldByName("stack"); v.Kind() != reflect.Slice {
		return reflect.Value{}
	}
	return v
}

// stackSize is the present size of a native stack.
func stackSize(v reflect.Value) int {
	if !v.IsValid() {
		return 0
	}
	return v.Len()
}
