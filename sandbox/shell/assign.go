package shell

import (
	"strconv"
	"strings"
)

// A reference is what a name stands for after namerefs are followed: a
// variable, or an element of one.
type reference struct {
	name   string
	sub    string
	hasSub bool
}

// resolve follows namerefs. ok is false for a loop or a reference to nothing.
func (sh *shell) resolve(name string) (r reference, ok bool) {
	v := sh.vars.m[name]
	if v == nil || v.attr&attrNameref == 0 {
		return reference{name: name}, true
	}
	for i := 0; i < 100; i++ {
		if v == nil || v.attr&attrNameref == 0 {
			return reference{name: name}, true
		}
		t := v.str
		if v.attr&attrSet == 0 || t == "" {
			return reference{name: name}, false
		}
		if k := strings.IndexByte(t, '['); k > 0 && strings.HasSuffix(t, "]") {
			return reference{name: t[:k], sub: t[k+1 : len(t)-1], hasSub: true}, true
		}
		if t == name {
			// A local reference to its own name means the outer variable.
			if v.prev != nil {
				v = v.prev
				continue
			}
			sh.errorf("warning: %s: circular name reference", name)
			return reference{name: name}, false
		}
		name = t
		v = sh.vars.m[name]
	}
	sh.errorf("warning: %s: circular name reference", name)
	return reference{name: name}, false
}

// resolved is the name of the variable behind name.
func (sh *shell) resolved(name string) string {
	r, _ := sh.resolve(name)
	return r.name
}

func (sh *shell) refValue(r reference) (string, bool) {
	if r.hasSub {
		sub := sh.valueSubscript(r.sub)
		if sub.all != 0 {
			l := sh.elements(r.name)
			return strings.Join(l, " "), len(l) > 0
		}
		return sh.element(r.name, sub)
	}
	v := sh.vars.m[r.name]
	if v != nil && v.attr&attrDynamic != 0 {
		return sh.dynamic(r.name, v)
	}
	if v != nil && v.attr&attrNameref != 0 {
		return "", false
	}
	return v.scalar()
}

// checkWritable refuses readonly variables.
func (sh *shell) checkWritable(name string) {
	if sh.vars.m[name].has(attrReadonly) {
		kind := errDiscard
		if sh.opts.has(optPosix) {
			kind = errExit
		}
		failf(kind, 1, "%s: readonly variable", name)
	}
}

// assignTo gives a variable or element a value, following references.
func (sh *shell) assignTo(name string, sub *subscript, val string, app bool) {
	v := sh.vars.m[name]
	if v != nil && v.attr&attrNameref != 0 {
		r, ok := sh.resolve(name)
		if !ok {
			if v.attr&attrSet == 0 || v.str == "" {
				// The first assignment to an empty reference sets its target.
				if !validRef(val) {
					failf(errCommand, 1, "`%s': not a valid identifier", val)
				}
				sh.checkWritable(name)
				sh.setValue(sh.mutable(name), val)
				return
			}
			if v.str == name {
				sh.setPlain(name, val, app)
				return
			}
			failf(errCommand, 1, "warning: %s: circular name reference", name)
		}
		name = r.name
		if r.hasSub {
			if sub != nil {
				failf(errDiscard, 1, "%s: not a valid identifier", r.name+"["+r.sub+"]")
			}
			sub = sh.valueSubscript(r.sub)
		}
		if !isName(name) {
			failf(errCommand, 1, "`%s': not a valid identifier", name)
		}
	}
	sh.checkWritable(name)
	if sub == nil {
		sh.setPlain(name, val, app)
		return
	}
	sh.setElement(name, sub, val, app)
}

func validRef(s string) bool {
	if i := strings.IndexByte(s, '['); i > 0 && strings.HasSuffix(s, "]") {
		return isName(s[:i])
	}
	return isName(s)
}

// setPlain assigns without a subscript.
func (sh *shell) setPlain(name, val string, app bool) {
	v := sh.vars.m[name]
	if v.has(attrDynamic) && sh.setDynamic(name, val) {
		return
	}
	switch {
	case v.has(attrAssoc):
		sh.setKey(name, "0", val, app)
		return
	case v.has(attrArray):
		sh.setIndex(name, 0, val, app)
		return
	}
	old := ""
	if app && v != nil {
		old = v.str
	}
	if app || v.has(attrInteger|attrLower|attrUpper|attrCapital) {
		val = sh.convert(v, old, val, app)
	}
	m := sh.mutable(name)
	sh.setValue(m, val)
	if sh.opts.has(optAllexport) {
		m.attr |= attrExport
	}
	sh.varChanged(name)
}

// convert applies the attributes of v to a new value.
func (sh *shell) convert(v *variable, old, val string, app bool) string {
	if v.has(attrInteger) {
		n := sh.arithString(val)
		if app {
			n += sh.arithString(old)
		}
		return strconv.FormatInt(n, 10)
	}
	if app {
		if int64(len(old)+len(val)) > sh.run.lim.Expansion {
			throw(&LimitError{What: "variable of " + size(sh.run.lim.Expansion)})
		}
		val = old + val
	}
	switch {
	case v.has(attrLower):
		return strings.ToLower(val)
	case v.has(attrUpper):
		return strings.ToUpper(val)
	case v.has(attrCapital):
		return sh.changeCase(strings.ToLower(val), opUpper1, nil)
	}
	return val
}

func (sh *shell) setElement(name string, sub *subscript, val string, app bool) {
	if sh.vars.m[name].has(attrAssoc) {
		if sub.all != 0 && sub.raw == "" {
			failf(errDiscard, 1, "%s[%s]: bad array subscript", name, sub.raw)
		}
		key := sh.str(sub.key)
		if key == "" {
			failf(errDiscard, 1, "%s[%s]: bad array subscript", name, sub.raw)
		}
		sh.setKey(name, key, val, app)
		return
	}
	if sub.all != 0 || sub.raw == "" {
		failf(errDiscard, 1, "%s[%s]: bad array subscript", name, sub.raw)
	}
	sh.setIndex(name, sh.arith(sub.expr), val, app)
}

// What an element of an array takes besides its text, and one of an
// associative array besides its texts, with their share of what grows.
const (
	elementCost = 48
	keyCost     = 144
)

func (sh *shell) setKey(name, key, val string, app bool) {
	v := sh.mutable(name)
	if v.assoc == nil {
		v.assoc = newAssoc()
	}
	old, ok := v.assoc.get(key)
	if app || v.attr&(attrInteger|attrLower|attrUpper|attrCapital) != 0 {
		val = sh.convert(v, old, val, app)
	}
	cost := int64(len(val) - len(old))
	if !ok {
		cost += int64(len(key)) + keyCost
	}
	sh.charge(cost)
	v.assoc.set(key, val)
	if sh.opts.has(optAllexport) {
		v.attr |= attrExport
	}
}

func (sh *shell) setIndex(name string, i int64, val string, app bool) {
	v := sh.mutable(name)
	if v.attr&attrArray == 0 {
		sh.toArray(v)
	}
	v.attr |= attrSet
	if i < 0 {
		if i += v.arr.next(); i < 0 {
			failf(errDiscard, 1, "%s[%d]: bad array subscript", name, i-v.arr.next())
		}
	}
	old, ok := v.arr.get(i)
	if app || v.attr&(attrInteger|attrLower|attrUpper|attrCapital) != 0 {
		val = sh.convert(v, old, val, app)
	}
	cost := int64(len(val) - len(old))
	if !ok {
		cost += elementCost
	}
	sh.charge(cost)
	v.arr.set(i, val)
	if sh.opts.has(optAllexport) {
		v.attr |= attrExport
	}
}

// toArray turns a plain variable into an indexed array.
func (sh *shell) toArray(v *variable) {
	if v.attr&attrArray != 0 {
		return
	}
	v.attr |= attrArray
	if v.arr == nil {
		v.arr = &indexed{}
	}
	if v.attr&attrSet != 0 {
		v.arr.set(0, v.str)
		v.str = ""
	}
}

// charge accounts for memory of variables.
func (sh *shell) charge(n int64) {
	sh.charged += n
	if err := sh.run.charge(n); err != nil {
		throw(err)
	}
}

// An element is one value of an array literal after expansion.
type element struct {
	key   string
	idx   int64
	expr  *arith // index still to be evaluated
	keyed bool
	app   bool
	val   string
}

// expandArray expands the inside of name=(...).
func (sh *shell) expandArray(assocArr bool, in []arrayElem) []element {
	const batch, room = 1024, 128 // elements charged at a time, bytes of one
	var out []element
	held := int64(0)
	defer func() { sh.charge(-held) }()
	for _, e := range in {
		sh.tick()
		if e.sub != nil {
			el := element{keyed: true, app: e.app}
			if assocArr {
				el.key = sh.str(e.sub.key)
			} else if e.sub.all != 0 || e.sub.expr.empty {
				failf(errDiscard, 1, "[%s]: bad array subscript", e.sub.raw)
			} else {
				el.expr = e.sub.expr
			}
			el.val = sh.str(e.value)
			out = append(out, el)
			continue
		}
		for i, s := range sh.fields([]*word{e.value}) {
			if i%batch == batch-1 {
				sh.tick()
				sh.charge(batch * room)
				held += batch * room
			}
			out = append(out, element{val: s})
		}
	}
	return out
}

// assignArray does name=(...) and name+=(...).
func (sh *shell) assignArray(name string, els []element, app bool) {
	r, ok := sh.resolve(name)
	if r.hasSub {
		failf(errCommand, 1, "`%s[%s]': not a valid identifier", r.name, r.sub)
	}
	if !ok {
		sh.mutable(name).attr &^= attrNameref // as bash does, with a warning
	} else {
		name = r.name
	}
	sh.checkWritable(name)
	v := sh.mutable(name)
	if v.attr&attrDynamic != 0 {
		v.attr &^= attrDynamic
	}
	if v.attr&attrAssoc != 0 {
		if !app || v.assoc == nil {
			sh.charge(-v.size())
			v.assoc = newAssoc()
		}
		sh.assignPairs(name, els)
		return
	}
	if app {
		sh.toArray(v)
		v.attr |= attrSet
	} else {
		sh.charge(-v.size())
		v.arr, v.str = &indexed{}, ""
		v.attr |= attrSet | attrArray
		if len(els) > 0 {
			v.arr.vals = make([]string, 0, len(els))
		}
	}
	if !app && plainElements(els) && v.attr&(attrInteger|attrLower|attrUpper|attrCapital) == 0 {
		// The common case: a list of words.
		var cost int64
		for _, e := range els {
			cost += int64(len(e.val)) + elementCost
		}
		sh.charge(cost)
		for _, e := range els {
			v.arr.vals = append(v.arr.vals, e.val)
		}
		els = nil
	}
	next := v.arr.next()
	for _, e := range els {
		if e.keyed {
			next = e.idx
			if e.expr != nil {
				next = sh.arith(e.expr)
			}
			if next < 0 {
				next += v.arr.next()
			}
		}
		sh.setIndex(name, next, e.val, e.app)
		next++
	}
	if sh.opts.has(optAllexport) {
		sh.mutable(name).attr |= attrExport
	}
	sh.varChanged(name)
}

func plainElements(els []element) bool {
	for i := range els {
		if els[i].keyed {
			return false
		}
	}
	return true
}

func (sh *shell) assignPairs(name string, els []element) {
	keyed := len(els) > 0 && els[0].keyed
	for i := 0; i < len(els); i++ {
		e := els[i]
		if keyed && !e.keyed {
			sh.errorf("%s: %s: must use subscript when assigning associative array", name, e.val)
			continue
		}
		if e.keyed {
			if e.key == "" {
				sh.errorf("[%s]: bad array subscript", e.key)
				continue
			}
			sh.setKey(name, e.key, e.val, e.app)
			continue
		}
		if e.val == "" {
			sh.errorf("%s: bad array subscript", `""`)
			i++
			continue
		}
		val := ""
		if i+1 < len(els) && !els[i+1].keyed {
			val = els[i+1].val
			i++
		}
		sh.setKey(name, e.val, val, false)
	}
}

// size is what the values of v were charged.
func (v *variable) size() int64 {
	n := int64(len(v.str))
	if v.arr != nil {
		for _, s := range v.arr.vals {
			n += int64(len(s)) + elementCost
		}
	}
	if v.assoc != nil {
		for k, e := range v.assoc.m {
			n += int64(len(k)+len(e.val)) + keyCost
		}
	}
	return n
}

// assign runs one assignment of the script.
func (sh *shell) assign(a *assign) {
	if a.isArray {
		if a.sub != nil {
			failf(errDiscard, 1, "%s[%s]: cannot assign list to array member", a.name, a.sub.raw)
		}
		sh.traceAssign(a, "")
		v := sh.lookup(sh.resolved(a.name))
		sh.assignArray(a.name, sh.expandArray(v.has(attrAssoc), a.array), a.app)
		return
	}
	val := sh.strIn(a.value, true)
	sh.traceAssign(a, val)
	sh.assignTo(a.name, a.sub, val, a.app)
}
