// Package word reads text eight bytes at a time.
package word

import "unsafe"

// Load returns the first eight bytes of b, the first one lowest. The compiler
// for WebAssembly makes eight loads of what encoding/binary says; this is one, on
// machines that begin with the lowest byte, as all do that donax is for.
func Load(b []byte) uint64 {
	_ = b[7] // no byte is read that b does not have
	return *(*uint64)(unsafe.Pointer(unsafe.SliceData(b)))
}

// LoadString is Load of a string.
func LoadString(s string) uint64 {
	_ = s[7]
	return *(*uint64)(unsafe.Pointer(unsafe.StringData(s)))
}
