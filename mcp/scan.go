package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Bounds on one message. They are far above what any client sends and keep a
// hostile one from costing more than its own bytes.
const (
	maxDepth   = 100
	maxMembers = 20_000
	maxNumber  = 400 // bytes of one number
)

// scanError is the first fault of a text that scan has found.
type scanError struct {
	at     int
	msg    string
	syntax bool // the text is not JSON at all
}

func (e *scanError) Error() string { return fmt.Sprintf("%s at byte %d", e.msg, e.at) }

// scanner checks that a text is one JSON value and that every parser reads
// the same value from it: no duplicate names (parsers disagree which counts,
// so a check and an action could see different commands), no lone surrogate
// and no invalid UTF-8 (they turn into other characters), no number that
// overflows, bounded nesting.
type scanner struct {
	b       []byte
	i       int
	members int
	names   [][]byte   // of the objects that are open
	soft    *scanError // first fault of a text that is JSON nevertheless
}

// scan returns nil, or what is wrong with b.
func scan(b []byte) *scanError {
	s := &scanner{b: b}
	s.space()
	if err := s.value(1); err != nil {
		return err
	}
	s.space()
	if s.i < len(b) {
		return s.syntax("text after the value")
	}
	return s.soft
}

func (s *scanner) syntax(msg string) *scanError { return &scanError{s.i, msg, true} }

func (s *scanner) note(at int, msg string) {
	if s.soft == nil {
		s.soft = &scanError{at: at, msg: msg}
	}
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) value(depth int) *scanError {
	if depth > maxDepth {
		// Not soft: going on would follow the nesting.
		return &scanError{at: s.i, msg: fmt.Sprintf("nested deeper than %d", maxDepth)}
	}
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		_, err := s.str()
		return err
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	}
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.b[s.i:], []byte(w)) {
			s.i += len(w)
			return nil
		}
	}
	return s.syntax("no JSON value")
}

func (s *scanner) array(depth int) *scanError {
	s.i++
	s.space()
	if s.peek() == ']' {
		s.i++
		return nil
	}
	for {
		s.space()
		if err := s.value(depth + 1); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.i++
		case ']':
			s.i++
			return nil
		default:
			return s.syntax("no comma or bracket")
		}
	}
}

func (s *scanner) object(depth int) *scanError {
	s.i++
	first := len(s.names)
	defer func() { s.names = s.names[:first] }()
	var many map[string]struct{} // beyond a handful, comparing one by one would be quadratic
	s.space()
	if s.peek() == '}' {
		s.i++
		return nil
	}
	for {
		s.space()
		if s.peek() != '"' {
			return s.syntax("no member name")
		}
		at := s.i
		name, err := s.str()
		if err != nil {
			return err
		}
		if s.members++; s.members > maxMembers {
			return &scanError{at: at, msg: fmt.Sprintf("more than %d members", maxMembers)}
		}
		open := s.names[first:]
		dup := false
		switch {
		case many != nil:
			_, dup = many[string(name)]
		default:
			for _, n := range open {
				dup = dup || bytes.Equal(n, name)
			}
			if len(open) == 16 {
				many = make(map[string]struct{}, 64)
				for _, n := range open {
					many[string(n)] = struct{}{}
				}
			}
		}
		if dup {
			s.note(at, fmt.Sprintf("duplicate member %.40q", name))
		}
		if many != nil {
			many[string(name)] = struct{}{}
		}
		s.names = append(s.names, name)
		s.space()
		if s.peek() != ':' {
			return s.syntax("no colon")
		}
		s.i++
		s.space()
		if err := s.value(depth + 1); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.i++
			return nil
		default:
			return s.syntax("no comma or brace")
		}
	}
}

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

// members calls f for each member of the object raw, which scan has passed,
// and reports whether raw is an object at all. Names are matched as they are:
// "Method" is not "method".
func members(raw []byte, f func(name string, value []byte)) bool {
	s := &scanner{b: raw}
	s.space()
	if s.peek() != '{' {
		return false
	}
	s.i++
	for {
		s.space()
		if s.peek() != '"' {
			return true
		}
		name, err := s.str()
		if err != nil {
			return true
		}
		s.space()
		s.i++ // the colon
		s.space()
		from := min(s.i, len(raw))
		s.skip()
		s.i = min(s.i, len(raw)) // a text that scan gave up on may end anywhere
		f(string(name), raw[from:s.i])
		s.space()
		s.i++ // the comma or brace
	}
}

// skip moves over one value of a text that is known to be JSON.
func (s *scanner) skip() {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			for s.i++; s.i < len(s.b) && s.b[s.i] != '"'; s.i++ {
				if s.b[s.i] == '\\' {
					s.i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
		case ',':
			if depth == 0 {
				return
			}
			s.i++
			continue
		case ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
			s.i++
			continue
		default:
			s.i++
			continue
		}
		s.i++
		if depth == 0 {
			return
		}
	}
}
