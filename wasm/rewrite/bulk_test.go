package rewrite

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// bulkModule exports fill and copy, which do what the instructions do, over
// a memory of pages.
func bulkModule(pages uint64) []byte {
	args := []byte{opLocalGet, 0, opLocalGet, 1, opLocalGet, 2}
	return module(
		section(secType, vec([]byte{0x60, 3, typeI32, typeI32, typeI32, 0})...),
		section(secFunction, vec([]byte{0}, []byte{0})...),
		section(secMemory, vec(uleb([]byte{0}, pages))...),
		section(secExport, vec(cat(name("fill"), []byte{0, 0}), cat(name("copy"), []byte{0, 1}), cat(name("memory"), []byte{2, 0}))...),
		section(secCode, vec(
			body(nil, append(args, opMisc, miscMemoryFill, 0)...),
			body(nil, append(args, opMisc, miscMemoryCopy, 0, 0)...),
		)...),
	)
}

// In pieces or not, what is filled and copied is the same.
func TestBulk(t *testing.T) {
	const pages = 80 // five pieces
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	defer rt.Close(ctx)
	if _, err := rt.NewHostModuleBuilder(FuelModule).NewFunctionBuilder().WithGoFunction(
		api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = 1000 }), nil,
		[]api.ValueType{api.ValueTypeI64}).Export(FuelFunc).Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	plain := bulkModule(pages)
	fueled, _, err := Module(plain, Options{Fuel: true, Limits: Limits{Pages: 1 << 16}})
	if err != nil {
		t.Fatal(err)
	}
	var mods [2]api.Module
	var mems [2][]byte
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, pages*pageSize)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for i, bin := range [][]byte{plain, fueled} {
		if mods[i], err = rt.InstantiateWithConfig(ctx, bin, wazero.NewModuleConfig().WithName("")); err != nil {
			t.Fatal(err)
		}
		mems[i], _ = mods[i].Memory().Read(0, pages*pageSize)
		copy(mems[i], noise)
	}
	const size = pages * pageSize
	cases := [][3]uint64{
		{0, 0, 0}, {size, 0, 0}, {size + 1, 0, 0}, {0, size + 1, 0}, {1<<32 - 1, 0, 0},
		{0, 0, size}, {1, 0, size - 1}, {0, 1, size - 1}, {1, 0, size}, {0, 1, size},
		{0, piece, 3 * piece}, {piece, 0, 3 * piece}, {7, 3, 3*piece + 5}, {3, 7, 3*piece + 5},
		{1<<32 - 256, 0, 2 * piece}, {0, 1<<32 - 256, 2 * piece}, {piece, piece, 1<<32 - 1},
	}
	for range 50 {
		cases = append(cases, [3]uint64{r.Uint64N(size), r.Uint64N(size), r.Uint64N(size)})
	}
	for _, c := range cases {
		for _, f := range []string{"fill", "copy"} {
			var errs [2]error
			for i, m := range mods {
				_, errs[i] = m.ExportedFunction(f).Call(ctx, c[0], c[1], c[2])
			}
			if (errs[0] == nil) != (errs[1] == nil) || errs[0] != nil && trap(errs[0]) != trap(errs[1]) {
				t.Errorf("%s %v: %v and %v", f, c, errs[0], errs[1])
			}
			if !bytes.Equal(mems[0], mems[1]) {
				t.Fatalf("%s %v: the memories differ", f, c)
			}
		}
	}
}

// trap is the first line of an error.
func trap(err error) string {
	line, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n"))
	return string(line)
}
