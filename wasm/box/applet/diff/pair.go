package diff

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// pair is two files, as lines and as classes of lines that count as equal.
type pair struct {
	o      *options
	a, b   [][]byte // with their newlines
	ca, cb []int32
	n      int // classes
}

func newPair(o *options, a, b []byte) *pair {
	p := &pair{o: o, a: lines(a), b: lines(b)}
	classes := map[string]int32{}
	class := func(ls [][]byte) []int32 {
		out := make([]int32, len(ls))
		var buf []byte
		for i, l := range ls {
			buf = o.key(buf[:0], l)
			c, ok := classes[string(buf)]
			if !ok {
				c = int32(len(classes))
				classes[string(buf)] = c
			}
			out[i] = c
		}
		return out
	}
	p.ca, p.cb = class(p.a), class(p.b)
	p.n = len(classes)
	return p
}

func lines(data []byte) [][]byte {
	var out [][]byte
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n') + 1
		if i == 0 {
			i = len(data)
		}
		out = append(out, data[:i])
		data = data[i:]
	}
	return out
}

func blank(c byte) bool { return c == ' ' || 9 <= c && c <= 13 }

// key appends what of a line counts.
func (o *options) key(b, line []byte) []byte {
	plain := !(o.fold || o.tabs || o.trailing || o.change || o.all || o.stripCR)
	if plain {
		return append(b, line...)
	}
	text, nl := bytes.CutSuffix(line, []byte("\n"))
	if o.stripCR {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	switch {
	case o.all:
		for _, c := range text {
			if !blank(c) {
				b = append(b, c)
			}
		}
		nl = true // the missing newline at the end is white space, too
	case o.change:
		text = bytes.TrimRightFunc(text, unicode.IsSpace)
		for i := 0; i < len(text); i++ {
			if !blank(text[i]) {
				b = append(b, text[i])
				continue
			}
			for i+1 < len(text) && blank(text[i+1]) {
				i++
			}
			b = append(b, ' ')
		}
		nl = true
	default:
		if o.trailing {
			text = bytes.TrimRightFunc(text, unicode.IsSpace)
			nl = true
		}
		if o.tabs {
			b = expandTabs(b, text)
		} else {
			b = append(b, text...)
		}
	}
	if o.fold {
		b = bytes.ToLower(b)
	}
	if nl {
		b = append(b, '\n')
	}
	return b
}

func expandTabs(b, text []byte) []byte {
	col := 0
	for i := 0; i < len(text); {
		if text[i] == '\t' {
			for n := 8 - col%8; n > 0; n-- {
				b = append(b, ' ')
				col++
			}
			i++
			continue
		}
		_, n := utf8.DecodeRune(text[i:])
		b = append(b, text[i:i+n]...)
		col++
		i += n
	}
	return b
}

// compare returns the changes that count.
func (p *pair) compare() []change {
	ca, cb := changes(p.ca, p.cb, p.n, p.o.minimal)
	shift(p.ca, ca, cb)
	shift(p.cb, cb, ca)
	all := script(ca, cb, len(p.a), len(p.b))
	if !p.o.blank && p.o.ignore == nil {
		return all
	}
	for _, c := range all {
		if !p.trivial(c) {
			return all // which of them are shown is decided by format
		}
	}
	return nil
}

// trivial tells whether a change is one of lines that are ignored.
func (p *pair) trivial(c change) bool {
	if !p.o.blank && p.o.ignore == nil {
		return false
	}
	ignored := func(l []byte) bool {
		text := bytes.TrimSuffix(l, []byte("\n"))
		if p.o.blank {
			t := text
			if p.o.all || p.o.change || p.o.trailing {
				t = bytes.TrimSpace(t)
			}
			if len(t) == 0 {
				return true
			}
		}
		if p.o.ignore != nil {
			if ok, err := p.o.ignore.Match(text); ok && err == nil {
				return true
			}
		}
		return false
	}
	for _, l := range p.a[c.a : c.a+c.dels] {
		if !ignored(l) {
			return false
		}
	}
	for _, l := range p.b[c.b : c.b+c.adds] {
		if !ignored(l) {
			return false
		}
	}
	return true
}
