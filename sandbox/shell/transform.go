package shell

import (
	"strings"
	"unicode"
)

// transformAll applies a pattern, replacement, case or @ operator to a value
// or to each element of a list.
func (sh *shell) transformAll(p *paramPart, v pvalue) pvalue {
	if p.op == opTransform {
		return sh.atOp(p, v)
	}
	return sh.each(v, sh.stringOp(p))
}

// each applies f to a value, or to the elements of a list.
func (sh *shell) each(v pvalue, f func(string) string) pvalue {
	if !v.isList {
		if v.set {
			v.s = f(v.s)
		}
		return v
	}
	out := make([]string, len(v.list))
	var total int64
	for i, s := range v.list {
		sh.tick()
		out[i] = f(s)
		if total += int64(len(out[i])); total > sh.run.lim.Expansion {
			throw(&LimitError{What: "expansion of " + size(sh.run.lim.Expansion)})
		}
	}
	v.list = out
	return v
}

// stringOp returns what the operator does to one string.
func (sh *shell) stringOp(p *paramPart) func(string) string {
	switch p.op {
	case opTrimPrefix, opTrimPrefixLong:
		pat := sh.compileFold(sh.pattern(p.arg), false)
		return func(s string) string {
			if n := pat.prefix(s, 0, p.op == opTrimPrefixLong); n >= 0 {
				return s[n:]
			}
			return s
		}
	case opTrimSuffix, opTrimSuffixLong:
		pat := sh.compileFold(sh.pattern(p.arg), false)
		return func(s string) string {
			if n := pat.suffix(s, p.op == opTrimSuffixLong); n >= 0 {
				return s[:n]
			}
			return s
		}
	case opReplace, opReplaceAll, opReplaceStart, opReplaceEnd:
		return sh.replacer(p)
	}
	var pat *pattern
	if t := sh.pattern(p.arg); t != "" {
		pat = sh.compilePattern(t)
	}
	return func(s string) string { return sh.changeCase(s, p.op, pat) }
}

func (sh *shell) changeCase(s string, op paramOp, pat *pattern) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if i&1023 == 0 {
			sh.tick()
		}
		r, n := decode(s, i)
		first := i == 0
		all := op == opUpper || op == opLower || op == opToggle
		if r < 0 || !first && !all || pat != nil && !pat.match(s[i:i+n]) {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		switch op {
		case opUpper, opUpper1:
			r = unicode.ToUpper(r)
		case opLower, opLower1:
			r = unicode.ToLower(r)
		default:
			if unicode.IsUpper(r) {
				r = unicode.ToLower(r)
			} else {
				r = unicode.ToUpper(r)
			}
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// replacer returns what ${x/pat/with} does. An unquoted & in the replacement
// stands for what matched.
func (sh *shell) replacer(p *paramPart) func(string) string {
	pat := sh.compilePattern(sh.pattern(p.arg))
	with := sh.replacement(p.with)
	lim := sh.run.lim.Expansion
	empty := pat.simp && pat.lit == ""
	return func(s string) string {
		var b strings.Builder
		put := func(match string) {
			for _, w := range with {
				if w == nil {
					w = &match
				}
				if int64(b.Len()+len(*w)) > lim {
					throw(&LimitError{What: "expansion of " + size(lim)})
				}
				b.WriteString(*w)
			}
		}
		switch p.op {
		case opReplaceStart:
			n := pat.prefix(s, 0, true)
			if n < 0 {
				return s
			}
			put(s[:n])
			return b.String() + s[n:]
		case opReplaceEnd:
			n := pat.suffix(s, true)
			if n < 0 {
				return s
			}
			b.WriteString(s[:n])
			put(s[n:])
			return b.String()
		}
		if empty {
			return s
		}
		i := 0
		for i <= len(s) {
			sh.tick()
			if pat.simp {
				k := strings.Index(s[i:], pat.lit)
				if k < 0 {
					break
				}
				b.WriteString(s[i : i+k])
				put(pat.lit)
				i += k + len(pat.lit)
			} else {
				n := pat.prefix(s, i, true)
				if n >= i && (n > i || i < len(s) || s == "") {
					put(s[i:n])
					if p.op == opReplace || s == "" {
						i = n
						break
					}
				}
				if n > i {
					i = n
				} else if i < len(s) { // no match, or one of nothing
					_, w := decode(s, i)
					b.WriteString(s[i : i+w])
					i += w
				} else {
					break
				}
				if i < len(s) {
					continue
				}
			}
			if p.op == opReplace {
				break
			}
			if i == len(s) {
				break
			}
		}
		if i < len(s) {
			b.WriteString(s[i:])
		}
		return b.String()
	}
}

// replacement expands the replacement to pieces; nil stands for the match.
func (sh *shell) replacement(w *word) (out []*string) {
	if w == nil {
		return nil
	}
	b := &builder{sh: sh, mode: buildPattern, isEsc: true}
	if w.isLit {
		b.active(w.lit)
	} else {
		for _, p := range w.parts {
			if q, ok := p.(*quotedPart); ok { // & must not count in quotes
				b.esc = append(b.esc, escapeAmp(q.s)...)
				continue
			}
			if q, ok := p.(*dqPart); ok {
				b.esc = append(b.esc, escapeAmp(sh.text(q.parts))...)
				continue
			}
			sh.parts(b, []part{p}, false)
		}
	}
	b.grow(len(b.esc))
	var cur []byte
	add := func() {
		if len(cur) > 0 {
			s := string(cur)
			out = append(out, &s)
			cur = nil
		}
	}
	s := b.esc
	patsub := sh.opts.has(optPatsub)
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '&' || s[i+1] == '\\') && patsub:
			i++
			cur = append(cur, s[i])
		case s[i] == '&' && patsub:
			add()
			out = append(out, nil)
		default:
			cur = append(cur, s[i])
		}
	}
	add()
	return out
}

func escapeAmp(s string) string {
	if !strings.ContainsAny(s, "&\\") {
		return s
	}
	return strings.NewReplacer("\\", "\\\\", "&", "\\&").Replace(s)
}

// atOp applies ${x@Q} and its like.
func (sh *shell) atOp(p *paramPart, v pvalue) pvalue {
	op := sh.str(p.arg)
	if len(op) != 1 || !strings.Contains("UuLQEPAKak", op) {
		failf(errDiscard, 1, "%s: bad substitution", p.raw)
	}
	name := sh.resolved(p.name)
	vr := sh.lookup(name)
	switch op {
	case "A":
		if p.name == "@" || p.name == "*" {
			v = sh.each(v, shellQuote)
			v.list = append([]string{"set", "--"}, v.list...)
			return v
		}
		if vr == nil || v.isList && !v.set || !v.isList && !v.set && vr.attr&(attrArray|attrAssoc) == 0 && vr.attr == 0 {
			return pvalue{isList: v.isList}
		}
		if v.isList && vr.attr&(attrArray|attrAssoc) != 0 {
			s := sh.declString(name, vr)
			if v.star {
				return pvalue{s: s, set: true}
			}
			return pvalue{list: strings.SplitN(s, " ", 3), isList: true, set: true}
		}
		if v.isList { // of a plain variable
			v.s = strings.Join(v.list, "")
		}
		fl := flagLetters(vr.attr)
		s := name + "=" + shellQuote(v.s)
		if !v.set {
			s = name
		}
		if fl != "" {
			s = "declare -" + fl + " " + s
		}
		return pvalue{s: s, set: true}
	case "a":
		fl := ""
		if vr != nil {
			fl = flagLetters(vr.attr)
		}
		if v.isList && p.sub != nil {
			for i := range v.list {
				v.list[i] = fl
			}
			return v
		}
		if !v.set && (vr == nil || p.sub != nil && !vr.has(attrArray|attrAssoc)) {
			return pvalue{set: true}
		}
		return pvalue{s: fl, set: true}
	case "K", "k":
		if v.isList && vr.has(attrArray|attrAssoc) {
			keys := sh.keysOf(name)
			var out []string
			for i, k := range keys {
				if op == "K" {
					if vr.has(attrAssoc) {
						k = quoteKey(k)
					}
					out = append(out, k+" "+doubleQuote(v.list[i]))
				} else {
					out = append(out, k, v.list[i])
				}
			}
			if op == "K" {
				sp := ""
				if vr.has(attrAssoc) && len(out) > 0 {
					sp = " "
				}
				return pvalue{s: strings.Join(out, " ") + sp, set: true}
			}
			v.list = out
			return v
		}
		op = "Q"
	}
	return sh.each(v, func(s string) string {
		switch op {
		case "Q":
			return shellQuote(s)
		case "U":
			return strings.ToUpper(s)
		case "u":
			return sh.changeCase(s, opUpper1, nil)
		case "L":
			return strings.ToLower(s)
		case "E":
			return ansiC(s)
		}
		return sh.prompt(s)
	})
}
