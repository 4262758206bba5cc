package shell

import "strings"

// A declItem is one argument of declare and its family.
type declItem struct {
	text string    // NAME or NAME=value
	a    *assign   // the assignment as written, or nil
	val  string    // its value, expanded
	els  []element // or its elements
}

// declCommand runs declare, local, ... whose arguments hold assignments.
func (sh *shell) declCommand(c *simpleCmd) {
	var items []declItem
	var opts []string
	name := c.words[0].lit
	opts = append(opts, name)
	isAssoc, isArr := false, false
	for _, w := range c.words[1:] {
		if a := w.decl; a != nil {
			// All words are expanded before any variable changes.
			it := declItem{a: a}
			if a.isArray {
				it.els = sh.expandArray(isAssoc || !isArr && sh.lookup(sh.resolved(a.name)).has(attrAssoc), a.array)
			} else {
				it.val = sh.str(a.value)
			}
			items = append(items, it)
			continue
		}
		for _, f := range sh.fields([]*word{w}) {
			if strings.HasPrefix(f, "-") {
				isAssoc = isAssoc || strings.Contains(f, "A")
				isArr = isArr || strings.Contains(f, "a")
			}
			items = append(items, declItem{text: f})
		}
	}
	if sh.opts.has(optXtrace) {
		t := []string{name}
		for _, it := range items {
			switch {
			case it.a == nil:
				t = append(t, setQuote(it.text))
			case it.a.value != nil:
				t = append(t, it.a.name+"="+setQuote(it.val))
			default:
				t = append(t, it.a.name)
			}
		}
		sh.trace(strings.Join(t, " "))
	}
	sh.status = sh.declare(opts[0], items)
	if n := len(items); n > 0 {
		it := items[n-1]
		switch {
		case it.a == nil:
			sh.lastArg = it.text
		case it.a.value != nil && it.a.sub == nil:
			sh.lastArg = it.a.name + "=" + it.val
		default:
			sh.lastArg = it.a.name
		}
	}
}

func builtinDeclare(sh *shell, args []string) int {
	items := make([]declItem, len(args)-1)
	for i, a := range args[1:] {
		items[i] = declItem{text: a}
	}
	return sh.declare(args[0], items)
}

// A declSpec is what the options ask for.
type declSpec struct {
	cmd             string
	on, off         attr
	print, funcs    bool
	names, global   bool // -F, -g
	inherit, traceF bool
	unexport        bool
}

func (sh *shell) declare(cmd string, items []declItem) int {
	d := declSpec{cmd: cmd}
	i := 0
	for ; i < len(items) && items[i].a == nil; i++ {
		t := items[i].text
		if t == "--" {
			i++
			break
		}
		if len(t) < 2 || t[0] != '-' && (t[0] != '+' || cmd == "export" || cmd == "readonly") {
			break
		}
		for _, c := range []byte(t[1:]) {
			if !d.flag(c, t[0] == '+') {
				sh.errorf("%s: %c%c: invalid option", cmd, t[0], c)
				sh.stderr(cmd + ": usage: " + cmd + " [-aAfFgiIlnrtux] [name[=value] ...] or " + cmd + " -p [-aAfFilnrtux] [name ...]\n")
				return 2
			}
		}
	}
	rest := items[i:]
	switch cmd {
	case "export":
		d.on |= attrExport
	case "readonly":
		d.on |= attrReadonly
	case "local":
		if sh.frame == nil || sh.depthVar() == 0 {
			for _, it := range rest { // bash has assigned lists by then
				if it.a != nil && it.a.isArray {
					sh.assignArray(it.a.name, it.els, it.a.app)
				}
			}
			sh.errorf("local: can only be used in a function")
			return 1
		}
	}
	if len(rest) == 1 && cmd == "local" && rest[0].a == nil && rest[0].text == "-" {
		if sh.frame.opts == nil {
			o := sh.opts
			sh.frame.opts = &o
		}
		return 0
	}
	if d.funcs {
		return sh.declareFuncs(&d, rest)
	}
	if len(rest) == 0 {
		return sh.listDecls(&d)
	}
	if d.print {
		return sh.printDecls(&d, rest)
	}
	st := 0
	for _, it := range rest {
		if it.a == nil && it.text == "-" && cmd == "local" {
			o := sh.opts
			sh.frame.opts = &o
			continue
		}
		if !sh.declareOne(&d, it) {
			st = 1
		}
		if sh.flow != flowNone {
			break
		}
	}
	return st
}

func (d *declSpec) flag(c byte, off bool) bool {
	set := func(a attr) bool {
		if off {
			d.off |= a
		} else {
			d.on |= a
		}
		return true
	}
	if d.cmd == "export" {
		switch c {
		case 'n':
			d.unexport = true
			return true
		case 'p':
			d.print = true
			return true
		case 'f':
			d.funcs = true
			return true
		}
		return false
	}
	switch c {
	case 'a':
		return set(attrArray)
	case 'A':
		return set(attrAssoc)
	case 'p':
		d.print = true
	case 'f':
		d.funcs = true
	default:
		if d.cmd == "readonly" {
			return false
		}
		switch c {
		case 'F':
			d.funcs, d.names = true, true
		case 'g':
			d.global = true
		case 'i':
			return set(attrInteger)
		case 'I':
			d.inherit = true
		case 'l':
			return set(attrLower)
		case 'u':
			return set(attrUpper)
		case 'c':
			return set(attrCapital)
		case 'n':
			return set(attrNameref)
		case 'r':
			return set(attrReadonly)
		case 't':
			return set(attrTrace)
		case 'x':
			return set(attrExport)
		default:
			return false
		}
	}
	return true
}

// declareOne declares one name.
func (sh *shell) declareOne(d *declSpec, it declItem) bool {
	a := it.a
	if a == nil {
		a = parseDeclText(sh, it.text)
		if a == nil {
			sh.errorf("%s: `%s': not a valid identifier", d.cmd, it.text)
			return false
		}
		it.val = sh.str(a.value)
	}
	if a.sub != nil && (d.cmd == "export" || d.cmd == "readonly") {
		sh.errorf("%s: `%s[%s]': not a valid identifier", d.cmd, a.name, a.sub.raw)
		return false
	}
	if d.on&attrNameref != 0 && a.sub != nil {
		sh.errorf("%s: %s: reference variable cannot be an array", d.cmd, a.name+"["+a.sub.raw+"]")
		return false
	}
	name := a.name
	ok := true
	fail := func() {
		if p := recover(); p != nil {
			ab, is := p.(abort)
			ce, is2 := ab.err.(*cmdError)
			if !is || !is2 || ce.kind == errExit {
				panic(p)
			}
			e := *ce
			if e.msg != "" && !strings.Contains(e.msg, "bad array subscript") {
				e.msg = d.cmd + ": " + e.msg
			}
			if strings.Contains(e.msg, "(error token is") {
				panic(abort{&e})
			}
			if e.msg != "" && !e.quiet {
				sh.errorf("%s", e.msg)
			}
			ok = false
			if sh.isSpecial(d.cmd) && strings.Contains(e.msg, "readonly variable") {
				sh.flow = flowExit
			}
		}
	}
	func() {
		defer fail()
		sh.declareVar(d, a, name, it.val, it.els)
	}()
	return ok
}

// parseDeclText parses NAME, NAME=value, NAME[sub]=value given as one string.
func parseDeclText(sh *shell, s string) *assign {
	eq := strings.IndexByte(s, '=')
	left := s
	if eq >= 0 {
		left = s[:eq]
		if br := strings.IndexByte(s, '['); br > 0 && br < eq {
			end := subscriptEnd(s, br+1)
			if end < len(s) && (s[end] == '=' || s[end] == '+') {
				left = s[:end]
				eq = end
				if s[end] == '+' {
					eq = end + 1
				}
			}
		}
	}
	a := &assign{naked: eq < 0}
	if eq > 0 && s[eq-1] == '+' {
		a.app = true
		left = s[:eq-1]
	}
	if i := strings.IndexByte(left, '['); i > 0 && strings.HasSuffix(left, "]") {
		a.sub = sh.valueSubscript(left[i+1 : len(left)-1])
		left = left[:i]
	}
	if !isName(left) {
		return nil
	}
	a.name = left
	if eq >= 0 {
		a.value = litWord(s[eq+1:])
	}
	return a
}

// scopeVar finds or makes the variable that a declaration means.
func (sh *shell) scopeVar(d *declSpec, name string) *variable {
	depth := sh.depthVar()
	isLocal := depth > 0 && !d.global && (d.cmd == "local" || d.cmd == "declare" || d.cmd == "typeset")
	if !isLocal {
		if d.global {
			return sh.global(name)
		}
		return sh.mutable(name)
	}
	old := sh.lookup(name)
	if old != nil && old.depth != depth && old.has(attrReadonly) && old.depth == 0 {
		failf(errCommand, 1, "%s: readonly variable", name)
	}
	v, fresh := sh.local(name, depth)
	if fresh && old != nil {
		switch {
		case old.has(attrTemp) || d.inherit || sh.opts.has(optLocalvarInherit):
			c := old.clone(sh.vars)
			v.attr = c.attr &^ attrTemp
			if d.inherit {
				v.attr &^= attrNameref
			}
			v.str, v.arr, v.assoc = c.str, c.arr, c.assoc
		}
		if old.has(attrDynamic) {
			v.attr &^= attrDynamic
		}
		sh.varChanged(name)
	}
	return v
}

func (sh *shell) declareVar(d *declSpec, a *assign, name, val string, els []element) {
	toArr := a.isArray
	compound := false
	if a.value != nil && !a.isArray {
		if (d.on&(attrArray|attrAssoc) != 0 || sh.lookup(name).has(attrArray|attrAssoc) && d.cmd != "export" && d.cmd != "readonly" && sh.sameScope(d, name)) && a.sub == nil && strings.HasPrefix(val, "(") && strings.HasSuffix(val, ")") {
			compound = true
		}
	}
	if d.on&attrNameref == 0 && d.off&attrNameref == 0 {
		// A declaration of a reference declares what it refers to.
		if v := sh.lookup(name); v.has(attrNameref) && (sh.depthVar() == 0 || v.depth == sh.depthVar() || d.cmd == "export" || d.cmd == "readonly" || d.global) {
			r, ok := sh.resolve(name)
			if ok && r.hasSub {
				failf(errCommand, 1, "`%s': not a valid identifier", r.name+"["+r.sub+"]")
			}
			if ok {
				name = r.name
			}
		}
	}
	v := sh.scopeVar(d, name)
	ro := v.has(attrReadonly)
	if ro && (a.value != nil || a.isArray || d.off&attrReadonly != 0) {
		failf(errCommand, 1, "%s: readonly variable", name)
	}
	if d.off&attrReadonly != 0 && ro {
		failf(errCommand, 1, "%s: readonly variable", name)
	}
	if d.off&attrArray != 0 && v.has(attrArray) || d.off&attrAssoc != 0 && v.has(attrAssoc) {
		failf(errCommand, 1, "%s: cannot destroy array variables in this way", name)
	}
	if d.on&attrAssoc != 0 && v.has(attrArray) {
		failf(errCommand, 1, "%s: cannot convert indexed to associative array", name)
	}
	if d.on&attrArray != 0 && v.has(attrAssoc) {
		failf(errCommand, 1, "%s: cannot convert associative to indexed array", name)
	}
	if d.on&attrNameref != 0 {
		sh.declareNameref(d, a, name, v, val)
		return
	}
	if d.off&attrNameref != 0 && v.has(attrNameref) {
		v.attr &^= attrNameref
	}
	set := d.on &^ (attrReadonly | attrArray | attrAssoc)
	if set&attrLower != 0 && set&attrUpper != 0 {
		set &^= attrLower | attrUpper
	}
	if set&attrLower != 0 {
		v.attr &^= attrUpper
	}
	if set&attrUpper != 0 {
		v.attr &^= attrLower
	}
	v.attr = v.attr&^(d.off&^attrReadonly) | set
	if d.unexport {
		v.attr &^= attrExport
	}
	switch {
	case d.on&attrAssoc != 0 && !v.has(attrAssoc):
		if v.has(attrSet) {
			v.assoc = newAssoc()
			v.assoc.set("0", v.str)
			v.str = ""
			v.attr &^= attrSet
		}
		v.attr |= attrAssoc
	case d.on&attrArray != 0 && !v.has(attrArray):
		sh.toArray(v)
	}
	if d.global && sh.depthVar() > 0 && sh.lookup(name) != v {
		sh.assignGlobal(v, a, els, val, toArr)
	} else {
		switch {
		case a.isArray:
			sh.assignArray(name, els, a.app)
		case compound:
			sh.assignArray(name, sh.compoundText(val, v.has(attrAssoc)), a.app)
		case a.value != nil:
			if a.sub != nil {
				sh.setElement(name, a.sub, val, a.app)
			} else if sh.lookup(name).has(attrNameref) && v.has(attrNameref) {
				sh.assignTo(name, nil, val, a.app)
			} else {
				sh.setPlain(name, val, a.app)
			}
		case a.sub != nil && !v.has(attrArray|attrAssoc):
			sh.toArray(v)
		}
	}
	if d.on&attrReadonly != 0 {
		sh.lookupForAttr(d, name, v).attr |= attrReadonly
	}
	if sh.opts.has(optAllexport) && a.value != nil {
		v.attr |= attrExport
	}
}

// sameScope tells whether the declaration means the variable that is visible.
func (sh *shell) sameScope(d *declSpec, name string) bool {
	v := sh.lookup(name)
	return v != nil && (sh.depthVar() == 0 || v.depth >= sh.depthVar())
}

func (sh *shell) lookupForAttr(d *declSpec, name string, v *variable) *variable {
	if d.global {
		return v
	}
	return sh.mutable(name)
}

// assignGlobal gives a hidden global variable its value.
func (sh *shell) assignGlobal(v *variable, a *assign, els []element, val string, isArr bool) {
	switch {
	case isArr:
		if v.has(attrAssoc) {
			v.assoc = newAssoc()
			for _, e := range els {
				v.assoc.set(e.key, e.val)
			}
			return
		}
		v.attr |= attrArray
		v.arr = &indexed{}
		for _, e := range els {
			k := v.arr.next()
			if e.keyed {
				k = e.idx
				if e.expr != nil {
					k = sh.arith(e.expr)
				}
			}
			v.arr.set(k, e.val)
		}
	case a.value != nil && v.has(attrArray):
		v.arr.set(0, val)
	case a.value != nil:
		if a.app {
			val = v.str + val
		}
		sh.setValue(v, sh.convert(v, "", val, false))
	}
}

func (sh *shell) declareNameref(d *declSpec, a *assign, name string, v *variable, val string) {
	if v.has(attrArray | attrAssoc) {
		failf(errCommand, 1, "%s: reference variable cannot be an array", name)
	}
	if a.value == nil {
		if v.has(attrSet) && !validRef(v.str) {
			failf(errCommand, 1, "`%s': invalid variable name for name reference", v.str)
		}
		v.attr |= attrNameref | d.on&(attrReadonly|attrExport)
		return
	}
	if !validRef(val) && val != "" {
		failf(errCommand, 1, "`%s': invalid variable name for name reference", val)
	}
	if val == name && v.depth == 0 {
		failf(errCommand, 1, "%s: nameref variable self references not allowed", name)
	}
	if val == name {
		sh.errorf("%s: warning: %s: circular name reference", d.cmd, name)
	}
	v.attr |= attrNameref | attrSet | d.on&(attrReadonly|attrExport)
	v.str = val
}
