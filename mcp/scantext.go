package mcp

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// str checks a string and returns its content, unescaped when it must be.
func (s *scanner) str() ([]byte, *scanError) {
	start := s.i
	s.i++
	escaped := false
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			if escaped {
				var v string
				if json.Unmarshal(s.b[start:s.i], &v) != nil {
					return nil, s.syntax("bad string")
				}
				return []byte(v), nil
			}
			return s.b[start+1 : s.i-1], nil
		case c < 0x20:
			return nil, s.syntax("control character in a string")
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c < utf8.RuneSelf:
			s.i++
		default:
			r, n := utf8.DecodeRune(s.b[s.i:])
			if r == utf8.RuneError && n == 1 {
				return nil, s.syntax("invalid UTF-8")
			}
			s.i += n
		}
	}
	return nil, s.syntax("string without end")
}

func (s *scanner) escape() *scanError {
	at := s.i
	s.i++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return nil
	case 'u':
		hi, ok := s.hex()
		if !ok {
			return s.syntax("bad escape")
		}
		switch {
		case hi >= 0xDC00 && hi < 0xE000:
			s.note(at, "lone surrogate")
		case hi >= 0xD800 && hi < 0xDC00:
			end := s.i
			if s.peek() == '\\' {
				s.i++
				if s.peek() == 'u' {
					if lo, ok := s.hex(); ok && lo >= 0xDC00 && lo < 0xE000 {
						return nil
					}
				}
				s.i = end // what follows is looked at again
			}
			s.note(at, "lone surrogate")
		}
		return nil
	}
	return s.syntax("bad escape")
}

// hex reads the uXXXX of an escape.
func (s *scanner) hex() (rune, bool) {
	if s.i+5 > len(s.b) {
		return 0, false
	}
	v := rune(0)
	for _, c := range s.b[s.i+1 : s.i+5] {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	s.i += 5
	return v, true
}

func (s *scanner) digits() int {
	from := s.i
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.i++
	}
	return s.i - from
}

func (s *scanner) number() *scanError {
	from := s.i
	if s.peek() == '-' {
		s.i++
	}
	switch c := s.peek(); {
	case c == '0':
		s.i++
	case s.digits() == 0:
		return s.syntax("bad number")
	}
	long := false
	if s.peek() == '.' {
		s.i++
		if s.digits() == 0 {
			return s.syntax("bad number")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		long = true
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		if s.digits() == 0 {
			return s.syntax("bad number")
		}
	}
	text := s.b[from:s.i]
	if len(text) > maxNumber {
		s.note(from, "number too long")
	} else if long || len(text) > 300 {
		if _, err := strconv.ParseFloat(string(text), 64); err != nil {
			s.note(from, "number out of range")
		}
	}
	return nil
}
