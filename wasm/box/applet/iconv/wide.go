package iconv

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// wide is UTF-16, UCS-2 (kind 2) or UTF-32. A marked one begins with the
// byte order mark, and says by it how it is read.
func wide(kind int, order byteOrder, marked bool) charset {
	s := charset{decode: decode16(order, kind), encode: encode16(order, kind)}
	size := 2
	if kind == 32 {
		s, size = charset{decode: decode32(order), encode: encode32(order)}, 4
	}
	if !marked {
		return s
	}
	b, _ := s.encode(nil, 0xFEFF)
	s.mark = string(b)
	own := s.decode
	s.sniff = func(b []byte) (func([]byte) (rune, int), int) {
		if c, n := own(b); n > 0 && c == 0xFEFF {
			return own, n
		}
		other := wide(kind, binary.BigEndian, false).decode
		if len(b) >= size {
			if c, n := other(b); n > 0 && c == 0xFEFF {
				return other, n
			}
		}
		return own, 0
	}
	return s
}

func decode16(order byteOrder, kind int) func([]byte) (rune, int) {
	return func(b []byte) (rune, int) {
		if len(b) < 2 {
			return -1, 0
		}
		c := rune(order.Uint16(b))
		switch {
		case !utf16.IsSurrogate(c):
			return c, 2
		case kind == 2 || c >= 0xDC00:
			return -1, 2
		case len(b) < 4:
			return -1, 0
		}
		if c = utf16.DecodeRune(c, rune(order.Uint16(b[2:]))); c == utf8.RuneError {
			return -1, 2
		}
		return c, 4
	}
}

func encode16(order byteOrder, kind int) func([]byte, rune) ([]byte, bool) {
	return func(b []byte, c rune) ([]byte, bool) {
		if c < 0x10000 {
			return order.AppendUint16(b, uint16(c)), true
		}
		hi, lo := utf16.EncodeRune(c)
		return order.AppendUint16(order.AppendUint16(b, uint16(hi)), uint16(lo)), kind != 2
	}
}

func decode32(order byteOrder) func([]byte) (rune, int) {
	return func(b []byte) (rune, int) {
		if len(b) < 4 {
			return -1, 0
		}
		if c := order.Uint32(b); c <= utf8.MaxRune && utf8.ValidRune(rune(c)) {
			return rune(c), 4
		}
		return -1, 4
	}
}

func encode32(order byteOrder) func([]byte, rune) ([]byte, bool) {
	return func(b []byte, c rune) ([]byte, bool) { return order.AppendUint32(b, uint32(c)), true }
}
