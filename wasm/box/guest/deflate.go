//go:build wasip1

package guest

import "slices"

// hostDeflate is applet.Ctx.Deflate over the host's function.
func hostDeflate(out []byte, level int, in []byte, dict int, last bool) ([]byte, bool) {
	size := len(in) - dict
	out = slices.Grow(out, size+size/512+64) // what does not shrink is stored
	room := out[len(out):cap(out)]
	var n, ends uint32
	if last {
		ends = 1
	}
	var none byte
	first := &none // an address, also of nothing
	if len(in) > 0 {
		first = &in[0]
	}
	if deflateData(uint32(level), ends, uint32(dict), first, uint32(len(in)), &room[0], uint32(len(room)), &n) != 0 {
		return out, false
	}
	return out[:len(out)+int(n)], true
}
