package awk

import "math"

// expr is an expression in four forms; who needs a number asks for one, so
// that no value is made in between.
type expr struct {
	num  func(*machine) float64
	str  func(*machine) string
	val  func(*machine) value
	cond func(*machine) bool

	lv    *lvalue   // where it can be assigned to
	list  []*expr   // of (a, b)
	regex *regex    // of a literal
	first *variable // of a concatenation that begins with a variable
	rest  *expr
}

func numeric(f func(*machine) float64) *expr {
	return &expr{
		num:  f,
		str:  func(m *machine) string { n := f(m); return m.numberText(n) },
		val:  func(m *machine) value { return number(f(m)) },
		cond: func(m *machine) bool { return f(m) != 0 },
	}
}

func textual(f func(*machine) string) *expr {
	return &expr{
		num:  func(m *machine) float64 { n, _ := parseNumber(f(m)); return n },
		str:  f,
		val:  func(m *machine) value { return str(f(m)) },
		cond: func(m *machine) bool { return f(m) != "" },
	}
}

func boolean(f func(*machine) bool) *expr {
	e := numeric(func(m *machine) float64 {
		if f(m) {
			return 1
		}
		return 0
	})
	e.cond = f
	return e
}

func general(f func(*machine) value) *expr {
	return &expr{
		num:  func(m *machine) float64 { v := f(m); return v.num() },
		str:  func(m *machine) string { v := f(m); return m.str(&v) },
		val:  f,
		cond: func(m *machine) bool { v := f(m); return v.truth() },
	}
}

func constant(v value) *expr {
	if v.k == num {
		n := v.n
		return numeric(func(*machine) float64 { return n })
	}
	return textual(func(*machine) string { return v.s })
}

// variable is a name: global, or local to a function.
type variable struct {
	name  string
	index int
	local bool
	magic magic
}

// slot holds a variable: a scalar or an array. from is the caller's variable
// that becomes an array with a parameter.
type slot struct {
	v    value
	arr  *array
	from *slot
}

func (m *machine) slot(v *variable) *slot {
	if v.local {
		return &m.frame[v.index]
	}
	return &m.globals[v.index]
}

func (m *machine) array(v *variable) *array {
	s := m.slot(v)
	if s.arr == nil {
		m.makeArray(s, v.name)
	}
	return s.arr
}

func (m *machine) makeArray(s *slot, name string) {
	if s.v.k != unset {
		m.fatal("attempt to use scalar `" + name + "' as an array")
	}
	if s.from != nil {
		if s.from.arr == nil {
			m.makeArray(s.from, name)
		}
		s.arr = s.from.arr
		return
	}
	s.arr = newArray()
}

// lvalue is what can be assigned to: a variable, an element or a field.
type lvalue struct {
	v     *variable
	key   *expr // of an element of v
	field *expr
}

func (l *lvalue) get(m *machine) value {
	switch {
	case l.field != nil:
		return m.field(fieldIndex(l.field.num(m)))
	case l.key != nil:
		a := m.array(l.v)
		return *a.at(l.key.str(m))
	case l.v.magic != 0:
		return m.getMagic(l.v)
	}
	s := m.slot(l.v)
	if s.arr != nil {
		m.fatal("attempt to use array `" + l.v.name + "' in a scalar context")
	}
	return s.v
}

func fieldIndex(n float64) int {
	if n > math.MaxInt32 || n < math.MinInt32 || n != n {
		return -1
	}
	return int(n)
}

// place is an lvalue with its subscript or field number known.
type place struct {
	l *lvalue
	p *value // nil for fields and magic variables
	i int
}

func (l *lvalue) place(m *machine) place {
	switch {
	case l.field != nil:
		return place{l: l, i: fieldIndex(l.field.num(m))}
	case l.key != nil:
		a := m.array(l.v)
		return place{l: l, p: a.at(l.key.str(m))}
	case l.v.magic != 0:
		return place{l: l}
	}
	s := m.slot(l.v)
	if s.arr != nil {
		m.fatal("attempt to use array `" + l.v.name + "' in a scalar context")
	}
	return place{l: l, p: &s.v}
}

func (p *place) get(m *machine) value {
	switch {
	case p.p != nil:
		return *p.p
	case p.l.field != nil:
		return m.field(p.i)
	}
	return m.getMagic(p.l.v)
}

func (p *place) set(m *machine, v value) {
	switch {
	case p.p != nil:
		if p.l.key != nil && v.k == input {
			v.s = own(v.s)
		}
		*p.p = v
	case p.l.field != nil:
		m.setField(p.i, v)
	default:
		m.setMagic(p.l.v, v)
	}
}

// own copies a short part of what was read: it would keep all of that.
func own(s string) string {
	if len(s) < 1024 {
		return string(append([]byte(nil), s...))
	}
	return s
}

func variableExpr(v *variable) *expr {
	l := &lvalue{v: v}
	e := general(l.get)
	e.lv = l
	if v.magic == magicNR || v.magic == magicFNR || v.magic == magicNF {
		e.num = func(m *machine) float64 { return m.counter(v.magic) }
		e.cond = func(m *machine) bool { return m.counter(v.magic) != 0 }
	}
	return e
}

func elementExpr(v *variable, key *expr) *expr {
	l := &lvalue{v: v, key: key}
	e := general(l.get)
	e.lv = l
	return e
}

func fieldExpr(i *expr) *expr {
	l := &lvalue{field: i}
	e := general(l.get)
	e.lv = l
	return e
}

// subscript joins the parts of a key.
func subscript(parts []*expr) *expr {
	if len(parts) == 1 {
		e := *parts[0]
		e.str = func(m *machine) string { // numbers as keys are whole or as CONVFMT says
			v := parts[0].val(m)
			return m.str(&v)
		}
		return &e
	}
	return textual(func(m *machine) string {
		var b []byte
		for i, p := range parts {
			if i > 0 {
				b = append(b, m.subsep...)
			}
			b = append(b, p.str(m)...)
		}
		return string(b)
	})
}

func assign(l *lvalue, rhs *expr) *expr {
	if rhs.first != nil && l.v == rhs.first && l.key == nil && l.v.magic == 0 {
		return appendTo(l, rhs)
	}
	return general(func(m *machine) value {
		v := rhs.val(m)
		p := l.place(m)
		p.set(m, v)
		return v
	})
}

// appendTo is v = v rest. The text grows in place: what stands behind it in
// its memory is nobody else's, so that a loop of such takes linear time.
func appendTo(l *lvalue, rhs *expr) *expr {
	var own []byte
	return general(func(m *machine) value {
		s := m.slot(l.v)
		if s.v.k != text || len(own) != len(s.v.s) || len(own) == 0 || &own[0] != &bytesOf(s.v.s)[0] {
			v := rhs.val(m)
			p := l.place(m)
			own = append(make([]byte, 0, 2*len(v.s)), v.s...)
			v.s = stringOf(own)
			p.set(m, v)
			return v
		}
		tail := rhs.rest.str(m)
		if s = m.slot(l.v); len(own) != len(s.v.s) || &own[0] != &bytesOf(s.v.s)[0] {
			own = nil // the tail has changed the variable
			v := str(m.str(&s.v) + tail)
			s.v = v
			return v
		}
		own = append(own, tail...)
		s.v.s = stringOf(own)
		return s.v
	})
}

func apply(m *machine, op byte, a, b float64) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		if b == 0 {
			m.fatal("division by zero attempted")
		}
		return a / b
	case '%':
		if b == 0 {
			m.fatal("division by zero attempted in `%'")
		}
		return invalid(math.Mod(a, b))
	}
	return invalid(power(a, b))
}

func power(a, b float64) float64 {
	if b == math.Trunc(b) && math.Abs(b) < 1024 {
		n, r := int(math.Abs(b)), 1.0
		for x := a; n > 0; n >>= 1 {
			if n&1 != 0 {
				r *= x
			}
			x *= x
		}
		if b < 0 {
			return 1 / r
		}
		return r
	}
	return math.Pow(a, b)
}

func compound(l *lvalue, op byte, rhs *expr) *expr {
	return numeric(func(m *machine) float64 {
		n := rhs.num(m)
		p := l.place(m)
		v := p.get(m)
		n = apply(m, op, v.num(), n)
		p.set(m, number(n))
		return n
	})
}

// step is ++ and --: by d, before the value is taken or after.
func step(l *lvalue, d float64, after bool) *expr {
	return numeric(func(m *machine) float64 {
		p := l.place(m)
		v := p.get(m)
		n := v.num()
		p.set(m, number(n+d))
		if after {
			return n
		}
		return n + d
	})
}

func binary(op byte, a, b *expr) *expr {
	x, y := a.num, b.num
	switch op {
	case '+':
		return numeric(func(m *machine) float64 { return x(m) + y(m) })
	case '-':
		return numeric(func(m *machine) float64 { return x(m) - y(m) })
	case '*':
		return numeric(func(m *machine) float64 { return x(m) * y(m) })
	}
	return numeric(func(m *machine) float64 { n := x(m); return apply(m, op, n, y(m)) })
}

func concat(a, b *expr) *expr {
	x, y := a.str, b.str
	e := textual(func(m *machine) string { s := x(m); return s + y(m) })
	switch {
	case a.lv != nil && a.lv.v != nil && a.lv.key == nil:
		e.first, e.rest = a.lv.v, b
	case a.first != nil:
		e.first, e.rest = a.first, concat(a.rest, b)
	}
	return e
}

func compare(op string, a, b *expr) *expr {
	return boolean(func(m *machine) bool {
		x, y := a.val(m), b.val(m)
		c := m.compare(&x, &y)
		switch op {
		case "<":
			return c == -1
		case "<=":
			return c == -1 || c == 0
		case "==":
			return c == 0
		case "!=":
			return c != 0
		case ">":
			return c == 1
		}
		return c == 1 || c == 0
	})
}

func matches(a *expr, re *expr, not bool) *expr {
	s := a.str
	if r := re.regex; r != nil {
		return boolean(func(m *machine) bool { return m.match(r, s(m)) != not })
	}
	return boolean(func(m *machine) bool {
		text := s(m)
		return m.match(m.dynamic(re.str(m)), text) != not
	})
}

func choose(c, a, b *expr) *expr {
	return &expr{
		num: func(m *machine) float64 {
			if c.cond(m) {
				return a.num(m)
			}
			return b.num(m)
		},
		str: func(m *machine) string {
			if c.cond(m) {
				return a.str(m)
			}
			return b.str(m)
		},
		val: func(m *machine) value {
			if c.cond(m) {
				return a.val(m)
			}
			return b.val(m)
		},
		cond: func(m *machine) bool {
			if c.cond(m) {
				return a.cond(m)
			}
			return b.cond(m)
		},
	}
}

// pattern returns the expression of a regular expression that is the second
// operand of ~ or an argument that is one.
func (m *machine) pattern(e *expr) *regex {
	if e.regex != nil {
		return e.regex
	}
	return m.dynamic(e.str(m))
}
