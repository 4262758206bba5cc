// Package seq is the command seq.
package seq

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is seq.
var Command = applet.Command{
	Name:     "seq",
	Synopsis: "[OPTION]... [FIRST [INCREMENT]] LAST",
	Summary:  "print numbers from FIRST to LAST, in steps of INCREMENT",
	Help: `  -f, --format=FORMAT      use printf style floating-point FORMAT
  -s, --separator=STRING   use STRING to separate numbers (default: \n)
  -w, --equal-width        equalize width by padding with leading zeroes`,
	Run: run,
}

// decimal is an argument: a number, exactly when it is an integer times a
// power of ten.
type decimal struct {
	value  float64
	digits int64 // value times 10^prec, when exact
	prec   int   // digits after the point
	width  int   // characters before the point, the sign included
	exact  bool
	whole  string // the digits of an integer without a sign
}

func parse(s string) (decimal, bool) {
	d := decimal{}
	f, n := cformat.ParseFloat(s)
	if n == 0 || n != len(s) || math.IsNaN(f) {
		return d, false
	}
	d.value = f
	text := strings.TrimLeft(s, " \t\n\v\f\r+")
	if strings.Trim(text, "-.0123456789") != "" {
		// An exponent, inf, or a hexadecimal number.
		if i := strings.IndexAny(text, "eE"); i >= 0 && !strings.ContainsAny(text, "xX") {
			exp, _ := strconv.Atoi(text[i+1:])
			whole, frac, _ := strings.Cut(text[:i], ".")
			d.prec = max(0, len(frac)-exp)
			d.width = len(whole) + max(0, exp)
			if d.prec == 0 && math.Abs(f) < 1e15 {
				d.digits, d.exact = int64(f), true
			}
			return d, true
		}
		if f == math.Trunc(f) && math.Abs(f) < 1e15 {
			d.digits, d.exact = int64(f), true
		}
		d.width = len(strconv.FormatFloat(f, 'f', 0, 64))
		return d, true
	}
	whole, frac, _ := strings.Cut(text, ".")
	d.prec, d.width = len(frac), len(whole)
	if whole == "" || whole == "-" {
		d.width++
	}
	if frac == "" && strings.Trim(whole, "0123456789") == "" {
		d.whole = strings.TrimLeft(whole[:max(0, len(whole)-1)], "0") + whole[max(0, len(whole)-1):]
	}
	var err error
	d.digits, err = strconv.ParseInt(whole+frac, 10, 64)
	d.exact = err == nil
	return d, true
}

func run(c *applet.Ctx) int {
	format, separator, equal := "", "\n", false
	hasFormat := false
	c.Args = protect(c.Args)
	args, status, ok := c.Parse(1,
		applet.StopAtOperand(),
		applet.Func(func(v string) error { format, hasFormat = v, true; return nil }, 'f', "format"),
		applet.String(&separator, 's', "separator"),
		applet.Bool(&equal, 'w', "equal-width"),
	)
	if !ok {
		return status
	}
	switch {
	case len(args) == 0:
		return c.Usage("missing operand")
	case len(args) > 3:
		return c.ExtraOperand(args[3])
	case hasFormat && equal:
		return c.Usage("format string may not be specified when printing equal width strings")
	}
	var spec cformat.Spec
	var before, after string
	if hasFormat {
		var err error
		if spec, before, after, err = parseFormat(format); err != nil {
			c.Warn(err.Error())
			return 1
		}
	}
	nums := []decimal{{digits: 1, value: 1, width: 1, exact: true}, {digits: 1, value: 1, width: 1, exact: true}, {}}
	place := map[int][]int{1: {2}, 2: {0, 2}, 3: {0, 1, 2}}[len(args)]
	for i, a := range args {
		d, ok := parse(a)
		if !ok {
			what := "invalid floating point argument: "
			if f, n := cformat.ParseFloat(a); n == len(a) && math.IsNaN(f) && n > 0 {
				what = "invalid " + applet.Curly("not-a-number") + " argument: "
			}
			return c.Usage(what, applet.Curly(a))
		}
		if place[i] == 1 && d.value == 0 {
			return c.Usage("invalid Zero increment value: ", applet.Curly(a))
		}
		nums[place[i]] = d
	}
	first, step, last := nums[0], nums[1], nums[2]
	prec := max(first.prec, step.prec)
	s := series{c: c, separator: separator, prec: prec, minus: first.value == 0 && math.Signbit(first.value)}
	if equal {
		s.width = equalWidth(first, last, prec)
	}
	if hasFormat {
		s.format = func(b []byte, f float64) []byte { return append(spec.Float(append(b, before...), f), after...) }
	}
	scale := max(prec, last.prec)
	a, ok1 := first.scaled(scale)
	b, ok2 := step.scaled(scale)
	z, ok3 := last.scaled(scale)
	if !ok3 && math.Abs(last.value) > 1e18 && ok1 && ok2 {
		z, ok3 = math.MaxInt64, true // as good as endless
		if last.value < 0 {
			z = math.MinInt64
		}
	}
	switch {
	case ok1 && ok2 && ok3:
		s.exact(a, b, z, scale)
	case first.whole != "" && last.whole != "" && ok2 && scale == 0 && b > 0:
		s.long(first.whole, last.whole, b)
	default:
		s.floats(first.value, step.value, last.value)
	}
	return 0
}

// protect puts -- before the first argument that is a negative number, which
// is no option.
func protect(args []string) []string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-f" || a == "-s" || a == "--format" || a == "--separator":
			i++
		case a == "--":
			return args
		case len(a) > 1 && a[0] == '-' && (a[1] >= '0' && a[1] <= '9' || a[1] == '.'):
			out := append([]string{}, args[:i]...)
			return append(append(out, "--"), args[i:]...)
		case a == "" || a[0] != '-':
			return args
		}
	}
	return args
}

// scaled returns d times 10^scale.
func (d decimal) scaled(scale int) (int64, bool) {
	n := d.digits
	for range scale - d.prec {
		if n > math.MaxInt64/10 || n < math.MinInt64/10 {
			return 0, false
		}
		n *= 10
	}
	return n, d.exact && scale <= 18
}

// equalWidth returns the width that all numbers are padded to.
func equalWidth(first, last decimal, prec int) int {
	w := max(first.width, last.width)
	if prec > 0 {
		w += prec + 1
	}
	return w
}

type series struct {
	c         *applet.Ctx
	separator string
	prec      int
	width     int // of all numbers, 0 for as they come
	format    func(b []byte, f float64) []byte
	out       []byte
	any       bool
	minus     bool // the first number is -0
}

// flush writes what has come together and tells whether to go on.
func (s *series) flush() bool {
	if len(s.out) < applet.BufSize {
		return true
	}
	_, err := s.c.Stdout.Write(s.out)
	s.out = s.out[:0]
	return err == nil
}

func (s *series) end() {
	if s.any {
		s.out = append(s.out, '\n')
	}
	s.c.Stdout.Write(s.out)
}

func (s *series) exact(a, step, last int64, scale int) {
	drop := int64(1) // digits of scale beyond the precision
	for range scale - s.prec {
		drop *= 10
	}
	unit := math.Pow10(scale)
	for n := a; step > 0 && n <= last || step < 0 && n >= last; {
		if s.any {
			s.out = append(s.out, s.separator...)
		}
		s.any = true
		switch {
		case s.format != nil && s.minus:
			s.out = s.format(s.out, math.Copysign(0, -1))
		case s.format != nil:
			s.out = s.format(s.out, float64(n)/unit)
		case s.minus:
			s.out = append(s.out, '-')
			s.out = appendDecimal(s.out, 0, s.prec, max(0, s.width-1))
		default:
			s.out = appendDecimal(s.out, n/drop, s.prec, s.width)
		}
		s.minus = false
		if !s.flush() {
			return
		}
		next := n + step
		if (next > n) != (step > 0) {
			break
		}
		n = next
	}
	s.end()
}

// appendDecimal appends n divided by 10^prec, padded with zeros to width.
func appendDecimal(b []byte, n int64, prec, width int) []byte {
	if prec == 0 && width == 0 {
		return strconv.AppendInt(b, n, 10)
	}
	u := uint64(n)
	if n < 0 {
		b = append(b, '-')
		u = -u
		width--
	}
	var tmp [24]byte
	d := strconv.AppendUint(tmp[:0], u, 10)
	for range max(width-min(1, prec), prec+1) - len(d) {
		b = append(b, '0')
	}
	b = append(b, d...)
	if prec > 0 {
		b = append(b, 0)
		i := len(b) - 1 - prec
		copy(b[i+1:], b[i:])
		b[i] = '.'
	}
	return b
}

// long counts in digits, for integers of any length.
func (s *series) long(first, last string, step int64) {
	n := []byte(first)
	for len(n) < len(last) || len(n) == len(last) && string(n) <= last {
		if s.any {
			s.out = append(s.out, s.separator...)
		}
		s.any = true
		if s.format != nil {
			f, _ := cformat.ParseFloat(string(n))
			s.out = s.format(s.out, f)
		} else {
			for range s.width - len(n) {
				s.out = append(s.out, '0')
			}
			s.out = append(s.out, n...)
		}
		if !s.flush() {
			return
		}
		carry := step
		for i := len(n) - 1; i >= 0 && carry > 0; i-- {
			carry += int64(n[i] - '0')
			n[i] = byte('0' + carry%10)
			carry /= 10
		}
		if carry > 0 {
			n = append(strconv.AppendInt(nil, carry, 10), n...)
		}
	}
	s.end()
}

func (s *series) floats(first, step, last float64) {
	spec := cformat.Spec{Verb: 'f', Prec: s.prec, Width: s.width, Zero: s.width > 0}
	for i := 0.0; ; i++ {
		x := first + i*step
		if step > 0 && x > last || step < 0 && x < last {
			break
		}
		if s.any {
			s.out = append(s.out, s.separator...)
		}
		s.any = true
		if s.format != nil {
			s.out = s.format(s.out, x)
		} else {
			s.out = spec.Float(s.out, x)
		}
		if !s.flush() {
			return
		}
	}
	s.end()
}

// parseFormat reads a format with exactly one conversion for a number.
func parseFormat(f string) (spec cformat.Spec, before, after string, err error) {
	quoted := applet.Curly(f)
	text := func(s string, first bool) (string, string, error) {
		var b []byte
		for i := 0; i < len(s); i++ {
			if s[i] != '%' {
				b = append(b, s[i])
				continue
			}
			if i+1 < len(s) && s[i+1] == '%' {
				b = append(b, '%')
				i++
				continue
			}
			if !first {
				return "", "", errors.New("format " + quoted + " has too many % directives")
			}
			return string(b), s[i+1:], nil
		}
		if first {
			return "", "", errors.New("format " + quoted + " has no % directive")
		}
		return string(b), "", nil
	}
	before, rest, err := text(f, true)
	if err != nil {
		return spec, "", "", err
	}
	spec.Prec = -1
	rest = spec.Flags(rest)
	spec.Width, rest = cformat.Number(rest)
	if strings.HasPrefix(rest, ".") {
		spec.Prec, rest = cformat.Number(rest[1:])
	}
	rest = strings.TrimPrefix(rest, "L")
	if rest == "" {
		return spec, "", "", errors.New("format " + quoted + " ends in %")
	}
	if strings.IndexByte("efgaEFGA", rest[0]) < 0 {
		return spec, "", "", errors.New("format " + quoted + " has unknown %" + rest[:1] + " directive")
	}
	spec.Verb = rest[0]
	after, _, err = text(rest[1:], false)
	return spec, before, after, err
}
