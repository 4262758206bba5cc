package jqlang

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Style says how values are printed.
type Style struct {
	Indent int  // spaces for each level; 0: all on one line
	Tab    bool // a tab for each level
	Sort   bool // keys in their order as strings
	ASCII  bool // escape all else
	Color  *Colors
}

// Colors are the terminal codes of each kind of value, as in JQ_COLORS.
type Colors struct{ Null, False, True, Number, String, Array, Object, Key string }

// DefaultColors are jq's.
var defaultColors = Colors{"1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "34;1"}

// NewColors returns the default colours with those of a JQ_COLORS value.
func NewColors(spec string) *Colors {
	c := defaultColors
	fields := []*string{&c.Null, &c.False, &c.True, &c.Number, &c.String, &c.Array, &c.Object, &c.Key}
	start := 0
	for i, k := 0, 0; i <= len(spec) && k < len(fields) && spec != ""; i++ {
		if i == len(spec) || spec[i] == ':' {
			*fields[k] = spec[start:i]
			k++
			start = i + 1
		}
	}
	return &c
}

// Encode appends v as JSON.
func Encode(b []byte, v any, s Style) []byte { return s.value(b, v, 0) }

func (s *Style) pretty() bool { return s.Indent > 0 || s.Tab }

func (s *Style) newline(b []byte, level int) []byte {
	b = append(b, '\n')
	if s.Tab {
		for range level {
			b = append(b, '\t')
		}
		return b
	}
	for range level * s.Indent {
		b = append(b, ' ')
	}
	return b
}

func (s *Style) value(b []byte, v any, level int) []byte {
	if s.Color != nil {
		return s.colored(b, v, level)
	}
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return append(b, "[]"...)
		}
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if s.pretty() {
				b = s.newline(b, level+1)
			}
			b = s.value(b, e, level+1)
		}
		if s.pretty() {
			b = s.newline(b, level)
		}
		return append(b, ']')
	case *Object:
		if v.Len() == 0 {
			return append(b, "{}"...)
		}
		b = append(b, '{')
		for i, k := range s.order(v) {
			if i > 0 {
				b = append(b, ',')
			}
			if s.pretty() {
				b = s.newline(b, level+1)
			}
			b = s.str(b, v.Key(k))
			b = append(b, ':')
			if s.pretty() {
				b = append(b, ' ')
			}
			b = s.value(b, v.Val(k), level+1)
		}
		if s.pretty() {
			b = s.newline(b, level)
		}
		return append(b, '}')
	}
	return s.scalar(b, v)
}

// order returns the positions of an object's keys as they are printed.
func (s *Style) order(o *Object) []int {
	if s.Sort {
		return o.Sorted()
	}
	order := make([]int, o.Len())
	for i := range order {
		order[i] = i
	}
	return order
}

func (s *Style) scalar(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case float64:
		return appendNumber(b, v)
	case Number:
		return append(b, v.Text...)
	case string:
		return s.str(b, v)
	}
	return b
}

// colored prints as jq -C does.
func (s *Style) colored(b []byte, v any, level int) []byte {
	c := s.Color
	start := func(code string) { b = append(append(append(b, "\x1b["...), code...), 'm') }
	const reset = "\x1b[0m"
	switch v := v.(type) {
	case []any:
		start(c.Array)
		b = append(b, '[')
		if len(v) == 0 {
			b = append(b, ']')
		}
		for i, e := range v {
			if i > 0 {
				start(c.Array)
				b = append(b, ',')
			}
			if s.pretty() {
				b = s.newline(b, level+1)
			}
			b = s.colored(b, e, level+1)
		}
		if len(v) > 0 {
			start(c.Array)
			if s.pretty() {
				b = s.newline(b, level)
			}
			start(c.Array)
			b = append(b, ']')
		}
		return append(b, reset...)
	case *Object:
		start(c.Object)
		b = append(b, '{')
		if v.Len() == 0 {
			b = append(b, '}')
			return append(b, reset...)
		}
		for i, k := range s.order(v) {
			if i > 0 {
				start(c.Object)
				b = append(b, ',')
			}
			if s.pretty() {
				b = s.newline(b, level+1)
			}
			b = append(b, reset...)
			start(c.Key)
			b = s.str(b, v.Key(k))
			b = append(b, reset...)
			start(c.Object)
			b = append(b, ':')
			if s.pretty() {
				b = append(b, ' ')
			}
			b = append(b, reset...)
			b = s.colored(b, v.Val(k), level+1)
		}
		start(c.Object)
		if s.pretty() {
			b = s.newline(b, level)
		}
		start(c.Object)
		b = append(b, '}')
		return append(b, reset...)
	case nil:
		start(c.Null)
	case bool:
		if v {
			start(c.True)
		} else {
			start(c.False)
		}
	case float64, Number:
		start(c.Number)
	case string:
		start(c.String)
	}
	b = s.scalar(b, v)
	return append(b, reset...)
}

const hexDigits = "0123456789abcdef"

func (s *Style) str(b []byte, v string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(v); {
		c := v[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(v[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, v[start:i]...), "\uFFFD"...)
				start = i + 1
			} else if s.ASCII {
				b = append(b, v[start:i]...)
				if r > 0xFFFF {
					r -= 0x10000
					b = unicodeEscape(unicodeEscape(b, 0xD800+r>>10), 0xDC00+r&0x3FF)
				} else {
					b = unicodeEscape(b, r)
				}
				start = i + n
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' && c != 0x7F {
			i++
			continue
		}
		b = append(b, v[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		default:
			b = unicodeEscape(b, rune(c))
		}
		i++
		start = i
	}
	return append(append(b, v[start:]...), '"')
}

func unicodeEscape(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// appendNumber prints a float as jq does: 17 digits at most, the shortest
// that read back the same.
func appendNumber(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "null"...)
	case math.IsInf(f, 1):
		f = math.MaxFloat64
	case math.IsInf(f, -1):
		f = -math.MaxFloat64
	}
	if i := int64(f); float64(i) == f && i > -1e15 && i < 1e15 && (i != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(b, i, 10)
	}
	if f == 0 {
		return append(b, "-0"...)
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', -1, 64)
	// d.ddde+xx: take the digits and the exponent apart.
	digits := make([]byte, 0, 20)
	exp, i := 0, 0
	if e[0] == '-' {
		b = append(b, '-')
		i = 1
	}
	for ; e[i] != 'e'; i++ {
		if e[i] != '.' {
			digits = append(digits, e[i])
		}
	}
	exp, _ = strconv.Atoi(string(e[i+1:]))
	point := exp + 1
	switch {
	case point <= -4 || point > len(digits)+15:
		b = append(b, digits[0])
		if len(digits) > 1 {
			b = append(append(b, '.'), digits[1:]...)
		}
		b = append(b, 'e')
		if exp < 0 {
			b = append(b, '-')
			exp = -exp
		} else {
			b = append(b, '+')
		}
		if exp < 10 {
			b = append(b, '0')
		}
		return strconv.AppendInt(b, int64(exp), 10)
	case point <= 0:
		b = append(b, '0', '.')
		for range -point {
			b = append(b, '0')
		}
		return append(b, digits...)
	case point >= len(digits):
		b = append(b, digits...)
		for range point - len(digits) {
			b = append(b, '0')
		}
		return b
	}
	b = append(append(b, digits[:point]...), '.')
	return append(b, digits[point:]...)
}
