package wasi

import (
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

var le = binary.LittleEndian

// Bounds on what one call may ask for.
const (
	maxIovecs = 1024
	maxPath   = 4096
	maxPart   = 1 << 20 // bytes read or written before the context is looked at again
)

// memory is the guest's memory. A module may have none: every access then
// fails as an access out of bounds does.
type memory struct{ m api.Memory }

// bytes returns the guest's bytes themselves, not a copy.
func (m memory) bytes(ptr, n uint32) ([]byte, bool) {
	if m.m == nil {
		return nil, false
	}
	return m.m.Read(ptr, n)
}

func (m memory) put32(ptr, v uint32) errno {
	b, ok := m.bytes(ptr, 4)
	if !ok {
		return eFAULT
	}
	le.PutUint32(b, v)
	return 0
}

func (m memory) put64(ptr uint32, v uint64) errno {
	b, ok := m.bytes(ptr, 8)
	if !ok {
		return eFAULT
	}
	le.PutUint64(b, v)
	return 0
}

// iovecs calls f for each buffer of a vector, in parts of at most maxPart,
// until it returns false. Nothing is done when any part of the vector lies
// outside of memory.
func (m memory) iovecs(ptr, n uint32, f func([]byte) bool) errno {
	if n > maxIovecs { // a count of 2^32-1 must not cost the host anything
		return eINVAL
	}
	vec, ok := m.bytes(ptr, n*8)
	if !ok {
		return eFAULT
	}
	for i := 0; i < len(vec); i += 8 {
		if _, ok := m.bytes(le.Uint32(vec[i:]), le.Uint32(vec[i+4:])); !ok {
			return eFAULT
		}
	}
	for i := 0; i < len(vec); i += 8 {
		b, ok := m.bytes(le.Uint32(vec[i:]), le.Uint32(vec[i+4:]))
		if !ok { // the guest's read went over the vector itself
			return eFAULT
		}
		for len(b) > 0 {
			part := b[:min(len(b), maxPart)]
			if !f(part) {
				return 0
			}
			b = b[len(part):]
		}
	}
	return 0
}

// str copies a string of at most max bytes out of the guest.
func (m memory) str(ptr, n, max uint32) (string, errno) {
	if n > max {
		return "", eNAMETOOLONG
	}
	b, ok := m.bytes(ptr, n)
	if !ok {
		return "", eFAULT
	}
	for _, c := range b {
		if c == 0 { // "a\x00b" must not mean "a" to anyone further down
			return "", eINVAL
		}
	}
	return string(b), 0
}
