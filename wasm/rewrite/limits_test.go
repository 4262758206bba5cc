package rewrite

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// Threats: WA-2.
func TestLimits(t *testing.T) {
	lots := func(n int, b ...byte) []byte { return bytes.Repeat(b, n) }
	one := func(fn []byte) []byte {
		return module(
			section(secType, vec(typeVoid)...),
			section(secFunction, vec([]byte{0})...),
			section(secCode, vec(fn)...),
		)
	}
	nested := func(n int) []byte {
		return cat(lots(n, opBlock, blockEmpty), lots(n, opEnd))
	}
	for _, c := range []struct {
		what string
		bin  []byte
	}{
		{"bytes in the module", append([]byte(magic), make([]byte, 65<<20)...)},
		{"locals in one function", one(body(cat([]byte{1}, uleb(nil, 50_000), []byte{typeI32})))},
		{"groups of locals", one(body(cat(uleb(nil, 2000), lots(2000, 1, typeI32))))},
		{"nested blocks", one(body(nil, nested(5000)...))},
		{"bytes in one function", one(body(nil, lots(300<<10, 0x01)...))},
		{"br_table targets", one(body(nil, cat([]byte{opI32Const, 0, opBrTable}, uleb(nil, 9000), lots(9001, 0))...))},
		{"functions", module(section(secType, vec(typeVoid)...), section(secFunction, cat(uleb(nil, 40_000), lots(40_000, 0))...))},
		{"parameters", module(section(secType, cat([]byte{1, 0x60}, uleb(nil, 2000), lots(2000, typeI32), []byte{0})...))},
		{"memory pages of 64 KiB", module(section(secMemory, cat([]byte{1, 0}, uleb(nil, 65536))...))},
		{"memories", module(section(secMemory, vec([]byte{0, 1}, []byte{0, 1})...))},
		{"table elements", module(section(secTable, cat([]byte{1, 0x70, 0}, uleb(nil, 1<<30))...))},
		{"tables", module(section(secTable, cat(uleb(nil, 100), lots(100, 0x70, 0, 0))...))},
		{"imports", module(section(secImport, cat(uleb(nil, 2000), lots(8000, 0))...))},
		{"globals", module(section(secGlobal, cat(uleb(nil, 20_000), lots(20_000, typeI32, 0, opI32Const, 0, opEnd))...))},
		{"data segments", module(section(secMemory, vec([]byte{0, 1})...), section(secData, cat(uleb(nil, 200_000), lots(200_000, 1, 0))...))},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, _, err := Module(c.bin, Options{Fuel: true})
			var le *LimitError
			if !errors.As(err, &le) || le.What != c.what {
				t.Fatalf("error %v, want the limit on %s", err, c.what)
			}
			if !strings.Contains(err.Error(), "at most") && !strings.Contains(err.Error(), "over limit") {
				t.Errorf("%q does not say how much is allowed", err)
			}
		})
	}
}

// Threats: WA-2.
func TestMalformed(t *testing.T) {
	for name, bin := range map[string][]byte{
		"empty":               {},
		"text":                []byte("#!/bin/sh\necho hi\n"),
		"component":           []byte(componentMagic),
		"section too long":    append([]byte(magic), 1, 200),
		"section twice":       module(section(secType, 0), section(secType, 0)),
		"section order":       module(section(secFunction, 0), section(secType, 0)),
		"section unknown":     module(section(99)),
		"count is a lie":      module(section(secType, uleb(nil, 5000)...)),
		"type index":          module(section(secType, vec(typeVoid)...), section(secFunction, vec([]byte{7})...)),
		"body without end":    module(section(secType, vec(typeVoid)...), section(secFunction, vec([]byte{0})...), section(secCode, 1, 2, 0, 0x01)),
		"code after the end":  module(section(secType, vec(typeVoid)...), section(secFunction, vec([]byte{0})...), section(secCode, 1, 4, 0, opEnd, 0x01, opEnd)),
		"no code":             module(section(secType, vec(typeVoid)...), section(secFunction, vec([]byte{0})...)),
		"shared memory":       module(section(secMemory, 1, 3, 1, 1)),
		"imported memory":     module(section(secImport, vec(cat(name("env"), name("memory"), []byte{2, 0, 1}))...)),
		"import not served":   module(section(secType, vec(typeVoid)...), section(secImport, vec(cat(name("env"), name("system"), []byte{0, 0}))...)),
		"function index":      run(opCall, 9),
		"unknown instruction": run(0xff),
		"reserved export":     module(section(secType, vec(typeVoid)...), section(secExport, vec(cat(name(FuelGlobal), []byte{3, 0}))...)),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Module(bin, Options{Fuel: true, MergeData: true})
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("error %v, want an Error", err)
			}
		})
	}
}

func TestData(t *testing.T) {
	seg := func(offset byte, s string) []byte {
		return cat([]byte{0, opI32Const, offset, opEnd}, name(s))
	}
	src := module(
		section(secMemory, vec([]byte{0, 1})...),
		section(secData, vec(seg(0, "abc"), seg(10, "xyz"), seg(1, "B"))...),
	)
	_, info, err := Module(src, Options{TakeData: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(info.Data); got != "aBc\x00\x00\x00\x00\x00\x00\x00xyz" {
		t.Errorf("image %q", got)
	}
	merged, _, err := Module(src, Options{MergeData: true})
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := Module(merged, Options{TakeData: true})
	if err != nil || !bytes.Equal(again.Data, info.Data) {
		t.Errorf("merged segments give %q, %v", again.Data, err)
	}

	outside := module(
		section(secMemory, vec([]byte{0, 1})...),
		section(secData, vec(cat([]byte{0, opI32Const}, sleb(nil, -16), []byte{opEnd}, name("x")))...),
	)
	if _, _, err := Module(outside, Options{TakeData: true}); err == nil {
		t.Error("a segment at 4 GiB was accepted for one page of memory")
	}
}

// Threats: WA-3.
func TestClamp(t *testing.T) {
	bin, info, err := Module(module(section(secMemory, cat([]byte{1, 1, 1}, uleb(nil, 65536))...)), Options{Limits: Limits{Pages: 16}})
	if err != nil {
		t.Fatal(err)
	}
	if info.MinPages != 1 || info.MaxPages != 16 {
		t.Errorf("memory %d to %d pages, want 1 to 16", info.MinPages, info.MaxPages)
	}
	if !bytes.Contains(bin, section(secMemory, 1, 1, 1, 16)) {
		t.Error("the clamped maximum is not in the module")
	}
}

func FuzzModule(f *testing.F) {
	f.Add(run(opLoop, blockEmpty, 0x0c, 0, opEnd))
	f.Add(run(opCall, 0))
	f.Add(module(section(secTable, 1, 0x70, 0, 4), section(secElement, 1, 0, opI32Const, 0, opEnd, 0)))
	f.Fuzz(func(t *testing.T, bin []byte) {
		out, _, err := Module(bin, Options{Fuel: true, ExportGlobals: true, MergeData: true, Import: func(string, string) bool { return true }})
		if err != nil {
			return
		}
		// What comes out has to be readable: a module of the same shape, whose
		// reserved names are now taken.
		var e *Error
		if _, _, err := Module(out, Options{Fuel: true, Import: func(string, string) bool { return true }}); !errors.As(err, &e) {
			t.Errorf("rewritten twice without complaint: %v", err)
		}
		if _, _, err := Hollow(out); err != nil {
			t.Errorf("no hollow form: %v", err)
		}
	})
}
