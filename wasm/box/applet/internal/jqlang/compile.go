package jqlang

import (
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

type opcode uint8

const (
	opIdentity opcode = iota
	opRecurse
	opConst
	opField // a, str
	opIndex // a, b
	opSlice // a, b, c
	opIter  // a
	opTry   // a, b: handler or nil
	opPipe
	opComma
	opBinary // a, b, bin
	opAnd
	opOr
	opAlt
	opNeg
	opArray  // a or nil
	opObject // args: key, value, key, value ...
	opString // args: parts; str: format
	opFormat // str
	opIf     // a, b, c
	opReduce // a, pats, b start, c update
	opForeach
	opBind  // a, pats, b
	opLabel // a
	opBreak // n
	opVar   // n
	opParam // n: a closure
	opCall  // def, args
	opNative
	opSpecial
	opUpdate  // a |= b
	opAssign  // a = b
	opModify  // a bin= b
	opAltMod  // a //= b
	opGlobals // $__prog_args and the like: val
	opEnv     // $ENV
)

type node struct {
	op      opcode
	a, b, c *node
	d       *node
	args    []*node
	str     string
	val     any
	n       int
	def     *funcDef
	bin     func(l, r any) (any, error)
	native  func(in *Interp, v any, args []any) (any, error)
	special func(in *Interp, n *node, e *env, v any, p *path, y yield) error
	pats    []*pattern
	vars    []string // bound by pats, in the order they are pushed
	single  bool     // exactly one output
	quiet   bool     // of a step: where it cannot go there is no output, and no error
}

type funcDef struct {
	name   string
	params []string
	body   *node
	depth  int // of the environment where it was defined
}

// pattern is a destructuring pattern.
type pattern struct {
	name  string // $name, "" when none
	slot  int
	array []*pattern
	elems []*patternElem
}

type patternElem struct {
	key  *node
	name string // of {$name}
	slot int
	val  *pattern
}

type entryKind uint8

const (
	kindVar entryKind = iota
	kindParam
	kindFunc
	kindLabel
)

type entry struct {
	kind  entryKind
	name  string
	arity int
	depth int
	def   *funcDef
}

type compiler struct {
	scope    []entry
	depth    int // of the environment
	globals  map[string]any
	prelude  map[string]*funcDef
	natives  map[string]nativeFunc
	specials map[string]specialFunc
	src      string
}

// CompileError is an error in a program.
type CompileError struct{ Msg string }

func (e *CompileError) Error() string { return e.Msg }

func bad(format string, args ...any) error { return &CompileError{fmt.Sprintf(format, args...)} }

// Program is a compiled program.
type Program struct{ root *node }

// Compile parses and resolves a program. globals are its variables, by name
// without the $.
func Compile(src string, globals map[string]any) (*Program, error) {
	q, err := gojq.Parse(src)
	if err != nil {
		return nil, &CompileError{parseError(src, err)}
	}
	c := &compiler{globals: globals, prelude: map[string]*funcDef{}, natives: nativeTable(), specials: specialTable(), src: src}
	n, err := c.query(q)
	if err != nil {
		return nil, err
	}
	return &Program{n}, nil
}

func parseError(src string, err error) string {
	msg := err.Error()
	line := 1
	if pe, ok := err.(*gojq.ParseError); ok {
		line = 1 + strings.Count(src[:min(pe.Offset, len(src))], "\n")
		if pe.Token == "" {
			msg = "unexpected $end"
		} else {
			msg = "unexpected '" + pe.Token + "'"
		}
	}
	return fmt.Sprintf("syntax error, %s (Unix shell quoting issues?) at <top-level>, line %d:", msg, line)
}

func (c *compiler) push(e entry) {
	e.depth = c.depth
	c.scope = append(c.scope, e)
	if e.kind != kindFunc {
		c.depth++
	}
}

// leave drops what was pushed since mark.
func (c *compiler) leave(mark, depth int) {
	c.scope = c.scope[:mark]
	c.depth = depth
}

func (c *compiler) query(q *gojq.Query) (*node, error) {
	if len(q.Imports) > 0 || q.Meta != nil {
		return nil, bad("modules are not supported")
	}
	mark, depth := len(c.scope), c.depth
	defer func() { c.leave(mark, depth) }()
	for _, fd := range q.FuncDefs {
		if err := c.define(fd); err != nil {
			return nil, err
		}
	}
	if q.Term != nil {
		return c.term(q.Term)
	}
	if q.Left == nil {
		return &node{op: opIdentity, single: true}, nil
	}
	return c.binary(q)
}

func (c *compiler) define(fd *gojq.FuncDef) error {
	def := &funcDef{name: fd.Name, params: fd.Args, depth: c.depth}
	c.push(entry{kind: kindFunc, name: fd.Name, arity: len(fd.Args), def: def})
	mark, depth := len(c.scope), c.depth
	defer func() { c.leave(mark, depth) }()
	for _, p := range fd.Args {
		c.push(entry{kind: kindParam, name: strings.TrimPrefix(p, "$")})
	}
	// $a is short for: a as $a | ...
	var binds []*node
	for i, p := range fd.Args {
		if !strings.HasPrefix(p, "$") {
			continue
		}
		param := &node{op: opParam, n: c.depth - (depth + i)}
		b := &node{op: opBind, a: param, pats: []*pattern{{name: p, slot: 0}}, vars: []string{p}}
		c.push(entry{kind: kindVar, name: p})
		binds = append(binds, b)
	}
	body, err := c.query(fd.Body)
	if err != nil {
		return err
	}
	for i := len(binds) - 1; i >= 0; i-- {
		binds[i].b = body
		body = binds[i]
	}
	def.body = body
	return nil
}

var updates = map[gojq.Operator]gojq.Operator{
	gojq.OpUpdateAdd: gojq.OpAdd, gojq.OpUpdateSub: gojq.OpSub, gojq.OpUpdateMul: gojq.OpMul,
	gojq.OpUpdateDiv: gojq.OpDiv, gojq.OpUpdateMod: gojq.OpMod,
}

func (c *compiler) binary(q *gojq.Query) (*node, error) {
	l, err := c.query(q.Left)
	if err != nil {
		return nil, err
	}
	if len(q.Patterns) > 0 { // source as patterns | body
		return c.bind(l, q.Patterns, q.Right)
	}
	r, err := c.query(q.Right)
	if err != nil {
		return nil, err
	}
	n := &node{a: l, b: r, single: l.single && r.single}
	switch q.Op {
	case gojq.OpPipe:
		n.op = opPipe
	case gojq.OpComma:
		n.op, n.single = opComma, false
	case gojq.OpAnd:
		n.op = opAnd
	case gojq.OpOr:
		n.op = opOr
	case gojq.OpAlt:
		n.op = opAlt
	case gojq.OpAssign:
		n.op, n.single = opAssign, r.single
	case gojq.OpModify:
		n.op, n.single = opUpdate, true
	case gojq.OpUpdateAlt:
		n.op, n.single = opAltMod, r.single
	default:
		if base, ok := updates[q.Op]; ok {
			n.op, n.single, n.bin = opModify, r.single, binaries[base]
			break
		}
		n.op, n.bin = opBinary, binaries[q.Op]
		if n.bin == nil {
			return nil, bad("operator %s is not supported", q.Op)
		}
	}
	return n, nil
}

// bind compiles source as patterns | body.
func (c *compiler) bind(src *node, pats []*gojq.Pattern, body *gojq.Query) (*node, error) {
	n := &node{op: opBind, a: src}
	mark, depth := len(c.scope), c.depth
	defer func() { c.leave(mark, depth) }()
	if err := c.patterns(n, pats); err != nil {
		return nil, err
	}
	b, err := c.query(body)
	n.b = b
	if err == nil {
		n.single = src.single && b.single && len(pats) == 1 && pats[0].Name != ""
	}
	return n, err
}

// patterns compiles patterns and pushes the variables of all of them.
func (c *compiler) patterns(n *node, pats []*gojq.Pattern) error {
	slots := map[string]int{}
	for _, p := range pats {
		collect(p, slots, &n.vars)
	}
	// Keys see the variables bound before; all are pushed first.
	for _, v := range n.vars {
		c.push(entry{kind: kindVar, name: v})
	}
	for _, p := range pats {
		cp, err := c.pattern(p, slots)
		if err != nil {
			return err
		}
		n.pats = append(n.pats, cp)
	}
	return nil
}

func collect(p *gojq.Pattern, slots map[string]int, vars *[]string) {
	add := func(name string) {
		if _, ok := slots[name]; !ok {
			slots[name] = len(*vars)
			*vars = append(*vars, name)
		}
	}
	if p.Name != "" {
		add(p.Name)
	}
	for _, a := range p.Array {
		collect(a, slots, vars)
	}
	for _, o := range p.Object {
		if strings.HasPrefix(o.Key, "$") {
			add(o.Key)
		}
		if o.Val != nil {
			collect(o.Val, slots, vars)
		}
	}
}

func (c *compiler) pattern(p *gojq.Pattern, slots map[string]int) (*pattern, error) {
	out := &pattern{name: p.Name, slot: slots[p.Name]}
	for _, a := range p.Array {
		s, err := c.pattern(a, slots)
		if err != nil {
			return nil, err
		}
		out.array = append(out.array, s)
	}
	for _, o := range p.Object {
		e := &patternElem{}
		var err error
		switch {
		case o.KeyString != nil:
			e.key, err = c.str(o.KeyString, "")
		case o.KeyQuery != nil:
			e.key, err = c.query(o.KeyQuery)
		default:
			key := o.Key
			if strings.HasPrefix(key, "$") {
				e.name, e.slot = key, slots[key]
				key = key[1:]
			}
			e.key = constant(key)
		}
		if err == nil && o.Val != nil {
			e.val, err = c.pattern(o.Val, slots)
		}
		if err != nil {
			return nil, err
		}
		out.elems = append(out.elems, e)
	}
	return out, nil
}

func constant(v any) *node { return &node{op: opConst, val: v, single: true} }
