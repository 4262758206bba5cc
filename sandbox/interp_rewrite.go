package sandbox

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// A textSet is what a shell has learnt from the texts it ran.
type textSet struct {
	mu    sync.Mutex
	funcs map[string]bool // names of functions, defined or not yet
	assoc map[string]bool // names declared associative
	arith map[string]bool // names indexed by an expression
}

func (t *textSet) add(m *map[string]bool, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if *m == nil {
		*m = map[string]bool{}
	}
	(*m)[name] = true
}

func (t *textSet) has(m *map[string]bool, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return (*m)[name]
}

func (t *textSet) hasFunc(name string) bool { return t.has(&t.funcs, name) }

// A rewriter changes a tree so that interp runs it as bash would and without
// the host, and refuses what interp would do wrong silently, with a panic or
// with the host's help.
type rewriter struct {
	texts   *textSet
	changed bool
	inFunc  int
	err     error
	hdocs   map[*syntax.Word]bool
	wrapped map[*syntax.Stmt]bool // already inside a mark
}

func (rw *rewriter) refuse(n syntax.Node, what string) {
	if rw.err == nil {
		p := n.Pos()
		rw.err = &ParseError{Line: int(p.Line()), Col: int(p.Col()), Msg: what + " is not supported yet"}
	}
}

func (rw *rewriter) file(f *syntax.File) {
	rw.hdocs, rw.wrapped = map[*syntax.Word]bool{}, map[*syntax.Stmt]bool{}
	for _, s := range f.Stmts {
		rw.walk(s)
	}
}

func (rw *rewriter) walk(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if rw.err != nil {
			return false
		}
		switch n := n.(type) {
		case *syntax.FuncDecl:
			rw.function(n)
			return false
		case *syntax.Stmt:
			rw.stmt(n)
		case *syntax.BinaryCmd:
			rw.pipe(n)
		case *syntax.CallExpr:
			rw.call(n)
		case *syntax.Redirect:
			rw.redirect(n)
		case *syntax.ArithmExp:
			rw.names(n.X)
		case *syntax.ArithmCmd:
			rw.names(n.X)
		case *syntax.LetClause:
			rw.let(n)
		case *syntax.CStyleLoop:
			rw.names(n.Init)
			rw.names(n.Cond)
			rw.names(n.Post)
		case *syntax.ProcSubst:
			rw.refuse(n, "process substitution")
		case *syntax.CoprocClause:
			rw.refuse(n, "coproc")
		case *syntax.ParamExp:
			rw.param(n)
		case *syntax.Word:
			if !rw.hdocs[n] {
				rw.tilde(n)
			}
		case *syntax.UnaryArithm, *syntax.BinaryArithm:
			rw.arithm(n.(syntax.ArithmExpr))
		case *syntax.DeclClause:
			rw.declare(n)
		case *syntax.ExtGlob:
			rw.extGlob(n)
		case *syntax.ArrayExpr:
			rw.array(n, false)
		case *syntax.UnaryTest:
			rw.unaryTest(n)
		case *syntax.BinaryTest:
			if n.Op == syntax.TsDevIno {
				rw.refuse(n, "-ef")
			}
		}
		return true
	})
}

// marked redirects the stdout of s to a mark before its own redirections.
func (rw *rewriter) marked(s *syntax.Stmt, name string) {
	rw.changed = true
	inner := *s
	inner.Background = false
	inner.Semicolon = syntax.Pos{}
	inner.Comments = nil
	rw.wrapped[&inner] = true
	s.Negated = false
	s.Cmd = &syntax.Block{Lbrace: s.Position, Rbrace: s.Position, Stmts: []*syntax.Stmt{&inner}}
	s.Redirs = []*syntax.Redirect{{OpPos: s.Position, Op: syntax.RdrOut, Word: litWord(name, s.Position)}}
}

func litWord(text string, pos syntax.Pos) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: pos, ValueEnd: pos, Value: text}}}
}

func (rw *rewriter) stmt(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		if r.Hdoc != nil {
			rw.hdocs[r.Hdoc] = true
		}
	}
	if c, ok := s.Cmd.(*syntax.TimeClause); ok {
		name := markTime
		if c.PosixFormat {
			name = markPosix
		}
		inner := c.Stmt
		if inner == nil {
			inner = &syntax.Stmt{Position: s.Position, Cmd: &syntax.CallExpr{Args: []*syntax.Word{litWord(":", s.Position)}}}
		}
		s.Cmd = &syntax.Block{Lbrace: s.Position, Rbrace: s.Position, Stmts: []*syntax.Stmt{inner}}
		rw.marked(s, name)
	}
	if f, ok := s.Cmd.(*syntax.ForClause); ok && f.Select && !rw.wrapped[s] {
		rw.marked(s, markStdin)
	}
	if s.Background {
		rw.marked(s, markJob)
		b := s.Cmd.(*syntax.Block)
		set := &syntax.Stmt{Position: s.Position, Cmd: &syntax.CallExpr{Assigns: []*syntax.Assign{{
			Name: &syntax.Lit{ValuePos: s.Position, ValueEnd: s.Position, Value: jobVar}, Value: litWord("1", s.Position),
		}}}}
		b.Stmts = append([]*syntax.Stmt{set}, b.Stmts...)
	}
}

func (rw *rewriter) pipe(b *syntax.BinaryCmd) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		return
	}
	rw.marked(b.X, markStage)
	// interp runs the last stage in the shell itself. Inside a function it
	// has to stay so: its subshells know neither local nor return.
	if _, ok := b.Y.Cmd.(*syntax.Subshell); !ok && rw.inFunc == 0 {
		inner := *b.Y
		inner.Negated, inner.Comments = false, nil
		b.Y.Cmd = &syntax.Subshell{Lparen: b.Y.Position, Rparen: b.Y.Position, Stmts: []*syntax.Stmt{&inner}}
		b.Y.Redirs = nil
	}
}

// reserved are builtins that must stay what they are: the shell looks at
// their arguments before interp does.
const reserved = " eval source . command builtin exec trap alias unset type hash test [ pwd "

func (rw *rewriter) function(f *syntax.FuncDecl) {
	if f.Name == nil {
		rw.refuse(f, "a function without a name")
		return
	}
	name := f.Name.Value
	if strings.Contains(reserved, " "+name+" ") {
		rw.refuse(f, "a function named "+name)
		return
	}
	rw.texts.add(&rw.texts.funcs, name)
	rw.inFunc++
	rw.walk(f.Body)
	rw.inFunc--
}

// call notes the names of the variables assigned in front of a command.
func (rw *rewriter) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 || len(c.Assigns) == 0 {
		return
	}
	var names []string
	for _, a := range c.Assigns {
		if a.Name == nil || a.Name.Value == assignsVar {
			return
		}
		names = append(names, a.Name.Value)
	}
	rw.changed = true
	pos := c.Pos()
	c.Assigns = append(c.Assigns, &syntax.Assign{
		Name: &syntax.Lit{ValuePos: pos, ValueEnd: pos, Value: assignsVar}, Value: litWord(strings.Join(names, ","), pos),
	})
}

func (rw *rewriter) redirect(r *syntax.Redirect) {
	if r.Op == syntax.RdrClob { // there is no noclobber to override
		r.Op = syntax.RdrOut
		rw.changed = true
	}
}

// tilde escapes every ~ that interp would look up in the host's users.
func (rw *rewriter) tilde(w *syntax.Word) {
	for i, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok || !strings.Contains(l.Value, "~") {
			continue
		}
		v := l.Value
		var b strings.Builder
		for j := 0; j < len(v); j++ {
			switch {
			case v[j] == '\\' && j+1 < len(v):
				b.WriteByte(v[j])
				j++
			case v[j] == '~':
				home := j+1 < len(v) && v[j+1] == '/' || j+1 == len(v) && i == len(w.Parts)-1
				if !home {
					b.WriteByte('\\')
				}
			}
			b.WriteByte(v[j])
		}
		if b.String() != v {
			l.Value = b.String()
			rw.changed = true
		}
	}
}
