package shell

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

type attr uint16

const (
	attrExport attr = 1 << iota
	attrReadonly
	attrInteger
	attrLower
	attrUpper
	attrCapital
	attrNameref
	attrArray
	attrAssoc
	attrTrace
	attrSet     // has a value
	attrTemp    // from an assignment in front of a command
	attrDynamic // value is made when read
)

// A variable is one binding of a name. Bindings of outer scopes hang on prev.
// A variable may be changed in place only by the store that owns it.
type variable struct {
	attr  attr
	str   string
	arr   *indexed
	assoc *assoc
	depth int // function depth of the scope it belongs to; 0 is global
	prev  *variable

	owner *store
	epoch uint32
}

func (v *variable) has(a attr) bool { return v != nil && v.attr&a != 0 }

// isSet tells whether the variable itself, or element 0 of an array, has a value.
func (v *variable) isSet() bool {
	if v == nil {
		return false
	}
	switch {
	case v.attr&attrArray != 0:
		_, ok := v.arr.get(0)
		return ok
	case v.attr&attrAssoc != 0:
		_, ok := v.assoc.get("0")
		return ok
	}
	return v.attr&attrSet != 0
}

// scalar is the value of $name.
func (v *variable) scalar() (string, bool) {
	if v == nil {
		return "", false
	}
	switch {
	case v.attr&attrArray != 0:
		return v.arr.get(0)
	case v.attr&attrAssoc != 0:
		return v.assoc.get("0")
	}
	return v.str, v.attr&attrSet != 0
}

// A store maps names to variables. Forked shells share it until one of them
// writes; refs counts the sharers and epoch changes when a copy was made, so
// that no variable seen by two stores is changed in place.
type store struct {
	m     map[string]*variable
	refs  atomic.Int32
	epoch atomic.Uint32
}

func newStore() *store {
	s := &store{m: map[string]*variable{}}
	s.refs.Store(1)
	return s
}

func (s *store) share() *store { s.refs.Add(1); return s }

func (s *store) release() { s.refs.Add(-1) }

// own makes sh the only user of its store.
func (sh *shell) own() *store {
	s := sh.vars
	if s.refs.Load() == 1 {
		return s
	}
	sh.charge(int64(len(s.m)) * 32)
	c := &store{m: maps.Clone(s.m)}
	c.refs.Store(1)
	s.epoch.Add(1)
	s.release()
	sh.vars = c
	return c
}

// lookup finds the variable called name, following no references.
func (sh *shell) lookup(name string) *variable { return sh.vars.m[name] }

// mutable returns the visible variable called name for writing, creating it
// in the global scope when there is none.
func (sh *shell) mutable(name string) *variable {
	s := sh.own()
	v := s.m[name]
	if v == nil {
		sh.charge(int64(len(name)) + varCost)
		v = &variable{owner: s, epoch: s.epoch.Load()}
		s.m[name] = v
		return v
	}
	if v.owner == s && v.epoch == s.epoch.Load() {
		return v
	}
	sh.charge(v.cloneCost())
	c := v.clone(s)
	s.m[name] = c
	return c
}

// varCost is about what a variable takes besides its name and value, with its
// share of a map that grows.
const varCost = 192

// cloneCost is what a copy of v takes: strings are shared.
func (v *variable) cloneCost() int64 {
	n := int64(varCost)
	if v.arr != nil {
		n += int64(len(v.arr.vals)) * 24
	}
	if v.assoc != nil {
		n += int64(len(v.assoc.m)) * keyCost
	}
	return n
}

func (v *variable) clone(s *store) *variable {
	c := *v
	c.owner, c.epoch = s, s.epoch.Load()
	if c.arr != nil {
		c.arr = c.arr.clone()
	}
	if c.assoc != nil {
		c.assoc = c.assoc.clone()
	}
	return &c
}

// global returns the variable of the global scope for writing.
func (sh *shell) global(name string) *variable {
	v := sh.mutable(name)
	for v.depth > 0 {
		if v.prev == nil {
			v.prev = &variable{owner: sh.vars, epoch: sh.vars.epoch.Load()}
		} else {
			v.prev = v.prev.clone(sh.vars)
		}
		v = v.prev
	}
	return v
}

// local returns a variable of the current function for writing, hiding one
// of an outer scope. The frame forgets it when it returns.
func (sh *shell) local(name string, depth int) (v *variable, fresh bool) {
	s := sh.own()
	old := s.m[name]
	if old != nil && old.depth >= depth {
		// It is local already, or stands in front of an eval in this function.
		v = sh.mutable(name)
		v.attr &^= attrTemp
		return v, false
	}
	prev := old
	if old.has(attrTemp) && old.depth == sh.frame.temp {
		prev = old.prev // a local takes the place of what stood in front of the call
	}
	sh.charge(varCost)
	v = &variable{depth: depth, prev: prev, owner: s, epoch: s.epoch.Load()}
	s.m[name] = v
	sh.frame.names = append(sh.frame.names, name)
	return v, true
}

// popLocals ends the scope of depth.
func (sh *shell) popLocals(names []string, depth int) {
	if len(names) == 0 {
		return
	}
	s := sh.own()
	for _, n := range names {
		v := s.m[n]
		if v == nil || v.depth != depth {
			continue
		}
		sh.charge(-v.size() - varCost)
		if v.prev == nil {
			delete(s.m, n)
		} else {
			s.m[n] = v.prev
		}
		if n == "OPTIND" || n == "IFS" || n == "PATH" {
			sh.varChanged(n)
		}
	}
}

// unsetVar removes the visible binding of name. A local of the running
// function stays local but unset; removing one of a caller reveals what it hid.
func (sh *shell) unsetVar(name string) {
	s := sh.own()
	v := s.m[name]
	if v == nil {
		return
	}
	if d := sh.depthVar(); d > 0 && v.depth >= d && v.attr&attrTemp == 0 {
		s.m[name] = &variable{depth: v.depth, prev: v.prev, owner: s, epoch: s.epoch.Load()}
	} else if v.prev != nil {
		s.m[name] = v.prev
	} else {
		delete(s.m, name)
	}
	sh.varChanged(name)
}

// depthVar is the scope depth of the running function, 0 outside.
func (sh *shell) depthVar() int {
	if sh.frame == nil {
		return 0
	}
	return sh.frame.depth
}

// get is the value of a plain variable name.
func (sh *shell) get(name string) string {
	s, _ := sh.getSet(name)
	return s
}

func (sh *shell) getSet(name string) (string, bool) {
	v := sh.vars.m[name]
	if v == nil {
		return "", false
	}
	if v.attr&(attrNameref|attrDynamic) == 0 {
		return v.scalar()
	}
	if v.attr&attrDynamic != 0 {
		return sh.dynamic(name, v)
	}
	r, ok := sh.resolve(name)
	if !ok {
		return "", false
	}
	val, set := sh.refValue(r)
	return val, set
}

// setStr gives a global or visible variable a string, without checks.
func (sh *shell) setStr(name, val string) {
	v := sh.mutable(name)
	sh.setValue(v, val)
	sh.varChanged(name)
}

func (sh *shell) setValue(v *variable, val string) {
	if n := int64(len(val) - len(v.str)); n != 0 {
		sh.charge(n)
	}
	v.str = val
	v.attr |= attrSet
}

// names returns all names with the prefix, sorted.
func (sh *shell) names(prefix string) []string {
	var out []string
	for n, v := range sh.vars.m {
		if strings.HasPrefix(n, prefix) && (v.attr&(attrSet|attrArray|attrAssoc|attrDynamic) != 0) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// environ is the environment of a program.
func (sh *shell) environ() []string {
	out := make([]string, 0, 16)
	for n, v := range sh.vars.m {
		if v.attr&attrExport == 0 || v.attr&(attrArray|attrAssoc) != 0 {
			continue
		}
		val, ok := v.str, v.attr&attrSet != 0
		if v.attr&attrDynamic != 0 {
			val, ok = sh.getSet(n)
		}
		if ok {
			out = append(out, n+"="+val)
		}
	}
	for n, f := range sh.funcs.m {
		if sh.funcs.exported[n] {
			out = append(out, "BASH_FUNC_"+n+"%%="+sh.printFuncBody(f))
		}
	}
	slices.Sort(out)
	return out
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
