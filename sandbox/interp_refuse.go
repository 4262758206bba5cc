package sandbox

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param renames parameters whose value interp takes from the host process,
// and refuses subscripts on which it panics.
func (rw *rewriter) param(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	switch p.Param.Value {
	case "$":
		p.Param.Value, p.Short, rw.changed = pidVar, false, true
	case "PPID":
		p.Param.Value, p.Short, rw.changed = ppidVar, false, true
	}
	rw.names(p.Index)
	if p.Slice != nil {
		rw.names(p.Slice.Offset)
		rw.names(p.Slice.Length)
	}
	if _, ok := p.Index.(*syntax.Word); p.Index != nil && !ok {
		rw.texts.add(&rw.texts.arith, p.Param.Value)
		if rw.texts.has(&rw.texts.assoc, p.Param.Value) {
			rw.refuse(p, "an associative array with an unquoted expression as key")
		}
	}
}

// names renames PPID where arithmetic reads it without a dollar.
func (rw *rewriter) names(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		if l, ok := onlyLit(x); ok && l.Value == "PPID" {
			l.Value, rw.changed = ppidVar, true
		}
	case *syntax.ParenArithm:
		rw.names(x.X)
	case *syntax.UnaryArithm:
		rw.names(x.X)
	case *syntax.BinaryArithm:
		rw.names(x.X)
		rw.names(x.Y)
	}
}

// let parses the quoted arguments of let, which interp takes as they are.
func (rw *rewriter) let(l *syntax.LetClause) {
	for i, x := range l.Exprs {
		w, ok := x.(*syntax.Word)
		if _, plain := onlyWord(w); ok && !plain {
			text, known := literal(w)
			if !known {
				rw.refuse(l, "let with a computed argument")
				return
			}
			y, err := syntax.NewParser().Arithmetic(strings.NewReader(text))
			if err != nil || y == nil {
				rw.refuse(l, "this argument of let")
				return
			}
			l.Exprs[i], rw.changed = y, true
		}
		rw.names(l.Exprs[i])
	}
}

// onlyWord reports whether w is one name, number or expansion.
func onlyWord(w *syntax.Word) (syntax.WordPart, bool) {
	if w == nil || len(w.Parts) != 1 {
		return nil, false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit, *syntax.ParamExp, *syntax.ArithmExp, *syntax.CmdSubst:
		return p, true
	}
	return nil, false
}

func onlyLit(w *syntax.Word) (*syntax.Lit, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	l, ok := w.Parts[0].(*syntax.Lit)
	return l, ok
}

// arithm refuses assignments to array elements: interp panics on them.
func (rw *rewriter) arithm(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			rw.assigned(x.X)
		}
	case *syntax.BinaryArithm:
		switch x.Op {
		case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
			syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
			rw.assigned(x.X)
		case syntax.TernQuest:
			if y, ok := x.Y.(*syntax.BinaryArithm); !ok || y.Op != syntax.TernColon {
				rw.refuse(x, "this use of ?:")
			}
		case syntax.TernColon:
		}
	}
}

func (rw *rewriter) assigned(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); !ok || !validName(w.Lit()) {
		rw.refuse(x, "assigning to an array element inside (( ))")
	}
}

// declare looks at the arrays of a declaration.
func (rw *rewriter) declare(d *syntax.DeclClause) {
	assoc, ref := false, d.Variant.Value == "nameref"
	for _, a := range d.Args {
		if a.Name == nil {
			// Flags; computed ones may be -A or -n.
			v, ok := literal(a.Value)
			flags := len(v) > 1 && v[0] == '-'
			assoc = assoc || !ok || flags && strings.Contains(v, "A")
			ref = ref || !ok || flags && strings.Contains(v, "n")
			continue
		}
		if ref && !a.Naked {
			rw.reference(a)
		}
		if !assoc {
			continue
		}
		rw.texts.add(&rw.texts.assoc, a.Name.Value)
		if rw.texts.has(&rw.texts.arith, a.Name.Value) {
			rw.refuse(d, "an associative array with an unquoted expression as key")
		}
		if a.Array != nil {
			rw.array(a.Array, true)
		}
	}
}

// array refuses lists that interp may take for associative arrays although
// their keys are none: it panics on them.
func (rw *rewriter) array(a *syntax.ArrayExpr, assoc bool) {
	if len(a.Elems) > 0 && quotedWord(a.Elems[0].Index) {
		assoc = true
	}
	for _, e := range a.Elems {
		if _, ok := e.Index.(*syntax.Word); assoc && !ok {
			rw.refuse(a, "an associative array with a value that has no plain [key]=")
		}
	}
}

// extGlob refuses patterns so deep that they overflow the matcher, which
// panics.
func (rw *rewriter) extGlob(g *syntax.ExtGlob) {
	depth, most := 0, 0
	for _, c := range []byte(g.Pattern.Value) {
		switch c {
		case '(':
			depth++
			most = max(most, depth)
		case ')':
			depth--
		}
	}
	if most > 100 {
		rw.refuse(g, "a pattern nested this deep")
	}
}

func quotedWord(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	if !ok || len(w.Parts) != 1 {
		return false
	}
	switch w.Parts[0].(type) {
	case *syntax.DblQuoted, *syntax.SglQuoted:
		return true
	}
	return false
}

// unaryTest replaces tests that would ask the host.
func (rw *rewriter) unaryTest(t *syntax.UnaryTest) {
	switch t.Op {
	case syntax.TsUsrOwn, syntax.TsGrpOwn:
		t.Op, rw.changed = syntax.TsExists, true // all files are the session's own
	case syntax.TsFdTerm:
		// Nothing in the sandbox is a terminal.
		t.Op, t.X, rw.changed = syntax.TsNempStr, &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Left: t.OpPos, Right: t.OpPos}}}, true
	case syntax.TsVarSet, syntax.TsRefVar:
		w, ok := t.X.(*syntax.Word)
		if !ok {
			return
		}
		if v, known := literal(w); !known || v == "" {
			rw.refuse(t, "-v with a computed name") // it panics when the name is empty
		}
	case syntax.TsModif:
		rw.refuse(t, "-N")
	}
}

// reference keeps a name reference from being empty: interp panics on it.
func (rw *rewriter) reference(a *syntax.Assign) {
	if v, known := literal(a.Value); known && v != "" {
		return
	}
	if a.Value != nil && len(a.Value.Parts) == 1 {
		part := a.Value.Parts[0]
		if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
			part = q.Parts[0]
		}
		if p, ok := part.(*syntax.ParamExp); ok && p.Param != nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && !p.Length {
			p.Short, rw.changed = false, true
			p.Exp = &syntax.Expansion{Op: syntax.DefaultUnsetOrNull, Word: litWord("__donax_none", a.Pos())}
			return
		}
	}
	rw.refuse(a, "declare -n with a value like this")
}
