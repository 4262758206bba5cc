package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A pvalue is what a parameter expands to before its operator is applied.
type pvalue struct {
	list   []string
	isList bool // $@, $*, ${a[@]}, ...
	star   bool
	s      string
	set    bool
}

// param expands ${...} into b.
func (sh *shell) param(b *builder, p *paramPart, quoted bool) {
	if p.bad {
		if name, _, ok := strings.Cut(p.raw[min(2, len(p.raw)):], "@"); ok && isName(name) && !sh.opts.has(optNounset) && !sh.paramValue(name, nil).set {
			if quoted { // bash looks at the operator only when there is a value
				b.quoted("")
			}
			return
		}
		failf(errDiscard, 1, "%s: bad substitution", p.raw)
	}
	if p.names != 0 {
		b.list(sh.names(p.name), p.names == '*', quoted)
		return
	}
	// The plain case: $name.
	if p.op == opNone && !p.length && !p.excl && !p.slice && p.sub == nil && isName(p.name) {
		if v := sh.lookup(p.name); v.has(attrNameref) {
			if r, ok := sh.resolve(p.name); ok && r.hasSub {
				if sub := sh.valueSubscript(r.sub); sub.all != 0 {
					b.list(sh.elements(r.name), sub.all == '*', quoted)
					return
				}
			}
		}
		s, ok := sh.getSet(p.name)
		if !ok && sh.opts.has(optNounset) {
			sh.unbound(p.name)
		}
		sh.addText(b, s, quoted)
		return
	}
	if p.excl {
		sh.indirect(b, p, quoted)
		return
	}
	if p.sub == nil {
		if v := sh.lookup(p.name); v.has(attrNameref) {
			if r, ok := sh.resolve(p.name); ok && r.hasSub {
				q := *p
				q.name, q.sub = r.name, sh.valueSubscript(r.sub)
				p = &q
			}
		}
	}
	if p.length {
		sh.addText(b, strconv.Itoa(sh.paramLength(p)), quoted)
		return
	}
	v := sh.paramValue(p.name, p.sub)
	sh.paramOps(b, p, v, quoted)
}

func (sh *shell) unbound(name string) {
	failf(errExit, 1, "%s: unbound variable", name)
}

// paramOps applies the operator of p to v.
func (sh *shell) paramOps(b *builder, p *paramPart, v pvalue, quoted bool) {
	switch p.op {
	case opDefault, opAssign, opError, opAlt:
		sh.defaultOp(b, p, v, quoted)
		return
	}
	if !v.set && sh.opts.has(optNounset) && !(v.isList && (p.sub != nil || p.name == "@" || p.name == "*")) {
		sh.unbound(p.fullName())
	}
	if p.slice {
		v = sh.slice(p, v)
	} else if p.op != opNone {
		v = sh.transformAll(p, v)
	}
	if v.isList {
		star := v.star || b.assign && (p.slice || p.op != opNone)
		if b.heredoc && p.sub == nil && p.op == opNone {
			star = false // there $* is joined with blanks
		}
		b.listAt(v.list, star, quoted, !v.star)
		return
	}
	sh.addText(b, v.s, quoted)
}

func (p *paramPart) fullName() string {
	if p.sub != nil {
		return p.name + "[" + p.sub.raw + "]"
	}
	return p.name
}

// paramValue finds the value of a parameter, special ones included.
func (sh *shell) paramValue(name string, sub *subscript) pvalue {
	switch name {
	case "@", "*":
		return pvalue{list: sh.params, isList: true, star: name == "*", set: len(sh.params) > 0}
	case "#":
		return pvalue{s: strconv.Itoa(len(sh.params)), set: true}
	case "?":
		return pvalue{s: strconv.Itoa(sh.status), set: true}
	case "$":
		return pvalue{s: strconv.Itoa(sh.run.ids.PID), set: true}
	case "!":
		if sh.lastBg == 0 {
			return pvalue{}
		}
		return pvalue{s: strconv.Itoa(sh.lastBg), set: true}
	case "-":
		return pvalue{s: sh.opts.letters(sh), set: true}
	case "0":
		return pvalue{s: sh.name0, set: true}
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		n, ok := atoi(name)
		if ok && n >= 1 && n <= int64(len(sh.params)) {
			return pvalue{s: sh.params[n-1], set: true}
		}
		return pvalue{}
	}
	if sub == nil {
		s, ok := sh.getSet(name)
		return pvalue{s: s, set: ok}
	}
	r, ok := sh.resolve(name)
	if !ok {
		return pvalue{}
	}
	if sub.all != 0 {
		list := sh.elements(r.name)
		return pvalue{list: list, isList: true, star: sub.all == '*', set: len(list) > 0}
	}
	if r.sub != "" || r.hasSub {
		return pvalue{}
	}
	s, set := sh.element(r.name, sub)
	return pvalue{s: s, set: set}
}

// indexedOf is a variable as an indexed array, which a plain one is with one
// element; nil when it has none.
func (sh *shell) indexedOf(name string, v *variable) *indexed {
	switch {
	case v == nil:
	case v.attr&attrDynamic != 0:
		return &indexed{vals: sh.dynamicList(name, v)}
	case v.attr&attrArray != 0:
		return v.arr
	case v.attr&attrSet != 0:
		return &indexed{vals: []string{v.str}}
	}
	return nil
}

// elements are the values of an array, or the one of a plain variable.
func (sh *shell) elements(name string) []string {
	v := sh.lookup(name)
	if v.has(attrAssoc) {
		es := v.assoc.entries()
		out := make([]string, len(es))
		for i, e := range es {
			out[i] = e.val
		}
		return out
	}
	if a := sh.indexedOf(name, v); a != nil {
		return slices.Clone(a.vals)
	}
	return nil
}

// keysOf are the subscripts of an array.
func (sh *shell) keysOf(name string) []string {
	v := sh.lookup(name)
	if v.has(attrAssoc) {
		return v.assoc.keys()
	}
	a := sh.indexedOf(name, v)
	out := make([]string, a.len())
	for i := range out {
		out[i] = itoa64(a.key(i))
	}
	return out
}

// element is the value of name[sub].
func (sh *shell) element(name string, sub *subscript) (string, bool) {
	v := sh.lookup(name)
	if v.has(attrAssoc) {
		return v.assoc.get(sh.str(sub.key))
	}
	if sub.raw == "" {
		failf(errDiscard, 1, "%s[%s]: bad array subscript", name, sub.raw)
	}
	i := sh.arith(sub.expr)
	if v == nil {
		return "", false
	}
	return sh.elementAt(name, v, i)
}

func (sh *shell) elementAt(name string, v *variable, i int64) (string, bool) {
	a := sh.indexedOf(name, v)
	if i < 0 {
		if v.attr&attrArray != 0 {
			i += a.next()
		}
		if i < 0 {
			if v.attr&attrDynamic == 0 {
				sh.errorf("%s: bad array subscript", name)
			}
			return "", false
		}
	}
	return a.get(i)
}

func (sh *shell) paramLength(p *paramPart) int {
	if p.name == "@" || p.name == "*" {
		return len(sh.params)
	}
	v := sh.paramValue(p.name, p.sub)
	if v.isList {
		return len(v.list)
	}
	if !v.set && sh.opts.has(optNounset) {
		sh.unbound(p.fullName())
	}
	return charLen(v.s)
}

// charLen counts characters; an invalid byte counts as one.
func charLen(s string) int { return utf8.RuneCountInString(s) }

// indirect expands ${!name...}.
func (sh *shell) indirect(b *builder, p *paramPart, quoted bool) {
	if p.sub != nil && p.sub.all != 0 && p.op == opNone && !p.slice {
		r, ok := sh.resolve(p.name)
		if !ok {
			return
		}
		b.listAt(sh.keysOf(r.name), p.sub.all == '*' || b.assign, quoted, p.sub.all == '@')
		return
	}
	var target string
	set := true
	if v := sh.lookup(p.name); v.has(attrNameref) && p.sub == nil {
		if p.op == opNone && !p.slice {
			sh.addText(b, v.str, quoted)
			return
		}
		target = v.str
	} else {
		pv := sh.paramValue(p.name, p.sub)
		target, set = pv.s, pv.set
		if pv.isList {
			target = strings.Join(pv.list, " ")
		}
	}
	if !set || target == "" {
		if v := sh.lookup(p.name); !set && v.has(attrArray|attrAssoc) && (p.sub == nil || p.sub.all == 0) {
			sh.addText(b, "", quoted)
			return
		}
		failf(errDiscard, 1, "%s: invalid indirect expansion", p.fullName())
	}
	name, sub, ok := sh.parseRef(target)
	if !ok {
		failf(errDiscard, 1, "%s: invalid variable name", target)
	}
	q := *p
	q.excl, q.name, q.sub = false, name, sub
	v := sh.paramValue(name, sub)
	sh.paramOps(b, &q, v, quoted)
}

// parseRef parses the text of a reference: a name, name[subscript] or a
// special parameter. Command substitutions in the subscript stay text.
func (sh *shell) parseRef(s string) (name string, sub *subscript, ok bool) {
	if i := strings.IndexByte(s, '['); i > 0 && s[len(s)-1] == ']' {
		if !isName(s[:i]) {
			return "", nil, false
		}
		return s[:i], sh.valueSubscript(s[i+1 : len(s)-1]), true
	}
	if isName(s) {
		return s, nil, true
	}
	if len(s) == 1 && strings.Contains("@*#?$!-", s) {
		return s, nil, true
	}
	if _, num := atoi(s); num && s[0] != '-' && s[0] != '+' {
		return s, nil, true
	}
	return "", nil, false
}

// valueSubscript makes a subscript of text that came from a value. Variables
// in it are expanded; nothing in it is ever run.
func (sh *shell) valueSubscript(raw string) *subscript {
	s := &subscript{raw: raw}
	if raw == "@" || raw == "*" {
		s.all = raw[0]
	}
	key := raw
	if len(raw) >= 2 && (raw[0] == '"' || raw[0] == '\'') && raw[len(raw)-1] == raw[0] {
		key = raw[1 : len(raw)-1]
	}
	if strings.IndexByte(key, '$') >= 0 {
		key = sh.valueText(key)
	}
	s.key = litWord(key)
	s.expr = &arith{raw: raw, empty: strings.TrimSpace(raw) == "", parts: []part{&quotedPart{key}}}
	return s
}

// defaultOp applies :- := :? :+ and their forms without colon.
func (sh *shell) defaultOp(b *builder, p *paramPart, v pvalue, quoted bool) {
	has := v.set
	if p.colon && has {
		if v.isList {
			has = len(v.list) > 1 || len(v.list) == 1 && v.list[0] != ""
			if v.star && (p.sub != nil || quoted) && sh.ifsJoin() == "" {
				has = strings.Join(v.list, "") != ""
			}
		} else {
			has = v.s != ""
		}
	}
	if v.isList && !p.colon && p.sub == nil {
		has = len(v.list) > 0
	}
	if p.op == opAlt {
		if has {
			sh.argParts(b, p, quoted)
		} else if quoted && !v.isList {
			b.quoted("")
		}
		return
	}
	if has {
		if v.isList {
			b.list(v.list, v.star, quoted)
		} else {
			sh.addText(b, v.s, quoted)
		}
		return
	}
	switch p.op {
	case opDefault:
		sh.argParts(b, p, quoted)
	case opAssign:
		if p.name == "" || !isName(p.name) {
			failf(errDiscard, 1, "$%s: cannot assign in this way", p.name)
		}
		if p.sub != nil && p.sub.all != 0 {
			failf(errDiscard, 1, "%s: bad array subscript", p.fullName())
		}
		val := sh.str(p.arg)
		sh.assignTo(p.name, p.sub, val, false)
		if p.sub == nil {
			val = sh.get(p.name)
		}
		sh.addText(b, val, quoted)
	case opError:
		msg := sh.str(p.arg)
		if len(p.arg.parts) == 0 && p.arg.lit == "" {
			msg = "parameter not set"
			if p.colon {
				msg = "parameter null or not set"
			}
		}
		failf(errExit, 1, "%s: %s", p.fullName(), msg)
	}
}

// argParts expands the word of ${x:-word} in place: its own quotes count.
func (sh *shell) argParts(b *builder, p *paramPart, quoted bool) {
	if p.arg.isLit {
		if quoted {
			b.quoted(p.arg.lit)
		} else {
			b.split(p.arg.lit)
		}
		return
	}
	if len(p.arg.parts) == 0 && quoted {
		b.quoted("")
		return
	}
	for _, q := range p.arg.parts {
		if l, ok := q.(*litPart); ok && !quoted && b.mode == buildFields {
			b.split(l.s)
			continue
		}
		sh.parts(b, []part{q}, quoted)
	}
}

// slice applies ${x:off:len}.
func (sh *shell) slice(p *paramPart, v pvalue) pvalue {
	if !v.set {
		return v
	}
	off := sh.arith(p.off)
	var n int64
	if p.n != nil {
		n = sh.arith(p.n)
	}
	if !v.isList {
		total := int64(charLen(v.s))
		if off < 0 {
			if off += total; off < 0 {
				return pvalue{set: true}
			}
		}
		if off > total {
			return pvalue{set: true}
		}
		end := total
		if p.n != nil {
			if n < 0 {
				end = total + n
				if end < off {
					failf(errDiscard, 1, "%s: substring expression < 0", p.n.raw)
				}
			} else if n < total-off {
				end = off + n
			}
		}
		v.s = substr(v.s, off, end, total)
		return v
	}
	if p.n != nil && n < 0 {
		failf(errDiscard, 1, "%s: substring expression < 0", p.n.raw)
	}
	list, base, back := v.list, int64(len(v.list)), off < 0
	positional, vr := p.name == "@" || p.name == "*", sh.lookup(sh.resolved(p.name))
	switch {
	case positional:
		base++
	case vr.has(attrArray):
		base = vr.arr.next()
	}
	if back {
		if off += base; off < 0 {
			v.list = nil
			return v
		}
	}
	switch {
	case positional && off == 0:
		list = append([]string{sh.name0}, list...)
	case positional:
		off--
	case vr.has(attrArray): // the offset is a subscript, not a count
		i, _ := vr.arr.find(off)
		off = int64(i)
	case vr.has(attrAssoc) && off > 0 && !back:
		off--
	}
	if off > int64(len(list)) {
		off = int64(len(list))
	}
	list = list[off:]
	if p.n != nil && n < int64(len(list)) {
		list = list[:n]
	}
	v.list = list
	return v
}

// substr cuts characters off..end out of s, which has total of them.
func substr(s string, off, end, total int64) string {
	if int64(len(s)) == total {
		return s[off:end]
	}
	i := skipChars(s, 0, off)
	return s[i:skipChars(s, i, end-off)]
}

func skipChars(s string, i int, n int64) int {
	for ; n > 0 && i < len(s); n-- {
		_, w := decode(s, i)
		i += w
	}
	return i
}
