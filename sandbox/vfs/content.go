package vfs

// chunkSize is the unit in which file content is kept: writing far behind the
// end leaves a hole that takes no memory, and growing never copies more than
// one chunk.
const chunkSize = 64 << 10

// content is the bytes of a file in memory. A nil or short chunk reads as
// zeros from where it ends.
type content struct {
	chunks [][]byte
	size   int64
}

func (c *content) readAt(p []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	p = p[:min(int64(len(p)), c.size-off)]
	n := 0
	for n < len(p) {
		i, o := int((off+int64(n))/chunkSize), int((off+int64(n))%chunkSize)
		part := p[n:min(len(p), n+chunkSize-o)]
		got := 0
		if i < len(c.chunks) && o < len(c.chunks[i]) {
			got = copy(part, c.chunks[i][o:])
		}
		clear(part[got:])
		n += len(part)
	}
	return n
}

func (c *content) writeAt(p []byte, off int64) {
	c.size = max(c.size, off+int64(len(p)))
	for len(p) > 0 {
		i, o := int(off/chunkSize), int(off%chunkSize)
		part := p[:min(len(p), chunkSize-o)]
		for len(c.chunks) <= i {
			c.chunks = append(c.chunks, nil)
		}
		c.chunks[i] = extend(c.chunks[i], o+len(part))
		copy(c.chunks[i][o:], part)
		p, off = p[len(part):], off+int64(len(part))
	}
}

// extend makes b at least n bytes long; what is new is zero.
func extend(b []byte, n int) []byte {
	if n <= len(b) {
		return b
	}
	if n <= cap(b) {
		old := len(b)
		b = b[:n]
		clear(b[old:]) // bytes cut off by an earlier truncation must not come back
		return b
	}
	grown := make([]byte, n, min(chunkSize, max(n, 2*cap(b), 64)))
	copy(grown, b)
	return grown
}

func (c *content) truncate(size int64) {
	if size < c.size {
		full, rest := int(size/chunkSize), int(size%chunkSize)
		if full < len(c.chunks) {
			keep := full
			if rest > 0 {
				keep++
				c.chunks[full] = c.chunks[full][:min(rest, len(c.chunks[full]))]
			}
			clear(c.chunks[keep:])
			c.chunks = c.chunks[:keep]
		}
	}
	c.size = size
}
