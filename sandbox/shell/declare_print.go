package shell

import (
	"sort"
	"strings"
)

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
	full := d.print || d.on != 0 || d.cmd == "export" || d.cmd == "readonly" || d.cmd == "local"
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
			line := sh.declString(n, v)
			if _, rest, ok := strings.Cut(line, " -x "); ok && d.cmd == "export" && sh.opts.has(optPosix) {
				line = "export " + rest
			} else if _, rest, ok := strings.Cut(line, " -r "); ok && d.cmd == "readonly" && sh.opts.has(optPosix) {
				line = "readonly " + rest
			}
			b.WriteString(line + "\n")
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
