package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Aliases are replaced in the source text, before the line is run: a line is
// parsed, the first command word that is an alias is spliced, and the line is
// parsed again.

func (sh *shell) aliasActive() bool {
	return len(sh.aliases) > 0 && sh.opts.has(optExpandAliases)
}

// An aliasState remembers what was spliced into the current line.
type aliasState struct {
	spans []aliasSpan
	count int
}

type aliasSpan struct {
	start, end int
	name       string
	blank      bool // the text ends in a blank: the next word may be an alias too
}

const maxAliasSplices = 1000

// expand splices the first alias of stmts and reports whether there was one.
func (a *aliasState) expand(sh *shell, src *source, stmts []*syntax.Stmt, base int) bool {
	best, name := -1, ""
	consider := func(off int, w string) {
		if _, ok := sh.aliases[w]; !ok || best >= 0 && off >= best {
			return
		}
		for _, s := range a.spans {
			if off >= s.start && off < s.end && s.name == w {
				return
			}
		}
		best, name = off, w
	}
	for _, st := range stmts {
		syntax.Walk(st, func(n syntax.Node) bool {
			c, ok := n.(*syntax.CallExpr)
			if !ok || len(c.Args) == 0 {
				return true
			}
			for i, w := range c.Args {
				lit := ""
				if len(w.Parts) == 1 {
					if l, ok := w.Parts[0].(*syntax.Lit); ok && !strings.Contains(l.Value, "\\") {
						lit = l.Value
					}
				}
				off := base + int(w.Pos().Offset())
				if lit == "" || i > 0 && !a.afterBlank(src, off) {
					continue
				}
				consider(off, lit)
			}
			return true
		})
	}
	if best < 0 {
		return false
	}
	a.splice(sh, src, best, name)
	return true
}

// afterBlank tells whether the word at off follows an alias whose text ends
// in a blank.
func (a *aliasState) afterBlank(src *source, off int) bool {
	for _, s := range a.spans {
		if s.blank && s.end <= off && strings.Trim(src.text[s.end:off], " \t\\\n") == "" {
			return true
		}
	}
	return false
}

// first splices the first word of the line, for aliases that change the
// grammar, and reports whether it did.
func (a *aliasState) first(sh *shell, src *source, pos int) bool {
	i := pos
	for i < len(src.text) && (src.text[i] == ' ' || src.text[i] == '\t' || src.text[i] == '\n') {
		i++
	}
	j := i
	for j < len(src.text) && !strings.ContainsRune(" \t\n;|&()<>$'\"\\`", rune(src.text[j])) {
		j++
	}
	name := src.text[i:j]
	if _, ok := sh.aliases[name]; !ok || name == "" {
		return false
	}
	for _, s := range a.spans {
		if s.start == i && s.name == name {
			return false
		}
	}
	a.splice(sh, src, i, name)
	return true
}

func (a *aliasState) splice(sh *shell, src *source, off int, name string) {
	a.count++
	val := sh.aliases[name]
	if a.count > maxAliasSplices || len(src.text)+len(val) > sh.run.lim.Source {
		throw(&LimitError{What: "alias expansion of a line"})
	}
	delta := len(val) - len(name)
	for i := range a.spans {
		s := &a.spans[i]
		if s.start > off {
			s.start += delta
		}
		if s.end > off {
			s.end += delta
		}
	}
	src.text = src.text[:off] + val + src.text[off+len(name):]
	src.patched = src.text
	blank := strings.HasSuffix(val, " ") || strings.HasSuffix(val, "\t")
	a.spans = append(a.spans, aliasSpan{off, off + len(val), name, blank})
}
