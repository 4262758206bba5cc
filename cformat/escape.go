package cformat

import (
	"strings"
	"unicode/utf8"
)

// Escape reads the escape after a backslash at the start of s and appends what
// it stands for. n is the number of bytes read; 0 means that it is none. stop
// is that of \c. Octal numbers have up to three digits; with zero set, as in
// echo -e and %b, \0 and up to three more as well.
func Escape(b []byte, s string, zero bool) (out []byte, n int, stop bool) {
	if s == "" {
		return b, 0, false
	}
	if i := strings.IndexByte(`abefnrtv\"`, s[0]); i >= 0 {
		return append(b, "\a\b\x1b\f\n\r\t\v\\\""[i]), 1, false
	}
	switch c := s[0]; {
	case c == 'c':
		return b, 1, true
	case c >= '0' && c <= '7':
		start := 0
		if zero && c == '0' {
			start = 1
		}
		v, i := 0, start
		for i < len(s) && i-start < 3 && s[i] >= '0' && s[i] <= '7' {
			v = v*8 + int(s[i]-'0')
			i++
		}
		return append(b, byte(v)), i, false
	case c == 'x':
		if v, i := hex(s[1:], 2); i > 0 {
			return append(b, byte(v)), i + 1, false
		}
	case c == 'u' || c == 'U':
		most := 4
		if c == 'U' {
			most = 8
		}
		if v, i := hex(s[1:], most); i > 0 {
			return utf8.AppendRune(b, rune(v)), i + 1, false
		}
	}
	return b, 0, false
}

func hex(s string, most int) (v uint32, n int) {
	for n < most && n < len(s) {
		d := strings.IndexByte("0123456789abcdef", s[n]|0x20)
		if d < 0 || s[n] < '0' {
			break
		}
		v = v<<4 | uint32(d)
		n++
	}
	return v, n
}

// Text appends s with its escapes replaced, as echo -e and %b do; what is no
// escape stays. stop tells that \c ended the text.
func Text(b []byte, s string, zero bool) (out []byte, stop bool) {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return append(b, s...), false
		}
		b = append(b, s[:i]...)
		s = s[i+1:]
		var n int
		if b, n, stop = Escape(b, s, zero); stop {
			return b, true
		}
		if n == 0 {
			b = append(b, '\\')
		}
		s = s[n:]
	}
}
