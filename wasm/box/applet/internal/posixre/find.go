package posixre

import (
	"bytes"

	"github.com/donax-sh/donax/wasm/box/applet/internal/scan"
)

// longText is where the search of package scan is faster than one that skips.
const longText = 1 << 10

// A finder looks for one text, by Horspool's rule: a byte that the text does
// not hold lets it skip the text's whole length.
type finder struct {
	text []byte
	skip *[256]int32
}

func newFinder(text []byte) finder {
	f := finder{text: text}
	if len(text) < 3 {
		return f
	}
	f.skip = new([256]int32)
	for i := range f.skip {
		f.skip[i] = int32(len(text))
	}
	for i, b := range text[:len(text)-1] {
		f.skip[b] = int32(len(text) - 1 - i)
	}
	return f
}

// find returns the first place at or after from, or -1.
func (f *finder) find(s []byte, from int) int {
	n := len(f.text)
	if from > len(s) {
		return -1
	}
	if f.skip == nil || len(s)-from >= longText {
		i := scan.Index(s[from:], f.text)
		if i < 0 {
			return -1
		}
		return from + i
	}
	last := n - 1
	end := f.text[last]
	// work bounds the comparisons of a text that nearly matches everywhere;
	// past it the standard library's search, which is linear, takes over.
	work := 4*(len(s)-from) + 256
	for i := from + last; i < len(s); {
		b := s[i]
		if b == end {
			if bytes.Equal(s[i-last:i], f.text[:last]) {
				return i - last
			}
			if work -= n; work < 0 {
				at := bytes.Index(s[i-last:], f.text)
				if at < 0 {
					return -1
				}
				return i - last + at
			}
		}
		i += int(f.skip[b])
	}
	return -1
}
