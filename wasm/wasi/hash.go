package wasi

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding"
	"io"
)

// hashState is a hash whose state between two writes is bytes.
type hashState interface {
	io.Writer
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// hashData goes on with a hash: the guest gives its state, as Go's package for
// it marshals it and which begins with the name of the algorithm, and more
// data, and finds the new state in place of the old one. Nothing is kept, and
// one call takes no more data than a read does.
func hashData(c *call) errno {
	if c.u32(3) > maxPart {
		return eINVAL
	}
	state, ok := c.mem.bytes(c.u32(0), c.u32(1))
	data, ok2 := c.mem.bytes(c.u32(2), c.u32(3))
	if !ok || !ok2 {
		return eFAULT
	}
	if c.cfg.Spend != nil {
		// A byte costs the processor about as much as an instruction.
		if err := c.cfg.Spend(int64(len(data))); err != nil {
			c.stop(err)
		}
	}
	for _, h := range []func() any{
		func() any { return md5.New() }, func() any { return sha1.New() },
		func() any { return sha256.New224() }, func() any { return sha256.New() },
		func() any { return sha512.New384() }, func() any { return sha512.New() },
	} {
		d := h().(hashState)
		if d.UnmarshalBinary(bytes.Clone(state)) != nil { // another algorithm, or no state at all
			continue
		}
		_, _ = d.Write(data) // it never fails
		if now, err := d.MarshalBinary(); err == nil && len(now) == len(state) {
			copy(state, now)
			return 0
		}
	}
	return eINVAL
}
