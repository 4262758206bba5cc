package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What kind of text a literal stands in.
type litCtx uint8

const (
	ctxPlain   litCtx = iota
	ctxDouble         // inside "..."
	ctxHeredoc        // inside a here-document
	ctxArith          // inside $((...)): like "..." but quotes vanish
)

// What a word is for: it decides about braces and tildes.
type wordMode uint8

const (
	wordArg    wordMode = iota // an argument: braces, tilde at the start
	wordPlain                  // tilde at the start
	wordAssign                 // right of an =: tilde at the start and after each :
	wordTest                   // an operand of [[ ]]
	wordRegex                  // right of =~
)

func litWord(s string) *word { return &word{lit: s, isLit: true} }

func (lw *lowerer) argWord(w *syntax.Word) *word {
	if pw := lw.patchedWord(w); pw != nil {
		return pw
	}
	// The commonest words are one plain literal.
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && plainLit(l.Value) {
			return litWord(l.Value)
		}
	}
	parts := lw.parts(nil, w.Parts, ctxPlain)
	if b := parseBraces(lw, parts); b != nil {
		return &word{brace: b}
	}
	return finishWord(parts, wordArg)
}

func (lw *lowerer) word(w *syntax.Word, mode wordMode) *word {
	if w == nil {
		return litWord("")
	}
	if pw := lw.patchedWord(w); pw != nil {
		return pw
	}
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && plainLit(l.Value) && mode != wordRegex {
			return litWord(l.Value)
		}
	}
	return finishWord(lw.parts(nil, w.Parts, ctxPlain), mode)
}

// plainLit tells whether s means itself wherever it stands.
func plainLit(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\', '*', '?', '[', '{', '~', '+', '@', '!', '(', ')', '|', 0x7f:
			return false
		}
	}
	return true
}

// finishWord finds tildes and gives w the shortcut for plain literals.
func finishWord(parts []part, mode wordMode) *word {
	if mode != wordRegex {
		parts = tildes(parts, mode)
	}
	w := &word{parts: parts}
	switch len(parts) {
	case 0:
		w.isLit = true
	case 1:
		switch p := parts[0].(type) {
		case *quotedPart:
			if mode == wordArg || mode == wordAssign {
				w.lit, w.isLit = p.s, true
			}
		case *litPart:
			if plainLit(p.s) {
				w.lit, w.isLit = p.s, true
			}
		}
	}
	return w
}

// tildes replaces unquoted ~ prefixes by tilde parts.
func tildes(parts []part, mode wordMode) []part {
	if len(parts) == 0 {
		return parts
	}
	has := false
	for _, p := range parts {
		if l, ok := p.(*litPart); ok && strings.Contains(l.s, "~") {
			has = true
		}
	}
	if !has {
		return parts
	}
	var out []part
	start := true // a tilde here starts a prefix
	inAssign := mode == wordAssign
	for i, p := range parts {
		l, ok := p.(*litPart)
		if !ok {
			out = append(out, p)
			start = false
			continue
		}
		s := l.s
		if i == 0 && mode == wordArg {
			// NAME=~ as an argument: bash expands it too.
			if eq := strings.IndexByte(s, '='); eq > 0 && isName(s[:eq]) {
				out = append(out, &litPart{s[:eq+1]})
				s = s[eq+1:]
				inAssign, start = true, true
			}
		}
		for s != "" {
			if start && s[0] == '~' {
				end := strings.IndexByte(s, '/')
				if inAssign {
					if c := strings.IndexByte(s, ':'); c >= 0 && (end < 0 || c < end) {
						end = c
					}
				}
				whole := end >= 0 || i == len(parts)-1
				if end < 0 {
					end = len(s)
				}
				if whole {
					out = append(out, &tildePart{s[1:end]})
					s = s[end:]
					start = false
					continue
				}
			}
			start = false
			next := -1
			if inAssign {
				next = strings.IndexByte(s, ':')
			}
			if next < 0 {
				out = append(out, &litPart{s})
				break
			}
			out = append(out, &litPart{s[:next+1]})
			s = s[next+1:]
			start = true
		}
	}
	return out
}

// parts appends the lowered form of in to out.
func (lw *lowerer) parts(out []part, in []syntax.WordPart, ctx litCtx) []part {
	for _, p := range in {
		switch p := p.(type) {
		case *syntax.Lit:
			out = lw.lit(out, p.Value, ctx)
		case *syntax.SglQuoted:
			switch {
			case ctx == ctxArith:
				out = append(out, &quotedPart{"'" + p.Value + "'"})
			case ctx != ctxPlain && !p.Dollar:
				// Inside of "..." single quotes in ${x:-word} are text.
				out = append(out, &quotedPart{"'"})
				out = append(out, lw.sub(p.Value).parts(nil, lw.fragment(p.Value), ctxDouble)...)
				out = append(out, &quotedPart{"'"})
			case p.Dollar:
				out = append(out, &quotedPart{ansiC(p.Value)})
			default:
				out = append(out, &quotedPart{p.Value})
			}
		case *syntax.DblQuoted:
			inner := lw.parts(nil, p.Parts, ctxDouble)
			if len(inner) == 1 {
				if q, ok := inner[0].(*quotedPart); ok {
					out = append(out, q)
					continue
				}
			}
			if len(inner) == 0 {
				out = append(out, &quotedPart{})
				continue
			}
			out = append(out, &dqPart{inner})
		case *syntax.ParamExp:
			out = append(out, lw.param(p, ctx))
		case *syntax.CmdSubst:
			out = append(out, lw.cmdSubst(p))
		case *syntax.ArithmExp:
			n := uint(2)
			if !p.Bracket {
				n = 3
			}
			out = append(out, &arithPart{x: lw.arithText(lw.slice(p.Left.Offset()+n, p.Right.Offset())), line: lw.lineOf(p.Left)})
		case *syntax.ProcSubst:
			lw.enter()
			if p.Op == syntax.CmdInTemp {
				failf(errCommand, 2, "syntax error near =(")
			}
			out = append(out, &procPart{out: p.Op == syntax.CmdOut, body: lw.stmts(p.Stmts)})
			lw.leave()
		case *syntax.ExtGlob:
			out = append(out, &litPart{p.Op.String()})
			out = append(out, lw.keyParts(p.Pattern.Value)...)
			out = append(out, &litPart{")"})
		default:
			failf(errCommand, 2, "syntax error: unsupported word")
		}
	}
	return out
}

// lit appends literal text, with its backslashes resolved.
func (lw *lowerer) lit(out []part, s string, ctx litCtx) []part {
	if strings.IndexByte(s, '\\') < 0 && (ctx != ctxArith || strings.IndexByte(s, '"') < 0) {
		if s == "" {
			return out
		}
		if ctx == ctxPlain {
			return append(out, &litPart{s})
		}
		return append(out, &quotedPart{s})
	}
	var b strings.Builder
	if ctx != ctxPlain {
		for i := 0; i < len(s); i++ {
			c := s[i]
			if c == '\\' && i+1 < len(s) {
				switch n := s[i+1]; {
				case n == '$' || n == '`' || n == '\\' || n == '"' && ctx != ctxHeredoc:
					b.WriteByte(n)
					i++
					continue
				case n == '\n':
					i++
					continue
				}
			}
			if c == '"' && ctx == ctxArith {
				continue
			}
			b.WriteByte(c)
		}
		return append(out, &quotedPart{b.String()})
	}
	flush := func() {
		if b.Len() > 0 {
			out = append(out, &litPart{b.String()})
			b.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			flush()
			out = append(out, &quotedPart{"\\"})
			break
		}
		if s[i] == '\n' {
			continue
		}
		flush()
		n := 1
		if s[i] >= 0x80 { // the whole character is quoted
			for i+n < len(s) && s[i+n]&0xC0 == 0x80 {
				n++
			}
		}
		out = append(out, &quotedPart{s[i : i+n]})
		i += n - 1
	}
	flush()
	return out
}

func (lw *lowerer) cmdSubst(c *syntax.CmdSubst) part {
	lw.enter()
	defer lw.leave()
	if c.Backquotes {
		lw.bq++
		defer func() { lw.bq-- }()
	}
	out := &cmdSubPart{fsub: c.TempFile, reply: c.ReplyVar, line: lw.lineOf(c.Left)}
	if len(c.Stmts) == 1 {
		s := c.Stmts[0]
		if s.Cmd == nil && len(s.Redirs) == 1 && s.Redirs[0].Op == syntax.RdrIn && s.Redirs[0].N == nil && !s.Negated && !s.Background {
			out.file = lw.word(s.Redirs[0].Word, wordPlain)
			return out
		}
	}
	out.body = lw.stmts(c.Stmts)
	return out
}

// fragment parses a piece of source text as a double-quoted string would be.
func (lw *lowerer) fragment(text string) []syntax.WordPart {
	r := &lineReader{sh: lw.sh, src: &source{text: text, patched: text}}
	w, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(r)
	if r.err != nil {
		throw(r.err)
	}
	if err != nil {
		failf(errDiscard, 1, "%s: bad substitution", text)
	}
	if w == nil {
		return nil
	}
	return w.Parts
}

func (lw *lowerer) sub(text string) *lowerer {
	return &lowerer{sh: lw.sh, src: lw.src, depth: lw.depth + 1, frag: text, isFr: true, line: lw.line}
}

// textParts lowers source text that is expanded like a double-quoted string.
func (lw *lowerer) textParts(text string) []part {
	if !strings.ContainsAny(text, "$`\\\"") {
		if text == "" {
			return nil
		}
		return []part{&quotedPart{text}}
	}
	lw.enter()
	defer lw.leave()
	return lw.sub(text).parts(nil, lw.fragment(text), ctxArith)
}

// keyParts lowers source text in which quotes count but words do not end:
// subscripts and extended patterns.
func (lw *lowerer) keyParts(text string) []part {
	if !strings.ContainsAny(text, "$`\\\"'") {
		if text == "" {
			return nil
		}
		return []part{&litPart{text}}
	}
	lw.enter()
	defer lw.leave()
	var out []part
	start := 0
	flush := func(end int) {
		if end > start {
			out = append(out, &litPart{text[start:end]})
		}
	}
	for i := 0; i < len(text); {
		j := i
		var add []part
		switch c := text[i]; {
		case c == '\\':
			j = min(i+2, len(text))
			if i+1 < j {
				add = []part{&quotedPart{text[i+1 : j]}}
			} else {
				add = []part{&quotedPart{"\\"}}
			}
		case c == '\'':
			j = skipQuoted(text, i)
			add = []part{&quotedPart{strings.TrimSuffix(text[i+1:j], "'")}}
		case c == '"':
			j = skipQuoted(text, i)
			inner := strings.TrimSuffix(text[i+1:j], "\"")
			add = []part{&dqPart{lw.sub(inner).parts(nil, lw.fragment(inner), ctxDouble)}}
		case c == '$' && i+1 < len(text) && text[i+1] == '\'':
			j = skipAnsi(text, i)
			add = []part{&quotedPart{ansiC(strings.TrimSuffix(text[i+2:j], "'"))}}
		case c == '$' || c == '`':
			j = skipDollar(text, i)
			add = lw.sub(text[i:j]).parts(nil, lw.fragment(text[i:j]), ctxPlain)
		default:
			i++
			continue
		}
		flush(i)
		out = append(out, add...)
		i, start = j, j
	}
	flush(len(text))
	return out
}

func (lw *lowerer) subscript(raw string) *subscript {
	s := &subscript{raw: raw}
	if raw == "@" || raw == "*" {
		s.all = raw[0]
	}
	s.expr = lw.arithText(raw)
	s.key = &word{parts: lw.keyParts(raw)}
	if len(s.key.parts) == 0 {
		s.key.isLit = true
	} else if l, ok := s.key.parts[0].(*litPart); ok && len(s.key.parts) == 1 {
		s.key.lit, s.key.isLit = l.s, true
	}
	return s
}

// arithText lowers the source text of an arithmetic expression.
func (lw *lowerer) arithText(text string) *arith {
	a := &arith{raw: text, empty: strings.TrimSpace(text) == ""}
	if a.empty {
		return a
	}
	a.parts = lw.textParts(text)
	if len(a.parts) == 0 {
		a.empty = true
		return a
	}
	a.compile()
	return a
}
