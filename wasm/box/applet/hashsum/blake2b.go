package hashsum

import (
	"errors"
	"hash"
	"math/bits"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// B2 is the command b2sum.
var B2 = applet.Command{
	Name:     "b2sum",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "print or check BLAKE2b checksums",
	Help:     strings.Replace(help, "      --tag ", "  -l, --length=BITS     digest length in bits, a multiple of 8, at most 512\n      --tag ", 1),
	Run:      func(c *applet.Ctx) int { return run(c, algBLAKE2b(maxBits)) },
}

const (
	maxBits    = 512
	blakeBlock = 128 // bytes
	blakeTag   = "BLAKE2b"
)

// algBLAKE2b is BLAKE2b with a digest of so many bits, a multiple of 8.
func algBLAKE2b(bits int) algorithm {
	tag := blakeTag
	if bits < maxBits {
		tag += "-" + strconv.Itoa(bits)
	}
	return algorithm{tag, func() hash.Hash { return newBLAKE2b(bits / 8) }}
}

// blakeByTag finds the algorithm of BLAKE2b or BLAKE2b-BITS.
func blakeByTag(tag string) (algorithm, bool) {
	if tag == blakeTag {
		return algBLAKE2b(maxBits), true
	}
	text, ok := strings.CutPrefix(tag, blakeTag+"-")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n <= 0 || n >= maxBits || n%8 != 0 {
		return algorithm{}, false
	}
	return algBLAKE2b(n), true
}

// setLength is the option -l; 0 is the longest.
func setLength(p *int) func(string) error {
	return func(v string) error {
		n, err := applet.ParseSize(v, "")
		invalid := "invalid length: " + applet.Curly(v)
		switch {
		case err != nil:
			return errors.New(invalid)
		case n > maxBits:
			return errors.New(invalid + "\nb2sum: maximum digest length for ‘BLAKE2b’ is 512 bits")
		case n%8 != 0:
			return errors.New(invalid + "\nb2sum: length is not a multiple of 8")
		}
		*p = int(n)
		return nil
	}
}

// blake2b is the hash of RFC 7693, without a key.
type blake2b struct {
	h    [8]uint64
	t    uint64 // bytes so far; 2^64 of them never come
	buf  [blakeBlock]byte
	n    int // bytes in buf
	size int // of the digest, in bytes
}

var blakeIV = [8]uint64{
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
}

var blakeSigma = [10][16]uint8{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

func newBLAKE2b(size int) *blake2b {
	d := &blake2b{size: size}
	d.Reset()
	return d
}

// Reset starts over.
func (d *blake2b) Reset() {
	d.h, d.t, d.n = blakeIV, 0, 0
	d.h[0] ^= 0x01010000 ^ uint64(d.size)
}

// Size is that of the digest in bytes.
func (d *blake2b) Size() int { return d.size }

// BlockSize is that of a block in bytes.
func (d *blake2b) BlockSize() int { return blakeBlock }

// Write adds p; it never fails.
func (d *blake2b) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if d.n == blakeBlock { // only once more follows: the last block is marked
			d.t += blakeBlock
			d.block(d.buf[:], 0)
			d.n = 0
		}
		k := copy(d.buf[d.n:], p)
		d.n += k
		p = p[k:]
	}
	return n, nil
}

// Sum appends the digest; more may be written after it.
func (d *blake2b) Sum(b []byte) []byte {
	end := *d
	clear(end.buf[end.n:])
	end.t += uint64(end.n)
	end.block(end.buf[:], ^uint64(0))
	var out [64]byte
	for i := range out {
		out[i] = byte(end.h[i/8] >> (8 * (i % 8)))
	}
	return append(b, out[:d.size]...)
}

// block mixes one block in; last is all ones for the last.
func (d *blake2b) block(p []byte, last uint64) {
	var m, v [16]uint64
	for i := range m {
		w := p[8*i : 8*i+8]
		m[i] = uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
	}
	copy(v[:], d.h[:])
	copy(v[8:], blakeIV[:])
	v[12] ^= d.t
	v[14] ^= last
	for round := range 12 {
		s := &blakeSigma[round%10]
		for i := range 4 { // columns, then diagonals
			blakeMix(&v, i, 4+i, 8+i, 12+i, m[s[2*i]], m[s[2*i+1]])
		}
		for i := range 4 {
			blakeMix(&v, i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4, m[s[8+2*i]], m[s[9+2*i]])
		}
	}
	for i := range d.h {
		d.h[i] ^= v[i] ^ v[i+8]
	}
}

func blakeMix(v *[16]uint64, a, b, c, d int, x, y uint64) {
	v[a] += v[b] + x
	v[d] = bits.RotateLeft64(v[d]^v[a], -32)
	v[c] += v[d]
	v[b] = bits.RotateLeft64(v[b]^v[c], -24)
	v[a] += v[b] + y
	v[d] = bits.RotateLeft64(v[d]^v[a], -16)
	v[c] += v[d]
	v[b] = bits.RotateLeft64(v[b]^v[c], -63)
}
