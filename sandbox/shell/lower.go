package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A lowerer turns the parser's tree of one line into ours. It bounds nesting
// exactly; chains of operators are walked in loops, as they may be as long as
// the text.
type lowerer struct {
	sh    *shell
	src   *source
	base  int // offset in src of the parser's offset 0
	line  int // lines before the parser's line 1
	depth int
	bq    int // back-quote nesting
	frag  string
	isFr  bool // positions refer to frag, a text parsed by itself
}

const maxChain = 20000

// A reparse asks for the line to be parsed again, its text changed.
type reparse struct{}

func (reparse) Error() string { return "parse again" }

// batch lowers the statements of one line. The error reparse means that the
// text was changed and must be parsed again.
func (lw *lowerer) batch(in []*syntax.Stmt) (list []*stmt, err error) {
	err = catch(func() { list = lw.stmts(in) })
	switch e := err.(type) {
	case nil, reparse, *syntaxErr:
		return list, err
	case *cmdError:
		return nil, &syntaxErr{msg: e.msg, line: lw.line + 1}
	}
	throw(err)
	return nil, nil
}

func (lw *lowerer) enter() {
	if lw.depth++; lw.depth > lw.sh.run.lim.Nesting {
		throw(errNesting(lw.sh))
	}
}

func (lw *lowerer) leave() { lw.depth-- }

// slice is the source text between two positions.
func (lw *lowerer) slice(from, to uint) string {
	text := lw.src.text
	i, j := int(from)+lw.base, int(to)+lw.base
	if lw.isFr {
		text, i, j = lw.frag, int(from), int(to)
	}
	if i < 0 || j > len(text) || i > j {
		return ""
	}
	s := text[i:j]
	if lw.bq > 0 && strings.Contains(s, "\\") {
		s = strings.NewReplacer("\\\\", "\\", "\\`", "`", "\\$", "$").Replace(s)
	}
	return s
}

func (lw *lowerer) lineOf(p syntax.Pos) int { return lw.line + int(p.Line()) }

func (lw *lowerer) stmts(in []*syntax.Stmt) []*stmt {
	if len(in) == 0 {
		return nil
	}
	out := make([]*stmt, len(in))
	for i, s := range in {
		out[i] = lw.stmt(s)
	}
	return out
}

func (lw *lowerer) stmt(s *syntax.Stmt) *stmt {
	lw.enter()
	defer lw.leave()
	out := &stmt{neg: s.Negated, bg: s.Background, line: lw.lineOf(s.Position)}
	if s.Coprocess || s.Disown {
		failf(errCommand, 2, "syntax error: |& and &| are not supported here")
	}
	for _, r := range s.Redirs {
		out.redirs = append(out.redirs, lw.redir(r))
	}
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok {
		out.cmd = lw.binary(b)
	} else {
		out.cmd = lw.command(s.Cmd, out.line)
		if c, ok := out.cmd.(*simpleCmd); ok {
			c.text = lw.slice(s.Position.Offset(), commandEnd(s))
		}
	}
	if out.bg {
		end := s.Semicolon.Offset()
		out.text = strings.TrimSpace(lw.slice(s.Position.Offset(), end))
	}
	return out
}

// commandEnd is where a statement without what separates it from the next
// one ends, here-documents apart.
func commandEnd(s *syntax.Stmt) (end uint) {
	if s.Cmd != nil {
		end = s.Cmd.End().Offset()
	}
	for _, r := range s.Redirs {
		end = max(end, r.Word.End().Offset())
	}
	return end
}

func isPipe(op syntax.BinCmdOperator) bool { return op == syntax.Pipe || op == syntax.PipeAll }

// binary lowers && || | |&. A chain of them is walked in a loop, whatever way
// the parser nested it.
func (lw *lowerer) binary(b *syntax.BinaryCmd) command {
	type link struct {
		s  *syntax.Stmt
		op syntax.BinCmdOperator // behind it
	}
	var chain []link
	for todo := []link{{s: b.Y}, {b.X, b.Op}}; len(todo) > 0; {
		l := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if in, ok := l.s.Cmd.(*syntax.BinaryCmd); ok && isPipe(in.Op) == isPipe(b.Op) && !l.s.Negated && len(l.s.Redirs) == 0 && !l.s.Background {
			todo = append(todo, link{in.Y, l.op}, link{in.X, in.Op})
			continue
		}
		if chain = append(chain, l); len(chain) > maxChain+1 {
			throw(errNesting(lw.sh))
		}
	}
	if isPipe(b.Op) {
		if len(chain) > lw.sh.run.lim.Stages {
			throw(&LimitError{What: itoa(lw.sh.run.lim.Stages) + " pipeline stages"})
		}
		p := &pipeCmd{}
		for _, l := range chain {
			s := lw.stmt(l.s)
			if l.op == syntax.PipeAll { // after the stage's own redirections
				s.redirs = append(s.redirs, &redir{op: syntax.DplOut, fd: 2, word: litWord("1"), line: s.line})
			}
			p.stages = append(p.stages, s)
		}
		return p
	}
	list := &andOrList{first: lw.stmt(chain[0].s)}
	for i, l := range chain[1:] {
		list.rest = append(list.rest, andOrLink{chain[i].op == syntax.OrStmt, lw.stmt(l.s)})
	}
	return list
}

// An andOrList is stmt && stmt || stmt ...
type andOrList struct {
	first *stmt
	rest  []andOrLink
}

type andOrLink struct {
	or bool
	s  *stmt
}

func (lw *lowerer) command(c syntax.Command, line int) command {
	switch c := c.(type) {
	case nil:
		return &simpleCmd{line: line}
	case *syntax.CallExpr:
		out := &simpleCmd{line: line}
		lw.negation(c)
		for _, a := range c.Assigns {
			out.assigns = append(out.assigns, lw.assign(a))
		}
		out.words = make([]*word, len(c.Args))
		for i, w := range c.Args {
			out.words[i] = lw.argWord(w)
		}
		if len(out.words) > 0 && out.words[0].isLit {
			out.builtin = lw.sh.run.builtins[out.words[0].lit]
		}
		return out
	case *syntax.DeclClause:
		out := &simpleCmd{line: line, words: []*word{litWord(c.Variant.Value)}}
		for _, a := range c.Args {
			out.words = append(out.words, lw.declArgs(a)...)
		}
		return out
	case *syntax.LetClause:
		out := &simpleCmd{line: line, words: []*word{litWord("let")}}
		for _, x := range c.Exprs {
			if w, ok := x.(*syntax.Word); ok {
				out.words = append(out.words, lw.argWord(w))
				continue
			}
			text := lw.slice(x.Pos().Offset(), x.End().Offset())
			out.words = append(out.words, &word{parts: []part{&dqPart{lw.textParts(text)}}})
		}
		return out
	case *syntax.Block:
		return &blockCmd{lw.stmts(c.Stmts)}
	case *syntax.Subshell:
		return &subshellCmd{lw.stmts(c.Stmts)}
	case *syntax.IfClause:
		return lw.ifClause(c)
	case *syntax.WhileClause:
		return &whileCmd{until: c.Until, cond: lw.stmts(c.Cond), body: lw.stmts(c.Do)}
	case *syntax.ForClause:
		return lw.forClause(c)
	case *syntax.CaseClause:
		out := &caseCmd{text: "case " + lw.slice(c.Word.Pos().Offset(), c.Word.End().Offset()) + " in", word: lw.word(c.Word, wordPlain)}
		for _, it := range c.Items {
			ci := caseItem{body: lw.stmts(it.Stmts), op: it.Op}
			for _, p := range it.Patterns {
				ci.patterns = append(ci.patterns, lw.word(p, wordPlain))
			}
			out.items = append(out.items, ci)
		}
		return out
	case *syntax.FuncDecl:
		if c.Name == nil {
			failf(errCommand, 2, "syntax error: function without a name")
		}
		if b, ok := c.Body.Cmd.(*syntax.BinaryCmd); ok && isPipe(b.Op) && !c.Body.Negated {
			// The parser takes the pipe for the body: the definition is its first stage.
			d, nb := *c, *b
			d.Body = b.X
			nb.X = &syntax.Stmt{Cmd: &d, Position: c.Position}
			return lw.binary(&nb)
		}
		switch c.Body.Cmd.(type) {
		case *syntax.CallExpr, *syntax.FuncDecl, *syntax.DeclClause, *syntax.LetClause, *syntax.BinaryCmd, *syntax.TimeClause, *syntax.CoprocClause, nil:
			throw(&syntaxErr{msg: "syntax error: a function's body must be a compound command", line: lw.lineOf(c.Position)})
		}
		fn := &function{name: c.Name.Value, line: lw.lineOf(c.Position), body: lw.stmt(c.Body)}
		fn.text, fn.from = lw.funcText(c), lw.src
		return &funcCmd{name: c.Name.Value, fn: fn}
	case *syntax.ArithmCmd:
		return &arithCmd{x: lw.arithText(lw.slice(c.Left.Offset()+2, c.Right.Offset())), line: line, text: lw.slice(c.Left.Offset(), c.End().Offset())}
	case *syntax.TestClause:
		return &testCmd{x: lw.test(c.X), line: line, text: lw.slice(c.Pos().Offset(), c.End().Offset())}
	case *syntax.TimeClause:
		out := &timeCmd{posix: c.PosixFormat}
		if c.Stmt != nil {
			out.body = lw.stmt(c.Stmt)
		}
		return out
	case *syntax.CoprocClause:
		out := &coprocCmd{body: lw.stmt(c.Stmt)}
		if c.Name != nil {
			out.name = lw.word(c.Name, wordPlain)
		}
		return out
	}
	failf(errCommand, 2, "syntax error: unsupported command")
	return nil
}

// negation finds !(...) at the start of a command, which is a negated
// subshell while extglob is off.
func (lw *lowerer) negation(c *syntax.CallExpr) {
	if lw.isFr || len(c.Args) == 0 || len(c.Assigns) > 0 || lw.sh.opts.has(optExtglob) {
		return
	}
	if g, ok := c.Args[0].Parts[0].(*syntax.ExtGlob); ok && g.Op == syntax.GlobExcept {
		lw.src.insert(lw.base + int(g.OpPos.Offset()) + 1)
		throw(reparse{})
	}
}

// patchedWord lowers a word that the parser did not see as it is.
func (lw *lowerer) patchedWord(w *syntax.Word) *word {
	if lw.isFr || !lw.src.changed || len(w.Parts) != 1 {
		return nil
	}
	l, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return nil
	}
	i, j := lw.base+int(l.ValuePos.Offset()), lw.base+int(l.ValueEnd.Offset())
	if !lw.src.isPatched(i, j) {
		return nil
	}
	return finishWord(lw.keyParts(lw.src.text[i:j]), wordArg)
}

func (lw *lowerer) ifClause(c *syntax.IfClause) command {
	var chain []*syntax.IfClause
	for e := c; e != nil; e = e.Else {
		chain = append(chain, e)
		if len(chain) > maxChain+1 {
			throw(errNesting(lw.sh))
		}
	}
	out := &ifCmd{}
	for _, e := range chain {
		b := ifBranch{body: lw.stmts(e.Then)}
		if e.ThenPos.IsValid() {
			b.cond = lw.stmts(e.Cond)
		} else {
			b.isElse = true
		}
		out.branches = append(out.branches, b)
	}
	return out
}

func (lw *lowerer) forClause(c *syntax.ForClause) command {
	body := lw.stmts(c.Do)
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		out := &forCmd{name: l.Name.Value, in: l.InPos.IsValid(), body: body, sel: c.Select, line: lw.lineOf(c.ForPos)}
		out.text = "for " + out.name + " in"
		if c.Select {
			out.text = "select " + out.name + " in"
		}
		for _, w := range l.Items {
			out.items = append(out.items, lw.argWord(w))
			out.text += " " + lw.slice(w.Pos().Offset(), w.End().Offset())
		}
		if !out.in {
			out.text += ` "$@"`
		}
		return out
	case *syntax.CStyleLoop:
		text := lw.slice(l.Lparen.Offset()+2, l.Rparen.Offset())
		p := cutTop(text, ';', 3)
		for len(p) < 3 {
			p = append(p, "")
		}
		return &arithForCmd{init: lw.arithText(strings.TrimLeft(p[0], " \t\n")), cond: lw.arithText(strings.TrimLeft(p[1], " \t\n")), post: lw.arithText(strings.TrimLeft(p[2], " \t\n")), body: body, line: lw.lineOf(c.ForPos)}
	}
	failf(errCommand, 2, "syntax error: unsupported loop")
	return nil
}

func (lw *lowerer) redir(r *syntax.Redirect) *redir {
	out := &redir{op: r.Op, fd: -1, line: lw.lineOf(r.OpPos)}
	if r.N != nil {
		if n := r.N.Value; strings.HasPrefix(n, "{") {
			out.fdVar = n[1 : len(n)-1]
			if i := strings.IndexByte(out.fdVar, '['); i > 0 {
				out.fdSub = lw.subscript(strings.TrimSuffix(out.fdVar[i+1:], "]"))
				out.fdVar = out.fdVar[:i]
			}
		} else {
			fd, ok := atoi(n)
			if !ok || fd > 1<<20 {
				fd = 1 << 20
			}
			out.fd = int(fd)
		}
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		quoted := false
		for _, p := range r.Word.Parts {
			l, ok := p.(*syntax.Lit)
			quoted = quoted || !ok || strings.Contains(l.Value, "\\")
		}
		out.hdoc = &word{isLit: quoted || r.Hdoc == nil}
		if r.Hdoc == nil {
			break
		}
		parts := r.Hdoc.Parts
		if r.Op == syntax.DashHdoc {
			parts = dashParts(parts)
		}
		if !quoted {
			out.hdoc.parts = lw.parts(nil, parts, ctxHeredoc)
			break
		}
		for _, p := range parts {
			if l, ok := p.(*syntax.Lit); ok {
				out.hdoc.lit += l.Value
			}
		}
	case syntax.WordHdoc:
		out.word = lw.word(r.Word, wordPlain)
	default:
		out.word = lw.argWord(r.Word)
		out.word.raw = lw.slice(r.Word.Pos().Offset(), r.Word.End().Offset())
	}
	return out
}

// dashParts takes the tabs at the start of lines out of a <<- body.
func dashParts(in []syntax.WordPart) []syntax.WordPart {
	out := make([]syntax.WordPart, len(in))
	start := true
	for i, p := range in {
		if l, ok := p.(*syntax.Lit); ok {
			c := *l
			c.Value, start = stripTabs(l.Value, start)
			out[i] = &c
			continue
		}
		out[i], start = p, false
	}
	return out
}

// stripTabs removes tabs at the start of lines; start tells whether s begins
// one, and the result whether its end does.
func stripTabs(s string, start bool) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if start && s[i] == '\t' {
			continue
		}
		start = s[i] == '\n'
		b.WriteByte(s[i])
	}
	return b.String(), start
}

func (lw *lowerer) assign(a *syntax.Assign) *assign {
	out := &assign{app: a.Append, naked: a.Naked}
	if a.Name != nil {
		out.name = a.Name.Value
	}
	if a.Index != nil && a.Name != nil {
		out.sub, _ = lw.subscriptIn(lw.slice(a.Name.End().Offset()+1, lw.endOffset()))
	}
	switch {
	case a.Array != nil:
		out.isArray = true
		out.raw = lw.slice(a.Pos().Offset(), a.End().Offset())
		out.array = lw.array(a.Array)
	case a.Value != nil:
		out.value = lw.word(a.Value, wordAssign)
	}
	return out
}

// endOffset is the offset of the end of the text.
func (lw *lowerer) endOffset() uint {
	if lw.isFr {
		return uint(len(lw.frag))
	}
	return uint(len(lw.src.text) - lw.base)
}

func (lw *lowerer) array(x *syntax.ArrayExpr) []arrayElem {
	out := make([]arrayElem, 0, len(x.Elems))
	for _, e := range x.Elems {
		el := arrayElem{}
		if e.Index != nil {
			// The parser keeps no position of the bracket: look back from the index.
			el.sub, el.app = lw.elemSubscript(x, e)
			if e.Value != nil {
				if l, ok := e.Value.Parts[0].(*syntax.Lit); ok && el.app {
					c := *l // the _ that patchAppend put there
					c.Value = strings.TrimPrefix(c.Value, "_")
					e.Value.Parts[0] = &c
				}
				el.value = lw.word(e.Value, wordAssign)
			} else {
				el.value = litWord("")
			}
		} else {
			el.value = lw.argWord(e.Value)
		}
		out = append(out, el)
	}
	return out
}

func (lw *lowerer) elemSubscript(x *syntax.ArrayExpr, e *syntax.ArrayElem) (*subscript, bool) {
	from := x.Lparen.Offset() + 1
	idx := e.Index.Pos().Offset()
	pre := lw.slice(from, idx)
	open := strings.LastIndexByte(pre, '[')
	if open < 0 {
		return lw.subscript(""), false
	}
	sub, rest := lw.subscriptIn(lw.slice(from+uint(open)+1, lw.endOffset()))
	return sub, strings.HasPrefix(rest, "+=")
}

// subscriptIn lowers the subscript that text begins with, behind its bracket;
// rest is what follows the closing one.
func (lw *lowerer) subscriptIn(text string) (sub *subscript, rest string) {
	end := skipTo(text, 0, '[', ']')
	return lw.subscript(text[:max(0, end-1)]), text[end:]
}

// declArgs lowers an argument of declare and its like: unlike an assignment
// by itself it undergoes brace expansion.
func (lw *lowerer) declArgs(a *syntax.Assign) []*word {
	w := lw.declArg(a)
	d := w.decl
	if d == nil || d.isArray || a.Value == nil || !strings.Contains(lw.slice(a.Value.Pos().Offset(), a.Value.End().Offset()), "{") {
		return []*word{w}
	}
	b := parseBraces(lw, lw.parts(nil, a.Value.Parts, ctxPlain))
	if b == nil {
		return []*word{w}
	}
	var out []*word
	lw.sh.expandBraces(b, func(p []part) {
		c := *d
		c.value = finishWord(mergeParts(p), wordAssign)
		out = append(out, &word{decl: &c})
	})
	return out
}

func (lw *lowerer) declArg(a *syntax.Assign) *word {
	if a.Name == nil {
		return lw.argWord(a.Value)
	}
	d := lw.assign(a)
	if a.Naked && d.sub == nil && a.Value == nil {
		return litWord(a.Name.Value)
	}
	w := &word{decl: d}
	if a.Naked && d.sub != nil {
		w.decl = nil
		w.parts = append([]part{&quotedPart{a.Name.Value + "["}}, lw.keyParts(d.sub.raw)...)
		w.parts = append(w.parts, &quotedPart{"]"})
	}
	return w
}

// testChain lowers && and ||, whatever way the parser nested them: && binds
// tighter.
func (lw *lowerer) testChain(x *syntax.BinaryTest) testExpr {
	var terms []syntax.TestExpr
	var ors []bool
	var flat func(e syntax.TestExpr, depth int)
	flat = func(e syntax.TestExpr, depth int) {
		b, ok := e.(*syntax.BinaryTest)
		if !ok || b.Op != syntax.AndTest && b.Op != syntax.OrTest {
			terms = append(terms, e)
			return
		}
		if depth > maxChain {
			throw(errNesting(lw.sh))
		}
		flat(b.X, depth+1)
		ors = append(ors, b.Op == syntax.OrTest)
		flat(b.Y, depth+1)
	}
	flat(x, 0)
	var or, and testExpr
	for i, t := range terms {
		n := lw.test(t)
		switch {
		case i == 0:
			and = n
		case ors[i-1]:
			if or = orTest(or, and); true {
				and = n
			}
		default:
			and = &testAnd{and, n}
		}
	}
	return orTest(or, and)
}

func orTest(x, y testExpr) testExpr {
	if x == nil {
		return y
	}
	return &testOr{x, y}
}

func (lw *lowerer) test(x syntax.TestExpr) testExpr {
	lw.enter()
	defer lw.leave()
	switch x := x.(type) {
	case *syntax.Word:
		if g, ok := x.Parts[0].(*syntax.ExtGlob); ok && g.Op == syntax.GlobExcept && !lw.isFr && !lw.sh.opts.has(optExtglob) {
			lw.src.insert(lw.base + int(g.OpPos.Offset()) + 1)
			throw(reparse{})
		}
		return &testUnary{"-n", lw.word(x, wordTest)}
	case *syntax.ParenTest:
		return lw.test(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return &testNot{lw.test(x.X)}
		}
		w, ok := x.X.(*syntax.Word)
		if !ok {
			failf(errCommand, 2, "syntax error in conditional expression")
		}
		return &testUnary{x.Op.String(), lw.word(w, wordTest)}
	case *syntax.BinaryTest:
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
			return lw.testChain(x)
		}
		a, ok1 := x.X.(*syntax.Word)
		b, ok2 := x.Y.(*syntax.Word)
		if !ok1 || !ok2 {
			failf(errCommand, 2, "syntax error in conditional expression")
		}
		mode := wordTest
		if x.Op == syntax.TsReMatch {
			mode = wordRegex
		}
		return &testBinary{x.Op.String(), lw.word(a, wordTest), lw.word(b, mode)}
	}
	failf(errCommand, 2, "syntax error in conditional expression")
	return nil
}
