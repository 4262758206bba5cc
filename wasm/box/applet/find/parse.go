package find

import (
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// expr is a compiled expression.
type expr func(e *entry) bool

// parser reads an expression. A complaint ends it by a panic with the type
// complaint, which parse recovers.
type parser struct {
	f      *finder
	args   []string
	pos    int
	action bool // one that takes the place of -print
	regex  posixre.Dialect
	strict bool // -regextype posix-minimal-basic
	tests  int  // seen so far
	warned bool
	quiet  bool   // no -warn: GNU find warns by itself only on a terminal
	before string // the first test, for the warning about options
}

type complaint string

func (p *parser) fail(parts ...string) { panic(complaint(strings.Join(parts, ""))) }

// parse compiles the expression; false after a complaint.
func (f *finder) parse(args []string) (ok bool) {
	p := &parser{f: f, args: args, regex: posixre.Emacs, quiet: true}
	defer func() {
		switch c := recover().(type) {
		case nil:
		case complaint:
			f.c.Warn(string(c))
			ok = false
		default:
			panic(c)
		}
	}()
	f.expr = func(*entry) bool { return true }
	if len(args) > 0 {
		f.expr = p.list()
		if p.pos < len(args) {
			if args[p.pos] == ")" {
				p.fail("you have too many ')'")
			}
			p.fail("paths must precede expression: `", args[p.pos], "'")
		}
	}
	if !p.action {
		inner := f.expr
		print := p.printTo(f.c.Out(), '\n')
		f.expr = func(e *entry) bool { return inner(e) && !f.over && print(e) }
	}
	return true
}

func (p *parser) peek() string {
	if p.pos < len(p.args) {
		return p.args[p.pos]
	}
	return ""
}

// list reads EXPR , EXPR.
func (p *parser) list() expr {
	x := p.or()
	for p.pos < len(p.args) && p.peek() == "," {
		p.pos++
		p.need(",")
		left, right := x, p.or()
		x = func(e *entry) bool { left(e); return right(e) }
	}
	return x
}

func (p *parser) or() expr {
	x := p.and()
	for p.pos < len(p.args) && (p.peek() == "-o" || p.peek() == "-or") {
		op := p.peek()
		p.pos++
		p.need(op)
		left, right := x, p.and()
		x = func(e *entry) bool { return left(e) || right(e) }
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for p.pos < len(p.args) {
		switch a := p.peek(); a {
		case ",", "-o", "-or", ")":
			return x
		case "-a", "-and":
			p.pos++
			p.need(a)
		}
		left, right := x, p.not()
		x = func(e *entry) bool { return left(e) && !e.f.over && right(e) } // -quit ends the expression too
	}
	return x
}

// need refuses an operator with nothing behind it.
func (p *parser) need(op string) {
	if p.pos == len(p.args) || p.peek() == ")" {
		p.fail("expected an expression after '", op, "'")
	}
}

func (p *parser) not() expr {
	switch a := p.peek(); a {
	case "!", "-not":
		p.pos++
		p.need(a)
		x := p.not()
		return func(e *entry) bool { return !x(e) }
	case "(":
		p.pos++
		if p.peek() == ")" && p.pos < len(p.args) {
			p.fail("invalid expression; empty parentheses are not allowed.")
		}
		if p.pos == len(p.args) {
			p.fail("invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate after '('")
		}
		x := p.list()
		if p.pos == len(p.args) {
			p.fail("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
		}
		p.pos++
		return x
	case ")":
		p.fail("invalid expression; you have too many ')'")
	case "-o", "-or", "-a", "-and", ",":
		p.fail("invalid expression; you have used a binary operator '", a, "' with nothing before it.")
	}
	return p.primary()
}

// arg reads the argument of a primary.
func (p *parser) arg(name string) string {
	if p.pos == len(p.args) {
		p.fail("missing argument to `", name, "'")
	}
	p.pos++
	return p.args[p.pos-1]
}

func (p *parser) primary() expr {
	name := p.args[p.pos]
	if name == "" || name[0] != '-' {
		p.fail("paths must precede expression: `", name, "'")
	}
	p.pos++
	if x, ok := p.option(name); ok {
		return x
	}
	if p.tests == 0 {
		p.before = name
	}
	p.tests++
	for _, family := range []func(string) (expr, bool){p.nameTest, p.fileTest, p.timeTest, p.actionOf} {
		if x, ok := family(name); ok {
			return x
		}
	}
	switch name {
	case "-ok", "-okdir":
		p.fail(name, " needs a terminal to ask on, and there is none")
	case "-fstype", "-context", "-used", "-files0-from":
		p.fail(name, " is not supported in the sandbox")
	}
	p.fail("unknown predicate `", name, "'")
	return nil
}

func always(*entry) bool { return true }

// option reads what is no test: options are true and work for the whole
// expression, -regextype and -daystart for what follows.
func (p *parser) option(name string) (expr, bool) {
	f := p.f
	switch name {
	case "-depth", "-d":
		p.global(name)
		f.depthFirst = true
	case "-follow":
		f.follow = followAll
	case "-maxdepth", "-mindepth":
		p.global(name)
		v := p.arg(name)
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || strings.ContainsAny(v, "+-") {
			p.fail("Expected a positive decimal integer argument to ", name, ", but got ", applet.Curly(v))
		}
		if name == "-maxdepth" {
			f.maxDepth = n
		} else {
			f.minDepth = n
		}
	case "-mount", "-xdev", "-noleaf", "-ignore_readdir_race", "-noignore_readdir_race":
		p.global(name) // there is one file system as far as the sandbox shows
	case "-daystart":
		f.daystart = true
	case "-warn", "-nowarn":
		p.quiet = name == "-nowarn"
	case "-regextype":
		p.regextype(p.arg(name))
	default:
		return nil, false
	}
	return always, true
}

// global warns of a global option behind a test, as GNU find does.
func (p *parser) global(name string) {
	if p.tests > 0 && !p.warned && !p.quiet {
		p.warned = true
		p.f.c.Warn("warning: you have specified the global option ", name, " after the argument ", p.before,
			", but global options are not positional, i.e., ", name, " affects tests specified before it as well as those specified after it.",
			"  Please specify global options before other arguments.")
	}
}

func (p *parser) regextype(v string) {
	p.strict = false
	switch v {
	case "emacs", "findutils-default":
		p.regex = posixre.Emacs
	case "ed", "sed", "posix-basic", "grep":
		p.regex = posixre.GrepBasic
	case "posix-minimal-basic":
		p.regex, p.strict = posixre.PosixBasic, true
	case "posix-extended":
		p.regex = posixre.PosixExtended
	case "egrep", "posix-egrep", "awk", "gnu-awk", "posix-awk":
		p.regex = posixre.GrepExtended
	default:
		p.fail("Unknown regular expression type ", applet.Curly(v), "; valid types are ‘findutils-default’, ‘ed’, ‘emacs’, ‘gnu-awk’, ‘grep’, ",
			"‘posix-awk’, ‘awk’, ‘posix-basic’, ‘posix-egrep’, ‘egrep’, ‘posix-extended’, ‘posix-minimal-basic’, ‘sed’.")
	}
}
