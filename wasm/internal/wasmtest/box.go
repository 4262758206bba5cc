package wasmtest

import "slices"

// Op codes that tests write code with.
const (
	Unreachable = 0x00
	Loop        = 0x03
	If          = 0x04
	End         = 0x0b
	Br          = 0x0c
	Call        = 0x10
	Drop        = 0x1a
	I32Const    = 0x41
	F64Const    = 0x44
	I32Add      = 0x6a
	I32And      = 0x71
	F64Sqrt     = 0x9f
	F64Div      = 0xa3
	I32Load     = 0x28
	I32Store    = 0x36
	I32LtS      = 0x48
	MemoryGrow  = 0x40
	RefNull     = 0xd0
	FuncRef     = 0x70
	Bulk        = 0xfc
	Empty       = 0x40 // the type of a block without result
)

// Box returns a module that looks like a tier of the box: it exports
// _initialize, which does nothing, a memory of pages, and box_run, whose body
// is code. Function 1 is box_run; function 0 is _initialize.
func Box(pages uint32, code ...byte) []byte {
	return boxModule("box_run", pages, code, nil, nil, nil, nil)
}

// BulkSize and TableSize are the sizes of what [BulkCommand] has.
const (
	BulkSize  = 1 << 20
	TableSize = 1 << 16
)

// BulkCommand returns a module of a user, whose _start is what box_run is in
// Box. It has a table of TableSize functions, a passive element segment as large,
// and a passive data segment of BulkSize bytes.
func BulkCommand(pages uint32, code ...byte) []byte {
	return boxModule("_start", pages, code,
		section(4, vec(1, append([]byte{0x70, 0}, leb(TableSize)...))),
		section(9, vec(1, append([]byte{1, 0}, vec(TableSize, make([]byte, TableSize))...))),
		section(12, leb(1)),
		section(11, vec(1, append([]byte{1}, vec(BulkSize, make([]byte, BulkSize))...))),
	)
}

func boxModule(entry string, pages uint32, code, tables, elements, count, data []byte) []byte {
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, vec(2, []byte{0x60, 0, 0, 0x60, 0, 1, 0x7f}))...)
	m = append(m, section(3, vec(2, []byte{0, 1}))...)
	m = append(m, tables...)
	m = append(m, section(5, append([]byte{1, 0}, leb(pages)...))...)
	var exports []byte
	for _, e := range []struct {
		name        string
		kind, index byte
	}{{"_initialize", 0, 0}, {entry, 0, 1}, {"memory", 2, 0}} {
		exports = append(append(exports, str(e.name)...), e.kind, e.index)
	}
	m = append(m, section(7, vec(3, exports))...)
	m = append(append(m, elements...), count...)
	body := append(append([]byte{0}, code...), I32Const, 0, End)
	bodies := append([]byte{2, 0, End}, leb(uint32(len(body)))...)
	m = append(m, section(10, vec(2, append(bodies, body...)))...)
	return append(m, data...)
}

// I32 is the instruction that pushes n.
func I32(n int32) []byte {
	b := []byte{I32Const}
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// Command returns a WASI command that writes text to its standard output and
// ends as proc_exit(status) does. module names what it imports fd_write and
// proc_exit from.
func Command(module, text string, status int32) []byte {
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, vec(3, []byte{
		0x60, 0, 0,
		0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f,
		0x60, 1, 0x7f, 0,
	}))...)
	var imports []byte
	for i, name := range []string{"fd_write", "proc_exit"} {
		imports = append(append(imports, str(module)...), str(name)...)
		imports = append(imports, 0, byte(1+i))
	}
	m = append(m, section(2, vec(2, imports))...)
	m = append(m, section(3, vec(1, []byte{0}))...)
	m = append(m, section(5, vec(1, []byte{0, 1}))...)
	m = append(m, section(7, vec(2, slices.Concat(str("_start"), []byte{0, 2}, str("memory"), []byte{2, 0})))...)
	body := []byte{0}
	for at, v := range []int32{16, int32(len(text))} { // one buffer, at 16
		body = slices.Concat(body, I32(int32(at*4)), I32(v), []byte{0x36, 2, 0})
	}
	body = slices.Concat(body, I32(1), I32(0), I32(1), I32(8), []byte{Call, 0, Drop}, I32(status), []byte{Call, 1, End})
	m = append(m, section(10, vec(1, append(leb(uint32(len(body))), body...)))...)
	return append(m, section(11, vec(1, slices.Concat([]byte{0}, I32(16), []byte{End}, str(text))))...)
}

// Start returns a module without imports and exports whose start section runs
// code, with a memory of these limits unless mem is nil.
func Start(mem []byte, code ...byte) []byte {
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, vec(1, []byte{0x60, 0, 0}))...)
	m = append(m, section(3, vec(1, []byte{0}))...)
	if mem != nil {
		m = append(m, section(5, vec(1, mem))...)
	}
	m = append(m, section(8, []byte{0})...)
	body := slices.Concat([]byte{0}, code, []byte{End})
	return append(m, section(10, vec(1, append(leb(uint32(len(body))), body...)))...)
}
