package awk

import (
	"math"
	"strconv"
	"strings"
)

// kind is what a value is. The zero kind is that of a variable never set.
type kind uint8

const (
	unset kind = iota
	num
	text
	input // text that a user typed: a number where it looks like one
)

// value is a scalar.
type value struct {
	s string
	n float64
	k kind
}

func number(n float64) value { return value{n: n, k: num} }
func str(s string) value     { return value{s: s, k: text} }

func (v *value) num() float64 {
	switch v.k {
	case num:
		return v.n
	case unset:
		return 0
	}
	n, _ := parseNumber(v.s)
	return n
}

// numeric tells whether v compares as a number, and which.
func (v *value) numeric() (float64, bool) {
	switch v.k {
	case num:
		return v.n, true
	case input:
		return looksNumeric(v.s)
	}
	return 0, v.k == unset
}

func (v *value) truth() bool {
	switch v.k {
	case num:
		return v.n != 0
	case text:
		return v.s != ""
	case input:
		if n, ok := looksNumeric(v.s); ok {
			return n != 0
		}
		return v.s != ""
	}
	return false
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseNumber reads the decimal number at the start of s, after blanks, and
// returns where it ends: 0 when there is none.
func parseNumber(s string) (float64, int) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i]-'\t' < 5) {
		i++
	}
	start := i
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
		if i+3 <= len(s) && s[i] > '9' {
			return special(s[i:], neg, i)
		}
	}
	mant, digits, exp := uint64(0), 0, 0
	point := false
	first := i
	for ; i < len(s); i++ {
		c := s[i] - '0'
		if c < 10 {
			if digits++; digits <= 18 {
				mant = mant*10 + uint64(c)
			}
			if point {
				exp--
			}
		} else if s[i] == '.' && !point {
			point = true
		} else {
			break
		}
	}
	if i == first || digits == 0 {
		return 0, 0
	}
	simple := digits <= 18 && mant < 1<<53 && -exp < len(powers)
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		if j < len(s) && s[j]-'0' < 10 {
			for j < len(s) && s[j]-'0' < 10 {
				j++
			}
			i, simple = j, false
		}
	}
	if !simple {
		f, _ := strconv.ParseFloat(s[start:i], 64)
		return f, i
	}
	f := float64(mant)
	if exp < 0 {
		f /= powers[-exp]
	}
	if neg {
		f = -f
	}
	return f, i
}

// special reads +inf, -nan and the like: with a sign they are numbers.
func special(s string, neg bool, at int) (float64, int) {
	sign := 1.0
	if neg {
		sign = -1
	}
	switch {
	case len(s) > 3 && s[3] != ' ' && s[3]-'\t' >= 5:
	case strings.EqualFold(s[:3], "inf"):
		return math.Inf(int(sign)), at + 3
	case strings.EqualFold(s[:3], "nan"):
		return math.Copysign(math.NaN(), sign), at + 3
	}
	return 0, 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

func looksNumeric(s string) (float64, bool) {
	if s == "" || s[len(s)-1] > '9' && s[len(s)-1]|0x20 != 'f' && s[len(s)-1]|0x20 != 'n' {
		return 0, false
	}
	n, end := parseNumber(s)
	if end == 0 {
		return 0, false
	}
	for end < len(s) && (s[end] == ' ' || s[end]-'\t' < 5) {
		end++
	}
	return n, end == len(s)
}

// appendNumber appends n as it prints: whole numbers with all their digits,
// others as format says.
func appendNumber(b []byte, n float64, format string) []byte {
	switch {
	case n == math.Trunc(n) && !math.IsInf(n, 0):
		if math.Abs(n) < 1e18 {
			return strconv.AppendInt(b, int64(n), 10)
		}
		return strconv.AppendFloat(b, n, 'f', 0, 64)
	case n != n || math.IsInf(n, 0):
		return appendSpecial(b, n)
	case format == "%.6g":
		return strconv.AppendFloat(b, n, 'g', 6, 64)
	}
	return appendPieces(b, pieces(format), []value{number(n)}, nil, format)
}

func appendSpecial(b []byte, n float64) []byte {
	sign, name := byte('+'), "inf"
	if math.Signbit(n) {
		sign = '-'
	}
	if n != n {
		name = "nan"
	}
	return append(append(b, sign), name...)
}

// array is an associative array.
type array struct {
	m map[string]*value
}

func newArray() *array { return &array{m: map[string]*value{}} }

// at returns the element for key, made if it is new. Keys are copied: they
// may be parts of a long text that would be kept with them.
func (a *array) at(key string) *value {
	p := a.m[key]
	if p == nil {
		p = new(value)
		a.m[strings.Clone(key)] = p
	}
	return p
}

func (a *array) set(key string, v value) { *a.at(key) = v }
func (a *array) clear()                  { clear(a.m) }
