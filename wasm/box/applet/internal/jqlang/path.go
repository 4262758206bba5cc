package jqlang

import (
	"errors"
	"math"
	"sort"
)

// get is t[k].
func get(t, k any) (any, error) {
	switch t := t.(type) {
	case *Object:
		if s, ok := k.(string); ok {
			v, _ := t.Get(s)
			return v, nil
		}
	case []any:
		switch k := k.(type) {
		case float64, Number:
			f, _ := num(k)
			if math.IsNaN(f) {
				return nil, nil
			}
			i := int(math.Floor(f))
			if i < 0 {
				i += len(t)
			}
			if i < 0 || i >= len(t) {
				return nil, nil
			}
			return t[i], nil
		case *Object:
			from, to, err := bounds(k, len(t))
			if err != nil {
				return nil, err
			}
			return t[from:to:to], nil
		case []any:
			return indices(t, k), nil
		}
	case nil:
		switch k := k.(type) {
		case string, float64, Number, nil:
			return nil, nil
		case *Object:
			_, _, err := bounds(k, 0)
			return nil, err
		}
	case string:
		if k, ok := k.(*Object); ok {
			r := []rune(t)
			from, to, err := bounds(k, len(r))
			if err != nil {
				return nil, err
			}
			return string(r[from:to]), nil
		}
	}
	if s, ok := k.(string); ok {
		return nil, fail("Cannot index ", typeName(t), " with string \"", s, "\"")
	}
	return nil, fail("Cannot index ", typeName(t), " with ", typeName(k))
}

// bounds resolves a slice of n elements.
func bounds(k *Object, n int) (from, to int, err error) {
	s, ok1 := k.Get("start")
	e, ok2 := k.Get("end")
	if !ok1 && !ok2 {
		return 0, 0, fail("Cannot index array with object")
	}
	fs, fe := 0.0, float64(n)
	var ok bool
	if s != nil {
		if fs, ok = num(s); !ok {
			return 0, 0, fail("Start and end indices of an array slice must be numbers")
		}
	}
	if e != nil {
		if fe, ok = num(e); !ok {
			return 0, 0, fail("Start and end indices of an array slice must be numbers")
		}
	}
	clamp := func(f float64) float64 {
		if math.IsNaN(f) {
			f = 0
		}
		if f < 0 {
			f += float64(n)
		}
		return max(0, min(f, float64(n)))
	}
	from, to = int(math.Floor(clamp(fs))), int(math.Ceil(clamp(fe)))
	return from, max(from, to), nil
}

// updater applies a series of changes to one value. Containers that it made
// itself are changed in place as long as nobody else can have seen them.
type updater struct {
	objects map[*Object]bool
	arrays  map[*any]bool
}

func (u *updater) forget() { u.objects, u.arrays = nil, nil }

func (u *updater) object(o *Object) *Object {
	if u.objects[o] {
		return o
	}
	n := &Object{keys: o.keys, vals: append([]any(nil), o.vals...)}
	if len(o.keys.names) != len(o.vals) {
		n = o.copy()
	}
	if u.objects == nil {
		u.objects = map[*Object]bool{}
	}
	u.objects[n] = true
	return n
}

func (u *updater) array(a []any) []any {
	if len(a) > 0 && u.arrays[&a[0]] {
		return a
	}
	n := append(make([]any, 0, len(a)+1), a...)
	if len(n) > 0 {
		if u.arrays == nil {
			u.arrays = map[*any]bool{}
		}
		u.arrays[&n[0]] = true
	}
	return n
}

const maxIndex = 1 << 24 // of an array that grows by assignment

// set returns v with x at path.
func (u *updater) set(v any, path []any, x any) (any, error) {
	if len(path) == 0 {
		return x, nil
	}
	k := path[0]
	switch key := k.(type) {
	case string:
		var o *Object
		switch t := v.(type) {
		case nil:
			o = NewObject(1)
		case *Object:
			o = t
		default:
			_, err := get(v, k)
			return nil, err
		}
		old, _ := o.Get(key)
		nv, err := u.set(old, path[1:], x)
		if err != nil {
			return nil, err
		}
		if i := o.find(key); i >= 0 {
			o = u.object(o)
			o.vals[i] = nv
			return o, nil
		}
		return o.With(key, nv), nil
	case float64, Number:
		f, _ := num(key)
		var a []any
		switch t := v.(type) {
		case nil:
		case []any:
			a = t
		default:
			_, err := get(v, k)
			return nil, err
		}
		i := int(math.Floor(f))
		if i < 0 {
			if i += len(a); i < 0 {
				return nil, fail("Out of bounds negative array index")
			}
		}
		if i > maxIndex {
			return nil, fail("Array index too large")
		}
		var old any
		if i < len(a) {
			old = a[i]
		}
		nv, err := u.set(old, path[1:], x)
		if err != nil {
			return nil, err
		}
		a = u.array(a)
		for len(a) <= i {
			a = append(a, nil)
		}
		a[i] = nv
		return a, nil
	case *Object:
		return u.setSlice(v, key, path[1:], x)
	}
	_, err := get(v, k)
	if err == nil {
		err = fail("Invalid path component")
	}
	return nil, err
}

func (u *updater) setSlice(v any, key *Object, rest []any, x any) (any, error) {
	var a []any
	if v != nil {
		var ok bool
		if a, ok = v.([]any); !ok {
			return nil, fail("Cannot update field at object index of ", typeName(v))
		}
	}
	from, to, err := bounds(key, len(a))
	if err != nil {
		return nil, err
	}
	var old any
	if v != nil {
		old = a[from:to:to]
	}
	nv, err := u.set(old, rest, x)
	if err != nil {
		return nil, err
	}
	mid, ok := nv.([]any)
	if !ok {
		return nil, fail("A slice of an array can only be assigned another array")
	}
	out := append(append([]any(nil), a[:from]...), mid...)
	return append(out, a[to:]...), nil
}

func getPath(v any, path []any) (any, error) {
	for _, k := range path {
		if v == nil {
			return nil, nil
		}
		var err error
		if v, err = get(v, k); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// deletePaths deletes the paths. All that go from one array or object go at
// once, so that none moves another.
func deletePaths(v any, paths []any) (any, error) {
	list := make([][]any, len(paths))
	for i, p := range paths {
		path, ok := p.([]any)
		if !ok {
			return nil, fail("Path must be specified as an array")
		}
		if len(path) == 0 {
			return nil, nil
		}
		list[i] = path
	}
	sort.SliceStable(list, func(i, j int) bool { return Compare(list[i], list[j]) < 0 })
	return deleteSorted(v, list)
}

func deleteSorted(v any, paths [][]any) (any, error) {
	var keys []any
	for len(paths) > 0 {
		key, n := paths[0][0], 1
		for n < len(paths) && Compare(paths[n][0], key) == 0 {
			n++
		}
		group := paths[:n]
		if paths = paths[n:]; len(group[0]) == 1 {
			keys = append(keys, key)
			continue
		}
		sub, err := get(v, key)
		if err != nil {
			return nil, err
		}
		if sub == nil {
			continue
		}
		rest := make([][]any, len(group))
		for i, p := range group {
			rest[i] = p[1:]
		}
		if sub, err = deleteSorted(sub, rest); err != nil {
			return nil, err
		}
		var u updater
		if v, err = u.set(v, []any{key}, sub); err != nil {
			return nil, err
		}
	}
	return deleteKeys(v, keys)
}

// deleteKeys deletes members of an object, or elements and slices of an array.
func deleteKeys(v any, keys []any) (any, error) {
	if v == nil || len(keys) == 0 {
		return v, nil
	}
	switch t := v.(type) {
	case *Object:
		for _, key := range keys {
			k, ok := key.(string)
			if !ok {
				return nil, fail("Cannot delete ", typeName(key), " field of object")
			}
			t = t.Without(k)
		}
		return t, nil
	case []any:
		gone := make([]bool, len(t))
		for _, key := range keys {
			from, to := 0, 0
			switch k := key.(type) {
			case float64, Number:
				f, _ := num(k)
				from = int(math.Floor(f))
				if from < 0 {
					from += len(t)
				}
				to = from + 1
			case *Object:
				var err error
				if from, to, err = bounds(k, len(t)); err != nil {
					return nil, err
				}
			case string:
				return nil, fail("Cannot delete field at string index of array") // as get would say it
			default:
				return nil, fail("Cannot delete ", typeName(key), " element of array")
			}
			for i := max(from, 0); i < min(to, len(t)); i++ {
				gone[i] = true
			}
		}
		left := make([]any, 0, len(t))
		for i, x := range t {
			if !gone[i] {
				left = append(left, x)
			}
		}
		return left, nil
	}
	return nil, fail("Cannot delete fields from ", typeName(v))
}

// paths collects the paths that n yields over v.
func (in *Interp) paths(n *node, e *env, v any) ([]any, error) {
	var out []any
	err := in.eval(n, e, v, root, func(r any, p *path) error {
		if p == nowhere {
			return fail("Invalid path expression with result ", cut(r))
		}
		out = append(out, p.slice())
		return nil
	})
	return out, err
}

// update is v with n.a |= n.b.
func (in *Interp) update(n *node, e *env, v any) (any, error) {
	return in.change(n.a, e, v, func(x any) (any, bool, error) { return in.first(n.b, e, x) })
}

// first returns the first result of n, if there is one.
func (in *Interp) first(n *node, e *env, v any) (any, bool, error) {
	if n.single {
		r, err := in.one(n, e, v)
		return r, true, err
	}
	var out any
	found := false
	stop := &stopError{}
	err := in.eval(n, e, v, nil, func(r any, _ *path) error {
		out, found = r, true
		return stop
	})
	if err != nil && !errors.Is(err, stop) {
		return nil, false, err
	}
	return out, found, nil
}

func (in *Interp) assign(n *node, e *env, v, x any) (any, error) {
	switch n.op {
	case opAssign:
		return in.change(n.a, e, v, func(any) (any, bool, error) { return x, true, nil })
	case opAltMod:
		return in.change(n.a, e, v, func(old any) (any, bool, error) {
			if truthy(old) {
				return old, true, nil
			}
			return x, true, nil
		})
	}
	return in.change(n.a, e, v, func(old any) (any, bool, error) {
		r, err := n.bin(old, x)
		return r, true, err
	})
}

// change applies f at every path that n yields; where f has no result the
// path is deleted.
func (in *Interp) change(n *node, e *env, v any, f func(any) (any, bool, error)) (any, error) {
	if structural(n) {
		r, keep, err := in.walk(n, e, v, f)
		if err != nil || keep {
			return r, err
		}
		return nil, nil
	}
	paths, err := in.paths(n, e, v)
	if err != nil {
		return nil, err
	}
	var u updater
	var gone []any
	for _, p := range paths {
		path := p.([]any)
		old, err := getPath(v, path)
		if err != nil {
			return nil, err
		}
		switch old.(type) {
		case []any, *Object:
			u.forget() // f may keep what it sees
		}
		x, keep, err := f(old)
		if err != nil {
			return nil, err
		}
		if !keep {
			gone = append(gone, p)
			continue
		}
		if v, err = u.set(v, path, x); err != nil {
			return nil, err
		}
	}
	if len(gone) > 0 {
		return deletePaths(v, gone)
	}
	return v, nil
}

// structural tells whether n is made of steps that walk can take: no value
// is reached twice.
func structural(n *node) bool {
	switch n.op {
	case opIdentity:
		return true
	case opField, opIter:
		return !n.quiet && structural(n.a)
	case opIndex:
		return !n.quiet && n.b.single && structural(n.a)
	case opPipe:
		return structural(n.a) && structural(n.b)
	case opSpecial:
		return n.str == "select/1" && n.args[0].single
	case opIf:
		return n.a.single && structural(n.b) && structural(n.c)
	}
	return false
}

// walk changes what n reaches in one pass over v.
func (in *Interp) walk(n *node, e *env, v any, f func(any) (any, bool, error)) (any, bool, error) {
	switch n.op {
	case opIdentity:
		return f(v)
	case opPipe:
		return in.walk(n.a, e, v, func(x any) (any, bool, error) { return in.walk(n.b, e, x, f) })
	case opSpecial: // select
		c, err := in.one(n.args[0], e, v)
		if err != nil || !truthy(c) {
			return v, true, err
		}
		return f(v)
	case opIf:
		c, err := in.one(n.a, e, v)
		if err != nil {
			return nil, false, err
		}
		return in.walk(n.pick(c), e, v, f)
	case opIter:
		return in.walk(n.a, e, v, func(t any) (any, bool, error) { r, err := changeEach(t, f); return r, true, err })
	}
	var k any = n.str
	if n.op == opIndex {
		var err error
		if k, err = in.one(n.b, e, v); err != nil {
			return nil, false, err
		}
	}
	return in.walk(n.a, e, v, func(t any) (any, bool, error) {
		old, err := get(t, k)
		if err != nil {
			return nil, false, err
		}
		x, keep, err := f(old)
		if err != nil {
			return nil, false, err
		}
		if !keep {
			r, err := deleteKeys(t, []any{k})
			return r, true, err
		}
		var u updater
		r, err := u.set(t, []any{k}, x)
		return r, true, err
	})
}

func changeEach(t any, f func(any) (any, bool, error)) (any, error) {
	switch t := t.(type) {
	case []any:
		out := make([]any, 0, len(t))
		for _, x := range t {
			r, keep, err := f(x)
			if err != nil {
				return nil, err
			}
			if keep {
				out = append(out, r)
			}
		}
		return out, nil
	case *Object:
		vals := make([]any, len(t.vals))
		var gone []string
		for i, x := range t.vals {
			r, keep, err := f(x)
			if err != nil {
				return nil, err
			}
			if !keep {
				gone = append(gone, t.Key(i))
			}
			vals[i] = r
		}
		o := &Object{keys: t.keys, vals: vals}
		for _, k := range gone {
			o = o.Without(k)
		}
		return o, nil
	}
	return nil, fail("Cannot iterate over ", show(t))
}

func (in *Interp) getpath(n *node, e *env, v any, p *path, y yield) error {
	return in.eval(n.args[0], e, v, nil, func(k any, _ *path) error {
		keys, ok := k.([]any)
		if !ok {
			return fail("Path must be specified as an array")
		}
		x, err := getPath(v, keys)
		if err != nil {
			return err
		}
		q := p
		for _, k := range keys {
			if q, err = q.add(k, v); err != nil {
				return err
			}
		}
		return y(x, q)
	})
}
