package rewrite

// A tiny assembler: tests say which bytes they mean.

func section(id byte, payload ...byte) []byte {
	return append(uleb([]byte{id}, uint64(len(payload))), payload...)
}

func vec(items ...[]byte) []byte {
	out := uleb(nil, uint64(len(items)))
	for _, it := range items {
		out = append(out, it...)
	}
	return out
}

func name(s string) []byte { return append(uleb(nil, uint64(len(s))), s...) }

func cat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func module(sections ...[]byte) []byte { return cat(append([][]byte{[]byte(magic)}, sections...)...) }

// body is a function body without locals unless the groups say otherwise.
func body(locals []byte, code ...byte) []byte {
	if locals == nil {
		locals = []byte{0}
	}
	b := append(append([]byte{}, locals...), append(code, opEnd)...)
	return append(uleb(nil, uint64(len(b))), b...)
}

var (
	typeVoid     = []byte{0x60, 0, 0}                   // () -> ()
	typeI32ToI32 = []byte{0x60, 1, typeI32, 1, typeI32} // (i32) -> i32
)

// run is a module with one exported function "run" of type () -> () and one
// page of memory.
func run(code ...byte) []byte {
	return module(
		section(secType, vec(typeVoid, typeI32ToI32)...),
		section(secFunction, vec([]byte{0})...),
		section(secMemory, vec([]byte{1, 1, 2})...),
		section(secExport, vec(cat(name("run"), []byte{0, 0}))...),
		section(secCode, vec(body(nil, code...))...),
	)
}
