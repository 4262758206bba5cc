package hashsum

import (
	"encoding"
	"hash"
	"slices"
)

// hosted is a hash whose long writes the host computes, which has instructions
// for them that WebAssembly has not.
type hosted struct {
	hash.Hash
	feed func(state, data []byte) bool
}

// Write implements [hash.Hash].
func (h hosted) Write(p []byte) (int, error) {
	const worth = 4096 // less than this is faster than going there
	if s, ok := h.Hash.(interface {
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}); ok && len(p) >= worth {
		before, err := s.MarshalBinary()
		after := slices.Clone(before)
		if err == nil && h.feed(after, p) && s.UnmarshalBinary(after) == nil {
			return len(p), nil
		}
	}
	return h.Hash.Write(p)
}
