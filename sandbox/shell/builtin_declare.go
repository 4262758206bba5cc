package shell

import (
	"sort"
	"strings"
)

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
	fail := func(kind errKind) {
		if p := recover(); p != nil {
			ab, is := p.(abort)
			ce, is2 := ab.err.(*cmdError)
			if !is || !is2 || ce.kind == errExit {
				panic(p)
			}
			if strings.Contains(ce.msg, "readonly variable") {
				sh.errorf("%s: %s", d.cmd, ce.msg)
			} else if ce.msg != "" && !ce.quiet {
				sh.errorf("%s", ce.msg)
			}
			_ = kind
			ok = false
		}
	}
	func() {
		defer fail(errCommand)
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

// compoundText parses "(a b [k]=v)" that came from a value: words are split
// and unquoted, nothing is expanded.
func (sh *shell) compoundText(s string, isAssoc bool) []element {
	body := s[1 : len(s)-1]
	var out []element
	for _, w := range splitQuoted(body) {
		if strings.HasPrefix(w, "[") {
			end := subscriptEnd(w, 1)
			if end < len(w) && w[end] == '=' {
				key := unquoteText(w[1 : end-1])
				e := element{keyed: true, key: key, val: unquoteText(w[end+1:])}
				if !isAssoc {
					e.idx = sh.arithString(key)
				}
				out = append(out, e)
				continue
			}
		}
		out = append(out, element{val: unquoteText(w)})
	}
	return out
}

// splitQuoted splits at blanks outside of quotes.
func splitQuoted(s string) []string {
	var out []string
	start := -1
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n':
			if start >= 0 {
				out = append(out, s[start:i])
				start = -1
			}
			i++
			continue
		case start < 0:
			start = i
		}
		switch c := s[i]; {
		case c == '\\':
			i += 2
		case c == '\'' || c == '"':
			i = skipQuoted(s, i)
		case c == '$' && i+1 < len(s) && s[i+1] == '\'':
			i = skipAnsi(s, i)
		default:
			i++
		}
	}
	if start >= 0 {
		out = append(out, s[start:min(len(s), len(s))])
	}
	return out
}

// unquoteText removes quotes; expansions stay text.
func unquoteText(s string) string {
	if !strings.ContainsAny(s, "\\'\"") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			b.WriteByte(s[i+1])
			i += 2
		case c == '\'':
			j := skipQuoted(s, i)
			b.WriteString(strings.TrimSuffix(s[i+1:j], "'"))
			i = j
		case c == '"':
			j := skipQuoted(s, i)
			in := strings.TrimSuffix(s[i+1:j], "\"")
			for k := 0; k < len(in); k++ {
				if in[k] == '\\' && k+1 < len(in) && strings.IndexByte("\\\"$`", in[k+1]) >= 0 {
					k++
				}
				b.WriteByte(in[k])
			}
			i = j
		case c == '$' && i+1 < len(s) && s[i+1] == '\'':
			j := skipAnsi(s, i)
			b.WriteString(ansiC(strings.TrimSuffix(s[i+2:j], "'")))
			i = j
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
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
		sh.errorf("warning: %s: circular name reference", name)
	}
	v.attr |= attrNameref | attrSet | d.on&(attrReadonly|attrExport)
	v.str = val
}

func flagLetters(a attr) string {
	var b strings.Builder
	for _, f := range []struct {
		a attr
		c byte
	}{{attrArray, 'a'}, {attrAssoc, 'A'}, {attrInteger, 'i'}, {attrNameref, 'n'}, {attrReadonly, 'r'}, {attrTrace, 't'}, {attrExport, 'x'}, {attrCapital, 'c'}, {attrLower, 'l'}, {attrUpper, 'u'}} {
		if a&f.a != 0 {
			b.WriteByte(f.c)
		}
	}
	return b.String()
}

// declString is declare -p.
func (sh *shell) declString(name string, v *variable) string {
	fl := flagLetters(v.attr)
	if fl == "" {
		fl = "-"
	}
	out := "declare -" + fl + " " + name
	switch {
	case v.attr&attrDynamic != 0 && v.attr&attrArray != 0:
		l := sh.dynamicList(name, v)
		return out + "=" + arrayText(&indexed{vals: l})
	case v.attr&attrDynamic != 0:
		s, ok := sh.dynamic(name, v)
		if !ok {
			return out
		}
		return out + "=" + doubleQuote(s)
	case v.attr&attrArray != 0:
		if v.arr.len() == 0 {
			if v.attr&attrSet == 0 {
				return out
			}
			return out + "=()"
		}
		return out + "=" + arrayText(v.arr)
	case v.attr&attrAssoc != 0:
		if v.assoc == nil {
			return out
		}
		if v.assoc.len() == 0 {
			return out + "=()"
		}
		return out + "=" + assocText(v.assoc)
	case v.attr&attrSet != 0:
		return out + "=" + doubleQuote(v.str)
	}
	return out
}

func arrayText(a *indexed) string {
	var b strings.Builder
	b.WriteByte('(')
	for i := 0; i < a.len(); i++ {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("[" + itoa64(a.key(i)) + "]=" + doubleQuote(a.vals[i]))
	}
	b.WriteByte(')')
	return b.String()
}

func assocText(a *assoc) string {
	var b strings.Builder
	b.WriteByte('(')
	for _, e := range a.entries() {
		b.WriteString("[" + quoteKey(e.key) + "]=" + doubleQuote(e.val) + " ")
	}
	b.WriteByte(')')
	return b.String()
}

// listDecls lists variables with the wanted attributes.
func (sh *shell) listDecls(d *declSpec) int {
	var names []string
	for n := range sh.vars.m {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	full := d.print || d.on != 0 || d.cmd == "export" || d.cmd == "readonly"
	for _, n := range names {
		v := sh.vars.m[n]
		if d.cmd == "local" && (v.depth != sh.depthVar() || v.depth == 0) {
			continue
		}
		if v.attr&d.on != d.on || d.on == 0 && v.attr&(attrSet|attrArray|attrAssoc|attrDynamic) == 0 && !d.print {
			continue
		}
		if d.on == 0 && v.attr&^attrReadonly == 0 {
			continue
		}
		if full {
			b.WriteString(sh.declString(n, v) + "\n")
		} else {
			b.WriteString(sh.setString(n, v))
		}
	}
	sh.out(b.String())
	if !full && d.cmd != "local" {
		sh.listFuncs(false)
	}
	return 0
}

// setString is a line of set: NAME=value in a form that can be read back.
func (sh *shell) setString(name string, v *variable) string {
	switch {
	case v.attr&attrDynamic != 0:
		if v.attr&attrArray != 0 {
			return name + "=" + arrayText(&indexed{vals: sh.dynamicList(name, v)}) + "\n"
		}
		s, ok := sh.dynamic(name, v)
		if !ok {
			return ""
		}
		return name + "=" + setQuote(s) + "\n"
	case v.attr&attrArray != 0:
		return name + "=" + arrayText(v.arr) + "\n"
	case v.attr&attrAssoc != 0:
		if v.assoc == nil {
			return name + "=()\n"
		}
		return name + "=" + assocText(v.assoc) + "\n"
	}
	return name + "=" + setQuote(v.str) + "\n"
}

func (sh *shell) printDecls(d *declSpec, items []declItem) int {
	st := 0
	for _, it := range items {
		n := it.text
		if it.a != nil {
			n = it.a.name
		}
		v := sh.lookup(n)
		if v == nil || d.cmd == "local" && v.depth != sh.depthVar() || v.attr == 0 && v.depth == 0 {
			sh.errorf("%s: %s: not found", d.cmd, n)
			st = 1
			continue
		}
		sh.out(sh.declString(n, v) + "\n")
	}
	return st
}

// declareFuncs is declare -f, -F, export -f, readonly -f.
func (sh *shell) declareFuncs(d *declSpec, items []declItem) int {
	if len(items) == 0 {
		sh.listFuncs(d.names)
		return 0
	}
	st := 0
	for _, it := range items {
		n := it.text
		if it.a != nil {
			n = it.a.name
		}
		f := sh.funcs.m[n]
		if f == nil {
			if d.cmd == "export" || d.cmd == "readonly" {
				sh.errorf("%s: %s: not a function", d.cmd, n)
			}
			st = 1
			continue
		}
		switch {
		case d.cmd == "export" && !d.print:
			sh.ownFuncs().exported[n] = !d.unexport
		case d.on&attrReadonly != 0 && !d.print:
			sh.ownFuncs().readonly[n] = true
		case d.on&attrExport != 0:
			sh.ownFuncs().exported[n] = true
		case d.on&attrTrace != 0:
			sh.ownFuncs().traced[n] = true
		case d.off&attrTrace != 0:
			sh.ownFuncs().traced[n] = false
		case d.names:
			if sh.opts.has(optExtdebug) {
				sh.out(n + " " + itoa(f.line) + " " + f.source + "\n")
			} else {
				sh.out(n + "\n")
			}
		default:
			sh.out(f.text + "\n")
		}
	}
	return st
}

func (sh *shell) listFuncs(namesOnly bool) {
	var names []string
	for n := range sh.funcs.m {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if namesOnly {
			fl := ""
			if sh.funcs.exported[n] {
				fl = "x"
			}
			sh.out("declare -f" + fl + " " + n + "\n")
		} else {
			sh.out(sh.funcs.m[n].text + "\n")
		}
	}
}

func builtinUnset(sh *shell, args []string) int {
	o := newGetopt(args, "fvn")
	vars, funcs, ref := false, false, false
	for o.next() {
		switch o.opt {
		case 'f':
			funcs = true
		case 'v':
			vars = true
		case 'n':
			ref = true
		default:
			return sh.usage(o, "unset [-f] [-v] [-n] [name ...]")
		}
	}
	if vars && funcs {
		return sh.builtinError("unset", "cannot simultaneously unset a function and a variable")
	}
	st := 0
	for _, n := range o.rest() {
		if funcs {
			if sh.funcs.readonly[n] {
				st = sh.builtinError("unset", "%s: cannot unset: readonly function", n)
				continue
			}
			sh.unsetFunc(n)
			continue
		}
		if !validRef(n) {
			if !vars && sh.funcs.m[n] != nil {
				sh.unsetFunc(n)
				continue
			}
			if vars {
				st = sh.builtinError("unset", "`%s': not a valid identifier", n)
			}
			continue
		}
		if !sh.unsetOne(n, ref, vars) {
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
	case sub.all != 0:
		if v.has(attrArray) {
			sh.mutable(name).arr = &indexed{}
		} else {
			sh.unsetVar(name)
		}
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
