package shell

import (
	"strconv"
	"strings"
)

// fields expands words to arguments.
func (sh *shell) fields(ws []*word) []string {
	out := make([]string, 0, len(ws))
	var b *builder
	for _, w := range ws {
		if w.isLit {
			out = append(out, w.lit)
			continue
		}
		if b == nil {
			b = &builder{sh: sh}
		}
		b.out = out
		sh.wordFields(b, w)
		out = b.out
	}
	return out
}

func (sh *shell) wordFields(b *builder, w *word) {
	switch {
	case w.isLit:
		b.out = append(b.out, w.lit)
	case w.brace != nil && len(w.brace.nodes) == 1 && w.brace.nodes[0].seq != nil:
		n := 0
		sh.checkBraces(w.brace)
		w.brace.nodes[0].seq.each(func(s string) {
			if n++; n&1023 == 0 {
				sh.tick()
			}
			b.grow(len(s) + 16)
			b.out = append(b.out, s)
		})
	case w.brace != nil:
		sh.expandBraces(w.brace, func(p []part) {
			if len(p) == 0 {
				return // an empty alternative by itself is no word
			}
			nw := finishWord(mergeParts(p), wordArg)
			if nw.isLit {
				b.out = append(b.out, nw.lit)
				b.grow(len(nw.lit) + 16)
				return
			}
			sh.parts(b, nw.parts, false)
			b.endWord()
		})
	default:
		sh.parts(b, w.parts, false)
		b.endWord()
	}
}

// str expands a word to one string: no splitting, no globs.
func (sh *shell) str(w *word) string { return sh.strIn(w, false) }

// strIn is str; in an assignment, lists that an operator has changed are
// joined with the first character of IFS.
func (sh *shell) strIn(w *word, assign bool) string {
	if w == nil {
		return ""
	}
	if w.isLit {
		return w.lit
	}
	b := &builder{sh: sh, mode: buildString, assign: assign}
	if w.brace != nil {
		sh.expandBraces(w.brace, func(p []part) {
			if b.has {
				b.quoted(" ")
			}
			sh.parts(b, p, false)
		})
		return string(b.buf)
	}
	sh.parts(b, w.parts, false)
	return string(b.buf)
}

// pattern expands a word to a pattern in which quoted characters are escaped.
func (sh *shell) pattern(w *word) string {
	if w == nil {
		return ""
	}
	if w.isLit && !strings.ContainsAny(w.lit, patSpecial) {
		return w.lit
	}
	b := &builder{sh: sh, mode: buildPattern, isEsc: true}
	if w.isLit {
		return string(escapeTo(nil, w.lit))
	}
	sh.parts(b, w.parts, false)
	return string(b.esc)
}

// regex expands a word to a regular expression.
func (sh *shell) regex(w *word) string {
	b := &builder{sh: sh, mode: buildRegex, isEsc: true}
	if w.isLit {
		return string(escapeRegex(nil, w.lit))
	}
	sh.parts(b, w.parts, false)
	return string(b.esc)
}

// text expands parts like a double-quoted string.
func (sh *shell) text(ps []part) string {
	if len(ps) == 1 {
		if q, ok := ps[0].(*quotedPart); ok {
			return q.s
		}
	}
	b := &builder{sh: sh, mode: buildString}
	sh.parts(b, ps, true)
	return string(b.buf)
}

// parts expands parts into b.
func (sh *shell) parts(b *builder, ps []part, quoted bool) {
	for _, p := range ps {
		sh.tick()
		switch p := p.(type) {
		case *litPart:
			if quoted {
				b.quoted(p.s)
			} else {
				b.active(p.s)
			}
		case *quotedPart:
			b.quoted(p.s)
		case *dqPart:
			sh.double(b, p.parts)
		case *tildePart:
			if s, ok := sh.tilde(p.user); ok {
				b.quoted(s)
			} else {
				b.active("~" + p.user)
			}
		case *paramPart:
			sh.param(b, p, quoted)
		case *cmdSubPart:
			sh.addText(b, sh.cmdSubst(p), quoted)
		case *arithPart:
			sh.line = p.line
			n := sh.arith(p.x)
			s := strconv.FormatInt(n, 10)
			sh.addText(b, s, quoted)
		case *procPart:
			b.quoted(sh.procSubst(p))
		}
	}
}

// double expands the inside of double quotes. "$@" without elements makes no
// field at all, so the quotes alone do not count when it is there.
func (sh *shell) double(b *builder, ps []part) {
	hasList := false
	for _, p := range ps {
		if pp, ok := p.(*paramPart); ok && pp.isList() {
			hasList = true
		}
	}
	if !hasList {
		b.has = true
		b.white = false
	}
	sh.parts(b, ps, true)
}

// isList tells whether the expansion may produce no field inside quotes.
func (p *paramPart) isList() bool {
	if p.length {
		return false
	}
	return p.name == "@" || p.sub != nil && p.sub.all == '@' || p.names == '@' || p.excl ||
		p.arg != nil && partsHaveList(p.arg.parts)
}

func partsHaveList(ps []part) bool {
	for _, p := range ps {
		switch p := p.(type) {
		case *paramPart:
			if p.isList() {
				return true
			}
		case *dqPart:
			if partsHaveList(p.parts) {
				return true
			}
		}
	}
	return false
}

// addText adds the result of an expansion.
func (sh *shell) addText(b *builder, s string, quoted bool) {
	if quoted {
		b.quoted(s)
	} else {
		b.split(s)
	}
}

// tilde expands ~user. Only the own home and the folders of the shell are
// known: there is no user database to look into.
func (sh *shell) tilde(user string) (string, bool) {
	switch user {
	case "":
		if h, ok := sh.getSet("HOME"); ok {
			return h, true
		}
		return "/", true
	case "+":
		return sh.dir, true
	case "-":
		return sh.getSet("OLDPWD")
	}
	if user[0] >= '0' && user[0] <= '9' {
		user = "+" + user
	}
	if i, _, found := sh.dirIndex(user); found {
		return sh.allDirs()[i], true
	}
	return "", false
}

// hold charges n bytes until the running command ends.
func (sh *shell) hold(n int64) {
	sh.charge(n)
	sh.held += n
}

// unhold gives back what the command held beyond mark.
func (sh *shell) unhold(mark int64) {
	if n := sh.held - mark; n > 0 {
		sh.held = mark
		sh.charge(-n)
	}
}
