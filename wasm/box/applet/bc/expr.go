package bc

// value reads an expression.
func (p *parser) value() expr {
	e, _, _ := p.expression()
	return e
}

// An operand is an expression with what the statement around it must know.
type operand struct {
	expr
	at      *place // it can be assigned to
	assigns bool   // it is an assignment as a whole, which is not printed
	call    string // the function, when it is a call as a whole
}

// expression reads one. A statement prints its value unless it assigns, or
// void says that it has none.
func (p *parser) expression() (e expr, assigns bool, void func(*machine) bool) {
	o := p.or()
	return o.expr, o.assigns, func(m *machine) bool {
		f := m.funcs[o.call]
		return o.call != "" && f != nil && f.void
	}
}

func (p *parser) or() operand {
	defer p.nest()()
	a := p.and()
	for p.has("||") {
		x, y := a.expr, p.and().expr
		a = operand{expr: func(m *machine) num {
			l, r := x(m), y(m) // bc computes both sides
			return fromBool(!l.isZero() || !r.isZero())
		}}
	}
	return a
}

func (p *parser) and() operand {
	a := p.not()
	for p.has("&&") {
		x, y := a.expr, p.not().expr
		a = operand{expr: func(m *machine) num {
			l, r := x(m), y(m)
			return fromBool(!l.isZero() && !r.isZero())
		}}
	}
	return a
}

func (p *parser) not() operand {
	if p.has("!") {
		defer p.nest()()
		x := p.not().expr
		return operand{expr: func(m *machine) num { return fromBool(x(m).isZero()) }}
	}
	return p.relation()
}

// chain reads operators of one rank, which associate to the left.
func (p *parser) chain(next func() operand, ops ...string) operand {
	a := next()
	for {
		op := ""
		for _, o := range ops {
			if p.has(o) {
				op = o
				break
			}
		}
		if op == "" {
			return a
		}
		x, y := a.expr, next().expr
		a = operand{expr: func(m *machine) num {
			l := x(m)
			return m.binary(op, l, y(m))
		}}
	}
}

func (p *parser) relation() operand {
	return p.chain(p.assignment, "==", "!=", "<=", ">=", "<", ">")
}

func (p *parser) assignment() operand {
	a := p.sum()
	t := p.peek()
	if t.kind != atOp || a.at == nil {
		return a
	}
	switch t.text {
	case "=", "+=", "-=", "*=", "/=", "%=", "^=":
	default:
		return a
	}
	p.ahead = false
	defer p.nest()()
	at, op, right := *a.at, t.text[:len(t.text)-1], p.assignment().expr
	return operand{assigns: true, expr: func(m *machine) num {
		return at.change(m, func(old num) (num, num) {
			v := right(m)
			if op != "" {
				v = m.binary(op, old, v)
			}
			return v, v
		})
	}}
}

// change puts the first result of f where the place is and returns the second.
func (at place) change(m *machine, f func(old num) (put, value num)) num {
	if at.index == nil {
		put, value := f(m.get(at.name))
		m.set(at.name, put)
		if keywords[at.name] {
			return m.get(at.name) // what bc made of it
		}
		return value
	}
	_, i := m.element(at.name, at.index(m))
	a, _ := m.element(at.name, numZero)
	old, ok := a[i]
	if !ok {
		old = numZero
	}
	put, value := f(old)
	a[i] = put
	return value
}

func (p *parser) sum() operand { return p.chain(p.product, "+", "-") }

func (p *parser) product() operand { return p.chain(p.power, "*", "/", "%") }

// power associates to the right and binds less than a sign: -2^2 is 4.
func (p *parser) power() operand {
	a := p.signed()
	if !p.has("^") {
		return a
	}
	defer p.nest()()
	x, y := a.expr, p.power().expr
	return operand{expr: func(m *machine) num {
		l := x(m)
		return m.power(l, y(m))
	}}
}

func (p *parser) signed() operand {
	if p.has("-") {
		defer p.nest()()
		x := p.signed().expr
		return operand{expr: func(m *machine) num { return x(m).neg() }}
	}
	for _, op := range []string{"++", "--"} {
		if p.has(op) {
			a := p.primary()
			if a.at == nil {
				p.fail()
			}
			return operand{expr: a.at.step(op, true)}
		}
	}
	a := p.primary()
	for _, op := range []string{"++", "--"} {
		if a.at != nil && p.has(op) {
			return operand{expr: a.at.step(op, false)}
		}
	}
	return a
}

// step adds or takes one; the value is the new one if first.
func (at place) step(op string, first bool) expr {
	return func(m *machine) num {
		return at.change(m, func(old num) (num, num) {
			v := m.binary(op[:1], old, numOne)
			if first {
				return v, v
			}
			return v, old
		})
	}
}

func (p *parser) primary() operand {
	t := p.take()
	switch {
	case t.kind == atNumber:
		return operand{expr: constant(t.text)}
	case t.is("("):
		defer p.nest()()
		o := operand{expr: p.or().expr}
		p.want(")")
		return o
	case t.kind != atName:
		p.fail()
	}
	switch t.text {
	case "length", "sqrt":
		p.want("(")
		e := p.value()
		p.want(")")
		return operand{expr: measured(t.text, e)}
	case "read":
		p.want("(")
		p.want(")")
		return operand{expr: func(m *machine) num { return m.read() }}
	case "scale":
		if p.has("(") {
			e := p.value()
			p.want(")")
			return operand{expr: measured(t.text, e)}
		}
	}
	if keywords[t.text] && t.text != "scale" && t.text != "ibase" && t.text != "obase" && t.text != "last" {
		p.fail()
	}
	if !keywords[t.text] {
		switch {
		case p.has("("):
			return p.calling(t.text)
		case p.has("["):
			at := &place{t.text, p.value()}
			p.want("]")
			return operand{at: at, expr: func(m *machine) num {
				a, i := m.element(at.name, at.index(m))
				if v, ok := a[i]; ok {
					return v
				}
				return numZero
			}}
		}
	}
	return operand{at: &place{name: t.text}, expr: func(m *machine) num { return m.get(t.text) }}
}

// constant is a number of the text, in the base of the moment it is used.
func constant(text string) expr {
	base, v := 0, numZero
	return func(m *machine) num {
		if base != m.ibase {
			base, v = m.ibase, parseNum(text, m.ibase)
		}
		return v
	}
}

func measured(what string, e expr) expr {
	return func(m *machine) num {
		v := e(m)
		switch {
		case what == "length":
			return fromInt(int64(v.digits()))
		case what == "scale":
			return fromInt(int64(v.scale))
		case v.v.Sign() < 0:
			fail("Square root of a negative number")
		}
		return v.sqrt(m.scale)
	}
}

// calling reads the arguments of a call.
func (p *parser) calling(name string) operand {
	defer p.nest()()
	var args []arg
	if !p.has(")") {
		for {
			args = append(args, p.argument())
			if p.has(")") {
				break
			}
			p.want(",")
		}
	}
	return operand{call: name, expr: func(m *machine) num { return m.call(name, args) }}
}

// argument reads an expression, or name[] for a whole array.
func (p *parser) argument() arg {
	t := p.peek()
	if t.kind != atName || keywords[t.text] {
		return arg{value: p.value()}
	}
	// Whether [] follows is seen only after the name: the lexer is asked to
	// keep the bracket when it is an index.
	p.ahead = false
	if p.peek().is("[") {
		p.ahead = false
		if p.has("]") {
			return arg{array: t.text}
		}
		p.pushed = append(p.pushed, token{atOp, "["}, p.take())
	} else {
		p.pushed = append(p.pushed, p.take())
	}
	p.tok, p.ahead = t, true
	return arg{value: p.value()}
}

// read takes one number from the input, 0 at its end.
func (m *machine) read() num {
	negative := false
	for m.in != nil {
		switch t := m.in.next(); {
		case t.is("-"):
			negative = !negative
		case t.kind == atNumber:
			v := parseNum(t.text, m.ibase)
			if negative {
				v = v.neg()
			}
			return v
		case t.kind == atEOF:
			return numZero
		}
	}
	return numZero
}
