package awk

import (
	"strings"
)

// program is what is to run.
type program struct {
	begin, end, beginFile, endFile []stmt
	rules                          []*rule
	globals                        []string
}

// rule is a pattern with its action.
type rule struct {
	from, to *expr // to is nil but for ranges
	on       bool
	body     stmt
}

type function struct {
	name    string
	params  []string
	body    stmt
	defined bool
	pos     int
	free    [][]slot // frames for later calls
}

type parser struct {
	lexer
	prog     *program
	globals  map[string]*variable
	locals   map[string]*variable // of the function being parsed
	funcs    map[string]*function
	current  *function
	action   string // what the block being parsed belongs to: BEGIN, END and the like
	loops    int
	noIn     bool // in the head of a for
	noGT     bool // in print, where > redirects
	warnings []string
	builtins map[string]*builder
}

// syntaxError is what is wrong with the program, and where.
type syntaxError struct {
	pos int
	msg string
}

func (p *parser) fail(msg string) { panic(&syntaxError{p.tok.pos, msg}) }

func (p *parser) warn(msg string) {
	for _, w := range p.warnings {
		if strings.HasSuffix(w, msg) {
			return
		}
	}
	p.warnings = append(p.warnings, "cmd. line:"+itoa(1+strings.Count(p.src[:min(p.pos, len(p.src))], "\n"))+": warning: "+msg)
}

func (p *parser) unexpected() {
	switch k := p.tok.kind; k {
	case tEOF, tNewline:
		p.fail("unexpected newline or end of string")
	default:
		p.fail("syntax error")
	}
}

func (p *parser) expect(kind string) {
	if p.tok.kind != kind {
		p.unexpected()
	}
	p.next()
}

func (p *parser) accept(kind string) bool {
	if p.tok.kind == kind {
		p.next()
		return true
	}
	return false
}

func (p *parser) newlines() {
	for p.tok.kind == tNewline {
		p.next()
	}
}

// parse turns the source into a program.
func parse(src string) (p *parser, err *syntaxError) {
	p = &parser{lexer: lexer{src: src}, prog: &program{}, globals: map[string]*variable{}, funcs: map[string]*function{}, builtins: builtins()}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*syntaxError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	for i, name := range magicNames {
		p.global(name).magic = magic(i)
	}
	p.next()
	for {
		for p.tok.kind == tNewline || p.tok.kind == ";" {
			p.next()
		}
		if p.tok.kind == tEOF {
			break
		}
		p.item()
	}
	return p, nil
}

func (p *parser) item() {
	switch p.tok.kind {
	case "BEGIN", "END", "BEGINFILE", "ENDFILE":
		kind := p.tok.kind
		p.next()
		if p.tok.kind != "{" {
			p.unexpected()
		}
		p.action = kind
		body := p.block()
		p.action = ""
		switch kind {
		case "BEGIN":
			p.prog.begin = append(p.prog.begin, body)
		case "END":
			p.prog.end = append(p.prog.end, body)
		case "BEGINFILE":
			p.prog.beginFile = append(p.prog.beginFile, body)
		default:
			p.prog.endFile = append(p.prog.endFile, body)
		}
	case "function":
		p.function()
		return
	case "{":
		p.prog.rules = append(p.prog.rules, &rule{body: p.block()})
	case "@":
		p.fail("@ (include, load, indirect calls) is not supported")
	default:
		r := &rule{from: p.expr()}
		if p.accept(",") {
			p.newlines()
			r.to = p.expr()
		}
		if p.tok.kind == "{" {
			r.body = p.block()
		} else {
			r.body = printRecord
		}
		p.prog.rules = append(p.prog.rules, r)
	}
	switch p.tok.kind {
	case tNewline, ";", tEOF:
	case "BEGIN", "END", "function", "{", "BEGINFILE", "ENDFILE", tRegex, tName, tBuiltin, tCall, tNumber, tString, "$", "!", "(", "-":
	default:
		p.unexpected()
	}
}

func (p *parser) function() {
	p.next()
	name := p.tok.text
	if p.tok.kind != tName && p.tok.kind != tCall {
		p.unexpected()
	}
	f := p.funcNamed(name)
	if f.defined {
		p.fail("function name `" + name + "' previously defined")
	}
	p.next()
	p.expect("(")
	p.locals = map[string]*variable{}
	p.newlines()
	for p.tok.kind != ")" {
		if p.tok.kind != tName {
			p.unexpected()
		}
		p.locals[p.tok.text] = &variable{name: p.tok.text, index: len(f.params), local: true}
		f.params = append(f.params, p.tok.text)
		p.next()
		p.newlines()
		if !p.accept(",") {
			break
		}
		p.newlines()
	}
	p.expect(")")
	p.newlines()
	f.defined, p.current = true, f
	if p.tok.kind != "{" {
		p.unexpected()
	}
	f.body = p.block()
	p.locals, p.current = nil, nil
}

func (p *parser) funcNamed(name string) *function {
	f := p.funcs[name]
	if f == nil {
		f = &function{name: name, pos: p.tok.pos}
		p.funcs[name] = f
	}
	return f
}

func (p *parser) global(name string) *variable {
	v := p.globals[name]
	if v == nil {
		v = &variable{name: name, index: len(p.prog.globals)}
		p.globals[name] = v
		p.prog.globals = append(p.prog.globals, name)
	}
	return v
}

func (p *parser) variable(name string) *variable {
	if v := p.locals[name]; v != nil {
		return v
	}
	return p.global(name)
}

// expr parses any expression.
func (p *parser) expr() *expr { return p.ternary() }

func (p *parser) ternary() *expr {
	c := p.or()
	if p.tok.kind != "?" {
		return c
	}
	p.next()
	p.newlines()
	a := p.ternary()
	p.newlines()
	p.expect(":")
	p.newlines()
	return choose(c, a, p.ternary())
}

func (p *parser) or() *expr {
	a := p.and()
	for p.accept("||") {
		p.newlines()
		x, y := a.cond, p.and().cond
		a = boolean(func(m *machine) bool { return x(m) || y(m) })
	}
	return a
}

func (p *parser) and() *expr {
	a := p.in()
	for p.accept("&&") {
		p.newlines()
		x, y := a.cond, p.in().cond
		a = boolean(func(m *machine) bool { return x(m) && y(m) })
	}
	return a
}

func (p *parser) in() *expr {
	a := p.match()
	for !p.noIn && p.tok.kind == "in" {
		p.next()
		a = p.isIn(a)
	}
	return a
}

func (p *parser) isIn(key *expr) *expr {
	if p.tok.kind != tName {
		p.unexpected()
	}
	v := p.variable(p.tok.text)
	p.next()
	parts := key.list
	if parts == nil {
		parts = []*expr{key}
	}
	k := subscript(parts).str
	return boolean(func(m *machine) bool { key := k(m); return m.array(v).m[key] != nil })
}

func (p *parser) match() *expr {
	a := p.comparison()
	for p.tok.kind == "~" || p.tok.kind == "!~" {
		not := p.tok.kind == "!~"
		p.next()
		a = matches(a, p.comparison(), not)
	}
	return a
}

func (p *parser) comparison() *expr {
	a := p.piped()
	switch k := p.tok.kind; k {
	case "<", "<=", "==", "!=", ">", ">=":
		if k == ">" && p.noGT {
			return a
		}
		p.next()
		return compare(k, a, p.piped())
	}
	return a
}

// piped is a command | getline.
func (p *parser) piped() *expr {
	a := p.concatenation()
	for p.tok.kind == "|" || p.tok.kind == "|&" {
		before := p.lexer
		if p.tok.kind == "|&" {
			p.fail("|& (a coprocess) is not supported")
		}
		p.next()
		if p.tok.kind != "getline" {
			p.lexer = before
			break
		}
		p.next()
		a = getline(p.optionalLvalue(), a, true)
	}
	return a
}

func (p *parser) concatenation() *expr {
	a := p.additive()
	for {
		switch p.tok.kind {
		case tName, tCall, tNumber, tString, tRegex, tBuiltin, "$", "!", "(", "++", "--":
		default:
			return a
		}
		if p.tok.kind == "in" {
			return a
		}
		a = concat(a, p.additive())
	}
}

func (p *parser) additive() *expr {
	a := p.multiplicative()
	for p.tok.kind == "+" || p.tok.kind == "-" {
		op := p.tok.kind[0]
		p.next()
		a = binary(op, a, p.multiplicative())
	}
	return a
}

func (p *parser) multiplicative() *expr {
	a := p.unary()
	for p.tok.kind == "*" || p.tok.kind == "/" || p.tok.kind == "%" {
		op := p.tok.kind[0]
		p.next()
		a = binary(op, a, p.unary())
	}
	return a
}

func (p *parser) unary() *expr {
	switch p.tok.kind {
	case "!":
		p.next()
		x := p.unary().cond
		return boolean(func(m *machine) bool { return !x(m) })
	case "-":
		p.next()
		x := p.unary().num
		return numeric(func(m *machine) float64 { return -x(m) })
	case "+":
		p.next()
		return numeric(p.unary().num)
	}
	return p.power()
}

func (p *parser) power() *expr {
	a := p.postfix()
	if p.tok.kind != "^" {
		return a
	}
	p.next()
	var b *expr
	if k := p.tok.kind; k == "-" || k == "+" || k == "!" {
		b = p.unary()
	} else {
		b = p.power()
	}
	return binary('^', a, b)
}

func (p *parser) postfix() *expr {
	a := p.primary()
	if a.lv == nil {
		return a
	}
	switch k := p.tok.kind; k {
	case "++", "--":
		p.next()
		d := 1.0
		if k == "--" {
			d = -1
		}
		return step(a.lv, d, true)
	case "=":
		p.next()
		p.newlines()
		return assign(a.lv, p.assigned())
	case "+=", "-=", "*=", "/=", "%=", "^=":
		p.next()
		p.newlines()
		return compound(a.lv, k[0], p.assigned())
	}
	return a
}

// assigned is the right side of an assignment.
func (p *parser) assigned() *expr { return p.ternary() }
