package cformat

import (
	"math"
	"strconv"
	"strings"
)

// ParseFloat reads the number at the start of s as C's strtod does, after white
// space: decimal, hexadecimal, inf or nan. n is the number of bytes read, 0
// when there is no number.
func ParseFloat(s string) (f float64, n int) {
	i := space(s)
	start := i
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	word := strings.ToLower(s[i:min(len(s), i+8)])
	for _, w := range []string{"infinity", "inf", "nan"} {
		if !strings.HasPrefix(word, w) {
			continue
		}
		f = math.Inf(1)
		if w == "nan" {
			f = math.NaN()
		}
		if s[start] == '-' {
			f = math.Copysign(f, -1)
		}
		return f, i + len(w)
	}
	hex := strings.HasPrefix(word, "0x") && len(word) > 2 && (isHex(word[2]) || word[2] == '.' && len(word) > 3 && isHex(word[3]))
	if hex {
		i += 2
	}
	digits, point := 0, false
	for ; i < len(s); i++ {
		if s[i] == '.' && !point {
			point = true
			continue
		}
		if !(s[i] >= '0' && s[i] <= '9' || hex && isHex(s[i])) {
			break
		}
		digits++
	}
	if digits == 0 {
		return 0, 0
	}
	exp := false
	if i < len(s) && (!hex && s[i]|32 == 'e' || hex && s[i]|32 == 'p') {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		if j < len(s) && s[j] >= '0' && s[j] <= '9' {
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			i, exp = j, true
		}
	}
	text := s[start:i]
	if hex && !exp {
		text += "p0"
	}
	f, _ = strconv.ParseFloat(text, 64)
	return f, i
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'f' }

func space(s string) int {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r') {
		i++
	}
	return i
}

// ParseInt reads the integer at the start of s as C's strtoimax does with base
// 0: 0x and 0 begin hexadecimal and octal ones. n is the number of bytes read;
// overflow tells that it is out of range, and v then the nearest.
func ParseInt(s string) (v int64, n int, overflow bool) {
	u, n, negative, overflow := magnitude(s)
	switch {
	case negative && (overflow || u > 1<<63):
		return math.MinInt64, n, true
	case negative:
		return -int64(u), n, false
	case overflow || u > math.MaxInt64:
		return math.MaxInt64, n, true
	}
	return int64(u), n, false
}

// ParseUint is ParseInt for unsigned numbers: a minus wraps round, as in C.
func ParseUint(s string) (v uint64, n int, overflow bool) {
	u, n, negative, overflow := magnitude(s)
	if overflow {
		return math.MaxUint64, n, true
	}
	if negative {
		u = -u
	}
	return u, n, false
}

func magnitude(s string) (u uint64, n int, negative, overflow bool) {
	i := space(s)
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	base := uint64(10)
	if i < len(s) && s[i] == '0' {
		base = 8
		if i+2 < len(s) && s[i+1]|32 == 'x' && isHex(s[i+2]) {
			base = 16
			i += 2
		}
	}
	start := i
	for i < len(s) {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if d < 0 || s[i] < '0' || uint64(d) >= base {
			break
		}
		if u > (math.MaxUint64-uint64(d))/base {
			overflow = true
		}
		u = u*base + uint64(d)
		i++
	}
	if i == start {
		return 0, 0, negative, false
	}
	return u, i, negative, overflow
}
