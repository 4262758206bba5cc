package shell

import (
	"maps"
	"slices"
	"strings"
)

func flagLetters(a attr) string {
	var out []byte
	for _, l := range []byte(attrLetters) {
		if a&attrOf(l) != 0 {
			out = append(out, l)
		}
	}
	return string(out)
}

// declString is declare -p.
func (sh *shell) declString(name string, v *variable) string {
	out := "declare -" + firstOf(flagLetters(v.attr), "-") + " " + name
	if val, ok := sh.written(name, v, doubleQuote); ok {
		out += "=" + val
	}
	return out
}

// written is the value of v as it can be read back; quote is for plain ones.
func (sh *shell) written(name string, v *variable, quote func(string) string) (s string, ok bool) {
	switch {
	case v.attr&attrAssoc != 0:
		return assocText(v.assoc), v.assoc != nil
	case v.attr&attrArray != 0:
		a := sh.indexedOf(name, v)
		return arrayText(a), a.len() > 0 || v.attr&(attrSet|attrDynamic) != 0
	case v.attr&attrDynamic != 0:
		s, ok = sh.dynamic(name, v)
	default:
		s, ok = v.str, v.attr&attrSet != 0
	}
	return quote(s), ok
}

func arrayText(a *indexed) string {
	out := make([]string, a.len())
	for i := range out {
		out[i] = "[" + itoa64(a.key(i)) + "]=" + doubleQuote(a.vals[i])
	}
	return "(" + strings.Join(out, " ") + ")"
}

func assocText(a *assoc) string {
	var b strings.Builder
	for _, e := range a.entries() {
		b.WriteString("[" + quoteKey(e.key) + "]=" + doubleQuote(e.val) + " ")
	}
	return "(" + b.String() + ")"
}

// listDecls lists variables with the wanted attributes.
func (sh *shell) listDecls(d *declSpec) int {
	var b strings.Builder
	full := d.print || d.on != 0 || d.cmd == "local"
	for _, n := range slices.Sorted(maps.Keys(sh.vars.m)) {
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
			letter := map[string]string{"export": " -x ", "readonly": " -r "}[d.cmd]
			if _, rest, ok := strings.Cut(line, letter); ok && letter != "" && sh.opts.has(optPosix) {
				line = d.cmd + " " + rest
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
	val, ok := sh.written(name, v, setQuote)
	if !ok && v.attr&attrDynamic != 0 {
		return ""
	}
	return name + "=" + val + "\n"
}

func (sh *shell) printDecls(d *declSpec, items []declItem) int {
	st := 0
	for _, it := range items {
		n := it.name()
		v := sh.lookup(n)
		if v == nil || d.cmd == "local" && v.depth != sh.depthVar() || v.attr == 0 && v.depth == 0 {
			st = d.fail("%s: not found", n)
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
		n := it.name()
		f := sh.funcs.m[n]
		if f == nil {
			if !d.isDeclare() {
				d.fail("%s: not a function", n)
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
		case (d.on|d.off)&attrTrace != 0:
			sh.ownFuncs().traced[n] = d.on&attrTrace != 0
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
	for _, n := range slices.Sorted(maps.Keys(sh.funcs.m)) {
		switch {
		case namesOnly && sh.funcs.exported[n]:
			sh.out("declare -fx " + n + "\n")
		case namesOnly:
			sh.out("declare -f " + n + "\n")
		default:
			sh.out(sh.funcs.m[n].text + "\n")
		}
	}
}
