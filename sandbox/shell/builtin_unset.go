package shell

func builtinUnset(sh *shell, c call) int {
	vars, funcs := c.has('v'), c.has('f')
	if vars && funcs {
		return c.fail("cannot simultaneously unset a function and a variable")
	}
	st := 0
	for _, n := range c.rest {
		switch {
		case funcs && sh.funcs.readonly[n]:
			st = c.fail("%s: cannot unset: readonly function", n)
		case funcs || !vars && !validRef(n):
			sh.unsetFunc(n)
		case !validRef(n):
			st = c.fail("`%s': not a valid identifier", n)
		case !sh.unsetOne(n, c.has('n'), vars):
			st = 1
		}
	}
	return st
}

func (sh *shell) unsetFunc(n string) {
	if sh.funcs.m[n] != nil {
		t := sh.ownFuncs()
		delete(t.m, n)
		delete(t.exported, n)
	}
}

func (sh *shell) unsetOne(n string, ref, onlyVar bool) bool {
	name, sub, _ := sh.parseRef(n)
	if !ref {
		r, ok := sh.resolve(name)
		if !ok && sub == nil {
			return true
		}
		name = r.name
		if r.hasSub && sub == nil {
			sub = sh.valueSubscript(r.sub)
		}
	}
	v := sh.lookup(name)
	if v == nil && sub == nil {
		if !onlyVar && sh.funcs.m[name] != nil {
			sh.unsetFunc(name)
		}
		return true
	}
	if v.has(attrReadonly) {
		sh.errorf("unset: %s: cannot unset: readonly variable", name)
		return false
	}
	if sub == nil {
		sh.charge(-v.size())
		sh.unsetVar(name)
		return true
	}
	switch {
	case v == nil:
		return true
	case v.has(attrAssoc):
		m := sh.mutable(name)
		if m.assoc != nil {
			m.assoc.del(sub.key.lit)
		}
	case v.has(attrDynamic):
		return true
	case sub.all != 0 && v.has(attrArray):
		sh.mutable(name).arr = &indexed{}
	case sub.all != 0:
		sh.unsetVar(name)
	case v.has(attrArray):
		i := sh.arith(sub.expr)
		m := sh.mutable(name)
		if i < 0 {
			if i += m.arr.next(); i < 0 {
				sh.errorf("unset: [%s]: bad array subscript", sub.raw)
				return false
			}
		}
		m.arr.del(i)
	default:
		if i := sh.arith(sub.expr); i == 0 {
			sh.unsetVar(name)
			return true
		}
		sh.errorf("unset: %s: not an array variable", name)
		return false
	}
	return true
}
