package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param lowers ${...}.
func (lw *lowerer) param(p *syntax.ParamExp, ctx litCtx) part {
	lw.enter()
	defer lw.leave()
	out := &paramPart{}
	if p.Param != nil {
		out.name = p.Param.Value
	}
	if p.Short {
		out.short = true
		if p.Index != nil { // only inside arithmetic text that the parser cut by itself
			out.sub, _ = lw.subscriptIn(lw.slice(p.Param.End().Offset()+1, lw.endOffset()))
		}
		return out
	}
	out.raw = lw.slice(p.Dollar.Offset(), p.Rbrace.Offset()+1)
	if i := lw.base + int(p.Dollar.Offset()); !lw.isFr && lw.src.isPatched(i, i+len(out.raw)) && lw.src.patched[i+2] == '_' {
		return lw.badParam(out)
	}
	if p.Flags != nil || p.Width || p.IsSet || p.NestedParam != nil || len(p.Modifiers) > 0 ||
		p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0 || p.Param == nil {
		out.bad = true
		return out
	}
	out.excl, out.length = p.Excl, p.Length
	rest := lw.slice(p.Param.End().Offset(), p.Rbrace.Offset())
	if p.Index != nil {
		out.sub, rest = lw.subscriptIn(strings.TrimPrefix(rest, "["))
	}
	switch {
	case p.Names != 0:
		out.names = '@'
		if p.Names == syntax.NamesPrefix {
			out.names = '*'
		}
	case p.Slice != nil:
		lw.slicing(out, strings.TrimPrefix(rest, ":"))
	case p.Repl != nil:
		lw.replace(out, p, ctx)
	case p.Exp != nil:
		lw.expansion(out, p.Exp, ctx)
	}
	return out
}

// badParam is ${...} that the parser refused: a bad substitution, save for
// the operators on $# that it does not know.
func (lw *lowerer) badParam(p *paramPart) part {
	p.bad = true
	body := p.raw[2 : len(p.raw)-1]
	if q := lw.badSlice(body, p.raw); q != nil {
		return q
	}
	if name, rest, ok := strings.Cut(body, "~"); ok { // ${x~}, ${x~~}: the case is turned
		if q, ok := lw.keyParts("${" + name + "}")[0].(*paramPart); ok && !q.bad && q.op == opNone && !q.length && !q.slice {
			c := *q
			c.op, c.raw = opToggle1, p.raw
			if strings.HasPrefix(rest, "~") {
				c.op, rest = opToggle, rest[1:]
			}
			c.arg = finishWord(lw.keyParts(rest), wordPlain)
			return &c
		}
	}
	if rest, ok := strings.CutPrefix(body, "#"); ok {
		for _, o := range []struct {
			s  string
			op paramOp
		}{{"##", opTrimPrefixLong}, {"#", opTrimPrefix}, {"%%", opTrimSuffixLong}, {"%", opTrimSuffix}} {
			if pat, ok := strings.CutPrefix(rest, o.s); ok {
				return &paramPart{name: "#", op: o.op, arg: finishWord(lw.keyParts(pat), wordPlain), raw: p.raw}
			}
		}
	}
	return p
}

// badSlice is ${name:offset:length} with empty parts.
func (lw *lowerer) badSlice(body, raw string) *paramPart {
	n := 0
	for n < len(body) && isNameByte(body[n]) {
		n++
	}
	if n == 0 && body != "" && (body[0] == '@' || body[0] == '*') {
		n = 1
	}
	q := &paramPart{name: body[:n], raw: raw}
	rest := body[n:]
	if strings.HasPrefix(rest, "[") {
		q.sub, rest = lw.subscriptIn(rest[1:])
	}
	if n == 0 || len(rest) < 2 || rest[0] != ':' || strings.IndexByte("-=?+", rest[1]) >= 0 {
		return nil
	}
	lw.slicing(q, rest[1:])
	return q
}

// slicing lowers offset:length.
func (lw *lowerer) slicing(p *paramPart, text string) {
	f := cutTop(text, ':', 2)
	p.slice, p.off = true, lw.arithText(f[0])
	if len(f) > 1 {
		p.n = lw.arithText(f[1])
	}
}

func (lw *lowerer) replace(out *paramPart, p *syntax.ParamExp, ctx litCtx) {
	out.op = opReplace
	if p.Repl.All {
		out.op = opReplaceAll
	}
	if p.Repl.Orig != nil {
		parts := lw.parts(nil, p.Repl.Orig.Parts, ctxPlain)
		if len(parts) > 0 && !p.Repl.All {
			if l, ok := parts[0].(*litPart); ok && (l.s[0] == '#' || l.s[0] == '%') {
				out.op = opReplaceStart
				if l.s[0] == '%' {
					out.op = opReplaceEnd
				}
				parts = append([]part{&litPart{l.s[1:]}}, parts[1:]...)
			}
		}
		out.arg = &word{parts: parts}
	}
	if p.Repl.With != nil {
		out.with = finishWord(lw.parts(nil, p.Repl.With.Parts, ctxPlain), wordPlain)
	}
}

func (lw *lowerer) expansion(out *paramPart, x *syntax.Expansion, ctx litCtx) {
	known := map[syntax.ParExpOperator]paramOp{
		syntax.AlternateUnset: opAlt, syntax.AlternateUnsetOrNull: opAlt, syntax.DefaultUnset: opDefault, syntax.DefaultUnsetOrNull: opDefault,
		syntax.ErrorUnset: opError, syntax.ErrorUnsetOrNull: opError, syntax.AssignUnset: opAssign, syntax.AssignUnsetOrNull: opAssign,
		syntax.RemSmallPrefix: opTrimPrefix, syntax.RemLargePrefix: opTrimPrefixLong, syntax.RemSmallSuffix: opTrimSuffix, syntax.RemLargeSuffix: opTrimSuffixLong,
		syntax.UpperFirst: opUpper1, syntax.UpperAll: opUpper, syntax.LowerFirst: opLower1, syntax.LowerAll: opLower, syntax.OtherParamOps: opTransform,
	}
	op, ok := known[x.Op]
	if !ok {
		out.bad = true
		return
	}
	out.op, out.colon = op, strings.HasPrefix(x.Op.String(), ":")
	if x.Word == nil {
		out.arg = litWord("")
		return
	}
	switch out.op {
	case opDefault, opAssign, opError, opAlt:
		parts := lw.parts(nil, x.Word.Parts, ctx)
		switch ctx {
		case ctxPlain:
			parts = tildes(parts, wordPlain)
		case ctxDouble:
			parts = unescapeBrace(parts)
		}
		out.arg = &word{parts: parts}
	default:
		out.arg = finishWord(lw.parts(nil, x.Word.Parts, ctxPlain), wordPlain)
	}
}

// unescapeBrace turns \} into } in "${x:-...}".
func unescapeBrace(parts []part) []part {
	for i, p := range parts {
		if q, ok := p.(*quotedPart); ok && strings.Contains(q.s, "\\}") {
			parts[i] = &quotedPart{strings.ReplaceAll(q.s, "\\}", "}")}
		}
	}
	return parts
}
