// Package expr is the command expr.
package expr

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is expr.
var Command = applet.Command{
	Name:     "expr",
	Synopsis: "EXPRESSION",
	Summary:  "print the value of EXPRESSION to standard output",
	Help: `  ARG1 | ARG2       ARG1 if it is neither null nor 0, otherwise ARG2
  ARG1 & ARG2       ARG1 if neither argument is null or 0, otherwise 0
  ARG1 < ARG2, <=, =, !=, >=, >   comparison, of numbers or strings
  ARG1 + ARG2, -, *, /, %         arithmetic of 64-bit integers
  STRING : REGEXP   anchored pattern match of REGEXP in STRING
  match STRING REGEXP, substr STRING POS LENGTH, index STRING CHARS,
  length STRING, + TOKEN, ( EXPRESSION )`,
	Run: run,
}

// errZero is division by zero.
var errZero = errors.New("division by zero")

type parser struct {
	args []string
	at   int
	dead bool // the value does not count: nothing is divided or matched
}

func run(c *applet.Ctx) int {
	args := c.Args
	if len(args) == 1 && args[0] == "--help" {
		c.ShowHelp()
		return 0
	}
	if len(args) == 1 && args[0] == "--version" {
		c.ShowVersion()
		return 0
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		c.Usage("missing operand")
		return 2
	}
	p := parser{args: args}
	v, err := p.or()
	if err == nil && p.at < len(args) {
		err = errors.New("syntax error: unexpected argument " + applet.Curly(args[p.at]))
	}
	if err != nil {
		c.Warn(err.Error())
		if errors.Is(err, errLimit) {
			return 3
		}
		return 2
	}
	c.Out().WriteString(v + "\n")
	return applet.Status(!null(v))
}

var errLimit = errors.New("regular expression needs too much time")

// null tells the values that count as false: "" and all zeros.
func null(v string) bool {
	t := strings.TrimPrefix(v, "-")
	return strings.Trim(t, "0") == "" && (t != "" || v == "")
}

func (p *parser) peek(ops ...string) string {
	if p.at < len(p.args) {
		for _, o := range ops {
			if p.args[p.at] == o {
				return o
			}
		}
	}
	return ""
}

func (p *parser) or() (string, error) {
	v, err := p.and()
	for err == nil && p.peek("|") != "" {
		p.at++
		var r string
		dead := p.dead
		p.dead = dead || !null(v)
		r, err = p.and()
		p.dead = dead
		if null(v) {
			if v = r; null(v) {
				v = "0"
			}
		}
	}
	return v, err
}

func (p *parser) and() (string, error) {
	v, err := p.comparison()
	for err == nil && p.peek("&") != "" {
		p.at++
		var r string
		dead := p.dead
		p.dead = dead || null(v)
		r, err = p.comparison()
		p.dead = dead
		if null(v) || null(r) {
			v = "0"
		}
	}
	return v, err
}

func (p *parser) comparison() (string, error) {
	v, err := p.sum()
	for err == nil {
		op := p.peek("<", "<=", "=", "==", "!=", ">=", ">")
		if op == "" {
			break
		}
		p.at++
		var r string
		if r, err = p.sum(); err != nil {
			break
		}
		c := strings.Compare(v, r)
		if x, ok := number(v); ok {
			if y, ok := number(r); ok {
				c = 0
				if x < y {
					c = -1
				} else if x > y {
					c = 1
				}
			}
		}
		yes := false
		switch op {
		case "<":
			yes = c < 0
		case "<=":
			yes = c <= 0
		case "=", "==":
			yes = c == 0
		case "!=":
			yes = c != 0
		case ">=":
			yes = c >= 0
		case ">":
			yes = c > 0
		}
		v = map[bool]string{true: "1", false: "0"}[yes]
	}
	return v, err
}

// number reads an integer. What does not fit 64 bits is no number here: it is
// told apart where it matters.
func number(s string) (int64, bool) {
	if s == "" || strings.TrimLeft(strings.TrimPrefix(s, "-"), "0123456789") != "" || s == "-" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

func operand(s string) (int64, error) {
	n, ok := number(s)
	if ok {
		return n, nil
	}
	if s != "" && s != "-" && strings.TrimLeft(strings.TrimPrefix(s, "-"), "0123456789") == "" {
		return 0, errors.New(s + ": Numerical result out of range")
	}
	return 0, errors.New("non-integer argument")
}

func (p *parser) sum() (string, error) {
	v, err := p.product()
	for err == nil {
		op := p.peek("+", "-")
		if op == "" {
			break
		}
		p.at++
		var r string
		if r, err = p.product(); err == nil {
			v, err = p.arithmetic(op, v, r)
		}
	}
	return v, err
}

func (p *parser) product() (string, error) {
	v, err := p.pattern()
	for err == nil {
		op := p.peek("*", "/", "%")
		if op == "" {
			break
		}
		p.at++
		var r string
		if r, err = p.pattern(); err == nil {
			v, err = p.arithmetic(op, v, r)
		}
	}
	return v, err
}

func (p *parser) arithmetic(op, a, b string) (string, error) {
	if p.dead {
		return "0", nil
	}
	x, err := operand(a)
	if err != nil {
		return "", err
	}
	y, err := operand(b)
	if err != nil {
		return "", err
	}
	overflow := false
	var n int64
	switch op {
	case "+":
		n = x + y
		overflow = (n > x) != (y > 0) && y != 0
	case "-":
		n = x - y
		overflow = (n < x) != (y > 0) && y != 0
	case "*":
		n = x * y
		overflow = x != 0 && (n/x != y || x == -1 && y == math.MinInt64)
	default:
		if y == 0 {
			return "", errZero
		}
		if overflow = x == math.MinInt64 && y == -1; overflow {
			break
		}
		if n = x / y; op == "%" {
			n = x % y
		}
	}
	if overflow {
		return "", errors.New("integer result too large for 64 bits")
	}
	return strconv.FormatInt(n, 10), nil
}

func (p *parser) pattern() (string, error) {
	v, err := p.function()
	for err == nil && p.peek(":") != "" {
		p.at++
		var r string
		if r, err = p.function(); err == nil {
			v, err = p.match(v, r)
		}
	}
	return v, err
}

func (p *parser) match(s, pattern string) (string, error) {
	if p.dead {
		return "0", nil
	}
	re, groups, err := compile(pattern)
	if err != nil {
		return "", err
	}
	end, group, ok := match(re, groups, s)
	switch {
	case !ok:
		return "", errLimit
	case groups > 0 && end >= 0 && group[0] >= 0:
		return s[group[0]:group[1]], nil
	case groups > 0:
		return "", nil
	case end < 0:
		return "0", nil
	}
	return strconv.Itoa(utf8.RuneCountInString(s[:end])), nil
}

// next returns the next argument as a value, whatever it is.
func (p *parser) next() (string, error) {
	if p.at >= len(p.args) {
		return "", errors.New("syntax error: missing argument after " + applet.Curly(p.args[len(p.args)-1]))
	}
	p.at++
	return p.args[p.at-1], nil
}

func (p *parser) function() (string, error) {
	switch op := p.peek("+", "length", "match", "index", "substr"); op {
	case "+":
		p.at++
		return p.next()
	case "length":
		p.at++
		v, err := p.function()
		return strconv.Itoa(utf8.RuneCountInString(v)), err
	case "match", "index":
		p.at++
		a, err := p.function()
		if err != nil {
			return "", err
		}
		b, err := p.function()
		if err != nil {
			return "", err
		}
		if op == "match" {
			return p.match(a, b)
		}
		if i := strings.IndexAny(a, b); i >= 0 {
			return strconv.Itoa(utf8.RuneCountInString(a[:i]) + 1), nil
		}
		return "0", nil
	case "substr":
		p.at++
		var v [3]string
		for i := range v {
			var err error
			if v[i], err = p.function(); err != nil {
				return "", err
			}
		}
		from, ok1 := number(v[1])
		length, ok2 := number(v[2])
		runes := []rune(v[0])
		if !ok1 || !ok2 || from < 1 || length < 1 || from > int64(len(runes)) {
			return "", nil
		}
		return string(runes[from-1 : from-1+min(length, int64(len(runes))-from+1)]), nil
	}
	return p.value()
}

func (p *parser) value() (string, error) {
	v, err := p.next()
	if err != nil {
		return "", err
	}
	switch v {
	case "(":
		v, err = p.or()
		if err != nil {
			return "", err
		}
		if p.at >= len(p.args) {
			return "", errors.New("syntax error: expecting ')' after " + applet.Curly(p.args[len(p.args)-1]))
		}
		if p.args[p.at] != ")" {
			return "", errors.New("syntax error: expecting ')' instead of " + applet.Curly(p.args[p.at]))
		}
		p.at++
		return v, nil
	case ")":
		return "", errors.New("syntax error: unexpected ')'")
	}
	return v, nil
}
