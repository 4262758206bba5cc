package wasmtest

// Op codes that tests write code with.
const (
	Unreachable = 0x00
	Loop        = 0x03
	End         = 0x0b
	Br          = 0x0c
	Call        = 0x10
	Drop        = 0x1a
	I32Const    = 0x41
	MemoryGrow  = 0x40
	Bulk        = 0xfc
	Empty       = 0x40 // the type of a block without result
)

// Box returns a module that looks like a tier of the box: it exports
// _initialize, which does nothing, a memory of pages, and box_run, whose body
// is code. Function 1 is box_run; function 0 is _initialize.
func Box(pages uint32, code ...byte) []byte {
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, vec(2, []byte{0x60, 0, 0, 0x60, 0, 1, 0x7f}))...)
	m = append(m, section(3, vec(2, []byte{0, 1}))...)
	m = append(m, section(5, append([]byte{1, 0}, leb(pages)...))...)
	var exports []byte
	for _, e := range []struct {
		name        string
		kind, index byte
	}{{"_initialize", 0, 0}, {"box_run", 0, 1}, {"memory", 2, 0}} {
		exports = append(append(exports, str(e.name)...), e.kind, e.index)
	}
	m = append(m, section(7, vec(3, exports))...)
	body := append(append([]byte{0}, code...), I32Const, 0, End)
	bodies := append([]byte{2, 0, End}, leb(uint32(len(body)))...)
	return append(m, section(10, vec(2, append(bodies, body...)))...)
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
