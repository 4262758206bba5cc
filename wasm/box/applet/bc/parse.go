package bc

import "strings"

// An expr computes a value, a stmt does what it says and tells how it ended.
type (
	expr func(*machine) num
	stmt func(*machine) outcome
)

type outcome uint8

const (
	goesOn outcome = iota
	breaks
	continues
	returns
	halts
)

// A place is what can be assigned to: a variable, or an array's element when
// index is set.
type place struct {
	name  string
	index expr
}

// A syntaxError ends the reading of a line.
type syntaxError struct{ line int }

// A quit is met when the word is read, wherever it stands.
type quit struct{}

// A parser turns tokens into statements.
type parser struct {
	*lexer
	tok    token
	ahead  bool    // tok is read
	pushed []token // read too far, to be read again before the lexer goes on
	depth  int
	loops  int
	fn     bool
}

func (p *parser) peek() token {
	switch {
	case p.ahead:
	case len(p.pushed) > 0:
		p.tok, p.pushed, p.ahead = p.pushed[0], p.pushed[1:], true
	default:
		p.tok, p.ahead = p.lexer.next(), true
	}
	return p.tok
}

func (p *parser) take() token {
	t := p.peek()
	p.ahead = false
	return t
}

func (p *parser) has(text string) bool {
	if p.peek().is(text) {
		p.ahead = false
		return true
	}
	return false
}

func (p *parser) fail() { panic(syntaxError{p.line}) }

func (p *parser) want(text string) {
	if !p.has(text) {
		p.fail()
	}
}

func (p *parser) newlines() {
	for p.peek().kind == atNewline {
		p.ahead = false
	}
}

// nest bounds how deep the text nests: the parser and what it makes recurse.
func (p *parser) nest() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail()
	}
	return func() { p.depth-- }
}

// name takes a name that is no keyword.
func (p *parser) name() string {
	t := p.take()
	if t.kind != atName || keywords[t.text] {
		p.fail()
	}
	return t.text
}

var keywords = map[string]bool{
	"auto": true, "break": true, "continue": true, "define": true, "else": true, "for": true, "halt": true, "ibase": true,
	"if": true, "last": true, "length": true, "limits": true, "obase": true, "print": true, "quit": true, "read": true,
	"return": true, "scale": true, "sqrt": true, "void": true, "warranty": true, "while": true,
}

// statements reads them up to the end of the line.
func (p *parser) statements() []stmt {
	var list []stmt
	for {
		switch t := p.peek(); {
		case t.kind == atNewline:
			return list
		case t.kind == atEOF:
			p.fail() // as bc does: a last line without an end is none
		case t.is(";"):
			p.ahead = false
		default:
			list = append(list, p.statement())
			if t := p.peek(); !t.is(";") && t.kind != atNewline {
				p.fail()
			}
		}
	}
}

// define reads a function.
func (p *parser) define(m *machine) {
	f := &function{void: p.has("void")}
	name := p.name()
	p.want("(")
	if !p.has(")") {
		f.params = p.params()
		p.want(")")
	}
	p.newlines()
	p.want("{")
	p.newlines()
	if p.has("auto") {
		f.autos = p.params()
	}
	loops := p.loops
	p.loops, p.fn = 0, true
	f.body = p.block()
	p.loops, p.fn = loops, false
	m.funcs[name] = f
}

func (p *parser) params() []param {
	var list []param
	for {
		v := param{byRef: p.has("*") || p.has("&")}
		v.name = p.name()
		if p.has("[") {
			p.want("]")
			v.array = true
		}
		if v.byRef && !v.array {
			p.fail()
		}
		list = append(list, v)
		if !p.has(",") {
			return list
		}
	}
}

// block reads statements up to the closing brace.
func (p *parser) block() stmt {
	var list []stmt
	for !p.has("}") {
		switch t := p.peek(); {
		case t.kind == atEOF:
			p.fail()
		case t.kind == atNewline || t.is(";"):
			p.ahead = false
		default:
			list = append(list, p.statement())
			if t := p.peek(); !t.is(";") && !t.is("}") && t.kind != atNewline {
				p.fail()
			}
		}
	}
	return func(m *machine) outcome {
		for _, s := range list {
			if o := s(m); o != goesOn {
				return o
			}
		}
		return goesOn
	}
}

func (p *parser) statement() stmt {
	defer p.nest()()
	t := p.peek()
	if t.kind == atString {
		p.ahead = false
		return func(m *machine) outcome { m.write(t.text); return goesOn }
	}
	if t.is("{") || t.kind == atName && keywords[t.text] {
		if s := p.keyword(t); s != nil {
			return s
		}
	}
	e, assigns, void := p.expression()
	return func(m *machine) outcome {
		v := e(m)
		if !assigns && !void(m) {
			m.last = v
			m.write(v.format(m.obase) + "\n")
		}
		return goesOn
	}
}

// keyword reads a statement that starts with a word of its own; nil when the
// word starts an expression.
func (p *parser) keyword(t token) stmt {
	end := func(o outcome) stmt { return func(*machine) outcome { return o } }
	p.ahead = false
	switch t.text {
	case "{":
		return p.block()
	case "quit":
		panic(quit{})
	case "halt":
		return end(halts)
	case "break":
		if p.loops == 0 {
			p.fail()
		}
		return end(breaks)
	case "continue":
		if p.loops == 0 {
			p.fail()
		}
		return end(continues)
	case "return":
		return p.returned()
	case "print":
		return p.print()
	case "if":
		return p.condition()
	case "while":
		p.want("(")
		test := p.value()
		p.want(")")
		return loop(nil, test, nil, p.body())
	case "for":
		return p.counted()
	case "limits":
		return func(m *machine) outcome {
			m.write("BC_BASE_MAX     = 2147483647\nBC_DIM_MAX      = 2147483647\nBC_SCALE_MAX    = 1048576\nBC_STRING_MAX   = 2147483647\nMAX Exponent    = 67108864\nNumber of vars  = 32767\n")
			return goesOn
		}
	case "warranty":
		return func(m *machine) outcome { m.write("\nThere is no warranty for this program.\n\n"); return goesOn }
	}
	p.ahead = true
	return nil
}

func (p *parser) returned() stmt {
	if !p.fn {
		p.fail()
	}
	t := p.peek()
	if t.kind == atNewline || t.is(";") || t.is("}") {
		return func(m *machine) outcome { m.result = numZero; return returns }
	}
	e := p.value()
	return func(m *machine) outcome { m.result = e(m); return returns }
}

func (p *parser) print() stmt {
	var list []stmt
	for {
		if t := p.peek(); t.kind == atString {
			p.ahead = false
			text := unescape(t.text)
			list = append(list, func(m *machine) outcome { m.write(text); return goesOn })
		} else {
			e := p.value()
			list = append(list, func(m *machine) outcome {
				m.last = e(m)
				m.write(m.last.format(m.obase))
				return goesOn
			})
		}
		if !p.has(",") {
			break
		}
	}
	return func(m *machine) outcome {
		for _, s := range list {
			s(m)
		}
		return goesOn
	}
}

func unescape(s string) string {
	return strings.NewReplacer(`\a`, "\a", `\b`, "\b", `\f`, "\f", `\n`, "\n", `\r`, "\r", `\q`, `"`, `\t`, "\t", `\\`, `\`, `\e`, `\`).Replace(s)
}

func (p *parser) condition() stmt {
	p.want("(")
	test := p.value()
	p.want(")")
	p.newlines()
	yes := p.statement()
	var no stmt
	if p.has("else") {
		p.newlines()
		no = p.statement()
	}
	return func(m *machine) outcome {
		if !test(m).isZero() {
			return yes(m)
		}
		if no != nil {
			return no(m)
		}
		return goesOn
	}
}

func (p *parser) counted() stmt {
	part := func(end string) (e expr) {
		if !p.peek().is(end) {
			e = p.value()
		}
		p.want(end)
		return e
	}
	p.want("(")
	start, test, step := part(";"), part(";"), part(")")
	return loop(start, test, step, p.body())
}

func (p *parser) body() stmt {
	p.newlines()
	p.loops++
	s := p.statement()
	p.loops--
	return s
}

// loop runs body while test holds. A nil part is left out.
func loop(start, test, step expr, body stmt) stmt {
	return func(m *machine) outcome {
		if start != nil {
			start(m)
		}
		for test == nil || !test(m).isZero() {
			switch o := body(m); o {
			case breaks:
				return goesOn
			case returns, halts:
				return o
			}
			if step != nil {
				step(m)
			}
		}
		return goesOn
	}
}
