package sandbox

import (
	"strings"

	"github.com/donax-sh/donax/sandbox/shell"
	"mvdan.cc/sh/v3/syntax"
)

// literal returns the one word that w always expands to, and whether there
// is one: no expansion, no pattern, no braces.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	if expandsBraces(w) {
		return "", false
	}
	var b strings.Builder
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") || hasPattern(p.Value) {
				return "", false
			}
			unescape(&b, p.Value, "")
		case *syntax.SglQuoted:
			if !p.Dollar {
				b.WriteString(p.Value)
				continue
			}
			b.WriteString(shell.Unescape(p.Value))
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return "", false
				}
				unescape(&b, l.Value, "$`\"\\\n")
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape removes the backslashes of s; only those before a byte of these
// are special, if any are given.
func unescape(b *strings.Builder, s, these string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (these == "" || strings.IndexByte(these, s[i+1]) >= 0) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
}

// hasPattern reports whether unquoted text may match file names.
func hasPattern(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// expandsBraces reports whether w is more words than it is written as.
func expandsBraces(w *syntax.Word) bool {
	c := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(c) {
		return false
	}
	for _, p := range c.Parts {
		if b, ok := p.(*syntax.BraceExp); ok && len(b.Elems) > 1 {
			return true
		}
	}
	return false
}
