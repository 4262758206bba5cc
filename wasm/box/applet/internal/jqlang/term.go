package jqlang

import (
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

func (c *compiler) term(t *gojq.Term) (*node, error) {
	n, err := c.head(t)
	if err != nil {
		return nil, err
	}
	step := t.Type == gojq.TermTypeIndex // what a question mark is about: this one step, not those before it
	for _, s := range t.SuffixList {
		switch {
		case s.Index != nil:
			n, err = c.index(n, s.Index)
			step = true
		case s.Iter:
			n = &node{op: opIter, a: n}
			step = true
		case step:
			n.quiet, n.single, step = true, false, false
		default:
			n = &node{op: opTry, a: n}
		}
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (c *compiler) head(t *gojq.Term) (*node, error) {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return &node{op: opIdentity, single: true}, nil
	case gojq.TermTypeRecurse:
		return &node{op: opRecurse}, nil
	case gojq.TermTypeNull:
		return constant(nil), nil
	case gojq.TermTypeTrue:
		return constant(true), nil
	case gojq.TermTypeFalse:
		return constant(false), nil
	case gojq.TermTypeIndex:
		return c.index(&node{op: opIdentity, single: true}, t.Index)
	case gojq.TermTypeFunc:
		return c.call(t.Func)
	case gojq.TermTypeObject:
		return c.object(t.Object)
	case gojq.TermTypeArray:
		n := &node{op: opArray, single: true}
		if t.Array.Query == nil {
			return constant([]any{}), nil
		}
		var err error
		n.a, err = c.query(t.Array.Query)
		return n, err
	case gojq.TermTypeNumber:
		p := jsonParser{b: []byte(t.Number), eof: true}
		if strings.HasPrefix(t.Number, ".") {
			p.b = []byte("0" + t.Number)
		}
		v, err := p.number()
		if err != nil {
			f, _ := strconv.ParseFloat(t.Number, 64)
			v = f
		}
		return constant(v), nil
	case gojq.TermTypeUnary:
		n, err := c.term(t.Unary.Term)
		if err != nil || t.Unary.Op == gojq.OpAdd {
			return n, err
		}
		return &node{op: opNeg, a: n, single: n.single}, nil
	case gojq.TermTypeFormat:
		if t.Str != nil {
			return c.str(t.Str, t.Format)
		}
		return &node{op: opFormat, str: t.Format, single: true}, nil
	case gojq.TermTypeString:
		return c.str(t.Str, "")
	case gojq.TermTypeIf:
		return c.cond(t.If.Cond, t.If.Then, t.If.Elif, t.If.Else)
	case gojq.TermTypeTry:
		return c.try(t.Try)
	case gojq.TermTypeReduce:
		return c.reduce(t.Reduce.Query, t.Reduce.Patterns, t.Reduce.Start, t.Reduce.Update, nil, opReduce)
	case gojq.TermTypeForeach:
		return c.reduce(t.Foreach.Query, t.Foreach.Patterns, t.Foreach.Start, t.Foreach.Update, t.Foreach.Extract, opForeach)
	case gojq.TermTypeLabel:
		mark, depth := len(c.scope), c.depth
		c.push(entry{kind: kindLabel, name: t.Label.Ident})
		body, err := c.query(t.Label.Body)
		c.leave(mark, depth)
		return &node{op: opLabel, a: body}, err
	case gojq.TermTypeBreak:
		for i := len(c.scope) - 1; i >= 0; i-- {
			if e := &c.scope[i]; e.kind == kindLabel && e.name == t.Break {
				return &node{op: opBreak, n: c.depth - e.depth}, nil
			}
		}
		return nil, bad("$*label-%s is not defined at <top-level>, line 1:", strings.TrimPrefix(t.Break, "$"))
	case gojq.TermTypeQuery:
		return c.query(t.Query)
	}
	return nil, bad("unsupported syntax")
}

func (c *compiler) index(of *node, x *gojq.Index) (*node, error) {
	switch {
	case x.Name != "":
		return &node{op: opField, a: of, str: x.Name, single: of.single}, nil
	case x.Str != nil:
		s, err := c.str(x.Str, "")
		if err != nil {
			return nil, err
		}
		if s.op == opConst {
			return &node{op: opField, a: of, str: s.val.(string), single: of.single}, nil
		}
		return &node{op: opIndex, a: of, b: s, single: of.single && s.single}, nil
	case x.IsSlice:
		n := &node{op: opSlice, a: of, single: of.single}
		var err error
		if x.Start != nil {
			if n.b, err = c.query(x.Start); err != nil {
				return nil, err
			}
			n.single = n.single && n.b.single
		}
		if x.End != nil {
			if n.c, err = c.query(x.End); err != nil {
				return nil, err
			}
			n.single = n.single && n.c.single
		}
		return n, nil
	}
	i, err := c.query(x.Start)
	if err != nil {
		return nil, err
	}
	if s, ok := i.val.(string); ok && i.op == opConst {
		return &node{op: opField, a: of, str: s, single: of.single}, nil
	}
	return &node{op: opIndex, a: of, b: i, single: of.single && i.single}, nil
}

func (c *compiler) object(o *gojq.Object) (*node, error) {
	n := &node{op: opObject, single: true}
	for _, kv := range o.KeyVals {
		var key, val *node
		var err error
		switch {
		case kv.KeyString != nil:
			key, err = c.str(kv.KeyString, "")
		case kv.KeyQuery != nil:
			if key, err = c.query(kv.KeyQuery); err == nil && key.op == opConst {
				if _, ok := key.val.(string); !ok {
					err = bad("Cannot use %s as object key at <top-level>, line 1:", show(key.val))
				}
			}
		default:
			key = constant(strings.TrimPrefix(kv.Key, "$"))
		}
		if err != nil {
			return nil, err
		}
		switch {
		case kv.Val != nil:
			val, err = c.query(kv.Val)
		case strings.HasPrefix(kv.Key, "$"):
			val, err = c.variable(kv.Key)
		default: // {a} is {a: .a}
			id := &node{op: opIdentity, single: true}
			if key.op == opConst {
				val = &node{op: opField, a: id, str: key.val.(string), single: true}
			} else {
				val = &node{op: opIndex, a: id, b: key, single: key.single}
			}
		}
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, key, val)
		n.single = n.single && key.single && val.single
	}
	return n, nil
}

func (c *compiler) str(s *gojq.String, format string) (*node, error) {
	if s.Queries == nil {
		return constant(s.Str), nil
	}
	n := &node{op: opString, str: format, single: true}
	for _, q := range s.Queries {
		if q.Term != nil && q.Term.Type == gojq.TermTypeString && q.Term.Str.Queries == nil && len(q.Term.SuffixList) == 0 && len(q.FuncDefs) == 0 {
			n.args = append(n.args, constant(literalText(q.Term.Str.Str)))
			continue
		}
		a, err := c.query(q)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, a)
		n.single = n.single && a.single
	}
	return n, nil
}

// literalText marks the text between interpolations, which no format changes.
type literalText string

func (c *compiler) cond(cond, then *gojq.Query, elif []*gojq.IfElif, els *gojq.Query) (*node, error) {
	n := &node{op: opIf}
	var err error
	if n.a, err = c.query(cond); err != nil {
		return nil, err
	}
	if n.b, err = c.query(then); err != nil {
		return nil, err
	}
	switch {
	case len(elif) > 0:
		n.c, err = c.cond(elif[0].Cond, elif[0].Then, elif[1:], els)
	case els != nil:
		n.c, err = c.query(els)
	default:
		n.c = &node{op: opIdentity, single: true}
	}
	if err == nil {
		n.single = n.a.single && n.b.single && n.c.single
	}
	return n, err
}

func (c *compiler) try(t *gojq.Try) (*node, error) {
	n := &node{op: opTry}
	var err error
	if n.a, err = c.query(t.Body); err != nil {
		return nil, err
	}
	if t.Catch != nil {
		n.b, err = c.query(t.Catch)
	}
	return n, err
}

func (c *compiler) reduce(src *gojq.Query, pats []*gojq.Pattern, start, update, extract *gojq.Query, op opcode) (*node, error) {
	n := &node{op: op}
	var err error
	if n.a, err = c.query(src); err != nil {
		return nil, err
	}
	if n.b, err = c.query(start); err != nil {
		return nil, err
	}
	mark, depth := len(c.scope), c.depth
	defer func() { c.leave(mark, depth) }()
	if err = c.patterns(n, pats); err != nil {
		return nil, err
	}
	if n.c, err = c.query(update); err != nil {
		return nil, err
	}
	if extract != nil {
		n.d, err = c.query(extract)
	}
	n.single = op == opReduce && n.b.single
	return n, err
}

func (c *compiler) variable(name string) (*node, error) {
	for i := len(c.scope) - 1; i >= 0; i-- {
		if e := &c.scope[i]; e.kind == kindVar && e.name == name {
			return &node{op: opVar, n: c.depth - e.depth, single: true}, nil
		}
	}
	if name == "$ENV" {
		return &node{op: opEnv, single: true}, nil
	}
	if v, ok := c.globals[name[1:]]; ok {
		return constant(v), nil
	}
	if name == "$__loc__" {
		line := 1
		if i := strings.Index(c.src, "$__loc__"); i >= 0 {
			line += strings.Count(c.src[:i], "\n")
		}
		o := NewObject(2)
		o.Add("file", "<top-level>")
		o.Add("line", float64(line))
		return constant(o), nil
	}
	return nil, bad("%s is not defined at <top-level>, line 1:", name)
}

func (c *compiler) call(f *gojq.Func) (*node, error) {
	if strings.HasPrefix(f.Name, "$") {
		return c.variable(f.Name)
	}
	for i := len(c.scope) - 1; i >= 0; i-- {
		e := &c.scope[i]
		if e.name != f.Name {
			continue
		}
		if e.kind == kindParam && len(f.Args) == 0 {
			return &node{op: opParam, n: c.depth - e.depth}, nil
		}
		if e.kind == kindFunc && e.arity == len(f.Args) {
			args, _, err := c.args(f.Args)
			return &node{op: opCall, def: e.def, args: args, n: c.depth - e.def.depth}, err
		}
	}
	key := f.Name + "/" + strconv.Itoa(len(f.Args))
	args, single, err := c.args(f.Args)
	if err != nil {
		return nil, err
	}
	if fn, ok := c.natives[key]; ok {
		return &node{op: opNative, native: fn, args: args, str: key, single: single}, nil
	}
	if fn, ok := c.specials[key]; ok {
		n := &node{op: opSpecial, special: fn, args: args, str: key}
		return n, nil
	}
	if def, err := c.library(key); def != nil || err != nil {
		return &node{op: opCall, def: def, args: args, n: c.depth}, err
	}
	return nil, bad("%s is not defined at <top-level>, line 1:", key)
}

func (c *compiler) args(qs []*gojq.Query) ([]*node, bool, error) {
	single := true
	var out []*node
	for _, q := range qs {
		n, err := c.query(q)
		if err != nil {
			return nil, false, err
		}
		single = single && n.single
		out = append(out, n)
	}
	return out, single, nil
}

// library compiles a function of the prelude when it is first called.
func (c *compiler) library(key string) (*funcDef, error) {
	if def, ok := c.prelude[key]; ok {
		return def, nil
	}
	src, ok := prelude[key]
	if !ok {
		return nil, nil
	}
	q, err := gojq.Parse(src + " .")
	if err != nil {
		return nil, bad("%s: %v", key, err)
	}
	lib := &compiler{prelude: c.prelude, natives: c.natives, specials: c.specials, src: src}
	fd := q.FuncDefs[0]
	// Known before its body is compiled: it may call itself.
	def := &funcDef{}
	c.prelude[key] = def
	if err := lib.define(fd); err != nil {
		return nil, err
	}
	*def = *lib.scope[0].def
	return def, nil
}
