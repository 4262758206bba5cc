package shell

import (
	"strconv"
	"strings"
)

// An arithEnv is what an expression is evaluated in.
type arithEnv struct {
	sh    *shell
	holes []int64
	text  []string
}

// arith evaluates an expression of the source.
func (sh *shell) arith(a *arith) int64 {
	sh.tick()
	if a.empty {
		return 0
	}
	if a.node != nil && a.holes == 0 {
		return a.node.eval(&arithEnv{sh: sh})
	}
	if a.node == nil {
		return sh.arithString(sh.text(a.parts))
	}
	var vals [8]int64
	env := arithEnv{sh: sh, holes: vals[:0]}
	plain := true
	for _, p := range a.parts {
		if _, ok := p.(*quotedPart); ok {
			continue
		}
		s := sh.text([]part{p})
		env.text = append(env.text, s)
		n, ok := int64(0), false
		if len(s) > 0 && s[0] >= '0' && s[0] <= '9' && (len(s) == 1 || s[0] != '0') {
			n, ok = atoi(s)
		}
		plain = plain && ok
		env.holes = append(env.holes, n)
	}
	if plain {
		return a.node.eval(&env)
	}
	var b strings.Builder
	k := 0
	for _, p := range a.parts {
		if q, ok := p.(*quotedPart); ok {
			b.WriteString(q.s)
			continue
		}
		b.WriteString(env.text[k])
		k++
	}
	return sh.arithString(b.String())
}

// arithString evaluates text that is known only now. The text may hold
// values: nothing in it is expanded again or run.
func (sh *shell) arithString(s string) int64 {
	if n, ok := decimal(s); ok {
		return n
	}
	if sh.arithDepth++; sh.arithDepth > sh.run.lim.Recursion {
		sh.arithDepth = 0
		failf(errDiscard, 1, "%.60s: expression recursion level exceeded (error token is \"%.60s\")", s, s)
	}
	n := sh.parseArith(s).eval(&arithEnv{sh: sh})
	sh.arithDepth--
	return n
}

// decimal is the fast way for values that are plain numbers.
func decimal(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	if digits := strings.TrimPrefix(s, "-"); digits == "" || digits[0] == '+' || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	return atoi(s)
}

func (n *arithNum) eval(*arithEnv) int64    { return n.v }
func (n *arithHole) eval(e *arithEnv) int64 { return e.holes[n.i] }

func (n *arithVar) eval(e *arithEnv) int64 {
	sh := e.sh
	s, ok := sh.getSet(n.name)
	if !ok && sh.opts.has(optNounset) {
		sh.unbound(n.name)
	}
	return sh.arithString(s)
}

func (n *arithElem) key(e *arithEnv) string {
	s := n.raw
	if strings.IndexByte(s, holeMark) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == holeMark {
			b.WriteString(e.text[int(s[i+1])-1])
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// where finds the element: a key of an associative array, or an index.
func (n *arithElem) where(e *arithEnv) (name, key string, idx int64, isKey bool) {
	sh := e.sh
	name = sh.resolved(n.name)
	if v := sh.lookup(name); v.has(attrAssoc) {
		return name, sh.valueSubscript(n.key(e)).key.lit, 0, true
	}
	if n.err != nil {
		throw(n.err)
	}
	if n.idx != nil {
		idx = n.idx.eval(e)
	}
	return name, "", idx, false
}

func (n *arithElem) eval(e *arithEnv) int64 {
	sh := e.sh
	if n.raw == "" && !sh.lookup(sh.resolved(n.name)).has(attrAssoc) {
		sh.errorf("%s[]: bad array subscript", n.name)
		return 0
	}
	name, key, idx, isKey := n.where(e)
	v := sh.lookup(name)
	var s string
	var ok bool
	switch {
	case isKey:
		s, ok = v.assoc.get(key)
	case v != nil:
		s, ok = sh.elementAt(name, v, idx)
	}
	if !ok && sh.opts.has(optNounset) {
		sh.unbound(n.name + "[" + n.key(e) + "]")
	}
	return sh.arithString(s)
}

func (n *arithUnary) eval(e *arithEnv) int64 {
	x := n.x.eval(e)
	switch n.op {
	case '-':
		return -x
	case '~':
		return ^x
	case '!':
		return b2i(x == 0)
	}
	return x
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (n *arithLogic) eval(e *arithEnv) int64 {
	x := n.x.eval(e) != 0
	if x == n.or {
		return b2i(x)
	}
	return b2i(n.y.eval(e) != 0)
}

func (n *arithCond) eval(e *arithEnv) int64 {
	if n.c.eval(e) != 0 {
		return n.x.eval(e)
	}
	return n.y.eval(e)
}

func (n *arithComma) eval(e *arithEnv) int64 {
	n.x.eval(e)
	return n.y.eval(e)
}

func (n *arithBinary) eval(e *arithEnv) int64 {
	x := n.x.eval(e)
	return binop(n.op, x, n.y.eval(e), n.p, n.at)
}

func binop(op string, x, y int64, p *arithText, at int) int64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/", "%":
		if y == 0 {
			failf(errDiscard, 1, "%s: division by 0 (error token is \"%s\")", strings.TrimLeft(clean(p.s), " \t\n"), clean(p.s[min(at, len(p.s)):]))
		}
		if y == -1 { // the one quotient that does not fit
			if op == "%" {
				return 0
			}
			return -x
		}
		if op == "/" {
			return x / y
		}
		return x % y
	case "**":
		if y < 0 {
			failf(errDiscard, 1, "%s: exponent less than 0 (error token is \"%s\")", strings.TrimLeft(clean(p.s), " \t\n"), clean(p.s[min(at, len(p.s)):]))
		}
		r := int64(1)
		for ; y > 0; y >>= 1 {
			if y&1 != 0 {
				r *= x
			}
			x *= x
		}
		return r
	case "<<":
		return x << (uint64(y) & 63)
	case ">>":
		return x >> (uint64(y) & 63)
	case "<":
		return b2i(x < y)
	case ">":
		return b2i(x > y)
	case "<=":
		return b2i(x <= y)
	case ">=":
		return b2i(x >= y)
	case "==":
		return b2i(x == y)
	case "!=":
		return b2i(x != y)
	case "&":
		return x & y
	case "|":
		return x | y
	}
	return x ^ y
}

// clean replaces the marks of expansions in messages.
func clean(s string) string {
	if strings.IndexByte(s, holeMark) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == holeMark {
			b.WriteByte('$')
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (n *arithAssign) eval(e *arithEnv) int64 {
	if n.op == "" {
		y := n.y.eval(e)
		e.store(n.x, y)
		return y
	}
	x := n.x.eval(e)
	x = binop(n.op, x, n.y.eval(e), n.p, n.at)
	e.store(n.x, x)
	return x
}

func (n *arithStep) eval(e *arithEnv) int64 {
	x := n.x.eval(e)
	e.store(n.x, x+n.delta)
	if n.post {
		return x
	}
	return x + n.delta
}

// store assigns to a variable or element.
func (e *arithEnv) store(n arithNode, val int64) {
	sh := e.sh
	s := strconv.FormatInt(val, 10)
	switch n := n.(type) {
	case *arithVar:
		// The commonest case by far: a plain variable of one's own.
		if v := sh.lookup(n.name); v != nil && v.attr&^(attrSet|attrExport|attrInteger) == 0 && !sh.opts.has(optAllexport) && !isSpecialName(n.name) {
			sh.setValue(sh.mutable(n.name), s)
			return
		}
		sh.assignTo(n.name, nil, s, false)
	case *arithElem:
		if n.raw == "" {
			sh.errorf("`%s[]': not a valid identifier", n.name)
			return
		}
		name, key, idx, isKey := n.where(e)
		sh.checkWritable(name)
		if isKey {
			sh.setKey(name, key, s, false)
		} else {
			sh.setIndex(name, idx, s, false)
		}
	}
}
