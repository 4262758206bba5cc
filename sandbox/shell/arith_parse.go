package shell

import (
	"strings"
)

// An arithNode is a parsed arithmetic expression.
type arithNode interface{ eval(e *arithEnv) int64 }

type (
	arithNum  struct{ v int64 }
	arithHole struct{ i int } // an expansion that gave a plain number
	arithVar  struct{ name string }
	arithElem struct {
		name string
		raw  string
		idx  arithNode // nil when raw is no expression
		err  *cmdError
	}
	arithUnary struct {
		op byte
		x  arithNode
	}
	arithBinary struct {
		op   string
		x, y arithNode
		p    *arithText
		at   int
	}
	arithLogic struct {
		or   bool
		x, y arithNode
	}
	arithCond   struct{ c, x, y arithNode }
	arithComma  struct{ x, y arithNode }
	arithAssign struct {
		op string // "" for =
		x  arithNode
		y  arithNode
		p  *arithText
		at int
	}
	arithStep struct {
		x     arithNode
		delta int64
		post  bool
	}
)

// An arithText is the text of an expression, for error messages.
type arithText struct{ s string }

const holeMark = '\x01'

type arithParser struct {
	sh    *shell
	t     *arithText
	s     string
	i     int
	depth int
	tok   string // current operator or punctuation; "" when val is set or at the end
	val   arithNode
	start int // of the current token; at the end, of the last one
	prev  int // of the token before it
	end   bool
}

func (p *arithParser) fail(msg string) {
	rest := strings.TrimLeft(p.s[min(p.start, len(p.s)):], " \t\n")
	failf(errDiscard, 1, "%s: %s (error token is \"%s\")", strings.TrimLeft(p.t.s, " \t\n"), msg, rest)
}

// parseArith parses s completely.
func (sh *shell) parseArith(s string) arithNode {
	p := &arithParser{sh: sh, t: &arithText{s}, s: s}
	return p.all()
}

// all parses the whole text.
func (p *arithParser) all() arithNode {
	p.next()
	if p.end {
		return &arithNum{}
	}
	n := p.comma()
	if !p.end {
		p.fail("syntax error in expression")
	}
	return n
}

// compile parses the text of a once, if that is possible.
func (a *arith) compile() {
	var b strings.Builder
	holes := 0
	for i, p := range a.parts {
		if q, ok := p.(*quotedPart); ok {
			if strings.IndexByte(q.s, holeMark) >= 0 {
				return
			}
			b.WriteString(q.s)
			continue
		}
		// An expansion may only stand for a number by itself.
		if i > 0 && joins(a.parts[i-1], true) || i+1 < len(a.parts) && joins(a.parts[i+1], false) || holes > 200 {
			return
		}
		holes++
		b.WriteByte(holeMark)
		b.WriteByte(byte(holes))
		b.WriteByte(holeMark)
	}
	// What does not parse is evaluated, and refused, at run time.
	if catch(func() { a.node = (*shell)(nil).parseArith(b.String()) }) == nil {
		a.holes = holes
	}
}

// joins tells whether a part next to an expansion may form one token with it.
func joins(p part, before bool) bool {
	q, ok := p.(*quotedPart)
	if !ok || q.s == "" {
		return true
	}
	c := q.s[0]
	if before {
		c = q.s[len(q.s)-1]
	}
	return isNameByte(c) || c == '#' || c == '@' || c >= 0x80 || c == '\'' || c == '\\' || c == '.' || !before && c == '['
}

func (p *arithParser) next() {
	s := p.s
	for p.i < len(s) && (s[p.i] == ' ' || s[p.i] == '\t' || s[p.i] == '\n' || s[p.i] == '\r') {
		p.i++
	}
	before := p.val
	p.tok, p.val = "", nil
	if p.i >= len(s) {
		p.end = true
		return
	}
	p.prev, p.start = p.start, p.i
	c := s[p.i]
	switch {
	case c == holeMark && p.sh == nil: // a value may hold the byte too
		n := int(s[p.i+1]) - 1
		p.i += 3
		p.val = &arithHole{n}
		return
	case c >= '0' && c <= '9':
		j := p.i
		for j < len(s) && (isNameByte(s[j]) || s[j] == '#' || s[j] == '@') {
			j++
		}
		lit := s[p.i:j]
		p.i = j
		v, msg := parseNumber(lit)
		if msg != "" {
			failf(errDiscard, 1, "%s: %s (error token is \"%s\")", strings.TrimLeft(s[:j], " \t\n"), msg, lit)
		}
		p.val = &arithNum{v}
		return
	case isNameByte(c):
		j := p.i
		for j < len(s) && isNameByte(s[j]) {
			j++
		}
		name := s[p.i:j]
		if j < len(s) && s[j] == '[' {
			end := subscriptEnd(s, j+1)
			if end > len(s) || s[end-1] != ']' || p.sh != nil && strings.IndexByte(s[j:end], holeMark) >= 0 {
				p.fail("bad array subscript")
			}
			p.i = end
			p.val = p.elem(name, s[j+1:end-1])
			return
		}
		p.i = j
		p.val = &arithVar{name}
		return
	}
	for _, n := range []int{3, 2, 1} {
		if p.i+n <= len(s) {
			switch op := s[p.i : p.i+n]; op {
			case "<<=", ">>=", "**", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
				"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
				"+", "-", "*", "/", "%", "<", ">", "=", "!", "~", "&", "|", "^", "?", ":", ",", "(", ")":
				if (op == "++" || op == "--") && !isLvalue(before) && !startsName(s[p.i+n:]) {
					op, n = op[:1], 1 // ++5 is + +5, 3--1 is 3 - -1
				}
				p.tok = op
				p.i += n
				return
			}
		}
	}
	if before != nil {
		p.fail("syntax error: invalid arithmetic operator")
	}
	p.fail("syntax error: operand expected")
}

func startsName(s string) bool {
	s = strings.TrimLeft(s, " \t\n\r")
	return s != "" && isNameByte(s[0]) && (s[0] < '0' || s[0] > '9')
}

// subscriptEnd returns the index after the bracket that closes a subscript.
func subscriptEnd(s string, i int) int {
	for depth := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// elem makes an array element; the subscript is parsed too, as far as it is
// an expression.
func (p *arithParser) elem(name, raw string) arithNode {
	e := &arithElem{name: name, raw: raw}
	err := catch(func() {
		q := &arithParser{sh: p.sh, t: &arithText{raw}, s: raw, depth: p.depth + 1}
		q.deeper()
		e.idx = q.all()
	})
	if ce, ok := err.(*cmdError); ok {
		e.err, e.idx = ce, nil
	} else if err != nil {
		throw(err)
	}
	return e
}

func (p *arithParser) deeper() {
	if p.depth++; p.depth > 1024 {
		failf(errDiscard, 1, "%.40s: expression recursion level exceeded", p.t.s)
	}
}

func (p *arithParser) comma() arithNode {
	p.deeper()
	defer func() { p.depth-- }()
	x := p.assign()
	for p.tok == "," {
		p.next()
		x = &arithComma{x, p.assign()}
	}
	return x
}

func (p *arithParser) assign() arithNode {
	p.deeper()
	defer func() { p.depth-- }()
	x := p.cond()
	switch p.tok {
	case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=":
		if !isLvalue(x) {
			p.fail("attempted assignment to non-variable")
		}
		op := strings.TrimSuffix(p.tok, "=")
		p.next()
		at := p.start
		return &arithAssign{op: op, x: x, y: p.assign(), p: p.t, at: at}
	}
	return x
}

func isLvalue(n arithNode) bool {
	switch n.(type) {
	case *arithVar, *arithElem:
		return true
	}
	return false
}

func (p *arithParser) cond() arithNode {
	c := p.binary(0)
	if p.tok != "?" {
		return c
	}
	p.deeper()
	defer func() { p.depth-- }()
	p.next()
	if p.tok == ":" || p.end {
		p.fail("expression expected")
	}
	x := p.comma()
	if p.tok != ":" {
		p.fail("`:' expected for conditional expression")
	}
	p.next()
	if p.end {
		p.fail("expression expected")
	}
	return &arithCond{c, x, p.cond()}
}

// precedence of binary operators, loosest first; 0 is none.
func precedence(op string) int {
	switch op {
	case "||":
		return 1
	case "&&":
		return 2
	case "|":
		return 3
	case "^":
		return 4
	case "&":
		return 5
	case "==", "!=":
		return 6
	case "<", ">", "<=", ">=":
		return 7
	case "<<", ">>":
		return 8
	case "+", "-":
		return 9
	case "*", "/", "%":
		return 10
	case "**":
		return 11
	}
	return 0
}

func (p *arithParser) binary(least int) arithNode {
	p.deeper()
	defer func() { p.depth-- }()
	x := p.unary()
	for {
		op := p.tok
		prec := precedence(op)
		if prec == 0 || prec <= least {
			return x
		}
		p.next()
		at := p.start
		below := prec
		if op == "**" {
			below = prec - 1 // right to left
		}
		y := p.binary(below)
		if op == "**" { // bash names the end of the exponent
			if at = p.prev; p.end {
				at = p.start
			}
		}
		switch op {
		case "||", "&&":
			x = &arithLogic{op == "||", x, y}
		default:
			x = &arithBinary{op: op, x: x, y: y, p: p.t, at: at}
		}
	}
}

func (p *arithParser) unary() arithNode {
	p.deeper()
	defer func() { p.depth-- }()
	switch op := p.tok; op {
	case "++", "--":
		p.next() // a name
		x := p.val
		p.next()
		d := int64(1)
		if op == "--" {
			d = -1
		}
		return &arithStep{x: x, delta: d}
	case "!", "~", "-", "+":
		p.next()
		return &arithUnary{op[0], p.unary()}
	}
	return p.postfix()
}

func (p *arithParser) postfix() arithNode {
	if p.val != nil {
		x := p.val
		p.next()
		if (p.tok == "++" || p.tok == "--") && isLvalue(x) {
			d := int64(1)
			if p.tok == "--" {
				d = -1
			}
			p.next()
			return &arithStep{x: x, delta: d, post: true}
		}
		if p.val != nil {
			p.fail("syntax error in expression")
		}
		return x
	}
	if p.tok == "(" {
		p.next()
		x := p.comma()
		if p.tok != ")" {
			p.fail("missing `)'")
		}
		p.next()
		if p.val != nil {
			p.fail("syntax error in expression")
		}
		return x
	}
	p.fail("syntax error: operand expected")
	return nil
}

// parseNumber parses a constant; msg says what is wrong with it.
func parseNumber(s string) (v int64, msg string) {
	base := int64(10)
	digits := s
	if i := strings.IndexByte(s, '#'); i >= 0 {
		b, ok := atoi(s[:i])
		if !ok || s[0] == '0' || b < 2 || b > 64 {
			return 0, "invalid arithmetic base"
		}
		base, digits = b, s[i+1:]
		if digits == "" {
			return 0, "invalid integer constant"
		}
	} else if len(s) > 1 && s[0] == '0' {
		if s[1] == 'x' || s[1] == 'X' {
			base, digits = 16, s[2:]
		} else {
			base, digits = 8, s[1:]
		}
	}
	for i := 0; i < len(digits); i++ {
		c := digits[i]
		var d int64
		switch {
		case c >= '0' && c <= '9':
			d = int64(c - '0')
		case c >= 'a' && c <= 'z':
			d = int64(c-'a') + 10
		case c >= 'A' && c <= 'Z':
			d = int64(c-'A') + 10
			if base > 36 {
				d += 26
			}
		case c == '@':
			d = 62
		case c == '_':
			d = 63
		default:
			return 0, "invalid number"
		}
		if d >= base {
			return 0, "value too great for base"
		}
		v = v*base + d
	}
	return v, ""
}
