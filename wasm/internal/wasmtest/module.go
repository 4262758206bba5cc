package wasmtest

import (
	"slices"

	"github.com/tetratelabs/wazero/api"
)

// Trampolines returns a module that exports a memory of pages and, under its
// own name, a function for each of the host functions fns that does nothing
// but call it. All of them come from one host module.
func Trampolines(pages uint32, fns []api.FunctionDefinition) []byte {
	var types, imports, funcs, exports, code []byte
	for i, f := range fns {
		types = append(types, 0x60)
		types = append(types, vec(len(f.ParamTypes()), f.ParamTypes())...)
		types = append(types, vec(len(f.ResultTypes()), f.ResultTypes())...)
		imports = append(imports, str(f.ModuleName())...)
		imports = append(imports, str(f.ExportNames()[0])...)
		imports = append(append(imports, 0), leb(uint32(i))...)
		funcs = append(funcs, leb(uint32(i))...)
		exports = append(exports, str(f.ExportNames()[0])...)
		exports = append(append(exports, 0), leb(uint32(len(fns)+i))...)
		body := []byte{0} // no locals
		for p := range f.ParamTypes() {
			body = append(append(body, 0x20), leb(uint32(p))...) // local.get
		}
		body = append(append(append(body, 0x10), leb(uint32(i))...), 0x0b) // call, end
		code = append(append(code, leb(uint32(len(body)))...), body...)
	}
	exports = append(append(exports, str("memory")...), 2, 0)
	n := len(fns)
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, vec(n, types))...)
	m = append(m, section(2, vec(n, imports))...)
	m = append(m, section(3, vec(n, funcs))...)
	m = append(m, section(5, append([]byte{1, 0}, leb(pages)...))...)
	m = append(m, section(7, vec(n+1, exports))...)
	return append(m, section(10, vec(n, code))...)
}

func section(id byte, body []byte) []byte {
	return append(append([]byte{id}, leb(uint32(len(body)))...), body...)
}

func vec(n int, body []byte) []byte { return append(leb(uint32(n)), body...) }

func str(s string) []byte { return append(leb(uint32(len(s))), s...) }

// Leb is n as an immediate of an instruction.
func Leb(n uint32) []byte { return leb(n) }

func leb(n uint32) []byte {
	var b []byte
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return slices.Clip(append(b, byte(n)))
}
