package jqlang

import (
	"strings"
)

// one evaluates a node that has exactly one result.
func (in *Interp) one(n *node, e *env, v any) (any, error) {
	switch n.op {
	case opIdentity:
		return v, nil
	case opConst:
		return n.val, nil
	case opField:
		t, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		if o, ok := t.(*Object); ok {
			x, _ := o.Get(n.str)
			return x, nil
		}
		return get(t, n.str)
	case opIndex:
		k, err := in.one(n.b, e, v)
		if err != nil {
			return nil, err
		}
		t, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		return get(t, k)
	case opSlice:
		var from, to any
		var err error
		if n.c != nil {
			if to, err = in.one(n.c, e, v); err != nil {
				return nil, err
			}
		}
		if n.b != nil {
			if from, err = in.one(n.b, e, v); err != nil {
				return nil, err
			}
		}
		t, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		return get(t, sliceKey(from, to))
	case opPipe:
		x, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		return in.one(n.b, e, x)
	case opBinary:
		r, err := in.one(n.b, e, v)
		if err != nil {
			return nil, err
		}
		l, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		return n.bin(l, r)
	case opAnd, opOr:
		l, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		if truthy(l) == (n.op == opOr) {
			return n.op == opOr, nil
		}
		r, err := in.one(n.b, e, v)
		return truthy(r), err
	case opAlt:
		l, err := in.one(n.a, e, v)
		if err == nil && truthy(l) {
			return l, nil
		}
		if _, ok := err.(*ValueError); err != nil && !ok {
			return nil, err
		}
		return in.one(n.b, e, v)
	case opNeg:
		x, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		return negate(x)
	case opArray:
		out := []any{}
		err := in.eval(n.a, e, v, nil, func(x any, _ *path) error {
			out = append(out, x)
			return nil
		})
		return out, err
	case opObject:
		o := NewObject(len(n.args) / 2)
		for i := 0; i < len(n.args); i += 2 {
			k, err := in.one(n.args[i], e, v)
			if err != nil {
				return nil, err
			}
			key, ok := k.(string)
			if !ok {
				return nil, fail("Object keys must be strings")
			}
			x, err := in.one(n.args[i+1], e, v)
			if err != nil {
				return nil, err
			}
			o.Add(key, x)
		}
		return o, nil
	case opString:
		parts := make([]any, len(n.args))
		for i := len(parts) - 1; i >= 0; i-- {
			var err error
			if parts[i], err = in.one(n.args[i], e, v); err != nil {
				return nil, err
			}
		}
		return interpolate(n.str, parts)
	case opFormat:
		return format(n.str, v)
	case opIf:
		c, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		return in.one(n.pick(c), e, v)
	case opVar:
		return e.hop(n.n - 1).val, nil
	case opEnv:
		return in.environ(), nil
	case opNative:
		var few [3]any
		args := few[:0]
		for range n.args {
			args = append(args, nil)
		}
		for i := len(args) - 1; i >= 0; i-- {
			var err error
			if args[i], err = in.one(n.args[i], e, v); err != nil {
				return nil, err
			}
		}
		return n.native(in, v, args)
	case opBind:
		x, err := in.one(n.a, e, v)
		if err != nil {
			return nil, err
		}
		return in.one(n.b, &env{up: e, val: x}, v)
	case opReduce:
		var out any
		err := in.reduce(n, e, v, nil, func(x any, _ *path) error {
			out = x
			return nil
		})
		return out, err
	case opUpdate:
		return in.update(n, e, v)
	case opAssign, opModify, opAltMod:
		x, err := in.one(n.b, e, v)
		if err != nil {
			return nil, err
		}
		return in.assign(n, e, v, x)
	}
	panic("jqlang: not a single node")
}

func (in *Interp) environ() *Object {
	if in.envObj == nil {
		in.envObj = NewObject(len(in.Env))
		for _, kv := range in.Env {
			if k, v, ok := strings.Cut(kv, "="); ok {
				in.envObj.Add(k, v)
			}
		}
	}
	return in.envObj
}

func interpolate(f string, parts []any) (any, error) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case literalText:
			b.WriteString(string(p))
		default:
			if f == "" {
				b.WriteString(text(p))
				continue
			}
			s, err := format(f, p)
			if err != nil {
				return nil, err
			}
			b.WriteString(s.(string))
		}
	}
	return b.String(), nil
}

// text is tostring.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(Encode(nil, v, Style{}))
}
