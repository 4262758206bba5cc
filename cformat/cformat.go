// Package cformat formats numbers and times as C's printf and strftime do, of
// which Go's fmt and time differ,
// and reads C's numbers and escapes.
package cformat

import (
	"math"
	"strconv"
	"strings"
)

// Spec is one conversion of a format: %[flags][width][.precision]verb.
type Spec struct {
	Minus, Plus, Space, Alt, Zero, Quote bool

	Width int
	Prec  int // -1: none
	Verb  byte

	Double bool // %a writes a double, one bit before the point, and not a long double
}

// Flags reads the flags at the start of s and returns the rest.
func (p *Spec) Flags(s string) string {
	for s != "" {
		switch s[0] {
		case '-':
			p.Minus = true
		case '+':
			p.Plus = true
		case ' ':
			p.Space = true
		case '#':
			p.Alt = true
		case '0':
			p.Zero = true
		case '\'':
			p.Quote = true
		default:
			return s
		}
		s = s[1:]
	}
	return s
}

// Number reads the digits at the start of s, as much as makes sense.
func Number(s string) (n int, rest string) {
	for s != "" && s[0] >= '0' && s[0] <= '9' {
		n = min(n*10+int(s[0]-'0'), 1<<24)
		s = s[1:]
	}
	return n, s
}

// pad appends prefix and body brought to the width; zeros go between them.
func (p Spec) pad(b []byte, prefix, body string, zeros bool) []byte {
	fill := p.Width - len(prefix) - len(body)
	switch {
	case fill <= 0:
		return append(append(b, prefix...), body...)
	case p.Minus:
		b = append(append(b, prefix...), body...)
		for range fill {
			b = append(b, ' ')
		}
		return b
	case zeros:
		b = append(b, prefix...)
		for range fill {
			b = append(b, '0')
		}
		return append(b, body...)
	}
	for range fill {
		b = append(b, ' ')
	}
	return append(append(b, prefix...), body...)
}

// String appends s for the verbs s and c.
func (p Spec) String(b []byte, s string) []byte {
	if p.Prec >= 0 && p.Prec < len(s) && p.Verb != 'c' {
		s = s[:p.Prec]
	}
	return p.pad(b, "", s, false)
}

func (p Spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case p.Plus:
		return "+"
	case p.Space:
		return " "
	}
	return ""
}

// Int appends n for the verbs d and i.
func (p Spec) Int(b []byte, n int64) []byte {
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	return p.digits(b, p.sign(n < 0), strconv.FormatUint(u, 10))
}

// Uint appends n for the verbs o, u, x and X.
func (p Spec) Uint(b []byte, n uint64) []byte {
	switch p.Verb {
	case 'o':
		s := strconv.FormatUint(n, 8)
		if p.Alt && n == 0 && p.Prec == 0 {
			p.Prec = 1
		}
		if p.Alt && s[0] != '0' && p.Prec <= len(s) {
			p.Prec = len(s) + 1
			if p.Zero && !p.Minus && p.Width > p.Prec {
				p.Prec = p.Width
			}
		}
		return p.digits(b, "", s)
	case 'x', 'X':
		s, prefix := strconv.FormatUint(n, 16), ""
		if p.Alt && n != 0 {
			prefix = "0x"
		}
		if p.Verb == 'X' {
			s, prefix = strings.ToUpper(s), strings.ToUpper(prefix)
		}
		return p.digits(b, prefix, s)
	}
	return p.digits(b, "", strconv.FormatUint(n, 10))
}

func (p Spec) digits(b []byte, prefix, s string) []byte {
	if p.Prec == 0 && s == "0" {
		s = ""
	}
	if fill := p.Prec - len(s); fill > 0 {
		s = strings.Repeat("0", fill) + s
	}
	return p.pad(b, prefix, s, p.Zero && p.Prec < 0)
}

// Float appends f for the verbs a, e, f, g and their capitals.
func (p Spec) Float(b []byte, f float64) []byte {
	negative := math.Signbit(f)
	upper := p.Verb < 'a'
	if math.IsInf(f, 0) || math.IsNaN(f) {
		s := "inf"
		if math.IsNaN(f) {
			s = "nan"
		}
		if upper {
			s = strings.ToUpper(s)
		}
		return p.pad(b, p.sign(negative), s, false)
	}
	f = math.Abs(f)
	prec := p.Prec
	prefix := p.sign(negative)
	var s string
	switch p.Verb | 32 {
	case 'a':
		prefix += "0x"
		s = hexFloat(f, prec, p.Alt, p.Double)
	case 'e', 'f':
		if prec < 0 {
			prec = 6
		}
		s = strconv.FormatFloat(f, p.Verb|32, prec, 64)
		if p.Alt && prec == 0 {
			if i := strings.IndexByte(s, 'e'); i >= 0 {
				s = s[:i] + "." + s[i:]
			} else {
				s += "."
			}
		}
	default:
		s = general(f, prec, p.Alt)
	}
	if upper {
		s, prefix = strings.ToUpper(s), strings.ToUpper(prefix)
	}
	return p.pad(b, prefix, s, p.Zero)
}

// general is %g: the shorter of %e and %f, without trailing zeros but with #.
func general(f float64, prec int, alt bool) string {
	if prec < 0 {
		prec = 6
	}
	prec = max(prec, 1)
	e := strconv.FormatFloat(f, 'e', prec-1, 64)
	i := strings.IndexByte(e, 'e')
	exp, _ := strconv.Atoi(e[i+1:])
	mantissa, tail := e[:i], e[i:]
	if exp >= -4 && exp < prec {
		mantissa, tail = strconv.FormatFloat(f, 'f', prec-1-exp, 64), ""
	}
	switch {
	case alt && !strings.Contains(mantissa, "."):
		mantissa += "."
	case !alt && strings.Contains(mantissa, "."):
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + tail
}

// hexFloat writes f without sign and 0x as C does for a long double: the first
// digit holds four bits, or one bit of a double. With alt there is always a
// point.
func hexFloat(f float64, prec int, alt, double bool) string {
	if f == 0 {
		s := "0"
		if prec > 0 || alt {
			s += "." + strings.Repeat("0", max(prec, 0))
		}
		return s + "p+0"
	}
	frac, exp := math.Frexp(f)
	m := uint64(math.Ldexp(frac, 53)) << 11
	exp -= 4
	if double {
		m, exp = m>>3, exp+3
	}
	if prec >= 0 && prec < 15 {
		shift := 60 - 4*prec
		rest := m & (1<<shift - 1)
		m &^= 1<<shift - 1
		if half := uint64(1) << (shift - 1); rest > half || rest == half && m>>shift&1 == 1 {
			if m += 1 << shift; m == 0 {
				m, exp = 1<<63, exp+1
			}
		}
	}
	s := strconv.FormatUint(m, 16)
	digits := strings.TrimRight(s[1:], "0")
	if prec >= 0 {
		digits = (s[1:] + strings.Repeat("0", max(0, prec-15)))[:prec]
	}
	out := s[:1]
	if digits != "" || alt {
		out += "." + digits
	}
	sign := "+"
	if exp < 0 {
		sign = ""
	}
	return out + "p" + sign + strconv.Itoa(exp)
}
