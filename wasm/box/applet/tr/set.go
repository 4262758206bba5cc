package tr

import (
	"errors"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// A set is a string of tr, expanded but for the repeats without count.
type set struct {
	items []item
}

// item is one character, or a class, or a repeat.
type item struct {
	c       byte
	class   string // "" or the name of the class that c comes from
	first   bool   // the first of its class
	equiv   bool   // [=c=]
	endless bool   // [c*]: as many as needed
}

// unescape reads the escapes of s. escaped tells which of the bytes have lost
// their special meaning.
func unescape(c *applet.Ctx, s string) (text []byte, escaped []bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			text, escaped = append(text, s[i]), append(escaped, false)
			continue
		}
		if i+1 == len(s) {
			c.Warn("warning: an unescaped backslash at end of string is not portable")
			text, escaped = append(text, '\\'), append(escaped, false)
			break
		}
		i++
		b := s[i]
		if k := strings.IndexByte(`abfnrtv`, b); k >= 0 {
			b = "\a\b\f\n\r\t\v"[k]
		} else if b >= '0' && b <= '7' {
			n, from := int(b-'0'), i
			for len(s) > i+1 && i-from < 2 && s[i+1] >= '0' && s[i+1] <= '7' {
				if n*8+int(s[i+1]-'0') > 255 {
					c.Warn("warning: the ambiguous octal escape \\", s[from:i+2], " is being\n\tinterpreted as the 2-byte sequence \\0", s[from:i+1], ", ", s[i+1:i+2])
					break
				}
				i++
				n = n*8 + int(s[i]-'0')
			}
			b = byte(n)
		}
		text, escaped = append(text, b), append(escaped, true)
	}
	return text, escaped
}

func parse(c *applet.Ctx, arg string) (set, error) {
	text, escaped := unescape(c, arg)
	var s set
	is := func(i int, b byte) bool { return i < len(text) && text[i] == b && !escaped[i] }
	i := 0
	for i+1 < len(text) {
		if is(i, '[') && (is(i+1, ':') || is(i+1, '=')) {
			mark := text[i+1]
			if end := closing(text, escaped, i+2, mark); end >= 0 {
				name := string(text[i+2 : end])
				if mark == ':' && name == "" {
					return s, errors.New("missing character class name '[::]'")
				}
				if mark == '=' && name == "" {
					return s, errors.New("missing equivalence class character '[==]'")
				}
				done, err := s.class(name, mark, is(i+2, '*') || starAfter(text, escaped, i+2))
				if err != nil {
					return s, err
				}
				if done {
					i = end + 2
					continue
				}
			}
		}
		if is(i, '[') && i+2 < len(text) && is(i+2, '*') {
			if n, endless, end, err := repeatCount(text, escaped, i+3); err != nil {
				return s, err
			} else if end >= 0 {
				if endless {
					s.items = append(s.items, item{c: text[i+1], endless: true})
				}
				for range n {
					s.items = append(s.items, item{c: text[i+1]})
				}
				i = end + 1
				continue
			}
		}
		if is(i+1, '-') && i+2 < len(text) {
			lo, hi := text[i], text[i+2]
			if hi < lo {
				return s, errors.New("range-endpoints of " + applet.Quote(visible(lo)+"-"+visible(hi)) + " are in reverse collating sequence order")
			}
			for b := int(lo); b <= int(hi); b++ {
				s.items = append(s.items, item{c: byte(b)})
			}
			i += 3
			continue
		}
		s.items = append(s.items, item{c: text[i]})
		i++
	}
	if i < len(text) {
		s.items = append(s.items, item{c: text[i]})
	}
	return s, nil
}

func visible(b byte) string {
	if b >= 32 && b < 127 {
		return string(rune(b))
	}
	return `\` + string([]byte{'0' + b>>6, '0' + b>>3&7, '0' + b&7})
}

// closing returns where "mark]" stands after start, or -1.
func closing(text []byte, escaped []bool, start int, mark byte) int {
	for i := start; i+1 < len(text); i++ {
		if text[i] == mark && text[i+1] == ']' && !escaped[i] && !escaped[i+1] {
			return i
		}
	}
	return -1
}

// starAfter tells whether what stands at i reads as a repeat: "*" and digits
// up to "]".
func starAfter(text []byte, escaped []bool, i int) bool {
	if i >= len(text) || text[i] != '*' || escaped[i] {
		return false
	}
	for i++; i < len(text); i++ {
		if text[i] == ']' {
			return true
		}
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return false
}

// repeatCount reads the count of [c*n], at start. end is where its ] stands,
// or -1 when this is no repeat.
func repeatCount(text []byte, escaped []bool, start int) (n int, endless bool, end int, err error) {
	for end = start; end < len(text) && (text[end] != ']' || escaped[end]); end++ {
	}
	if end == len(text) {
		return 0, false, -1, nil
	}
	digits := string(text[start:end])
	if digits == "" {
		return 0, true, end, nil
	}
	base := 10
	if digits[0] == '0' {
		base = 8
	}
	v, perr := strconv.ParseUint(digits, base, 31)
	if perr != nil {
		return 0, false, -1, errors.New("invalid repeat count " + applet.Curly(digits) + " in [c*n] construct")
	}
	if v == 0 {
		return 0, true, end, nil
	}
	// More than there are bytes makes no difference.
	return int(min(v, 1<<16)), false, end, nil
}

// class appends a class or an equivalence class. done is false when the text
// is neither but may be something else.
func (s *set) class(name string, mark byte, repeat bool) (done bool, err error) {
	if mark == '=' {
		if len(name) != 1 {
			if repeat {
				return false, nil
			}
			return false, errors.New(name + ": equivalence class operand must be a single character")
		}
		s.items = append(s.items, item{c: name[0], equiv: true})
		return true, nil
	}
	in := classes(name)
	if in == nil {
		if repeat {
			return false, nil
		}
		return false, errors.New("invalid character class " + applet.Curly(name))
	}
	first := true
	for b := range 256 {
		if in(byte(b)) {
			s.items = append(s.items, item{c: byte(b), class: name, first: first})
			first = false
		}
	}
	return true, nil
}

func classes(name string) func(b byte) bool {
	lower := func(b byte) bool { return b >= 'a' && b <= 'z' }
	upper := func(b byte) bool { return b >= 'A' && b <= 'Z' }
	digit := func(b byte) bool { return b >= '0' && b <= '9' }
	alnum := func(b byte) bool { return lower(b) || upper(b) || digit(b) }
	graph := func(b byte) bool { return b > 32 && b < 127 }
	switch name {
	case "alnum":
		return alnum
	case "alpha":
		return func(b byte) bool { return lower(b) || upper(b) }
	case "blank":
		return func(b byte) bool { return b == ' ' || b == '\t' }
	case "cntrl":
		return func(b byte) bool { return b < 32 || b == 127 }
	case "digit":
		return digit
	case "graph":
		return graph
	case "lower":
		return lower
	case "print":
		return func(b byte) bool { return b == ' ' || graph(b) }
	case "punct":
		return func(b byte) bool { return graph(b) && !alnum(b) }
	case "space":
		return func(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }
	case "upper":
		return upper
	case "xdigit":
		return func(b byte) bool { return digit(b) || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }
	}
	return nil
}
