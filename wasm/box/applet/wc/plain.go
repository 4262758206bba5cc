package wc

import (
	"math/bits"

	"github.com/donax-sh/donax/wasm/box/applet/internal/word"
)

// Eight bytes are looked at together: WebAssembly has no instruction for it
// that the compiler would use, and a look at each byte costs five times as
// much.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones // the highest bit of each byte
)

// atLeast marks, in its highest bit, each byte of x that is n or more. All are
// below 128, as is n.
func atLeast(x, n uint64) uint64 { return ((x | highs) - n*ones) & highs }

// countLines counts the newlines in text.
func countLines(text []byte) int64 {
	n := 0
	for ; len(text) >= 8; text = text[8:] {
		x := word.Load(text) ^ '\n'*ones
		n += bits.OnesCount64(^((x&^highs + ^uint64(highs)) | x | ^uint64(highs))) // the bytes that are 0
	}
	for _, b := range text {
		if b == '\n' {
			n++
		}
	}
	return int64(n)
}

// countPlain counts the start of text, as far as it is plain: printable ASCII
// and white space, by whole eight bytes. It returns how long that is.
func (k *counter) countPlain(text []byte) int {
	words, nl, at := 0, 0, 0
	before := uint64(0) // the lowest byte's mark: the byte before is in a word
	if k.inWord {
		before = 0x80
	}
	for ; at+8 <= len(text); at += 8 {
		x := word.Load(text[at:])
		if x&highs != 0 {
			break
		}
		graphic := atLeast(x, '!') &^ atLeast(x, 0x7f)
		eol := atLeast(x, '\n') &^ atLeast(x, '\n'+1)
		blank := atLeast(x, ' ')&^atLeast(x, '!') | atLeast(x, '\t')&^atLeast(x, '\r'+1)
		if graphic|blank != highs {
			break
		}
		words += bits.OnesCount64(graphic &^ (graphic<<8 | before))
		nl += bits.OnesCount64(eol)
		before = graphic >> 56
	}
	k.add(int64(words), int64(at), int64(nl), before != 0)
	return at
}
