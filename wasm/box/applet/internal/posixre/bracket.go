package posixre

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// errColon is grep's hint to who forgot the outer brackets.
var errColon = errors.New("character class syntax is [[:space:]], not [:space:]")

// bracket parses a bracket expression; p.pos is at its [.
func (p *parser) bracket() (*node, error) {
	open := p.pos
	p.pos++
	c := &class{}
	neg := false
	if p.at('^') {
		neg = true
		p.pos++
	}
	if p.pos >= len(p.src) {
		return nil, errInvalid
	}
	raw := []byte(nil) // bytes that are not UTF-8
	for first := true; ; first = false {
		if p.pos >= len(p.src) {
			return nil, errBracket
		}
		if p.at(']') && !first {
			p.pos++
			break
		}
		if strings.HasPrefix(p.src[p.pos:], "[:") {
			if err := p.namedClass(c); err != nil {
				return nil, err
			}
			continue
		}
		lo, isRaw, err := p.element()
		if err != nil {
			return nil, err
		}
		hi := lo
		if rest := p.src[p.pos:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			p.pos++
			if strings.HasPrefix(p.src[p.pos:], "[:") || strings.HasPrefix(p.src[p.pos:], "[=") {
				return nil, errRange
			}
			if hi, _, err = p.element(); err != nil {
				return nil, err
			}
			if hi < lo {
				return nil, errRange
			}
		} else if rest == "-" {
			return nil, errBracket
		}
		if isRaw {
			raw = append(raw, byte(lo))
			continue
		}
		c.add(lo, hi)
	}
	if p.opt.Dialect.grep() && !neg {
		s := p.src[open+1 : p.pos-1]
		if len(s) > 2 && s[0] == ':' && s[len(s)-1] == ':' {
			return nil, errColon
		}
	}
	if p.opt.Fold {
		c.fold()
	}
	if neg {
		c.negate()
		if p.opt.Multiline || p.opt.NoNewline {
			c.remove('\n')
		}
	}
	n := simplify(c)
	for _, b := range raw {
		if !neg {
			n = alternate([]*node{n, {op: nByte, r: rune(b)}})
		}
	}
	return n, nil
}

// simplify makes a class of one character that character.
func simplify(c *class) *node {
	if len(c.ranges) == 0 && len(c.props) == 0 && !c.neg {
		n, at := 0, rune(0)
		for r := rune(0); r < 0x80; r++ {
			if c.has(r) {
				n++
				at = r
			}
		}
		if n == 1 {
			return &node{op: nRune, r: at}
		}
	}
	return &node{op: nClass, class: c}
}

func (p *parser) namedClass(c *class) error {
	end := strings.Index(p.src[p.pos:], ":]")
	if end < 0 {
		return errBracket
	}
	name := p.src[p.pos+2 : p.pos+end]
	p.pos += end + 2
	if p.opt.Fold && (name == "upper" || name == "lower") {
		name = "alpha"
	}
	f := named(name)
	if f == nil {
		return errClass
	}
	switch name {
	case "digit", "xdigit": // nothing outside ASCII: the DFA need not ask
		for r := rune(0); r < 0x80; r++ {
			if f(r) {
				c.add(r, r)
			}
		}
	default:
		c.addProp(f)
	}
	return nil
}

// element parses one character, [.x.] or [=x=].
func (p *parser) element() (r rune, raw bool, err error) {
	rest := p.src[p.pos:]
	if len(rest) > 1 && rest[0] == '[' && (rest[1] == '.' || rest[1] == '=') {
		end := strings.Index(rest[2:], rest[1:2]+"]")
		if end < 0 {
			return 0, false, errBracket
		}
		name := rest[2 : 2+end]
		p.pos += end + 4
		r, n := utf8.DecodeRuneInString(name)
		if name == "" || n != len(name) {
			return 0, false, errCollate
		}
		return r, false, nil
	}
	if rest == "" {
		return 0, false, errBracket
	}
	r, n := utf8.DecodeRuneInString(rest)
	p.pos += n
	if r == utf8.RuneError && n == 1 {
		return rune(rest[0]), true, nil
	}
	return r, false, nil
}
