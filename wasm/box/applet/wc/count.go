package wc

import (
	"io"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// count counts what is wanted in r.
func count(r io.Reader, want [kinds]bool) (n counts, err error) {
	if !want[lines] && !want[words] && !want[chars] && !want[width] {
		if known, ok := sizeLeft(r); ok {
			n[size] = known
			return n, nil
		}
	}
	buf := make([]byte, applet.BufSize)
	k := counter{wantWidth: want[width]}
	slow := want[words] || want[chars] || want[width]
	kept := 0 // bytes of an unfinished character at the front of buf
	for {
		got, rerr := r.Read(buf[kept:])
		n[size] += int64(got)
		text := buf[:kept+got]
		if !slow {
			if want[lines] {
				n[lines] += countLines(text)
			}
		} else {
			kept = copy(buf, k.count(text, rerr != nil))
		}
		if rerr != nil {
			if slow {
				k.endLine()
				n[lines], n[words], n[chars], n[width] = k.lines, k.words, k.chars, k.widest
			}
			if rerr == io.EOF {
				rerr = nil
			}
			return n, rerr
		}
	}
}

// sizeLeft returns the number of bytes that a regular file has from its
// position on.
func sizeLeft(r io.Reader) (int64, bool) {
	s, ok := r.(io.Seeker)
	if !ok {
		return 0, false
	}
	f, ok := r.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return 0, false
	}
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() == 0 {
		return 0, false
	}
	pos, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, false
	}
	left := max(0, fi.Size()-pos)
	s.Seek(0, io.SeekEnd)
	return left, true
}

type counter struct {
	lines, words, chars int64
	column, widest      int64
	inWord              bool
	wantWidth           bool
}

// Kinds of bytes.
const (
	other   = iota // neither ends nor begins a word: control characters
	space          // ends a word
	graphic        // belongs to a word
	high           // part of a longer character
)

// kindOf is indexed by bytes.
var kindOf = func() (t [256]uint8) {
	for i := range t {
		switch {
		case i == ' ' || i >= '\t' && i <= '\r':
			t[i] = space
		case i > ' ' && i < 127:
			t[i] = graphic
		case i >= 128:
			t[i] = high
		}
	}
	return t
}()

// count counts text and returns the rest, the start of a character whose end
// is yet to come; none when last is true.
func (k *counter) count(text []byte, last bool) []byte {
	const step = 1024
	for !k.wantWidth && len(text) > 0 {
		n := k.countPlain(text)
		if text = text[n:]; len(text) == 0 {
			return nil
		}
		part := text[:min(len(text), step)]
		rest := k.countAll(part, last && len(part) == len(text))
		if text = text[len(part)-len(rest):]; len(rest) == len(text) {
			return rest
		}
	}
	if len(text) == 0 {
		return nil
	}
	return k.countAll(text, last)
}

// countAll is count for any text.
func (k *counter) countAll(text []byte, last bool) []byte {
	words, chars, nl := int64(0), int64(0), int64(0)
	in := k.inWord
	for i := 0; i < len(text); {
		b := text[i]
		switch kindOf[b] {
		case graphic:
			if !in {
				words++
				in = true
			}
			from := i
			for i++; i < len(text) && kindOf[text[i]] == graphic; {
				i++
			}
			chars += int64(i - from)
			k.column += int64(i - from)
			continue
		case space:
			in = false
			chars++
			i++
			if b == '\n' {
				nl++
			}
			if k.wantWidth {
				k.move(b)
			}
			continue
		case other:
			chars++
			i++
			continue
		}
		if !last && !utf8.FullRune(text[i:]) {
			k.add(words, chars, nl, in)
			return text[i:]
		}
		r, n := utf8.DecodeRune(text[i:])
		i += n
		if r == utf8.RuneError && n == 1 {
			continue // an invalid byte is no character
		}
		chars++
		switch {
		case isSpace(r):
			in = false
			k.column += int64(applet.RuneWidth(r))
		case strconv.IsPrint(r) || r == 0xad:
			if !in {
				words++
				in = true
			}
			k.column += int64(applet.RuneWidth(r))
		}
	}
	k.add(words, chars, nl, in)
	return nil
}

func (k *counter) add(words, chars, nl int64, in bool) {
	k.words += words
	k.chars += chars
	k.lines += nl
	k.inWord = in
}

func (k *counter) move(b byte) {
	switch b {
	case '\n', '\r', '\f':
		k.endLine()
	case '\t':
		k.column += 8 - k.column%8
	case ' ':
		k.column++
	}
}

func (k *counter) endLine() {
	k.widest = max(k.widest, k.column)
	k.column = 0
}

// isSpace tells the characters beyond ASCII that separate words, the
// no-break spaces included.
func isSpace(r rune) bool {
	switch r {
	case 0xa0, 0x1680, 0x2007, 0x2028, 0x2029, 0x202f, 0x205f, 0x2060, 0x3000:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}
