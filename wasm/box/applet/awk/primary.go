package awk

func (p *parser) primary() *expr {
	t := p.tok
	switch t.kind {
	case tNumber:
		p.next()
		return constant(number(t.n))
	case tString:
		p.next()
		return constant(str(t.text))
	case tRegex:
		p.next()
		r := &regex{src: t.text}
		e := boolean(func(m *machine) bool { return m.match(r, m.text()) })
		e.regex = r
		return e
	case "$":
		p.next()
		return fieldExpr(p.fieldNumber())
	case "++", "--":
		p.next()
		a := p.primary()
		if a.lv == nil {
			p.unexpected()
		}
		d := 1.0
		if t.kind == "--" {
			d = -1
		}
		return step(a.lv, d, false)
	case "!", "-", "+":
		return p.unary()
	case "(":
		return p.group()
	case tName:
		return p.name()
	case tCall:
		return p.call()
	case tBuiltin:
		return p.builtin()
	case "getline":
		p.next()
		lv := p.optionalLvalue()
		if p.accept("<") {
			return getline(lv, p.primary(), false)
		}
		return getline(lv, nil, false)
	}
	p.unexpected()
	return nil
}

// fieldNumber is what may stand behind a $ without parentheses.
func (p *parser) fieldNumber() *expr {
	switch k := p.tok.kind; k {
	case "-", "+", "!":
		return p.unary()
	}
	return p.primary()
}

// group is ( ... ): an expression, or the parts of a subscript before in.
func (p *parser) group() *expr {
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	p.next()
	p.newlines()
	e := p.expr()
	list := []*expr{e}
	for p.tok.kind == "," {
		p.next()
		p.newlines()
		list = append(list, p.expr())
	}
	p.newlines()
	p.noIn, p.noGT = noIn, noGT
	p.expect(")")
	if len(list) == 1 {
		g := *e
		g.first, g.list = nil, list // one in parentheses is no lvalue, but for $
		g.lv = nil
		if e.lv != nil && e.lv.field != nil {
			g.lv = e.lv
		}
		return &g
	}
	g := textual(nil)
	g.list = list
	if p.tok.kind == "in" && !p.noIn {
		p.next()
		return p.isIn(g)
	}
	g.val = func(m *machine) value { m.fatal("a list is no value"); return value{} }
	g.str = func(m *machine) string { g.val(m); return "" }
	return g
}

func (p *parser) name() *expr {
	v := p.variable(p.tok.text)
	p.next()
	if p.tok.kind != "[" {
		return variableExpr(v)
	}
	return elementExpr(v, p.subscript())
}

func (p *parser) subscript() *expr {
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	p.expect("[")
	parts := []*expr{p.expr()}
	for p.accept(",") {
		p.newlines()
		parts = append(parts, p.expr())
	}
	p.noIn, p.noGT = noIn, noGT
	if p.tok.kind == "]" {
		p.next()
		if p.tok.kind == "[" {
			p.fail("arrays of arrays are not supported")
		}
	} else {
		p.unexpected()
	}
	return subscript(parts)
}

// optionalLvalue is what getline reads into, nil for the record.
func (p *parser) optionalLvalue() *lvalue {
	switch p.tok.kind {
	case "$":
		p.next()
		return fieldExpr(p.fieldNumber()).lv
	case tName:
		return p.name().lv
	}
	return nil
}

// arguments parses ( ... ).
func (p *parser) arguments() []*expr {
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	p.expect("(")
	p.newlines()
	var args []*expr
	for p.tok.kind != ")" {
		args = append(args, p.expr())
		p.newlines()
		if !p.accept(",") {
			break
		}
		p.newlines()
	}
	p.noIn, p.noGT = noIn, noGT
	p.expect(")")
	return args
}

// maxDepth bounds calls inside calls.
const maxDepth = 10000

// call is a call of a function of the program.
func (p *parser) call() *expr {
	name := p.tok.text
	f := p.funcNamed(name)
	p.next()
	args := p.arguments()
	return general(func(m *machine) value {
		if !f.defined {
			m.fatal("function `" + name + "' not defined")
		}
		if len(args) > len(f.params) {
			m.fatal("function `" + name + "' called with more arguments than declared")
		}
		return m.call(f, args)
	})
}

func (m *machine) call(f *function, args []*expr) value {
	var frame []slot
	if n := len(f.free); n > 0 {
		frame, f.free = f.free[n-1], f.free[:n-1]
	} else {
		frame = make([]slot, len(f.params))
	}
	for i, a := range args {
		if l := a.lv; l != nil && l.v != nil && l.key == nil && l.v.magic == 0 {
			s := m.slot(l.v)
			frame[i].v, frame[i].arr = s.v, s.arr
			if s.arr == nil && s.v.k == unset {
				frame[i].from = s
			}
			continue
		}
		frame[i].v = a.val(m)
	}
	return m.enter(f, frame)
}

// enter runs a function over a frame that is filled.
func (m *machine) enter(f *function, frame []slot) value {
	if m.depth++; m.depth > maxDepth {
		m.fatal("function calls are nested too deep")
	}
	outer, result := m.frame, m.result
	m.frame, m.result = frame, value{}
	c := f.body(m)
	v := m.result
	m.frame, m.result = outer, result
	m.depth--
	clear(frame)
	f.free = append(f.free, frame)
	if c != ctlNone && c != ctlReturn { // next or exit
		panic(c)
	}
	return v
}
