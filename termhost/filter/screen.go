package filter

import (
	"io"
	"sync"
	"unicode/utf8"
)

// scanner follows the sequences that steer a terminal: ECMA-48's CSI and the
// strings OSC, DCS, APC, PM and SOS. What is malformed ends at the first
// character that cannot belong to it, and a string at the end of its line at
// the latest, so that one that is left open hides no more than that.
type scanner struct {
	state scan
	n     int // characters of the CSI so far
}

type scan uint8

const (
	ground scan = iota
	escape
	intermediate
	csi
	text    // in a string
	textEnd // in a string, behind an escape
)

// maxCSI bounds the parameters of one sequence.
const maxCSI = 64

// invisible are the control characters that are taken out by themselves: those
// that ring, move, switch the set of characters or ask the terminal for an
// answer. Tab and what ends lines stay, and NUL, which separates names.
var invisible = [0x20]bool{
	0x01: true, 0x02: true, 0x03: true, 0x04: true, 0x05: true, 0x06: true, '\a': true, '\b': true, 0x0e: true, 0x0f: true,
	0x10: true, 0x11: true, 0x12: true, 0x13: true, 0x14: true, 0x15: true, 0x16: true, 0x17: true,
	0x18: true, 0x19: true, 0x1a: true, 0x1b: true, 0x1c: true, 0x1d: true, 0x1e: true, 0x1f: true,
}

// shows reads c and reports whether it is a character to be seen.
func (s *scanner) shows(c rune) bool {
	switch s.state {
	case ground:
		return s.plain(c)
	case escape, textEnd:
		was := s.state
		s.state = ground
		switch {
		case was == textEnd && c == '\\': // it ends the string
		case c == '[':
			s.state, s.n = csi, 0
		case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
			s.state = text
		case c >= 0x20 && c <= 0x2f:
			s.state = intermediate
		case c >= 0x30 && c <= 0x7e:
		default:
			return s.plain(c)
		}
		return false
	case intermediate:
		switch {
		case c >= 0x20 && c <= 0x2f:
			return false
		case c >= 0x30 && c <= 0x7e:
			s.state = ground
			return false
		}
	case csi:
		s.n++
		switch {
		case s.n > maxCSI:
		case c >= 0x20 && c <= 0x3f:
			return false
		case c >= 0x40 && c <= 0x7e:
			s.state = ground
			return false
		}
	case text:
		switch c {
		case '\a', 0x9c:
			s.state = ground
			return false
		case 0x1b:
			s.state = textEnd
			return false
		case '\n', 0x18, 0x1a:
		default:
			return false
		}
	}
	s.state = ground
	return s.plain(c)
}

// plain reads c outside of sequences.
func (s *scanner) plain(c rune) bool {
	switch {
	case c == 0x1b:
		s.state = escape
	case c < 0x20:
		return !invisible[c]
	case c < 0x7f || c > 0x9f:
		return true
	case c == 0x9b:
		s.state, s.n = csi, 0
	case c == 0x90 || c == 0x98 || c >= 0x9d:
		s.state = text
	}
	return false
}

// maxUnfinished bounds what [Unfinished] asks to wait for.
const maxUnfinished = 4 << 10

// Visible returns b without terminal sequences and control characters; it is
// b itself when there are none. Tab, newline, form feed, vertical tab and NUL
// stay, and so do bytes that are no UTF-8. A carriage return that ends no line
// would let what follows overwrite what was read before: it becomes a newline.
func Visible(b []byte) []byte {
	i := 0
	for i < len(b) && b[i] != '\r' && (b[i] < 0x20 && !invisible[b[i]] || b[i] >= 0x20 && b[i] != 0x7f && b[i] != 0xc2) {
		i++
	}
	if i == len(b) {
		return b
	}
	out := append(make([]byte, 0, len(b)), b[:i]...)
	var s scanner
	for i < len(b) {
		c, n := utf8.DecodeRune(b[i:])
		switch shown := s.shows(c); {
		case shown && c == '\r' && (i+1 == len(b) || b[i+1] != '\n'):
			out = append(out, '\n')
		case shown:
			out = append(out, b[i:i+n]...)
		}
		i += n
	}
	return out
}

// Unfinished returns how many bytes at the end of b are a terminal sequence
// whose end may follow, or a carriage return. It is 0 where that has become unlikely.
func Unfinished(b []byte) int {
	var s scanner
	since := 0
	for i := 0; i < len(b); {
		if s.state == ground && b[i] != 0x1b && b[i] != 0xc2 {
			i++
			continue
		}
		c, n := utf8.DecodeRune(b[i:])
		was := s.state
		if s.shows(c); was == ground || c == 0x1b {
			since = i
		}
		i += n
	}
	switch {
	case s.state == ground && len(b) > 0 && b[len(b)-1] == '\r':
		return 1
	case s.state == ground || len(b)-since > maxUnfinished:
		return 0
	}
	return len(b) - since
}

// A Screen is a writer that passes on what [Visible] would leave of the whole
// stream, for a terminal that a person looks at; bytes that are no UTF-8 and
// that some terminals take for control characters go too. It is safe for
// concurrent use.
type Screen struct {
	W io.Writer

	mu   sync.Mutex
	scan scanner
	part []byte // the start of a character
	cr   bool   // a carriage return waits for what follows
}

// Write takes all of p.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := p
	if len(s.part) > 0 {
		b = append(s.part, p...)
		s.part = nil
	}
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		if !utf8.FullRune(b) {
			s.part = append(s.part, b...)
			break
		}
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 && b[0] < 0xa0 {
			c = rune(b[0]) // a control character where the terminal does not speak UTF-8
		}
		shown := s.scan.shows(c)
		if s.cr && shown {
			s.cr = false
			if c == '\n' {
				out = append(out, '\r')
			} else {
				out = append(out, '\n')
			}
		}
		switch {
		case shown && c == '\r':
			s.cr = true
		case shown:
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	if _, err := s.W.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
