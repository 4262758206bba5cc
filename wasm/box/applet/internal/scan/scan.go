// Package scan finds text in more of it than a line. In the box the host does,
// which is many times faster than the code that Go makes for WebAssembly.
package scan

import (
	"bytes"
	"math/bits"

	"github.com/donax-sh/donax/wasm/box/applet/internal/word"
)

// Where a call of the host costs less than it brings, what one call may have,
// and how long text in any case may be.
const (
	hostFrom = 1 << 10
	hostMost = 64 << 10
	MaxFold  = 64
)

// Index is bytes.Index.
func Index(s, text []byte) int {
	if len(s) >= hostFrom && len(text) > 0 && len(text) <= hostMost/2 {
		if i, ok := hostIndex(s, text, false); ok {
			return i
		}
	}
	return bytes.Index(s, text)
}

// IndexByte is bytes.IndexByte.
func IndexByte(s []byte, c byte) int {
	if len(s) < hostFrom {
		return bytes.IndexByte(s, c)
	}
	text := [1]byte{c}
	return Index(s, text[:])
}

const low, high = 0x0101010101010101, 0x8080808080808080

// has marks the bytes of x that are c, and perhaps some that follow one.
func has(x uint64, c byte) uint64 {
	x ^= low * uint64(c)
	return (x - low) &^ x & high
}

// Blank returns where s has its first space, tab or newline from pos on, or its
// length.
func Blank(s string, pos int) int {
	for ; len(s)-pos >= 8; pos += 8 {
		x := word.LoadString(s[pos:])
		if found := has(x, ' ') | has(x, '\t') | has(x, '\n'); found != 0 {
			return pos + bits.TrailingZeros64(found)/8
		}
	}
	for pos < len(s) && s[pos] != ' ' && s[pos] != '\t' && s[pos] != '\n' {
		pos++
	}
	return pos
}

// LastIndexByte is bytes.LastIndexByte, eight bytes at a time.
func LastIndexByte(s []byte, c byte) int {
	for len(s) >= 8 && has(word.Load(s[len(s)-8:]), c) == 0 {
		s = s[:len(s)-8]
	}
	return bytes.LastIndexByte(s, c)
}

// ASCII tells whether no byte of s is above 127.
func ASCII(s []byte) bool {
	for ; len(s) >= 8; s = s[8:] {
		if word.Load(s)&high != 0 {
			return false
		}
	}
	for _, b := range s {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// IndexFold finds text, of 1 to MaxFold bytes, whose ASCII letters are small
// and stand for either case.
func IndexFold(s, text []byte) int {
	if len(s) >= hostFrom {
		if i, ok := hostIndex(s, text, true); ok {
			return i
		}
	}
	for i := 0; i+len(text) <= len(s); i++ {
		n := 0
		for n < len(text) && lower(s[i+n]) == text[n] {
			n++
		}
		if n == len(text) {
			return i
		}
	}
	return -1
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c |= 32
	}
	return c
}

// hostIndex has the host look, in parts that overlap. ok is false when there
// is no host, or it refuses.
func hostIndex(s, text []byte, fold bool) (i int, ok bool) {
	for from := 0; ; {
		part := s[from:min(from+hostMost, len(s))]
		i, ok := find(part, text, fold)
		switch {
		case !ok:
			return 0, false
		case i >= 0:
			return from + i, true
		case from+len(part) == len(s):
			return -1, true
		}
		from += len(part) - len(text) + 1
	}
}
