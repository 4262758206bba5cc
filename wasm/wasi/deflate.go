package wasi

import (
	"bytes"

	"github.com/klauspost/compress/flate"
)

// Bounds of one call of deflate: it takes some milliseconds at most.
const (
	maxWindow  = 32 << 10
	maxDeflate = 64 << 10
)

// deflateData compresses a part of a stream, in the format of RFC 1951: the
// bytes behind the first dict ones, which are what came before them. The
// result is whole blocks, the last of them marked as such in the last part. Nothing
// is kept but room to work in, until the guest ends.
func deflateData(c *call) errno {
	level, last, dict := int(c.u32(0)), c.u32(1) != 0, c.u32(2)
	n := c.u32(4)
	if level < 1 || level > 9 || dict > maxWindow || dict > n || n-dict > maxDeflate {
		return eINVAL
	}
	in, ok := c.mem.bytes(c.u32(3), n)
	out, ok2 := c.mem.bytes(c.u32(5), c.u32(6))
	if !ok || !ok2 {
		return eFAULT
	}
	if c.cfg.Spend != nil {
		// As many instructions for a byte as native code takes at that level.
		if err := c.cfg.Spend(int64(n-dict) * int64(10*level)); err != nil {
			c.stop(err)
		}
	}
	var b bytes.Buffer
	if c.deflater == nil || c.deflateLevel != level {
		w, err := flate.NewWriter(&b, min(level+1, 9)) // whose levels pack a little less than those of zlib
		if err != nil {
			return eINVAL
		}
		c.deflater, c.deflateLevel = w, level
	}
	w := c.deflater
	w.ResetDict(&b, in[:dict])
	_, err := w.Write(in[dict:])
	if err == nil && last {
		err = w.Close()
	} else if err == nil {
		err = w.Flush()
	}
	switch {
	case err != nil:
		return eIO
	case b.Len() > len(out):
		return e2BIG
	}
	copy(out, b.Bytes())
	return c.mem.put32(c.u32(7), uint32(b.Len()))
}
