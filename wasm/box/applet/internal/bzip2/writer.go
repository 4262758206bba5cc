// Package bzip2 writes bzip2: what compress/bzip2 reads.
package bzip2

import "io"

// A Writer compresses what is written to it. Close it.
type Writer struct {
	bits   bits
	most   int    // bytes of a block, after runs were shortened
	block  []byte // with runs shortened
	last   byte   // the byte that repeats
	repeat int    // how often, 0 to 255
	sum    uint32 // of the block's bytes as they were written
	all    uint32 // of the blocks so far
	table  [256]uint32
	begun  bool
}

// NewWriter writes to w in blocks of 100 kB times level, which is 1 to 9.
func NewWriter(w io.Writer, level int) *Writer {
	z := &Writer{bits: bits{w: w}, most: 100_000*level - 20, sum: 1<<32 - 1}
	for i := range z.table {
		c := uint32(i) << 24
		for range 8 {
			c = c<<1 ^ 0x04c11db7*(c>>31)
		}
		z.table[i] = c
	}
	z.bits.write('B'<<16|'Z'<<8|'h', 24)
	z.bits.write(uint64('0'+level), 8)
	return z
}

// Write implements [io.Writer].
func (z *Writer) Write(p []byte) (int, error) {
	for _, b := range p {
		if z.repeat > 0 && (b != z.last || z.repeat == 255) {
			z.endRun()
		}
		z.last = b
		z.repeat++
	}
	return len(p), z.bits.err
}

// endRun puts the bytes that repeat into the block: four of them stand for as
// many more as the byte after them says.
func (z *Writer) endRun() {
	for range z.repeat {
		z.sum = z.sum<<8 ^ z.table[byte(z.sum>>24)^z.last]
	}
	for range min(z.repeat, 4) {
		z.block = append(z.block, z.last)
	}
	if z.repeat >= 4 {
		z.block = append(z.block, byte(z.repeat-4))
	}
	z.repeat = 0
	if len(z.block) >= z.most {
		z.endBlock()
	}
}

// Close ends the stream, and leaves the writer below open.
func (z *Writer) Close() error {
	if z.repeat > 0 {
		z.endRun()
	}
	if len(z.block) > 0 {
		z.endBlock()
	}
	z.bits.write(0x177245385090, 48)
	z.bits.write(uint64(z.all), 32)
	z.bits.pad()
	return z.bits.err
}

func (z *Writer) endBlock() {
	sum := ^z.sum
	z.all = (z.all<<1 | z.all>>31) ^ sum
	z.bits.write(0x314159265359, 48)
	z.bits.write(uint64(sum), 32)
	last, origin := transform(z.block)
	z.bits.write(uint64(origin), 25) // a bit that is always 0, and 24
	z.bits.code(last)
	z.block, z.sum = z.block[:0], 1<<32-1
	z.bits.flush()
}

// bits writes bits, the highest first.
type bits struct {
	w   io.Writer
	out []byte
	acc uint64
	n   uint // bits in acc, less than 8 between calls
	err error
}

// write writes the n lowest bits of v; n is at most 48.
func (b *bits) write(v uint64, n uint) {
	b.acc = b.acc<<n | v
	for b.n += n; b.n >= 8; b.n -= 8 {
		b.out = append(b.out, byte(b.acc>>(b.n-8)))
	}
}

func (b *bits) pad() {
	if b.n > 0 {
		b.write(0, 8-b.n)
	}
	b.flush()
}

func (b *bits) flush() {
	if b.err == nil {
		_, b.err = b.w.Write(b.out)
	}
	b.out = b.out[:0]
}
