package termhost

import (
	"io"
	"sync"
)

// buffer keeps the last bytes of an endless stream. Offsets are absolute:
// they count from the first byte ever written. It grows to max bytes and
// then writes in a ring, so that a write costs its own length and no more.
type buffer struct {
	max int

	mu     sync.Mutex
	ring   []byte
	base   int64         // offset of the oldest byte kept
	end    int64         // bytes ever written
	exit   *Exit         // set once, when no byte can follow
	more   chan struct{} // closed at the next change, when somebody waits for it
	gone   bool          // released: the bytes are dropped
	sealed bool          // writes are refused
}

func newBuffer(max int) *buffer { return &buffer{max: max} }

// Write keeps the end of p. It fails once the command has ended or is being
// ended, so that nothing shows up after that was announced.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		return 0, io.ErrClosedPipe
	}
	if len(p) == 0 {
		return 0, nil
	}
	n := len(p)
	b.end += int64(n)
	p = p[max(0, n-b.max):]
	if need := int(b.end-b.base) - len(b.ring); need > 0 && len(b.ring) < b.max {
		b.grow(n)
	}
	if len(b.ring) == 0 { // keeps nothing
		b.base = b.end
		b.wake()
		return n, nil
	}
	at := int((b.end - int64(len(p))) % int64(len(b.ring)))
	copy(b.ring, p[copy(b.ring[at:], p):])
	b.base = max(b.base, b.end-int64(len(b.ring)))
	b.wake()
	return n, nil
}

// grow makes the ring large enough for n more bytes, or max. The n bytes are
// already counted in end. Nothing was dropped yet while the ring may grow.
func (b *buffer) grow(n int) {
	held := b.end - int64(n) - b.base
	size := min(b.max, max(int(held)+n, 2*len(b.ring), 512))
	ring := make([]byte, size)
	for off := b.base; off < b.base+held; {
		from := b.ring[off%int64(len(b.ring)):]
		from = from[:min(int64(len(from)), b.base+held-off)]
		to := int(off % int64(size))
		k := copy(ring[to:], from)
		off += int64(k)
	}
	b.ring = ring
}

// wake tells whoever waits that something changed. The caller holds mu.
func (b *buffer) wake() {
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
}

// changed returns a channel that is closed at the next change. The caller
// holds mu.
func (b *buffer) changed() <-chan struct{} {
	if b.more == nil {
		b.more = make(chan struct{})
	}
	return b.more
}

// seal refuses further writes and keeps what was written.
func (b *buffer) seal() {
	b.mu.Lock()
	b.sealed = true
	b.mu.Unlock()
}

// finish records the end. The last byte and the exit become visible together
// with it, in that order, for every reader.
func (b *buffer) finish(e Exit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed, b.exit = true, &e
	b.wake()
}

// written is how many bytes were ever written.
func (b *buffer) written() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end
}

// drop frees the bytes.
func (b *buffer) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone, b.sealed = true, true
	b.ring, b.base = nil, b.end
	b.wake()
}

// read copies at most limit kept bytes from offset on (limit < 0: all). Where
// the ring has dropped what precedes, it starts at a character boundary. The
// caller holds mu.
func (b *buffer) read(off int64, limit int) (int64, []byte) {
	off = min(max(off, b.base), b.end)
	if off == b.base && b.base > 0 {
		// The oldest byte may lie inside a character, of which at most three bytes can follow its first.
		for i := 0; i < 3 && off < b.end && b.ring[off%int64(len(b.ring))]&0xC0 == 0x80; i++ {
			off++
		}
	}
	n := b.end - off
	if limit >= 0 {
		n = min(n, int64(limit))
	}
	p := make([]byte, n)
	for k := 0; k < len(p); {
		k += copy(p[k:], b.ring[(off+int64(k))%int64(len(b.ring)):])
	}
	return off, p
}
