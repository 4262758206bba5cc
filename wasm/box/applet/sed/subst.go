package sed

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

type caseMode uint8

const (
	caseNone caseMode = iota
	caseUpper
	caseLower
)

// part is a piece of a replacement: text, or a group, or a change of case.
type part struct {
	text  []byte
	group int // -1: none
	mode  caseMode
	set   bool // mode is to be set
	one   caseMode
}

type subst struct {
	re     *posixre.Regexp // nil: the last one used
	parts  []part
	groups bool // the replacement uses groups other than 0
	cases  bool
	global bool
	print  int // p given once, before or after e
	eval   bool
	nth    int
	out    *output
	loc    []int
	buf    []byte
}

// substitute parses what follows s.
func (p *parser) substitute(cmd *command) error {
	delim := p.next()
	pat, ok := p.delimited(delim, true)
	if !ok {
		return p.bad("unterminated `s' command")
	}
	rep, ok := p.replacementText(delim)
	if !ok {
		return p.bad("unterminated `s' command")
	}
	s := &subst{}
	cmd.subst = s
	fold, multi, err := p.flags(s)
	if err != nil {
		return err
	}
	if s.re, err = p.regex(pat, fold, multi); err != nil {
		return err
	}
	top := s.parse(unescape(rep, false))
	if s.re != nil && top > s.re.Groups {
		return p.bad("invalid reference \\" + string(rune('0'+top)) + " on `s' command's RHS")
	}
	return nil
}

// replacementText reads a replacement, where a backslash and a newline is a
// newline.
func (p *parser) replacementText(delim int) (string, bool) {
	var b []byte
	for {
		c := p.next()
		switch {
		case c == eof:
			return "", false
		case c == '\n':
			p.back(c)
			return "", false
		case c == delim:
			return string(b), true
		case c == '\\':
			c = p.next()
			if c == eof {
				return "", false
			}
			if c != delim || c == '&' {
				b = append(b, '\\')
			}
		}
		b = append(b, byte(c))
	}
}

func (p *parser) flags(s *subst) (fold, multi bool, err error) {
	for {
		switch c := p.next(); {
		case c == 'i' || c == 'I':
			fold = true
		case c == 'm' || c == 'M':
			multi = true
		case c == 'e':
			if p.o.sandbox {
				return fold, multi, p.bad("e/r/w commands disabled in sandbox mode")
			}
			s.eval = true
		case c == 'p':
			if s.print > 0 {
				return fold, multi, p.bad("multiple `p' options to `s' command")
			}
			s.print = 1
			if s.eval {
				s.print = 2
			}
		case c == 'g':
			if s.global {
				return fold, multi, p.bad("multiple `g' options to `s' command")
			}
			s.global = true
		case c == 'w':
			var cmd command
			if err := p.fileName(&cmd, true); err != nil {
				return fold, multi, err
			}
			s.out = cmd.out
			return fold, multi, nil
		case isDigit(c):
			if s.nth > 0 {
				return fold, multi, p.bad("multiple number options to `s' command")
			}
			if s.nth = p.number(c); s.nth == 0 {
				return fold, multi, p.bad("number option to `s' command may not be zero")
			}
		case c == '}' || c == '#':
			p.back(c)
			return fold, multi, nil
		case c == '\n' || c == ';' || c == eof:
			return fold, multi, nil
		case c == ' ' || c == '\t' || c == '\r':
		default:
			return fold, multi, p.bad("unknown option to `s'")
		}
	}
}

// parse takes a replacement apart and returns the highest group it uses.
func (s *subst) parse(rep string) (top int) {
	var text []byte
	flush := func() {
		if len(text) > 0 {
			s.parts = append(s.parts, part{text: text, group: -1})
			text = nil
		}
	}
	group := func(g int) {
		flush()
		s.parts = append(s.parts, part{group: g})
		s.groups = s.groups || g > 0
		top = max(top, g)
	}
	for i := 0; i < len(rep); i++ {
		c := rep[i]
		if c == '&' {
			group(0)
			continue
		}
		if c != '\\' || i+1 >= len(rep) {
			text = append(text, c)
			continue
		}
		i++
		switch c = rep[i]; c {
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			group(int(c - '0'))
		case 'n':
			text = append(text, '\n')
		case 'U', 'L', 'E', 'u', 'l':
			flush()
			s.cases = true
			p := part{group: -1}
			switch c {
			case 'U':
				p.mode, p.set = caseUpper, true
			case 'L':
				p.mode, p.set = caseLower, true
			case 'E':
				p.set = true
			case 'u':
				p.one = caseUpper
			case 'l':
				p.one = caseLower
			}
			s.parts = append(s.parts, p)
		default:
			text = append(text, c)
		}
	}
	flush()
	return top
}

// apply replaces in line; the result is s.buf when it returns true.
func (s *subst) apply(re *posixre.Regexp, line []byte) (bool, error) {
	start, end, ok, err := re.Find(line, 0)
	if !ok || err != nil {
		return false, err
	}
	out := s.buf[:0]
	pos, prev, count := 0, -1, 0
	done := false
	for ok {
		out = append(out, line[pos:start]...)
		pos = start
		if start != end || start != prev { // else: the empty string right after a match
			count++
			if count >= max(s.nth, 1) {
				if out, err = s.replace(out, re, line, start, end); err != nil {
					return false, err
				}
				done = true
			} else {
				out = append(out, line[start:end]...)
			}
			pos, prev = end, end
			if done && !s.global {
				break
			}
		}
		if start == end { // move on by a character
			if end >= len(line) {
				break
			}
			_, n := utf8.DecodeRune(line[end:])
			out = append(out, line[end:end+n]...)
			pos = end + n
		}
		start, end, ok, err = re.Find(line, pos)
		if err != nil {
			return false, err
		}
	}
	s.buf = append(out, line[pos:]...)
	return done, nil
}

func (s *subst) replace(out []byte, re *posixre.Regexp, line []byte, start, end int) ([]byte, error) {
	if s.groups {
		var err error
		if s.loc, err = re.Submatch(s.loc[:0], line, start, end); err != nil {
			return out, err
		}
	} else {
		s.loc = append(s.loc[:0], start, end)
	}
	var mode, one caseMode
	for i := range s.parts {
		p := &s.parts[i]
		text := p.text
		if p.group >= 0 {
			text = nil
			if 2*p.group < len(s.loc) && s.loc[2*p.group] >= 0 {
				text = line[s.loc[2*p.group]:s.loc[2*p.group+1]]
			}
		}
		if !s.cases {
			out = append(out, text...)
			continue
		}
		if p.set {
			mode, one = p.mode, caseNone
		}
		if p.one != caseNone {
			one = p.one
		}
		if len(text) == 0 {
			continue
		}
		if one != caseNone {
			_, n := utf8.DecodeRune(text)
			out = append(out, change(text[:n], one)...)
			text, one = text[n:], caseNone
		}
		out = append(out, change(text, mode)...)
	}
	return out, nil
}

func change(text []byte, mode caseMode) []byte {
	switch {
	case mode == caseNone:
		return text
	case !utf8.Valid(text): // byte by byte, so that nothing is lost
		f := bytes.Clone(text)
		for i, c := range f {
			if c < 0x80 {
				f[i] = byte(caseRune(rune(c), mode))
			}
		}
		return f
	}
	return bytes.Map(func(r rune) rune { return caseRune(r, mode) }, text)
}

func caseRune(r rune, mode caseMode) rune {
	if mode == caseUpper {
		return unicode.ToUpper(r)
	}
	return unicode.ToLower(r)
}
