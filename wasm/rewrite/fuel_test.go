package rewrite

import (
	"context"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

var errStop = errors.New("out of fuel")

// start runs the export "run" and returns how often tick was called, ending
// the guest at the limit-th call.
func start(t *testing.T, bin []byte, limit int) (ticks int, err error) {
	t.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesTailCall))
	defer rt.Close(ctx)
	_, err = rt.NewHostModuleBuilder(FuelModule).NewFunctionBuilder().WithGoFunction(
		api.GoFunc(func(_ context.Context, stack []uint64) {
			if ticks++; ticks >= limit {
				panic(errStop)
			}
			stack[0] = 1000
		}), nil, []api.ValueType{api.ValueTypeI64}).Export(FuelFunc).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := rt.Instantiate(ctx, bin)
	if err != nil {
		return ticks, err
	}
	_, err = mod.ExportedFunction("run").Call(ctx)
	return ticks, err
}

// Threats: WA-1.
func TestFuelStops(t *testing.T) {
	many := func(n int, code ...byte) (out []byte) {
		for range n {
			out = append(out, code...)
		}
		return out
	}
	fill := []byte{opI32Const, 0, opI32Const, 0, opI32Const, 0x80, 0x80, 0x04, opMisc, miscMemoryFill, 0} // one page
	for name, code := range map[string][]byte{
		"endless loop":         {opLoop, blockEmpty, 0x0c, 0, opEnd},
		"endless recursion":    {opCall, 0},
		"doubling recursion":   {opCall, 0, opCall, 0},
		"loop of bulk fills":   append(append([]byte{opLoop, blockEmpty}, fill...), 0x0c, 0, opEnd),
		"bulk fills in a row":  many(2000, fill...),
		"loop of memory.grow":  {opLoop, blockEmpty, opI32Const, 0, opMemoryGrow, 0, 0x1a, 0x0c, 0, opEnd},
		"tail call":            {opReturnCall, 0},
		"loop inside of loops": {opLoop, blockEmpty, opLoop, blockEmpty, 0x0c, 1, opEnd, opEnd},
	} {
		t.Run(name, func(t *testing.T) {
			bin, info, err := Module(run(code...), Options{Fuel: true})
			if err != nil {
				t.Fatal(err)
			}
			if info.Checks == 0 {
				t.Error("no checks were put in")
			}
			if _, err := start(t, bin, 20); !errors.Is(err, errStop) {
				t.Errorf("ended with %v, want the stop", err)
			}
		})
	}
}

func TestFuelCountsTheSame(t *testing.T) {
	// A loop of 10,000 turns, run twice: a budget must mean the same each time.
	code := []byte{
		opLoop, blockEmpty,
		opLocalGet, 0, opI32Const, 1, 0x6a, opLocalTee, 0, // i++
		opI32Const, 0x90, 0xce, 0, 0x48, 0x0d, 0, // while i < 10000
		opEnd,
	}
	src := module(
		section(secType, vec(typeVoid)...),
		section(secFunction, vec([]byte{0})...),
		section(secExport, vec(cat(name("run"), []byte{0, 0}))...),
		section(secCode, vec(body([]byte{1, 1, typeI32}, code...))...),
	)
	bin, _, err := Module(src, Options{Fuel: true})
	if err != nil {
		t.Fatal(err)
	}
	first, err := start(t, bin, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	second, err := start(t, bin, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if first != second || first < 50 || first > 200 {
		t.Errorf("%d and %d rations of 1000 for 10,000 turns of 9 instructions", first, second)
	}
}

// Threats: WA-5.
func TestFuelGlobalIsOutOfReach(t *testing.T) {
	for name, code := range map[string][]byte{
		"read":  {opGlobalGet, 0, 0x1a},
		"write": {opI64Const, 0, opGlobalSet, 0},
	} {
		if _, _, err := Module(run(code...), Options{Fuel: true}); err == nil {
			t.Errorf("%s: a guest may name the counter", name)
		}
	}
	exported := module(
		section(secType, vec(typeVoid)...),
		section(secExport, vec(cat(name("g"), []byte{3, 0}))...),
	)
	if _, _, err := Module(exported, Options{Fuel: true}); err == nil {
		t.Error("export: a guest may name the counter")
	}
	imported := module(
		section(secType, vec(typeVoid)...),
		section(secImport, vec(cat(name(FuelModule), name(FuelFunc), []byte{0, 0}))...),
	)
	if _, _, err := Module(imported, Options{Fuel: true, Import: func(string, string) bool { return true }}); err == nil {
		t.Error("import: a guest may call tick")
	}
}

// What a reset cannot undo is refused where one is wanted.
func TestExportGlobalsRefuses(t *testing.T) {
	for name, code := range map[string][]byte{
		"table.set":  {opI32Const, 0, opRefNull, 0x70, opTableSet, 0},
		"table.grow": {opRefNull, 0x70, opI32Const, 1, opMisc, miscTableGrow, 0, 0x1a},
		"data.drop":  {opMisc, miscDataDrop, 0},
		"elem.drop":  {opMisc, miscElemDrop, 0},
	} {
		if _, _, err := Module(run(code...), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := Module(run(code...), Options{ExportGlobals: true}); err == nil {
			t.Errorf("%s is let through", name)
		}
	}
	vector := module(section(secGlobal, vec(cat([]byte{0x7b, 1, opSIMD, 12}, make([]byte, 16), []byte{opEnd}))...))
	if _, _, err := Module(vector, Options{ExportGlobals: true}); err == nil {
		t.Error("a vector global is let through")
	}
}
