package shell

import (
	"strings"
)

// A bracket evaluates the arguments of test and [.
type bracket struct {
	sh   *shell
	args []string
	i    int
	err  string
	deep int
}

func builtinTest(sh *shell, c call) int {
	b := &bracket{sh: sh, args: c.rest}
	if c.args[0] == "[" {
		n := len(c.rest) - 1
		if n < 0 || c.rest[n] != "]" {
			c.fail("missing `]'")
			return 2
		}
		b.args = c.rest[:n]
	}
	r := b.eval()
	if b.err != "" {
		c.fail("%s", b.err)
		return 2
	}
	return int(b2i(!r))
}

func (b *bracket) fail(msg string) bool {
	if b.err == "" {
		b.err = msg
	}
	return false
}

// eval follows POSIX for up to four arguments and a grammar beyond.
func (b *bracket) eval() bool {
	a := b.args
	switch len(a) {
	case 0:
		return false
	case 1:
		return a[0] != ""
	case 2:
		if a[0] == "!" {
			return a[1] == ""
		}
		if isUnary(a[0]) {
			return b.sh.unaryTest(a[0], a[1])
		}
		return b.fail(a[0] + ": unary operator expected")
	case 3:
		return b.three(a)
	case 4:
		if a[0] == "!" {
			return !b.three(a[1:])
		}
		if a[0] == "(" && a[3] == ")" {
			return b.inner(a[1:3])
		}
	}
	r := b.or()
	if b.err == "" && b.i < len(a) {
		return b.fail("too many arguments")
	}
	return r
}

// inner evaluates fewer arguments by the rules for so many.
func (b *bracket) inner(args []string) bool {
	c := &bracket{sh: b.sh, args: args}
	r := c.eval()
	b.err = c.err
	return r
}

func (b *bracket) three(a []string) bool {
	switch {
	case isBinary(a[1]):
		return b.binary(a[1], a[0], a[2])
	case a[1] == "-a":
		return a[0] != "" && a[2] != ""
	case a[1] == "-o":
		return a[0] != "" || a[2] != ""
	case a[0] == "!":
		return !b.inner(a[1:])
	case a[0] == "(" && a[2] == ")":
		return a[1] != ""
	}
	return b.fail(a[1] + ": binary operator expected")
}

func isUnary(s string) bool {
	return len(s) == 2 && s[0] == '-' && strings.IndexByte("abcdefghknoprstuvwxzGLNORS", s[1]) >= 0
}

func isBinary(s string) bool {
	switch s {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

func (b *bracket) or() bool {
	r := b.and()
	for b.err == "" && b.i < len(b.args) && b.args[b.i] == "-o" {
		b.i++
		y := b.and()
		r = r || y
	}
	return r
}

func (b *bracket) and() bool {
	r := b.not()
	for b.err == "" && b.i < len(b.args) && b.args[b.i] == "-a" {
		b.i++
		y := b.not()
		r = r && y
	}
	return r
}

func (b *bracket) not() bool {
	neg := false
	for b.i < len(b.args) && b.args[b.i] == "!" {
		neg = !neg
		b.i++
	}
	return b.term() != neg
}

func (b *bracket) term() bool {
	if b.err != "" {
		return false
	}
	if b.i >= len(b.args) {
		return b.fail("argument expected")
	}
	a := b.args[b.i:]
	if len(a) >= 3 && isBinary(a[1]) && a[0] != "(" {
		b.i += 3
		return b.binary(a[1], a[0], a[2])
	}
	if a[0] == "(" {
		if b.deep++; b.deep > b.sh.run.lim.Nesting {
			throw(errNesting(b.sh))
		}
		b.i++
		r := b.or()
		b.deep--
		if b.err == "" && (b.i >= len(b.args) || b.args[b.i] != ")") {
			return b.fail("`)' expected")
		}
		b.i++
		return r
	}
	if isUnary(a[0]) && len(a) >= 2 {
		b.i += 2
		return b.sh.unaryTest(a[0], a[1])
	}
	b.i++
	return a[0] != ""
}

func (b *bracket) unary(op, s string) bool {
	return b.sh.unaryTest(op, s)
}

func (b *bracket) binary(op, x, y string) bool {
	switch op {
	case "=", "==":
		return x == y
	case "!=":
		return x != y
	case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		n, ok1 := atoi(strings.Trim(x, " \t\n"))
		m, ok2 := atoi(strings.Trim(y, " \t\n"))
		if !ok1 {
			y = x
		}
		if !ok1 || !ok2 {
			return b.fail(y + ": integer expression expected")
		}
		return compareInts(op, n, m)
	}
	return b.sh.compare(op, x, y)
}
