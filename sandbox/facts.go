package sandbox

import (
	"context"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/shell"
	"mvdan.cc/sh/v3/syntax"
)

// A walker collects what a text shows of the commands in it.
type walker struct {
	ctx      context.Context
	limits   Limits
	level    int // texts inside texts
	calls    []seen
	features map[string]bool
	static   bool
	err      error

	via     []string        // programs that start this text, outermost first
	defines map[string]bool // functions of the text
	vague   bool            // something runs that the text does not show: what follows may be changed by it
}

// A seen is a simple command and how it comes to run, as far as the text shows.
type seen struct {
	policy.Call
	via   []string // programs that start it, outermost first
	shell bool     // it is a shell that starts it
	more  bool     // whoever starts it changes or adds arguments
	moved bool     // whoever starts it may do so in another folder
	hides bool     // it starts something that the text does not show

	computed bool // its name is only known when it runs
}

func newWalker(ctx context.Context, l Limits) walker {
	return walker{ctx: ctx, limits: l, features: map[string]bool{}, defines: map[string]bool{}, static: true}
}

// maxTexts bounds eval in sh -c in eval ...; deeper ones count as dynamic.
const maxTexts = 8

func (w *walker) feature(name string) { w.features[name] = true }

// stmts walks a text; complete tells that it is all of it.
func (w *walker) stmts(list []*syntax.Stmt, complete bool) {
	if !complete {
		w.feature("unparsed")
		w.static = false
	}
	for _, s := range list {
		w.node(s)
	}
}

// node walks anything below a statement. Each kind of node that holds words
// or statements is reached, so that no command hides in a subscript.
func (w *walker) node(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			w.stmt(n)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				w.feature("pipe")
			}
		case *syntax.CoprocClause:
			w.feature("background")
		case *syntax.Subshell:
			w.feature("subshell")
		case *syntax.CmdSubst:
			w.feature("cmdsubst")
		case *syntax.ProcSubst:
			w.feature("procsubst")
		case *syntax.FuncDecl:
			w.feature("function")
			w.defines[n.Name.Value] = true
		case *syntax.WhileClause, *syntax.ForClause:
			w.feature("loop")
		case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause:
			w.feature("arithmetic")
		case *syntax.Word:
			if hasGlob(n) {
				w.feature("glob")
			}
		}
		return true
	})
}

// stmt notes the simple command of one statement; its words are walked by
// the caller.
func (w *walker) stmt(s *syntax.Stmt) {
	if s.Background || s.Coprocess {
		w.feature("background")
	}
	c := seen{Call: emptyCall(int(s.Pos().Line())), via: w.via, shell: true}
	for _, r := range s.Redirs {
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
			w.feature("heredoc")
			c.Redirects = append(c.Redirects, policy.Redirect{Op: r.Op.String()})
			continue
		}
		w.feature("redirect")
		to, ok := literal(r.Word)
		w.static = w.static && ok
		c.Redirects = append(c.Redirects, policy.Redirect{Op: r.Op.String(), Target: to})
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		for _, a := range cmd.Assigns {
			if a.Name != nil {
				c.Assigns = append(c.Assigns, a.Name.Value)
			}
		}
		w.call(c, resolve(cmd.Args))
	case *syntax.DeclClause:
		c.Name = cmd.Variant.Value
		for _, a := range cmd.Args {
			switch {
			case a.Name != nil && !a.Naked:
				c.Assigns = append(c.Assigns, a.Name.Value)
				c.Args = append(c.Args, a.Name.Value)
			case a.Name != nil:
				c.Args = append(c.Args, a.Name.Value)
			default:
				v, ok := literal(a.Value)
				if !ok {
					c.Dynamic = append(c.Dynamic, len(c.Args))
					w.static = false
				}
				c.Args = append(c.Args, v)
			}
		}
		w.calls = append(w.calls, c)
	case nil:
		if len(c.Redirects) > 0 {
			w.calls = append(w.calls, c)
		}
	default:
		if len(c.Redirects) > 0 { // of a loop, a group, ...: they belong to no simple command
			w.calls = append(w.calls, c)
		}
	}
}

// arg is a word as far as it is known.
type arg struct {
	text  string
	known bool
}

func resolve(words []*syntax.Word) []arg {
	args := make([]arg, len(words))
	for i, wd := range words {
		args[i].text, args[i].known = literal(wd)
	}
	return args
}

func emptyCall(line int) policy.Call {
	return policy.Call{Args: []string{}, Dynamic: []int{}, Assigns: []string{}, Redirects: []policy.Redirect{}, Line: line}
}

// call notes a simple command, and the commands that it visibly starts.
func (w *walker) call(c seen, args []arg) {
	for i, a := range args {
		if !a.known {
			w.static = false
		}
		switch {
		case i == 0:
			c.Name = a.text
		case a.known:
			c.Args = append(c.Args, a.text)
		default:
			c.Dynamic = append(c.Dynamic, i-1)
			c.Args = append(c.Args, "")
		}
	}
	if len(args) == 0 && len(c.Assigns) == 0 && len(c.Redirects) == 0 {
		return
	}
	c.computed = len(args) > 0 && !args[0].known
	w.calls = append(w.calls, c)
	if len(args) == 0 {
		return
	}
	if c.computed {
		w.vague = w.vague || c.shell // it may be eval or cd
		return
	}
	switch baseName(c.Name) {
	case "eval":
		w.feature("eval")
	case "source", ".":
		w.feature("source")
	}
	next, text, opaque := launches(args)
	if opaque {
		w.static = false
		w.calls[len(w.calls)-1].hides = true
		w.vague = w.vague || c.shell && shell.IsBuiltin(c.Name)
	}
	inner := seen{Call: emptyCall(c.Line), via: c.via, shell: c.shell, more: c.more, moved: c.moved}
	if !c.shell || !shell.IsBuiltin(c.Name) {
		inner.via, inner.shell = append(c.via[:len(c.via):len(c.via)], baseName(c.Name)), false
	}
	for _, n := range next {
		inner := inner
		inner.more = inner.more || adds(args, n)
		inner.moved = inner.moved || moves(args)
		w.call(inner, n)
	}
	for _, t := range text {
		w.text(t, inner)
	}
}

// text walks a text that a call hands to a shell.
func (w *walker) text(text string, from seen) {
	if w.level >= maxTexts {
		w.static, w.vague = false, true
		return
	}
	list, complete, err := parse(w.ctx, text, w.limits)
	if err != nil { // whoever runs it decides again
		w.feature("unparsed")
		w.static = false
		return
	}
	inner := walker{ctx: w.ctx, limits: w.limits, level: w.level + 1, features: w.features, static: true, via: from.via, defines: w.defines}
	inner.stmts(list, complete)
	for _, c := range inner.calls {
		c.Line += from.Line - 1
		c.more, c.moved = c.more || from.more, c.moved || from.moved
		w.calls = append(w.calls, c)
	}
	w.static, w.vague = w.static && inner.static, w.vague || inner.vague
}

func hasGlob(wd *syntax.Word) bool {
	for _, p := range wd.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if hasPattern(p.Value) {
				return true
			}
		case *syntax.ExtGlob:
			return true
		}
	}
	return false
}

func baseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
