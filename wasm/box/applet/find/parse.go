package find

import (
	"errors"
	"strconv"
)

// node is a part of the expression.
type node interface {
	eval(f *finder, e *entry) bool
}

type (
	andNode  struct{ l, r node }
	orNode   struct{ l, r node }
	listNode struct{ l, r node }
	notNode  struct{ n node }
	test     func(f *finder, e *entry) bool
)

func (n andNode) eval(f *finder, e *entry) bool { return n.l.eval(f, e) && !f.quit && n.r.eval(f, e) }
func (n orNode) eval(f *finder, e *entry) bool  { return n.l.eval(f, e) || !f.quit && n.r.eval(f, e) }
func (n notNode) eval(f *finder, e *entry) bool { return !n.n.eval(f, e) }
func (t test) eval(f *finder, e *entry) bool    { return t(f, e) }
func (n listNode) eval(f *finder, e *entry) bool {
	n.l.eval(f, e)
	return !f.quit && n.r.eval(f, e)
}

type parser struct {
	f     *finder
	args  []string
	pos   int
	depth int
	prev  string // the predicate before
}

const maxNesting = 500

func (p *parser) peek() string {
	if p.pos < len(p.args) {
		return p.args[p.pos]
	}
	return ""
}

func (p *parser) parse() (node, error) {
	for _, a := range p.args { // these count wherever they stand
		if a == "-follow" {
			p.f.follow = 'L'
		}
	}
	if len(p.args) == 0 {
		return test(printPath), nil
	}
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.args) {
		return nil, errors.New("you have too many ')'")
	}
	if !p.f.action {
		return andNode{n, test(printPath)}, nil
	}
	return n, nil
}

func (p *parser) list() (node, error) {
	l, err := p.or()
	for err == nil && p.peek() == "," && p.pos < len(p.args) {
		p.pos++
		if err = p.operand(","); err != nil {
			break
		}
		var r node
		if r, err = p.or(); err == nil {
			l = listNode{l, r}
		}
	}
	return l, err
}

// operand checks that something follows a binary operator.
func (p *parser) operand(op string) error {
	if p.pos >= len(p.args) {
		return errors.New("expected an expression after '" + op + "'")
	}
	return nil
}

func (p *parser) or() (node, error) {
	l, err := p.and()
	for err == nil && (p.peek() == "-o" || p.peek() == "-or") {
		op := p.peek()
		p.pos++
		if err = p.operand(op); err != nil {
			break
		}
		var r node
		if r, err = p.and(); err == nil {
			l = orNode{l, r}
		}
	}
	return l, err
}

func (p *parser) and() (node, error) {
	l, err := p.not()
	for err == nil && p.pos < len(p.args) {
		op := p.peek()
		switch op {
		case "-o", "-or", ",", ")":
			return l, nil
		case "-a", "-and":
			p.pos++
			if err = p.operand(op); err != nil {
				return nil, err
			}
		}
		var r node
		if r, err = p.not(); err == nil {
			l = andNode{l, r}
		}
	}
	return l, err
}

func (p *parser) not() (node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, errors.New("expression too deeply nested")
	}
	defer func() { p.depth-- }()
	op := p.peek()
	switch op {
	case "!", "-not":
		p.pos++
		if err := p.operand(op); err != nil {
			return nil, err
		}
		n, err := p.not()
		return notNode{n}, err
	case "(":
		p.pos++
		if p.pos >= len(p.args) {
			return nil, errors.New("invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate after '('")
		}
		if p.peek() == ")" {
			return nil, errors.New("invalid expression; empty parentheses are not allowed.")
		}
		n, err := p.list()
		if err != nil {
			return nil, err
		}
		if p.peek() != ")" || p.pos >= len(p.args) {
			return nil, errors.New("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
		}
		p.pos++
		return n, nil
	case "-o", "-or", "-a", "-and", ",":
		return nil, errors.New("invalid expression; you have used a binary operator '" + op + "' with nothing before it.")
	case ")":
		return nil, errors.New("invalid expression; you have too many ')'")
	}
	p.pos++
	n, err := p.primary(op)
	p.prev = op
	return n, err
}

// arg takes the argument of a predicate.
func (p *parser) arg(name string) (string, error) {
	if p.pos >= len(p.args) {
		return "", errors.New("missing argument to `" + name + "'")
	}
	p.pos++
	return p.args[p.pos-1], nil
}

// count is a numeric argument: N, +N or -N.
type count struct {
	sign byte
	n    int64
}

func parseCount(s string) (count, bool) {
	var c count
	if s != "" && (s[0] == '+' || s[0] == '-') {
		c.sign, s = s[0], s[1:]
	}
	n, err := strconv.ParseUint(s, 10, 62)
	c.n = int64(n)
	return c, err == nil
}

func (c count) holds(v int64) bool {
	switch c.sign {
	case '+':
		return v > c.n
	case '-':
		return v < c.n
	}
	return v == c.n
}
