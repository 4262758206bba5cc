package posixre

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// The C library's messages for patterns that are wrong.
var (
	errBracket   = errors.New("Unmatched [, [^, [:, [., or [=")
	errParen     = errors.New(`Unmatched ( or \(`)
	errClose     = errors.New(`Unmatched ) or \)`)
	errBrace     = errors.New(`Unmatched \{`)
	errInterval  = errors.New(`Invalid content of \{\}`)
	errRange     = errors.New("Invalid range end")
	errRepeat    = errors.New("Invalid preceding regular expression")
	errBackslash = errors.New("Trailing backslash")
	errBackref   = errors.New("Invalid back reference")
	errClass     = errors.New("Invalid character class name")
	errCollate   = errors.New("Invalid collation character")
	errInvalid   = errors.New("Invalid regular expression")
	errTooBig    = errors.New("Regular expression too big")
)

type nodeOp uint8

const (
	nEmpty nodeOp = iota
	nRune         // r
	nByte         // r: a byte that is not UTF-8
	nAny
	nClass
	nCat
	nAlt
	nRepeat  // subs[0], min, max (-1: no end)
	nGroup   // subs[0], n
	nBackref // n
	nTrie    // texts
	// Assertions.
	nBegin // ^
	nEnd   // $
	nBufBegin
	nBufEnd
	nWordEdge
	nNoWordEdge
	nWordBegin
	nWordEnd
	nNoWordBefore
	nNoWordAfter
)

type node struct {
	op       nodeOp
	r        rune
	n        int
	min, max int
	class    *class
	subs     []*node
	texts    []string
}

const (
	maxDepth  = 500   // of parentheses
	maxRepeat = 32767 // in an interval, as in the C library
)

type parser struct {
	src      string
	opt      Options
	pos      int
	groups   int
	base     int    // groups of earlier patterns: back-references count from here
	closed   uint16 // groups 1 to 9 that may be referred to here
	backrefs bool
	depth    int
	warnings []string
	solid    bool // the branch at hand holds something that can be repeated
}

type tokKind uint8

const (
	tEOF tokKind = iota
	tChar
	tAny
	tStar
	tPlus
	tQuestion
	tBrace
	tAlt
	tOpen
	tClose
	tBracket
	tAssert
	tBackref
	tClass
)

type token struct {
	kind tokKind
	r    rune
	raw  bool // r is a byte that is not UTF-8
	op   nodeOp
	size int // bytes of the source
}

func (p *parser) parse() (*node, error) {
	p.base = p.groups
	n, err := p.alternatives(true)
	if err != nil {
		return nil, err
	}
	if t := p.peek(false); t.kind == tClose {
		return nil, errClose
	}
	return n, nil
}

// peek reads the next token. caret tells that a ^ here is an anchor in a
// basic expression.
func (p *parser) peek(caret bool) token {
	if p.pos >= len(p.src) {
		return token{}
	}
	d := p.opt.Dialect
	c := p.src[p.pos]
	if c == '\\' {
		return p.peekEscape()
	}
	t := token{kind: tChar, r: rune(c), size: 1}
	ext := d.extended()
	switch c {
	case '.':
		t.kind = tAny
	case '*':
		t.kind = tStar
	case '[':
		t.kind = tBracket
	case '+':
		if ext || d == Emacs {
			t.kind = tPlus
		}
	case '?':
		if ext || d == Emacs {
			t.kind = tQuestion
		}
	case '{':
		if ext {
			t.kind = tBrace
		}
	case '|':
		if ext {
			t.kind = tAlt
		}
	case '(':
		if ext {
			t.kind = tOpen
		}
	case ')':
		if ext {
			t.kind = tClose
		}
	case '\n':
		if d.grep() {
			t.kind = tAlt
		}
	case '^':
		if ext || caret || p.pos == 0 {
			t.kind, t.op = tAssert, nBegin
		}
	case '$':
		if ext || p.dollarEnds() {
			t.kind, t.op = tAssert, nEnd
		}
	default:
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(p.src[p.pos:])
			if r == utf8.RuneError && n == 1 {
				t.raw = true
			} else {
				t.r, t.size = r, n
			}
		}
	}
	return t
}

// dollarEnds tells whether the $ at p.pos of a basic expression is an anchor.
func (p *parser) dollarEnds() bool {
	rest := p.src[p.pos+1:]
	return rest == "" || len(rest) > 1 && rest[0] == '\\' && (rest[1] == ')' || rest[1] == '|') ||
		rest[0] == '\n' && p.opt.Dialect.grep()
}

func (p *parser) peekEscape() token {
	if p.pos+1 >= len(p.src) {
		return token{kind: tChar, r: '\\', size: 1, op: nEnd} // op marks the stray one
	}
	c := p.src[p.pos+1]
	t := token{kind: tChar, r: rune(c), size: 2}
	d := p.opt.Dialect
	ext := d.extended()
	basic := d == GrepBasic || d == PosixBasic
	gnu := !ext && !p.opt.Strict
	switch c {
	case '|':
		if gnu {
			t.kind = tAlt
		}
	case '(':
		if !ext {
			t.kind = tOpen
		}
	case ')':
		if !ext {
			t.kind = tClose
		}
	case '{':
		if basic {
			t.kind = tBrace
		}
	case '+':
		if basic && gnu {
			t.kind = tPlus
		}
	case '?':
		if basic && gnu {
			t.kind = tQuestion
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		t.kind = tBackref
	case 'w', 'W', 's', 'S':
		t.kind = tClass
	case 'b':
		t.kind, t.op = tAssert, nWordEdge
	case 'B':
		t.kind, t.op = tAssert, nNoWordEdge
	case '<':
		t.kind, t.op = tAssert, nWordBegin
	case '>':
		t.kind, t.op = tAssert, nWordEnd
	case '`':
		t.kind, t.op = tAssert, nBufBegin
	case '\'':
		t.kind, t.op = tAssert, nBufEnd
	default:
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(p.src[p.pos+1:])
			if r == utf8.RuneError && n == 1 {
				t.raw = true
			} else {
				t.r, t.size = r, n+1
			}
		}
	}
	return t
}

func (p *parser) alternatives(top bool) (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errTooBig
	}
	defer func() { p.depth-- }()
	var alts []*node
	before, all := p.closed, p.closed
	for {
		p.closed = before // a group is not known in the other alternatives
		n, err := p.branch(top)
		if err != nil {
			return nil, err
		}
		alts = append(alts, n)
		all |= p.closed
		t := p.peek(false)
		if t.kind != tAlt {
			break
		}
		p.pos += t.size
	}
	p.closed = all
	return alternate(alts), nil
}

func (p *parser) branch(top bool) (*node, error) {
	var subs []*node
	p.solid = false
	for first := true; ; first = false {
		t := p.peek(first)
		if t.kind == tClose && top && (p.opt.Dialect == GrepExtended || p.opt.Dialect == Awk) {
			t.kind = tChar // nothing to close: it stands for itself
		}
		if t.kind == tEOF || t.kind == tAlt || t.kind == tClose {
			break
		}
		n, err := p.expression(t)
		if err != nil {
			return nil, err
		}
		if n != nil {
			subs = append(subs, n)
			p.solid = p.solid || n.op < nBegin
		}
	}
	switch len(subs) {
	case 0:
		return &node{op: nEmpty}, nil
	case 1:
		return subs[0], nil
	}
	return &node{op: nCat, subs: subs}, nil
}

// expression parses one element and the repetitions after it.
func (p *parser) expression(t token) (*node, error) {
	n, err := p.atom(t)
	if err != nil || n == nil {
		return n, err
	}
	if n.op >= nBegin { // nothing repeats an anchor
		return n, nil
	}
	for {
		t := p.peek(false)
		min, max := 0, -1
		switch t.kind {
		case tStar:
		case tPlus:
			min = 1
		case tQuestion:
			max = 1
		case tBrace:
			var ok bool
			start := p.pos
			p.pos += t.size
			if min, max, ok, err = p.interval(); err != nil {
				return nil, err
			}
			if !ok { // grep -E takes what is no interval as text
				p.pos = start
				return n, nil
			}
		default:
			return n, nil
		}
		if t.kind != tBrace {
			p.pos += t.size
		}
		n = &node{op: nRepeat, min: min, max: max, subs: []*node{n}}
	}
}

func (p *parser) atom(t token) (*node, error) {
	switch t.kind {
	case tBracket:
		return p.bracket()
	case tAny:
		p.pos += t.size
		return &node{op: nAny}, nil
	case tAssert:
		p.pos += t.size
		return &node{op: t.op}, nil
	case tClass:
		p.pos += t.size
		c := &class{}
		if t.r == 'w' || t.r == 'W' {
			c.addProp(isWord)
		} else {
			c.addProp(isSpace)
		}
		if t.r == 'W' || t.r == 'S' {
			c.negate()
		}
		return &node{op: nClass, class: c}, nil
	case tBackref:
		p.pos += t.size
		k := int(t.r - '0')
		if p.closed>>k&1 == 0 {
			return nil, errBackref
		}
		n := p.base + k
		p.backrefs = true
		return &node{op: nBackref, n: n}, nil
	case tOpen:
		p.pos += t.size
		p.groups++
		g := p.groups
		sub, err := p.alternatives(false)
		if err != nil {
			return nil, err
		}
		if t = p.peek(false); t.kind != tClose {
			return nil, errParen
		}
		p.pos += t.size
		if g -= p.base; g < 10 {
			p.closed |= 1 << g
		}
		return &node{op: nGroup, n: p.base + g, subs: []*node{sub}}, nil
	case tStar, tPlus, tQuestion, tBrace:
		return p.strayOperator(t)
	}
	if t.kind == tChar && t.r == '\\' && t.size == 1 {
		return nil, errBackslash
	}
	p.pos += t.size
	if t.raw {
		return &node{op: nByte, r: t.r}, nil
	}
	return char(t.r, p.opt.Fold), nil
}

// strayOperator deals with a repetition that has nothing to repeat.
func (p *parser) strayOperator(t token) (*node, error) {
	d := p.opt.Dialect
	text := p.src[p.pos : p.pos+t.size]
	if d == PosixExtended || t.kind == tBrace && d == PosixBasic {
		return nil, errRepeat
	}
	p.pos += t.size
	if d != GrepExtended { // it stands for itself
		return char(rune(text[len(text)-1]), false), nil
	}
	if t.kind == tBrace {
		start := p.pos
		_, _, ok, err := p.interval()
		if err != nil {
			return nil, err
		}
		if !ok {
			p.pos = start
			return char('{', false), nil
		}
		text = "{...}"
	}
	if !p.solid {
		p.warnings = append(p.warnings, text+" at start of expression")
	}
	return nil, nil
}

// interval parses what follows a brace. ok is false when it is no interval and
// the dialect takes it as text.
func (p *parser) interval() (min, max int, ok bool, err error) {
	d := p.opt.Dialect
	min = p.number()
	if min == -1 {
		if p.at(',') {
			min = 0
		} else if d == GrepExtended || d == Awk {
			return 0, 0, false, nil
		} else if p.pos >= len(p.src) {
			return 0, 0, false, errBrace
		} else {
			return 0, 0, false, errInterval
		}
	}
	max = min
	if p.at(',') {
		p.pos++
		max = p.number() // -1 when there is none
	}
	closer := "}"
	if !d.extended() {
		closer = `\}`
	}
	if len(p.src)-p.pos < len(closer) || p.src[p.pos:p.pos+len(closer)] != closer {
		if d == GrepExtended || d == Awk {
			return 0, 0, false, nil
		}
		if p.pos >= len(p.src) {
			return 0, 0, false, errBrace
		}
		return 0, 0, false, errInterval
	}
	p.pos += len(closer)
	if max >= 0 && min > max {
		return 0, 0, false, errInterval
	}
	if min > maxRepeat || max > maxRepeat {
		return 0, 0, false, errTooBig
	}
	return min, max, true, nil
}

func (p *parser) at(c byte) bool { return p.pos < len(p.src) && p.src[p.pos] == c }

// number reads digits; -1 when there are none, and one above the limit for
// any number above it.
func (p *parser) number() int {
	start := p.pos
	for p.pos < len(p.src) && '0' <= p.src[p.pos] && p.src[p.pos] <= '9' {
		p.pos++
	}
	if start == p.pos {
		return -1
	}
	n, err := strconv.Atoi(p.src[start:p.pos])
	if err != nil || n > maxRepeat {
		return maxRepeat + 1
	}
	return n
}
