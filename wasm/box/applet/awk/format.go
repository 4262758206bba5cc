package awk

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/cformat"
)

// piece is a part of a format: text as it is, or a conversion.
type piece struct {
	text       string
	spec       cformat.Spec
	verb       byte // 0: text
	starW      bool
	starP      bool
	raw        string // of the conversion
	arg        int    // of %n$, from 1
	argW, argP int
}

// pieces takes a format apart.
func pieces(f string) []piece {
	var out []piece
	for f != "" {
		i := 0
		for i < len(f) && f[i] != '%' {
			i++
		}
		if i > 0 {
			out = append(out, piece{text: f[:i]})
			f = f[i:]
			continue
		}
		p := piece{}
		rest := f[1:]
		n, after := cformat.Number(rest)
		if n > 0 && after != "" && after[0] == '$' {
			p.arg, rest = n, after[1:]
		}
		rest = p.spec.Flags(rest)
		p.spec.Prec = -1
		if rest != "" && rest[0] == '*' {
			p.starW, rest = true, rest[1:]
			if n, after := cformat.Number(rest); n > 0 && after != "" && after[0] == '$' {
				p.argW, rest = n, after[1:]
			}
		} else {
			p.spec.Width, rest = cformat.Number(rest)
		}
		if rest != "" && rest[0] == '.' {
			if rest = rest[1:]; rest != "" && rest[0] == '*' {
				p.starP, rest = true, rest[1:]
			} else {
				p.spec.Prec, rest = cformat.Number(rest)
			}
		}
		for rest != "" && (rest[0] == 'l' || rest[0] == 'h' || rest[0] == 'L' || rest[0] == 'q') {
			rest = rest[1:]
		}
		if rest == "" {
			return append(out, piece{text: f})
		}
		p.raw = f[:len(f)-len(rest)+1]
		switch c := rest[0]; c {
		case '%':
			p = piece{text: "%"}
		case 'd', 'i', 'o', 'x', 'X', 'u', 'c', 's', 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
			p.verb = c
		default:
			p = piece{text: p.raw}
		}
		out = append(out, p)
		f = rest[1:]
	}
	return out
}

// maxWidth bounds what a format may ask for.
const maxWidth = 1 << 26

// format is sprintf of expressions, in a buffer that is used again.
func (m *machine) format(args []*expr) []byte {
	f := args[0].str(m)
	ps, ok := m.formats[f]
	if !ok {
		if ps = pieces(f); len(m.formats) > maxRegexes {
			clear(m.formats)
		}
		m.formats[f] = ps
	}
	vals := make([]value, 0, 8)
	for _, a := range args[1:] {
		vals = append(vals, a.val(m))
	}
	b := appendPieces(m.buf[:0], ps, vals, m, f)
	m.buf = b
	return b
}

// appendPieces formats vals; m is nil for OFMT and CONVFMT.
func appendPieces(b []byte, ps []piece, vals []value, m *machine, f string) []byte {
	at := 0
	take := func(n int) (*value, bool) {
		if n > 0 {
			n--
		} else {
			n = at
			at++
		}
		if n >= len(vals) {
			return &value{}, false
		}
		return &vals[n], true
	}
	for i := range ps {
		p := &ps[i]
		if p.verb == 0 {
			b = append(b, p.text...)
			continue
		}
		spec := p.spec
		have := true
		if p.starW {
			v, ok := take(p.argW)
			n := int(v.num())
			if have = ok; n < 0 {
				spec.Minus, n = true, -n
			}
			spec.Width = min(n, maxWidth)
		}
		if p.starP {
			v, ok := take(p.argP)
			have = have && ok
			spec.Prec = min(max(int(v.num()), -1), maxWidth)
		}
		v, ok := take(p.arg)
		if (!ok || !have) && m != nil {
			m.fatal("not enough arguments to satisfy format string\n\t`" + f + "'\n\t^ ran out for this one")
		}
		b = appendOne(b, spec, p.verb, v, m)
	}
	return b
}

func appendOne(b []byte, spec cformat.Spec, verb byte, v *value, m *machine) []byte {
	spec.Verb = verb
	switch verb {
	case 's':
		s := v.s
		if v.k == num {
			format := "%.6g"
			if m != nil {
				format = m.convfmt
			}
			s = string(appendNumber(nil, v.n, format))
		}
		if spec.Prec >= 0 {
			s = s[:charOffset(s, spec.Prec)]
		}
		return pad(b, s, spec)
	case 'c':
		if n, ok := v.numeric(); ok {
			r := rune(n)
			if n < 0 || n > utf8.MaxRune || !utf8.ValidRune(r) {
				return pad(b, string([]byte{byte(int64(n))}), spec)
			}
			return pad(b, string(r), spec)
		}
		s := v.s
		if s == "" { // gawk writes what ends the string
			s = "\x00"
		}
		return pad(b, s[:charOffset(s, 1)], spec)
	case 'd', 'i', 'o', 'x', 'X', 'u':
		return appendInteger(b, spec, v.num())
	}
	n := v.num()
	if n != n || math.IsInf(n, 0) {
		return appendNotFinite(b, spec, n)
	}
	spec.Double = true
	return spec.Float(b, n)
}

// appendNotFinite appends an infinity or what is no number: gawk knows neither
// width nor flags there.
func appendNotFinite(b []byte, spec cformat.Spec, n float64) []byte {
	s := string(appendSpecial(nil, n))
	if spec.Verb < 'a' {
		s = strings.ToUpper(s)
	}
	return append(b, s...)
}

func appendInteger(b []byte, spec cformat.Spec, n float64) []byte {
	if n != n || math.IsInf(n, 0) {
		return appendNotFinite(b, spec, n)
	}
	nonzero := n != 0 // as gawk asks, before the fraction goes
	n = math.Trunc(n)
	signed := spec.Verb == 'd' || spec.Verb == 'i'
	switch {
	case signed && math.Abs(n) < 1<<63:
		return spec.Int(b, int64(n))
	case !signed && spec.Verb == 'o' && spec.Alt && nonzero && n >= 0 && n < 1<<64: // the 0 stands before what the precision asks for
		body := cformat.Spec{Verb: 'o', Prec: spec.Prec}.Uint(nil, uint64(n))
		if spec.Zero && !spec.Minus && spec.Prec < 0 && len(body)+1 < spec.Width {
			return append(append(b, strings.Repeat("0", spec.Width-len(body))...), body...)
		}
		return pad(b, "0"+string(body), spec)
	case !signed && n >= 0 && n < 1<<64:
		return spec.Uint(b, uint64(n))
	case !signed && n < 0 && n >= -(1<<63):
		return spec.Uint(b, uint64(int64(n)))
	}
	if spec.Verb = 'f'; signed {
		spec.Prec = 0
	} else {
		spec.Verb = 'g'
	}
	return spec.Float(b, n)
}

// pad brings s to the width, which counts characters.
func pad(b []byte, s string, spec cformat.Spec) []byte {
	fill := spec.Width - charCount(s)
	if spec.Minus {
		b = append(b, s...)
	}
	for ; fill > 0; fill-- {
		b = append(b, ' ')
	}
	if !spec.Minus {
		b = append(b, s...)
	}
	return b
}

func itoa(n int) string { return strconv.Itoa(n) }
