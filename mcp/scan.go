package mcp

import (
	"bytes"
	"fmt"
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
