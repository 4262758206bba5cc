package rewrite

import (
	"encoding/binary"
	"fmt"
)

// failure carries an error out of the decoder; Module recovers it. A decoder
// of nested variable-length parts would otherwise be mostly error checks.
type failure struct{ err error }

// reader decodes one section or function body. It never reads past its end.
type reader struct {
	b    []byte
	p    int
	name string // of the section, for errors
}

func (r *reader) fail(format string, args ...any) {
	panic(failure{&Error{r.p, r.name + ": " + fmt.Sprintf(format, args...)}})
}

func (r *reader) done() bool { return r.p >= len(r.b) }

func (r *reader) byte() byte {
	if r.p >= len(r.b) {
		r.fail("ends too early")
	}
	c := r.b[r.p]
	r.p++
	return c
}

// peek returns the next byte without reading it.
func (r *reader) peek() byte {
	c := r.byte()
	r.p--
	return c
}

// u32 reads an unsigned LEB128 of at most 32 bits.
func (r *reader) u32() uint64 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			if v > 1<<32-1 {
				r.fail("number does not fit 32 bits")
			}
			return v
		}
	}
	r.fail("number is too long")
	return 0
}

// leb skips a LEB128 of at most n bytes.
func (r *reader) leb(n int) {
	for range n {
		if r.byte()&0x80 == 0 {
			return
		}
	}
	r.fail("number is too long")
}

// s32 reads a signed LEB128 of at most 32 bits.
func (r *reader) s32() int32 {
	var v int64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c&0x80 == 0 {
			if c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return int32(v)
		}
	}
	r.fail("number is too long")
	return 0
}

// bytes reads n bytes.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)-r.p) {
		r.fail("ends too early")
	}
	s := r.b[r.p : r.p+int(n)]
	r.p += int(n)
	return s
}

func (r *reader) text() string { return string(r.bytes(r.u32())) }

// count reads the length of a vector and bounds it. Every item takes at least
// one byte, so a count beyond the rest of the section is a lie.
func (r *reader) count(max uint64, what string) uint64 {
	n := r.u32()
	atMost(n, max, what, "")
	if n > uint64(len(r.b)-r.p) {
		r.fail("%d %s do not fit the section", n, what)
	}
	return n
}

func (r *reader) end() {
	if !r.done() {
		r.fail("has %d bytes too many", len(r.b)-r.p)
	}
}

// valueType skips a value type: one byte, or a reference with a heap type.
func (r *reader) valueType() {
	if c := r.byte(); c == 0x63 || c == 0x64 {
		r.leb(5)
	}
}

func uleb(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

func sleb(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
