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
	name := c.words[0].lit
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
	sh.traceDecl(name, items)
	sh.status = sh.declare(call{sh: sh, args: []string{name}}, items)
	if n := len(items); n > 0 {
		it := items[n-1]
		sh.lastArg = it.name()
		if it.a != nil && it.a.value != nil && it.a.sub == nil {
			sh.lastArg += "=" + it.val
		}
	}
}

// name is the word, or the name that it assigns to.
func (it *declItem) name() string {
	if it.a != nil {
		return it.a.name
	}
	return it.text
}

// builtinDeclare is declare and its family without assignments among the
// words as they are written.
func builtinDeclare(sh *shell, c call) int {
	items := make([]declItem, len(c.rest))
	for i, a := range c.rest {
		items[i].text = a
	}
	return sh.declare(c, items)
}

// A declSpec is what the options ask for.
type declSpec struct {
	call
	cmd           string
	on, off       attr
	print, funcs  bool
	names, global bool // -F, -g
	inherit       bool
	unexport      bool
}

func (sh *shell) declare(c call, items []declItem) int {
	cmd := c.args[0]
	d := declSpec{call: c, cmd: cmd}
	i := 0
	for ; i < len(items) && items[i].a == nil; i++ {
		t := items[i].text
		if t == "--" {
			i++
			break
		}
		if len(t) < 2 || t[0] != '-' && (t[0] != '+' || !d.isDeclare()) {
			break
		}
		for _, l := range []byte(t[1:]) {
			if !d.flag(l, t[0] == '+') {
				return c.misuse("%c%c: invalid option", t[0], l)
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
			return c.fail("can only be used in a function")
		}
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
			if sh.frame.opts == nil {
				o := sh.opts
				sh.frame.opts = &o
			}
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

// isDeclare tells declare, typeset and local from export and readonly.
func (d *declSpec) isDeclare() bool { return d.cmd != "export" && d.cmd != "readonly" }

// attrLetters are the letters of attributes, in the order that declare -p has.
const attrLetters = "aAinrtxclu"

func attrOf(letter byte) attr {
	i := strings.IndexByte(attrLetters, letter)
	if i < 0 {
		return 0
	}
	return [...]attr{attrArray, attrAssoc, attrInteger, attrNameref, attrReadonly, attrTrace, attrExport, attrCapital, attrLower, attrUpper}[i]
}

// flag takes one letter of an option, off after a plus; false refuses it.
func (d *declSpec) flag(letter byte, off bool) bool {
	if !d.isDeclare() && strings.IndexByte("aAfnp", letter) < 0 {
		return false
	}
	switch letter {
	case 'p':
		d.print = true
	case 'f', 'F':
		d.funcs, d.names = true, d.names || letter == 'F'
	case 'g':
		d.global = true
	case 'I':
		d.inherit = true
	default:
		a := attrOf(letter)
		switch {
		case letter == 'n' && !d.isDeclare():
			d.unexport = d.cmd == "export"
		case off:
			d.off |= a
		default:
			d.on |= a
		}
		return a != 0
	}
	return true
}

// declareOne declares one name.
func (sh *shell) declareOne(d *declSpec, it declItem) bool {
	a := it.a
	if a == nil {
		if a = parseDeclText(sh, it.text); a == nil {
			d.fail("`%s': not a valid identifier", it.text)
			return false
		}
		it.val = sh.str(a.value)
	}
	if a.sub != nil && !d.isDeclare() {
		d.fail("`%s[%s]': not a valid identifier", a.name, a.sub.raw)
		return false
	}
	if d.on&attrNameref != 0 && a.sub != nil {
		d.fail("%s[%s]: reference variable cannot be an array", a.name, a.sub.raw)
		return false
	}
	err := catch(func() { sh.declareVar(d, a, a.name, it.val, it.els) })
	ce, ok := err.(*cmdError)
	if err != nil && (!ok || ce.kind == errExit) {
		throw(err)
	}
	if ok && ce.msg != "" {
		e := *ce
		if !strings.Contains(e.msg, "bad array subscript") {
			e.msg = d.cmd + ": " + e.msg
		}
		if strings.Contains(e.msg, "(error token is") {
			throw(&e)
		}
		if !e.quiet {
			sh.errorf("%s", e.msg)
		}
		if sh.isSpecial(d.cmd) && strings.Contains(e.msg, "readonly variable") {
			sh.flow = flowExit
		}
	}
	return err == nil
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
	switch {
	case d.global:
		return sh.global(name)
	case depth == 0 || !d.isDeclare():
		return sh.mutable(name)
	}
	old := sh.lookup(name)
	if old != nil && old.depth != depth && old.has(attrReadonly) && old.depth == 0 {
		failf(errCommand, 1, "%s: readonly variable", name)
	}
	v, fresh := sh.local(name, depth)
	if fresh && old != nil {
		if old.has(attrTemp) || d.inherit || sh.opts.has(optLocalvarInherit) {
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
	// A list may also come as text.
	compound := a.value != nil && !a.isArray && a.sub == nil && strings.HasPrefix(val, "(") && strings.HasSuffix(val, ")") &&
		(d.on&(attrArray|attrAssoc) != 0 || sh.lookup(name).has(attrArray|attrAssoc) && d.isDeclare() && sh.sameScope(name))
	if d.on&attrNameref == 0 && d.off&attrNameref == 0 {
		// A declaration of a reference declares what it refers to.
		if v := sh.lookup(name); v.has(attrNameref) && (sh.depthVar() == 0 || v.depth == sh.depthVar() || !d.isDeclare() || d.global) {
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
	if v.has(attrReadonly) && (a.value != nil || a.isArray || d.off&attrReadonly != 0) {
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
	set := d.on &^ (attrReadonly | attrArray | attrAssoc)
	if set&attrLower != 0 && set&attrUpper != 0 {
		set &^= attrLower | attrUpper
	}
	if set&(attrLower|attrUpper) != 0 {
		v.attr &^= attrLower | attrUpper
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
		sh.assignGlobal(v, a, els, val)
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
		if !d.global {
			v = sh.mutable(name)
		}
		v.attr |= attrReadonly
	}
	if sh.opts.has(optAllexport) && a.value != nil {
		v.attr |= attrExport
	}
}

// sameScope tells whether the declaration means the variable that is visible.
func (sh *shell) sameScope(name string) bool {
	v := sh.lookup(name)
	return v != nil && (sh.depthVar() == 0 || v.depth >= sh.depthVar())
}

// assignGlobal gives a hidden global variable its value.
func (sh *shell) assignGlobal(v *variable, a *assign, els []element, val string) {
	switch {
	case a.isArray:
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
