package jqlang

import (
	"errors"
	"io"
)

// env is a chain of what is bound: a variable, a closure or a label.
type env struct {
	up    *env
	val   any
	clo   *node // a closure, to be run in cloEnv
	cloEn *env
}

func (e *env) hop(n int) *env {
	for ; n > 0; n-- {
		e = e.up
	}
	return e
}

// path leads to a value from where path(f) started. root is the start, and
// nowhere marks a value that no path leads to.
type path struct {
	up  *path
	key any
}

var root, nowhere = &path{}, &path{}

func (p *path) slice() []any {
	n := 0
	for q := p; q != root; q = q.up {
		n++
	}
	out := make([]any, n)
	for q := p; q != root; q = q.up {
		n--
		out[n] = q.key
	}
	return out
}

// add extends a path; nil means that nobody asks for paths.
func (p *path) add(key any, of any) (*path, error) {
	switch p {
	case nil:
		return nil, nil
	case nowhere:
		return nil, fail("Invalid path expression with result ", cut(of))
	}
	return &path{p, key}, nil
}

// lost is the path of a value made anew.
func (p *path) lost() *path {
	if p == nil {
		return nil
	}
	return nowhere
}

func cut(v any) string {
	s := string(Encode(nil, v, Style{}))
	if len(s) > 30 {
		return s[:27] + "..."
	}
	return s
}

// yield takes a result. Its errors end the evaluation.
type yield func(v any, p *path) error

// Interp is what a running program can see beside its input.
type Interp struct {
	// Inputs reads the next input of the command: input and inputs.
	Inputs func() (any, error)
	// Input returns the name of the file being read, "" when there is none, and
	// the lines read so far.
	Input  func() (name string, line int)
	Stderr io.Writer
	Env    []string // NAME=VALUE

	depth  int
	envObj *Object
	labels int
}

// Halt ends the command.
type Halt struct {
	Value  any
	Status int
	Quiet  bool // halt: nothing is printed
}

func (h *Halt) Error() string { return "halted" }

// breakError leaves a label.
type breakError struct{ label *env }

func (b *breakError) Error() string { return "break" }

// errStop ends an evaluation whose first results were enough.
type stopError struct{}

func (*stopError) Error() string { return "stop" }

// passed carries an error of what comes after a try through it.
type passed struct{ err error }

func (p *passed) Error() string { return p.err.Error() }

var errDepth = errors.New("recursion too deep")

// maxDepth bounds how deep evaluations nest: the stack is memory.
const maxDepth = 20000

// Run evaluates a program over v.
func (in *Interp) Run(p *Program, v any, out func(any) error) error {
	in.depth = 0
	return in.eval(p.root, nil, v, nil, func(v any, _ *path) error { return out(v) })
}

// eval calls y with each result of n over v. p is the path of v when paths
// are asked for. What can go on in the same frame does: tail calls do not
// grow the stack.
func (in *Interp) eval(n *node, e *env, v any, p *path, y yield) error {
	if in.depth++; in.depth > maxDepth {
		return errDepth
	}
	defer func() { in.depth-- }()
	for {
		if p == nil && n.single {
			r, err := in.one(n, e, v)
			if err != nil {
				return err
			}
			return y(r, nil)
		}
		switch n.op {
		case opPipe:
			if p == nil && n.a.single {
				r, err := in.one(n.a, e, v)
				if err != nil {
					return err
				}
				v, n = r, n.b
				continue
			}
			b := n.b
			return in.eval(n.a, e, v, p, func(v any, p *path) error { return in.eval(b, e, v, p, y) })
		case opComma:
			if err := in.eval(n.a, e, v, p, y); err != nil {
				return err
			}
			n = n.b
			continue
		case opIf:
			if n.a.single {
				c, err := in.one(n.a, e, v)
				if err != nil {
					return err
				}
				n = n.pick(c)
				continue
			}
			m := n
			return in.eval(n.a, e, v, nil, func(c any, _ *path) error { return in.eval(m.pick(c), e, v, p, y) })
		case opParam:
			c := e.hop(n.n - 1)
			n, e = c.clo, c.cloEn
			continue
		case opCall:
			ne := e.hop(n.n)
			for _, a := range n.args {
				ne = &env{up: ne, clo: a, cloEn: e}
				for a.op == opParam { // a closure handed on: no chain of closures
					c := ne.cloEn.hop(a.n - 1)
					ne.clo, ne.cloEn = c.clo, c.cloEn
					a = ne.clo
				}
			}
			n, e = n.def.body, ne
			continue
		case opBind:
			if n.a.single && len(n.pats) == 1 && n.pats[0].name != "" {
				r, err := in.one(n.a, e, v)
				if err != nil {
					return err
				}
				e = &env{up: e, val: r}
				n = n.b
				continue
			}
			return in.bind(n, e, v, p, y)
		case opLabel:
			e = &env{up: e}
			err := in.eval(n.a, e, v, p, y)
			var b *breakError
			if errors.As(err, &b) && b.label == e {
				return nil
			}
			return err
		case opBreak:
			return &breakError{e.hop(n.n - 1)}
		}
		return in.many(n, e, v, p, y)
	}
}

func (n *node) pick(c any) *node {
	if truthy(c) {
		return n.b
	}
	return n.c
}

// many evaluates the nodes that do not end in another one.
func (in *Interp) many(n *node, e *env, v any, p *path, y yield) error {
	switch n.op {
	case opIdentity:
		return y(v, p)
	case opRecurse:
		return in.recurse(v, p, y)
	case opField, opIndex, opSlice, opIter:
		return in.access(n, e, v, p, y)
	case opTry:
		return in.try(n, e, v, p, y)
	case opAlt:
		found := false
		err := in.eval(n.a, e, v, p, func(v any, p *path) error {
			if !truthy(v) {
				return nil
			}
			found = true
			if err := y(v, p); err != nil {
				return &passed{err}
			}
			return nil
		})
		var ps *passed
		if errors.As(err, &ps) {
			return ps.err
		}
		var ve *ValueError
		if err != nil && !errors.As(err, &ve) {
			return err
		}
		if found {
			return nil
		}
		return in.eval(n.b, e, v, p, y)
	case opReduce:
		return in.reduce(n, e, v, p, y)
	case opForeach:
		return in.foreach(n, e, v, p, y)
	case opSpecial:
		return n.special(in, n, e, v, p, y)
	case opNative:
		if n.str == "getpath/1" && p != nil {
			return in.getpath(n, e, v, p, y)
		}
		return in.product(n.args, e, v, func(args []any) error {
			r, err := n.native(in, v, args)
			if err != nil {
				return err
			}
			return y(r, p.lost())
		})
	case opBinary:
		return in.eval(n.b, e, v, nil, func(r any, _ *path) error {
			return in.eval(n.a, e, v, nil, func(l any, _ *path) error {
				x, err := n.bin(l, r)
				if err != nil {
					return err
				}
				return y(x, p.lost())
			})
		})
	case opAnd, opOr:
		return in.eval(n.a, e, v, nil, func(l any, _ *path) error {
			if truthy(l) == (n.op == opOr) {
				return y(n.op == opOr, p.lost())
			}
			return in.eval(n.b, e, v, nil, func(r any, _ *path) error { return y(truthy(r), p.lost()) })
		})
	case opNeg:
		return in.eval(n.a, e, v, nil, func(r any, _ *path) error {
			x, err := negate(r)
			if err != nil {
				return err
			}
			return y(x, p.lost())
		})
	case opObject:
		return in.objects(n.args, e, v, NewObject(len(n.args)/2), func(o *Object) error { return y(o, p.lost()) })
	case opString:
		return in.product(n.args, e, v, func(parts []any) error {
			s, err := interpolate(n.str, parts)
			if err != nil {
				return err
			}
			return y(s, p.lost())
		})
	case opUpdate:
		r, err := in.update(n, e, v)
		if err != nil {
			return err
		}
		return y(r, p.lost())
	case opAssign, opModify, opAltMod:
		return in.eval(n.b, e, v, nil, func(x any, _ *path) error {
			r, err := in.assign(n, e, v, x)
			if err != nil {
				return err
			}
			return y(r, p.lost())
		})
	}
	r, err := in.one(n, e, v) // the rest are single
	if err != nil {
		return err
	}
	return y(r, p.lost())
}

// product calls f with each combination of the results of args; those of the
// first change fastest.
func (in *Interp) product(args []*node, e *env, v any, f func([]any) error) error {
	vals := make([]any, len(args))
	var next func(i int) error
	next = func(i int) error {
		if i < 0 {
			return f(append([]any(nil), vals...))
		}
		if args[i].single {
			r, err := in.one(args[i], e, v)
			if err != nil {
				return err
			}
			vals[i] = r
			return next(i - 1)
		}
		return in.eval(args[i], e, v, nil, func(r any, _ *path) error {
			vals[i] = r
			return next(i - 1)
		})
	}
	return next(len(args) - 1)
}

func (in *Interp) objects(args []*node, e *env, v any, o *Object, f func(*Object) error) error {
	if len(args) == 0 {
		return f(o)
	}
	return in.eval(args[0], e, v, nil, func(k any, _ *path) error {
		key, ok := k.(string)
		if !ok {
			return fail("Object keys must be strings")
		}
		return in.eval(args[1], e, v, nil, func(x any, _ *path) error {
			n := o.copy()
			n.Add(key, x)
			return in.objects(args[2:], e, v, n, f)
		})
	})
}

func (in *Interp) recurse(v any, p *path, y yield) error {
	if in.depth++; in.depth > maxDepth {
		return errDepth
	}
	defer func() { in.depth-- }()
	if err := y(v, p); err != nil {
		return err
	}
	switch v.(type) {
	case []any, *Object:
		return each(v, p, func(x any, p *path) error { return in.recurse(x, p, y) })
	}
	return nil
}

// each calls y with what .[] yields.
func each(v any, p *path, y yield) error {
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			var q *path
			if p != nil {
				var err error
				if q, err = p.add(float64(i), v); err != nil {
					return err
				}
			}
			if err := y(x, q); err != nil {
				return err
			}
		}
		return nil
	case *Object:
		for i, x := range v.vals {
			var q *path
			if p != nil {
				var err error
				if q, err = p.add(v.Key(i), v); err != nil {
					return err
				}
			}
			if err := y(x, q); err != nil {
				return err
			}
		}
		return nil
	}
	if p == nowhere {
		return fail("Invalid path expression with result ", cut(v))
	}
	return fail("Cannot iterate over ", show(v))
}

func (in *Interp) access(n *node, e *env, v any, p *path, y yield) error {
	switch n.op {
	case opField:
		return in.eval(n.a, e, v, p, func(t any, p *path) error { return n.at(t, n.str, p, y) })
	case opIter:
		return in.eval(n.a, e, v, p, func(t any, p *path) error {
			switch t.(type) {
			case []any, *Object:
			default:
				if n.quiet && p != nowhere {
					return nil
				}
			}
			return each(t, p, y)
		})
	case opIndex:
		return in.eval(n.b, e, v, nil, func(k any, _ *path) error {
			return in.eval(n.a, e, v, p, func(t any, p *path) error { return n.at(t, k, p, y) })
		})
	}
	bound := func(m *node, f func(any) error) error {
		if m == nil {
			return f(nil)
		}
		return in.eval(m, e, v, nil, func(x any, _ *path) error { return f(x) })
	}
	return bound(n.c, func(to any) error {
		return bound(n.b, func(from any) error {
			return in.eval(n.a, e, v, p, func(t any, p *path) error { return n.at(t, sliceKey(from, to), p, y) })
		})
	})
}

// sliceKey is the path element of .[from:to].
func sliceKey(from, to any) *Object {
	o := NewObject(2)
	o.Add("start", from)
	o.Add("end", to)
	return o
}

// at goes on with .[k] of t.
func (n *node) at(t, k any, p *path, y yield) error {
	if p == nowhere {
		return fail("Invalid path expression with result ", cut(t))
	}
	x, err := get(t, k)
	if err != nil && n.quiet {
		return nil
	}
	if err != nil {
		return err
	}
	q, err := p.add(k, t)
	if err != nil {
		return err
	}
	return y(x, q)
}

func (in *Interp) try(n *node, e *env, v any, p *path, y yield) error {
	err := in.eval(n.a, e, v, p, func(v any, p *path) error {
		if err := y(v, p); err != nil {
			return &passed{err}
		}
		return nil
	})
	if err == nil {
		return nil
	}
	var ps *passed
	if errors.As(err, &ps) {
		return ps.err
	}
	var ve *ValueError
	if !errors.As(err, &ve) {
		return err
	}
	if o, ok := ve.Value.(*Object); ok && n.b == nil {
		if _, ok := o.Get("__jq"); ok {
			return err
		}
	}
	if n.b == nil {
		return nil
	}
	return in.eval(n.b, e, ve.Value, p.lost(), y)
}

func (in *Interp) bind(n *node, e *env, v any, p *path, y yield) error {
	return in.eval(n.a, e, v, nil, func(x any, _ *path) error {
		return in.matchAny(n, e, x, func(e *env) error { return in.eval(n.b, e, v, p, y) })
	})
}

// matchAny binds x by the first pattern after which all goes well: ?// .
func (in *Interp) matchAny(n *node, e *env, x any, f func(*env) error) error {
	for i, pat := range n.pats {
		err := in.match(pat, n.vars, e, x, f)
		var ve *ValueError
		if err == nil || i == len(n.pats)-1 || !errors.As(err, &ve) {
			return err
		}
	}
	return nil
}

func (in *Interp) match(pat *pattern, vars []string, e *env, x any, f func(*env) error) error {
	vals := make([]any, len(vars))
	return in.destructure(pat, vals, e, x, func() error {
		ne := e
		for _, v := range vals {
			ne = &env{up: ne, val: v}
		}
		return f(ne)
	})
}

func (in *Interp) destructure(pat *pattern, vals []any, e *env, x any, f func() error) error {
	switch {
	case pat.name != "":
		vals[pat.slot] = x
		return f()
	case pat.array != nil:
		if x != nil && typeName(x) != "array" {
			return fail("Cannot index ", typeName(x), " with number")
		}
		var next func(i int) error
		next = func(i int) error {
			if i == len(pat.array) {
				return f()
			}
			elem, err := get(x, float64(i))
			if err != nil {
				return err
			}
			return in.destructure(pat.array[i], vals, e, elem, func() error { return next(i + 1) })
		}
		return next(0)
	}
	var next func(i int) error
	next = func(i int) error {
		if i == len(pat.elems) {
			return f()
		}
		el := pat.elems[i]
		// A key may use the variables bound before it.
		ke := e
		for _, v := range vals {
			ke = &env{up: ke, val: v}
		}
		return in.eval(el.key, ke, x, nil, func(k any, _ *path) error {
			if _, ok := k.(string); !ok {
				return fail("Cannot index ", typeName(x), " with ", typeName(k))
			}
			elem, err := get(x, k)
			if err != nil {
				return err
			}
			if el.name != "" {
				vals[el.slot] = elem
			}
			if el.val == nil {
				return next(i + 1)
			}
			return in.destructure(el.val, vals, e, elem, func() error { return next(i + 1) })
		})
	}
	return next(0)
}

func (in *Interp) reduce(n *node, e *env, v any, p *path, y yield) error {
	return in.eval(n.b, e, v, p, func(acc any, ap *path) error {
		err := in.eval(n.a, e, v, nil, func(x any, _ *path) error {
			return in.matchAny(n, e, x, func(e *env) error {
				if ap == nil && n.c.single {
					r, err := in.one(n.c, e, acc)
					acc = r
					return err
				}
				var last any
				lp := ap.lost()
				err := in.eval(n.c, e, acc, ap, func(r any, p *path) error {
					last, lp = r, p
					return nil
				})
				acc, ap = last, lp
				return err
			})
		})
		if err != nil {
			return err
		}
		return y(acc, ap)
	})
}

func (in *Interp) foreach(n *node, e *env, v any, p *path, y yield) error {
	return in.eval(n.b, e, v, p, func(acc any, ap *path) error {
		return in.eval(n.a, e, v, nil, func(x any, _ *path) error {
			return in.matchAny(n, e, x, func(e *env) error {
				return in.eval(n.c, e, acc, ap, func(r any, p *path) error {
					acc, ap = r, p
					if n.d == nil {
						return y(r, p)
					}
					return in.eval(n.d, e, r, p, y)
				})
			})
		})
	})
}
