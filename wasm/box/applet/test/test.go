// Package test holds the commands test and [.
package test

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Test is the command test.
var Test = applet.Command{
	Name:     "test",
	Synopsis: "EXPRESSION",
	Summary:  "exit with the status determined by EXPRESSION",
	Run:      func(c *applet.Ctx) int { return run(c, c.Args) },
}

// Bracket is the command [.
var Bracket = applet.Command{
	Name:     "[",
	Synopsis: "EXPRESSION ]",
	Summary:  "exit with the status determined by EXPRESSION",
	Run: func(c *applet.Ctx) int {
		args := c.Args
		if len(args) == 1 && args[0] == "--help" {
			c.ShowHelp()
			return 0
		}
		if len(args) == 1 && args[0] == "--version" {
			c.ShowVersion()
			return 0
		}
		if len(args) == 0 || args[len(args)-1] != "]" {
			c.Warn("missing ", applet.Curly("]"))
			return 2
		}
		return run(c, args[:len(args)-1])
	},
}

// evaluator reads an expression.
type evaluator struct {
	args []string
	at   int
}

func run(c *applet.Ctx, args []string) int {
	if len(args) == 0 {
		return 1
	}
	e := evaluator{args: args}
	v, err := e.posix(len(args))
	if err == nil && e.at < len(args) {
		err = errors.New("extra argument " + applet.Curly(args[e.at]))
	}
	if err != nil {
		c.Warn(err.Error())
		return 2
	}
	return applet.Status(v)
}

// posix evaluates the next n arguments by the rules for so many.
func (e *evaluator) posix(n int) (bool, error) {
	a := e.args[e.at:]
	switch n {
	case 1:
		e.at++
		return a[0] != "", nil
	case 2:
		if a[0] == "!" {
			e.at += 2
			return a[1] == "", nil
		}
		if isUnary(a[0]) {
			return e.unary()
		}
		if len(a[0]) > 1 && a[0][0] == '-' && len(a[0]) == 2 {
			return false, errors.New(applet.Curly(a[0]) + ": unary operator expected")
		}
		return false, errors.New("missing argument after " + applet.Curly(a[1]))
	case 3:
		switch {
		case isBinary(a[1]):
			return e.binary(a[0] == "-l")
		case a[0] == "!":
			e.at++
			v, err := e.posix(2)
			return !v, err
		case a[0] == "(" && a[2] == ")":
			e.at += 3
			return a[1] != "", nil
		case a[1] == "-a" || a[1] == "-o" || a[1] == ">" || a[1] == "<":
			return e.or()
		}
		return false, errors.New(applet.Curly(a[1]) + ": binary operator expected")
	case 4:
		if a[0] == "!" {
			e.at++
			v, err := e.posix(3)
			return !v, err
		}
		if a[0] == "(" && a[3] == ")" {
			e.at++
			v, err := e.posix(2)
			e.at++
			return v, err
		}
	}
	return e.or()
}

func (e *evaluator) peek() string {
	if e.at < len(e.args) {
		return e.args[e.at]
	}
	return ""
}

func (e *evaluator) or() (bool, error) {
	v, err := e.and()
	for err == nil && e.peek() == "-o" {
		e.at++
		var w bool
		w, err = e.and()
		v = v || w
	}
	return v, err
}

func (e *evaluator) and() (bool, error) {
	v, err := e.term()
	for err == nil && e.peek() == "-a" {
		e.at++
		var w bool
		w, err = e.term()
		v = v && w
	}
	return v, err
}

func (e *evaluator) term() (bool, error) {
	negate := false
	for e.at < len(e.args) && e.args[e.at] == "!" && e.at+1 < len(e.args) {
		negate = !negate
		e.at++
	}
	if e.at >= len(e.args) {
		return false, errors.New("missing argument after " + applet.Curly(e.args[len(e.args)-1]))
	}
	left := e.args[e.at:]
	var v bool
	var err error
	switch {
	case left[0] == "(" && len(left) == 1:
		err = errors.New("missing argument after " + applet.Curly("("))
	case left[0] == "(":
		e.at++
		// The rules for so many arguments hold up to the parenthesis, unless it
		// is further away than they reach.
		n := 1
		for n < 4 && e.at+n < len(e.args) && e.args[e.at+n] != ")" {
			n++
		}
		if n == 4 {
			n = len(e.args) - e.at
		}
		v, err = e.posix(n)
		if err == nil && e.peek() != ")" {
			if e.at < len(e.args) {
				err = errors.New(applet.Curly(")") + " expected, found " + applet.Curly(e.peek()))
			} else {
				err = errors.New(applet.Curly(")") + " expected")
			}
		}
		e.at++
	case len(left) >= 4 && left[0] == "-l" && isBinary(left[2]):
		v, err = e.binary(true)
	case len(left) >= 3 && isBinary(left[1]):
		v, err = e.binary(false)
	case len(left) > 1 && isUnary(left[0]):
		v, err = e.unary()
	case len(left[0]) == 2 && left[0][0] == '-' && isUnary(left[0]):
		err = errors.New("missing argument after " + applet.Curly(left[0]))
	case len(left[0]) == 2 && left[0][0] == '-':
		err = errors.New(applet.Curly(left[0]) + ": unary operator expected")
	default:
		e.at++
		v = left[0] != ""
	}
	return v != negate, err
}

func isUnary(s string) bool {
	return len(s) == 2 && s[0] == '-' && strings.IndexByte("bcdefgGhkLNnOprsStuwxz", s[1]) >= 0
}

func isBinary(s string) bool {
	switch s {
	case "=", "!=", "==", "-nt", "-ot", "-ef", "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		return true
	}
	return false
}

func (e *evaluator) binary(length bool) (bool, error) {
	operand := func() string {
		v := e.args[e.at]
		e.at++
		if v == "-l" && e.at < len(e.args) && length {
			v = string(applet.AppendNum(nil, int64(len(e.args[e.at])), 0))
			e.at++
		}
		return v
	}
	left := operand()
	op := e.args[e.at]
	e.at++
	length = e.at+1 < len(e.args) && e.args[e.at] == "-l"
	right := operand()
	switch op {
	case "=", "==":
		return left == right, nil
	case "!=":
		return left != right, nil
	case "-nt", "-ot", "-ef":
		a, aerr := os.Stat(left)
		b, berr := os.Stat(right)
		switch {
		case op == "-ef":
			return aerr == nil && berr == nil && os.SameFile(a, b), nil
		case op == "-ot":
			a, aerr, b, berr = b, berr, a, aerr
		}
		return aerr == nil && (berr != nil || a.ModTime().After(b.ModTime())), nil
	}
	c, err := compare(left, right)
	switch op {
	case "-eq":
		return c == 0, err
	case "-ne":
		return c != 0, err
	case "-lt":
		return c < 0, err
	case "-le":
		return c <= 0, err
	case "-gt":
		return c > 0, err
	}
	return c >= 0, err
}

// compare compares integers of any length.
func compare(a, b string) (int, error) {
	an, ad, ok := integer(a)
	if !ok {
		return 0, errors.New("invalid integer " + applet.Curly(a))
	}
	bn, bd, ok := integer(b)
	if !ok {
		return 0, errors.New("invalid integer " + applet.Curly(b))
	}
	if an != bn {
		if an {
			return -1, nil
		}
		return 1, nil
	}
	c := len(ad) - len(bd)
	if c == 0 {
		c = strings.Compare(ad, bd)
	}
	if an {
		c = -c
	}
	return c, nil
}

func integer(s string) (negative bool, digits string, ok bool) {
	s = strings.Trim(s, " \t")
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return false, "", false
	}
	digits = strings.TrimLeft(s, "0")
	return negative && digits != "", digits, true
}

func (e *evaluator) unary() (bool, error) {
	op, arg := e.args[e.at][1], e.args[e.at+1]
	e.at += 2
	switch op {
	case 'n':
		return arg != "", nil
	case 'z':
		return arg == "", nil
	case 't':
		if _, _, ok := integer(arg); !ok {
			return false, errors.New("invalid integer " + applet.Curly(arg))
		}
		return false, nil // there is no terminal
	}
	stat := os.Stat
	if op == 'h' || op == 'L' {
		stat = os.Lstat
	}
	fi, err := stat(arg)
	if err != nil {
		return false, nil
	}
	m := fi.Mode()
	switch op {
	case 'e', 'O', 'G':
		return true, nil
	case 'f':
		return m.IsRegular(), nil
	case 'd':
		return m.IsDir(), nil
	case 'h', 'L':
		return m&fs.ModeSymlink != 0, nil
	case 's':
		return fi.Size() > 0, nil
	case 'r':
		return m&0o400 != 0, nil
	case 'w':
		return m&0o200 != 0, nil
	case 'x':
		return m&0o100 != 0, nil
	case 'p':
		return m&fs.ModeNamedPipe != 0, nil
	case 'S':
		return m&fs.ModeSocket != 0, nil
	case 'b':
		return m.Type() == fs.ModeDevice, nil
	case 'c':
		return m&fs.ModeCharDevice != 0, nil
	case 'u':
		return m&fs.ModeSetuid != 0, nil
	case 'g':
		return m&fs.ModeSetgid != 0, nil
	case 'k':
		return m&fs.ModeSticky != 0, nil
	}
	return fi.ModTime().After(applet.Stat(fi).Atime), nil // N
}
