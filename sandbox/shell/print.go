package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// funcText is what declare -f prints: the function in bash's layout.
func (lw *lowerer) funcText(f *syntax.FuncDecl) string {
	p := &funcPrinter{lw: lw}
	p.b.WriteString(f.Name.Value + " () \n")
	p.funcBody(f.Body)
	return p.b.String()
}

// printFuncBody is the form in which functions are exported.
func (sh *shell) printFuncBody(f *function) string {
	_, body, _ := strings.Cut(f.text, "\n")
	return "() " + body
}

// importFunc defines a function from the environment.
func (sh *shell) importFunc(name, text string) {
	if !strings.HasPrefix(text, "() {") {
		return
	}
	sh.protect(func() {
		src := sh.newSource("environment", name+" "+text)
		list, err := sh.parseAll(src)
		if err != nil || len(list) != 1 {
			return
		}
		// Only a definition is taken: nothing in the environment is run.
		if c, ok := list[0].cmd.(*funcCmd); ok && c.name == name && !list[0].bg && len(list[0].redirs) == 0 {
			sh.define(c)
			sh.ownFuncs().exported[name] = true
		}
	})
	sh.flow, sh.status = flowNone, 0
}

// A funcPrinter prints statements one a line with four spaces of indent.
type funcPrinter struct {
	lw    *lowerer
	b     strings.Builder
	level int
}

func (p *funcPrinter) indent() { p.b.WriteString(strings.Repeat("    ", p.level)) }

func (p *funcPrinter) raw(n syntax.Node) string {
	return p.lw.slice(n.Pos().Offset(), n.End().Offset())
}

func (p *funcPrinter) funcBody(s *syntax.Stmt) {
	p.indent()
	p.braces(func() {
		if blk, ok := s.Cmd.(*syntax.Block); ok {
			p.list(blk.Stmts)
			return
		}
		p.indent()
		c := *s
		c.Redirs = nil
		p.stmt(&c)
		p.b.WriteString("\n")
	})
	p.redirs(s.Redirs)
}

// braces prints body between braces.
func (p *funcPrinter) braces(body func()) {
	p.b.WriteString("{ \n")
	p.level++
	body()
	p.level--
	p.indent()
	p.b.WriteString("}")
}

// list prints statements, each on a line of its own.
func (p *funcPrinter) list(ss []*syntax.Stmt) { p.lines(ss, false) }

// lines prints statements; what follows an & stands on the same line. last
// says that the last one is ended by a semicolon too.
func (p *funcPrinter) lines(ss []*syntax.Stmt, last bool) {
	for i, s := range ss {
		if i == 0 || !ss[i-1].Background {
			p.indent()
		}
		p.stmt(s)
		end := i == len(ss)-1
		switch {
		case s.Background && !end:
			p.b.WriteString(" ")
			continue
		case (last || !end) && !s.Background && !hasHeredoc(s):
			p.b.WriteString(";")
		}
		p.b.WriteString("\n")
	}
}

func hasHeredoc(s *syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil {
			found = true
		}
		return !found
	})
	return found
}

func (p *funcPrinter) body(ss []*syntax.Stmt) {
	p.b.WriteString("\n")
	p.level++
	p.lines(ss, true)
	p.level--
	p.indent()
}

func (p *funcPrinter) stmt(s *syntax.Stmt) {
	if s.Negated {
		p.b.WriteString("! ")
	}
	p.command(s.Cmd)
	p.redirs(s.Redirs)
	if s.Background {
		p.b.WriteString(" &")
	}
}

func (p *funcPrinter) redirs(rs []*syntax.Redirect) {
	var docs []*syntax.Redirect
	for i, r := range rs {
		if i > 0 || p.b.Len() > 0 {
			p.b.WriteString(" ")
		}
		if r.N != nil {
			p.b.WriteString(r.N.Value)
		}
		op := r.Op.String()
		p.b.WriteString(op)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			docs = append(docs, r)
		case syntax.DplIn, syntax.DplOut:
		default:
			p.b.WriteString(" ")
		}
		p.b.WriteString(p.raw(r.Word))
	}
	for _, r := range docs {
		p.b.WriteString("\n")
		end := strings.Trim(p.raw(r.Word), "'\"\\")
		if r.Hdoc != nil {
			p.b.WriteString(strings.TrimSuffix(p.raw(r.Hdoc), end))
		}
		p.b.WriteString(end + "\n")
	}
}

func (p *funcPrinter) command(c syntax.Command) {
	switch c := c.(type) {
	case nil:
	case *syntax.BinaryCmd:
		p.stmt(c.X)
		switch c.Op {
		case syntax.PipeAll:
			p.b.WriteString(" 2>&1 | ")
		default:
			p.b.WriteString(" " + c.Op.String() + " ")
		}
		p.stmt(c.Y)
	case *syntax.Block:
		p.braces(func() { p.list(c.Stmts) })
	case *syntax.Subshell:
		p.b.WriteString("( ")
		p.inline(c.Stmts)
		p.b.WriteString(" )")
	case *syntax.IfClause:
		p.ifClause(c)
	case *syntax.WhileClause:
		if c.Until {
			p.b.WriteString("until ")
		} else {
			p.b.WriteString("while ")
		}
		p.inline(c.Cond)
		p.b.WriteString("; do")
		p.body(c.Do)
		p.b.WriteString("done")
	case *syntax.ForClause:
		p.forClause(c)
	case *syntax.CaseClause:
		p.b.WriteString("case " + p.raw(c.Word) + " in ")
		p.level++
		for _, it := range c.Items {
			p.b.WriteString("\n")
			p.indent()
			for i, w := range it.Patterns {
				if i > 0 {
					p.b.WriteString(" | ")
				}
				p.b.WriteString(p.raw(w))
			}
			p.b.WriteString(")\n")
			p.level++
			p.list(it.Stmts)
			p.level--
			p.indent()
			op := it.Op.String()
			if !it.OpPos.IsValid() {
				op = ";;"
			}
			p.b.WriteString(op)
		}
		p.level--
		p.b.WriteString("\n")
		p.indent()
		p.b.WriteString("esac")
	case *syntax.FuncDecl:
		p.b.WriteString("function " + c.Name.Value + " () \n")
		p.funcBody(c.Body)
	case *syntax.TimeClause:
		p.b.WriteString("time ")
		if c.PosixFormat {
			p.b.WriteString("-p ")
		}
		if c.Stmt != nil {
			p.stmt(c.Stmt)
		}
	case *syntax.CallExpr:
		sp := ""
		for _, a := range c.Assigns {
			p.b.WriteString(sp + p.raw(a))
			sp = " "
		}
		for _, w := range c.Args {
			p.b.WriteString(sp + p.raw(w))
			sp = " "
		}
	case *syntax.TestClause:
		p.b.WriteString(strings.Join(strings.Fields(p.raw(c)), " "))
	default:
		p.b.WriteString(p.raw(c))
	}
}

func (p *funcPrinter) inline(ss []*syntax.Stmt) {
	for i, s := range ss {
		if i > 0 {
			p.b.WriteString("; ")
		}
		p.stmt(s)
	}
}

func (p *funcPrinter) ifClause(c *syntax.IfClause) {
	p.b.WriteString("if ")
	p.inline(c.Cond)
	p.b.WriteString("; then")
	p.body(c.Then)
	for e := c.Else; e != nil; e = e.Else {
		if !e.ThenPos.IsValid() {
			p.b.WriteString("else")
			p.body(e.Then)
			break
		}
		// bash prints elif as a nested if.
		p.b.WriteString("else\n")
		p.level++
		p.indent()
		p.ifClause(e)
		p.b.WriteString(";\n")
		p.level--
		p.indent()
		break
	}
	p.b.WriteString("fi")
}

func (p *funcPrinter) forClause(c *syntax.ForClause) {
	word := "for "
	if c.Select {
		word = "select "
	}
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		p.b.WriteString(word + l.Name.Value)
		if l.InPos.IsValid() {
			p.b.WriteString(" in")
			for _, w := range l.Items {
				p.b.WriteString(" " + p.raw(w))
			}
		} else {
			p.b.WriteString(" in \"$@\"")
		}
		p.b.WriteString(";\n")
	case *syntax.CStyleLoop:
		t := p.lw.slice(l.Lparen.Offset()+2, l.Rparen.Offset())
		f := cutTop(t, ';', 3)
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		p.b.WriteString("for ((" + strings.Join(f, "; ") + "))\n")
	}
	p.indent()
	p.b.WriteString("do")
	p.body(c.Do)
	p.b.WriteString("done")
}
