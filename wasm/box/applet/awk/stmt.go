package awk

import "strconv"

// stmt runs a statement and tells how it ended.
type stmt func(*machine) control

type control uint8

const (
	ctlNone control = iota
	ctlBreak
	ctlContinue
	ctlNext
	ctlNextFile
	ctlReturn
	ctlExit
)

func sequence(list []stmt) stmt {
	switch len(list) {
	case 0:
		return func(*machine) control { return ctlNone }
	case 1:
		return list[0]
	}
	return func(m *machine) control {
		for _, s := range list {
			if c := s(m); c != ctlNone {
				return c
			}
		}
		return ctlNone
	}
}

// block parses { ... }.
func (p *parser) block() stmt {
	p.expect("{")
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	var list []stmt
	for {
		for p.tok.kind == tNewline || p.tok.kind == ";" {
			p.next()
		}
		if p.tok.kind == "}" {
			break
		}
		list = append(list, p.statement())
	}
	p.noIn, p.noGT = noIn, noGT
	p.next()
	return sequence(list)
}

// body is the statement of an if or a loop.
func (p *parser) body() stmt {
	p.newlines()
	if p.accept(";") {
		return sequence(nil)
	}
	return p.statement()
}

func (p *parser) loopBody() stmt {
	p.loops++
	s := p.body()
	p.loops--
	return s
}

func (p *parser) statement() stmt {
	switch p.tok.kind {
	case "{":
		return p.block()
	case "if":
		return p.ifStatement()
	case "while":
		p.next()
		c := p.condition()
		return loop(false, c, p.loopBody(), nil)
	case "do":
		p.next()
		body := p.loopBody()
		for p.tok.kind == tNewline || p.tok.kind == ";" {
			p.next()
		}
		p.expect("while")
		c := p.condition()
		p.terminator()
		return loop(true, c, body, nil)
	case "for":
		return p.forStatement()
	case "switch":
		return p.switchStatement()
	case ";":
		p.next()
		return sequence(nil)
	}
	s := p.simple()
	p.terminator()
	return s
}

// terminator is what ends a simple statement.
func (p *parser) terminator() {
	switch p.tok.kind {
	case ";", tNewline:
		p.next()
	case "}", tEOF:
	default:
		p.unexpected()
	}
}

func (p *parser) condition() *expr {
	p.expect("(")
	p.newlines()
	c := p.expr()
	p.newlines()
	p.expect(")")
	return c
}

func (p *parser) ifStatement() stmt {
	p.next()
	c := p.condition().cond
	then := p.body()
	before := p.lexer
	for p.tok.kind == tNewline || p.tok.kind == ";" {
		p.next()
	}
	if p.tok.kind != "else" {
		p.lexer = before
		return func(m *machine) control {
			if c(m) {
				return then(m)
			}
			return ctlNone
		}
	}
	p.next()
	other := p.body()
	return func(m *machine) control {
		if c(m) {
			return then(m)
		}
		return other(m)
	}
}

// loop runs body and then post while c, which may be nil, holds; first says
// that the body runs once before c is looked at.
func loop(first bool, c *expr, body, post stmt) stmt {
	return func(m *machine) control {
		for again := first; again || c == nil || c.cond(m); again = false {
			switch ctl := body(m); ctl {
			case ctlNone, ctlContinue:
			case ctlBreak:
				return ctlNone
			default:
				return ctl
			}
			if post != nil {
				post(m)
			}
		}
		return ctlNone
	}
}

func (p *parser) forStatement() stmt {
	p.next()
	p.expect("(")
	if p.tok.kind == tName {
		before := p.lexer
		v := p.variable(p.tok.text)
		if p.next(); p.accept("in") && p.tok.kind == tName {
			a := p.variable(p.tok.text)
			if p.next(); p.accept(")") {
				return forIn(&lvalue{v: v}, a, p.loopBody())
			}
		}
		p.lexer = before
	}
	var init, post stmt
	if p.tok.kind != ";" {
		init = p.simple()
	}
	p.expect(";")
	p.newlines()
	var c *expr
	if p.tok.kind != ";" {
		c = p.expr()
	}
	p.expect(";")
	p.newlines()
	if p.tok.kind != ")" {
		post = p.simple()
	}
	p.expect(")")
	rest := loop(false, c, p.loopBody(), post)
	if init == nil {
		return rest
	}
	return func(m *machine) control {
		init(m)
		return rest(m)
	}
}

func forIn(l *lvalue, v *variable, body stmt) stmt {
	return func(m *machine) control {
		for _, key := range m.keys(m.array(v)) {
			pl := l.place(m)
			pl.set(m, value{s: key, k: input})
			switch ctl := body(m); ctl {
			case ctlNone, ctlContinue:
			case ctlBreak:
				return ctlNone
			default:
				return ctl
			}
		}
		return ctlNone
	}
}

// branch is a case of a switch; one without value and regex is default.
type branch struct {
	v    *value
	re   *regex
	body stmt
}

func (p *parser) switchStatement() stmt {
	p.next()
	on := p.condition()
	p.newlines()
	p.expect("{")
	p.loops++
	var branches []branch
	for {
		for p.tok.kind == tNewline || p.tok.kind == ";" {
			p.next()
		}
		if p.accept("}") {
			break
		}
		var b branch
		switch {
		case p.accept("default"):
		case p.accept("case"):
			sign := 1.0
			if p.accept("-") {
				sign = -1
			}
			switch p.tok.kind {
			case tNumber:
				v := number(sign * p.tok.n)
				b.v = &v
			case tString:
				v := str(p.tok.text)
				b.v = &v
			case tRegex:
				b.re = &regex{src: p.tok.text}
			default:
				p.unexpected()
			}
			p.next()
		default:
			p.unexpected()
		}
		p.expect(":")
		var list []stmt
		for {
			for p.tok.kind == tNewline || p.tok.kind == ";" {
				p.next()
			}
			if p.tok.kind == "case" || p.tok.kind == "default" || p.tok.kind == "}" {
				break
			}
			list = append(list, p.statement())
		}
		b.body = sequence(list)
		branches = append(branches, b)
	}
	p.loops--
	return func(m *machine) control {
		v := on.val(m)
		at := -1
		for i, b := range branches {
			if b.re != nil && m.match(b.re, m.str(&v)) || b.v != nil && m.compare(&v, b.v) == 0 {
				at = i
				break
			}
			if b.re == nil && b.v == nil {
				at = i
				if i == len(branches)-1 {
					break
				}
				for j := i + 1; j < len(branches); j++ {
					if c := branches[j]; c.re != nil && m.match(c.re, m.str(&v)) || c.v != nil && m.compare(&v, c.v) == 0 {
						at = j
						break
					}
				}
				break
			}
		}
		for i := at; i >= 0 && i < len(branches); i++ {
			if c := branches[i].body(m); c == ctlBreak {
				return ctlNone
			} else if c != ctlNone {
				return c
			}
		}
		return ctlNone
	}
}

// simple parses a statement that may stand in the head of a for.
func (p *parser) simple() stmt {
	switch k := p.tok.kind; k {
	case "break", "continue":
		if p.loops == 0 {
			p.fail("`" + k + "' is not allowed outside a loop")
		}
		p.next()
		c := ctlBreak
		if k == "continue" {
			c = ctlContinue
		}
		return func(*machine) control { return c }
	case "next", "nextfile":
		p.next()
		c := ctlNext
		if k == "nextfile" {
			c = ctlNextFile
		}
		if p.current == nil && (p.action == "BEGIN" || p.action == "END") {
			p.fail("`" + k + "' used in " + p.action + " action")
		}
		return func(*machine) control { return c }
	case "exit":
		p.next()
		e := p.optional()
		return func(m *machine) control {
			if e != nil {
				m.status = int(e.num(m))
			}
			return ctlExit
		}
	case "return":
		if p.current == nil {
			p.fail("`return' used outside function context")
		}
		p.next()
		e := p.optional()
		return func(m *machine) control {
			m.result = value{}
			if e != nil {
				v := e.val(m) // may call, and set the result meanwhile
				m.result = v
			}
			return ctlReturn
		}
	case "delete":
		return p.deletion()
	case "print", "printf":
		return p.print()
	}
	e := p.expr()
	if e.list != nil && len(e.list) > 1 {
		p.unexpected()
	}
	if e.lv == nil && e.num != nil {
		num := e.val
		return func(m *machine) control { num(m); return ctlNone }
	}
	val := e.val
	return func(m *machine) control { val(m); return ctlNone }
}

func (p *parser) optional() *expr {
	switch p.tok.kind {
	case ";", tNewline, "}", tEOF:
		return nil
	}
	return p.expr()
}

func (p *parser) deletion() stmt {
	p.next()
	paren := p.accept("(")
	if p.tok.kind != tName {
		p.unexpected()
	}
	v := p.variable(p.tok.text)
	p.next()
	var s stmt
	if p.tok.kind == "[" {
		key := p.subscript()
		s = func(m *machine) control { delete(m.array(v).m, key.str(m)); return ctlNone }
	} else {
		s = func(m *machine) control { m.array(v).clear(); return ctlNone }
	}
	if paren {
		p.expect(")")
	}
	return s
}

func printRecord(m *machine) control {
	m.out.WriteString(m.text())
	m.endPrint(m.ors)
	return ctlNone
}

func (m *machine) endPrint(ors string) {
	if _, err := m.out.WriteString(ors); err != nil {
		panic(ctlExit) // nobody reads on; Run says so
	}
}

func (p *parser) print() stmt {
	formatted := p.tok.kind == "printf"
	p.next()
	var args []*expr
	noGT := p.noGT
	p.noGT = true
	switch p.tok.kind {
	case ";", tNewline, "}", tEOF, ">", ">>", "|":
	default:
		e := p.expr()
		if e.list != nil && len(e.list) > 1 {
			args = e.list
		} else {
			args = []*expr{e}
		}
		for p.tok.kind == "," {
			p.next()
			p.newlines()
			args = append(args, p.expr())
		}
	}
	if formatted && len(args) == 0 {
		p.fail("printf: no format")
	}
	var to *expr
	how := p.tok.kind
	switch how {
	case ">", ">>", "|":
		p.next()
		to = p.concatenation()
	case "|&":
		p.fail("|& (a coprocess) is not supported")
	}
	p.noGT = noGT
	if to == nil && !formatted {
		if len(args) == 0 {
			return printRecord
		}
		return func(m *machine) control {
			b := m.line(args)
			if _, err := m.out.Write(b); err != nil {
				panic(ctlExit)
			}
			return ctlNone
		}
	}
	return func(m *machine) control {
		var b []byte
		if formatted {
			b = m.format(args)
		} else {
			b = m.line(args)
		}
		if to == nil {
			if _, err := m.out.Write(b); err != nil {
				panic(ctlExit)
			}
			return ctlNone
		}
		b = append([]byte(nil), b...) // the name of the file may be a text that is made
		m.writeTo(how, to.str(m), b)
		return ctlNone
	}
}

// line is what print writes, in a buffer that is used again.
func (m *machine) line(args []*expr) []byte {
	b := m.buf[:0]
	m.buf = nil // an argument may print
	if len(args) == 0 {
		b = append(b, m.text()...)
	}
	for i, a := range args {
		if i > 0 {
			b = append(b, m.ofs...)
		}
		v := a.val(m)
		b = m.append(b, &v, m.ofmt)
	}
	b = append(b, m.ors...)
	m.buf = b
	return b
}

// append appends v as text; numbers that are not whole as format says.
func (m *machine) append(b []byte, v *value, format string) []byte {
	if v.k == num {
		return appendNumber(b, v.n, format)
	}
	return append(b, v.s...)
}

func (m *machine) str(v *value) string {
	if v.k == num {
		return m.numberText(v.n)
	}
	return v.s
}

func (m *machine) numberText(n float64) string {
	if i := int(n); float64(i) == n && i >= 0 && i < len(m.small) {
		if m.small[i] == "" {
			m.small[i] = strconv.Itoa(i)
		}
		return m.small[i]
	}
	return string(appendNumber(nil, n, m.convfmt))
}
