// Package printf is the command printf.
package printf

import (
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is printf.
var Command = applet.Command{
	Name:     "printf",
	Synopsis: "FORMAT [ARGUMENT]...",
	Summary:  "print ARGUMENT(s) according to FORMAT",
	Help: `  \" \\ \a \b \c \e \f \n \r \t \v  as in C; \c produces no further output
  \NNN \xHH \uHHHH \UHHHHHHHH       bytes and characters by number
  %b   ARGUMENT as a string with '\' escapes interpreted
  %q   ARGUMENT quoted so that a shell reads it back
  and the C conversions: one of diouxXfeEgGaAcs, with *`,
	Run: run,
}

// printer is one run.
type printer struct {
	c      *applet.Ctx
	args   []string
	used   bool // an argument was consumed in this pass of the format
	status int
	out    []byte
	stop   bool
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
		return c.Usage("missing operand")
	}
	p := printer{c: c, args: args[1:]}
	for {
		p.used = false
		ok := p.pass(args[0])
		if len(p.out) >= applet.BufSize || !ok || p.stop || !p.used || len(p.args) == 0 {
			if _, err := c.Stdout.Write(p.out); err != nil {
				return 1
			}
			p.out = p.out[:0]
		}
		if !ok {
			return 1
		}
		if p.stop || len(p.args) == 0 {
			return p.status
		}
		if !p.used {
			c.Warn("warning: ignoring excess arguments, starting with ", applet.Curly(p.args[0]))
			return p.status
		}
	}
}

func (p *printer) next() (string, bool) {
	if len(p.args) == 0 {
		return "", false
	}
	a := p.args[0]
	p.args, p.used = p.args[1:], true
	return a, true
}

// pass writes the format once.
func (p *printer) pass(f string) bool {
	for f != "" {
		i := strings.IndexAny(f, `%\`)
		if i < 0 {
			p.out = append(p.out, f...)
			return true
		}
		p.out = append(p.out, f[:i]...)
		if f[i] == '\\' {
			f = f[i+1:]
			n := 0
			if p.out, n, p.stop = cformat.Escape(p.out, f, false); p.stop {
				return true
			}
			if n == 0 {
				if f != "" && strings.IndexByte("xuU", f[0]) >= 0 {
					p.c.Warn("missing hexadecimal number in escape")
					return false
				}
				p.out = append(p.out, '\\')
				if strings.HasPrefix(f, "%") { // it stands for itself then
					p.out, n = append(p.out, '%'), 1
				}
			}
			f = f[n:]
			continue
		}
		var ok bool
		if f, ok = p.conversion(f[i:]); !ok || p.stop {
			return ok
		}
	}
	return true
}

// conversion writes the conversion at the start of f and returns the rest.
func (p *printer) conversion(f string) (rest string, ok bool) {
	if strings.HasPrefix(f, "%%") {
		p.out = append(p.out, '%')
		return f[2:], true
	}
	s := cformat.Spec{Prec: -1}
	rest = s.Flags(f[1:])
	star := func(what string) (int, bool) {
		a, given := p.next()
		if !given {
			return 0, true
		}
		n := p.integer(a)
		if n > 1<<24 || n < -1<<24 {
			p.c.Warn("invalid ", what, ": ", applet.Curly(a))
			return 0, false
		}
		return int(n), true
	}
	if strings.HasPrefix(rest, "*") {
		rest = rest[1:]
		if s.Width, ok = star("field width"); !ok {
			return "", false
		}
		if s.Width < 0 {
			s.Minus, s.Width = true, -s.Width
		}
	} else {
		s.Width, rest = cformat.Number(rest)
	}
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		if strings.HasPrefix(rest, "*") {
			rest = rest[1:]
			if s.Prec, ok = star("precision"); !ok {
				return "", false
			}
			s.Prec = max(s.Prec, -1)
		} else {
			s.Prec, rest = cformat.Number(rest)
		}
	}
	rest = strings.TrimLeft(rest, "hlLjzt")
	bad := func() (string, bool) {
		_, size := utf8.DecodeRuneInString(rest)
		p.c.Warn(f[:len(f)-len(rest)+size], ": invalid conversion specification")
		return "", false
	}
	if rest == "" || strings.IndexByte("diouxXfFeEgGaAcsbq", rest[0]) < 0 {
		return bad()
	}
	s.Verb = rest[0]
	plain := len(f)-len(rest) == 1
	switch {
	case (s.Verb == 'b' || s.Verb == 'q') && !plain, s.Verb == 'c' && s.Prec >= 0,
		strings.IndexByte("cs", s.Verb) >= 0 && (s.Zero || s.Alt || s.Quote),
		s.Quote && strings.IndexByte("oxXeEaA", s.Verb) >= 0, s.Alt && strings.IndexByte("diu", s.Verb) >= 0:
		return bad()
	}
	rest = rest[1:]
	a, given := p.next()
	switch s.Verb {
	case 'd', 'i':
		p.out = s.Int(p.out, p.integer(a))
	case 'o', 'u', 'x', 'X':
		p.out = s.Uint(p.out, p.unsigned(a))
	case 'c':
		if given && a != "" {
			p.out = s.String(p.out, a[:1])
		} else if given {
			p.out = s.String(p.out, "\x00")
		} else {
			p.out = s.String(p.out, "\x00")
		}
	case 's':
		p.out = s.String(p.out, a)
	case 'q':
		if given {
			a = applet.Name(a)
		}
		p.out = s.String(p.out, a)
	case 'b':
		var text []byte
		text, p.stop = cformat.Text(nil, a, true)
		p.out = s.String(p.out, string(text))
	default:
		p.out = s.Float(p.out, p.float(a))
	}
	return rest, true
}

// character reads 'c or "c, which stand for the character's number.
func (p *printer) character(a string) (rune, bool) {
	if len(a) < 2 || a[0] != '\'' && a[0] != '"' {
		return 0, false
	}
	r, n := utf8.DecodeRuneInString(a[1:])
	if r == utf8.RuneError && n == 1 {
		r = rune(a[1])
	}
	if rest := a[1+n:]; rest != "" {
		p.c.Warn("warning: ", rest, ": character(s) following character constant have been ignored")
	}
	return r, true
}

// verify complains about a number that was not read to its end.
func (p *printer) verify(a string, n int, overflow bool) {
	switch {
	case overflow:
		p.c.Warn(applet.Curly(a), ": Numerical result out of range")
	case n == len(a):
		return
	case n == 0:
		p.c.Warn(applet.Curly(a), ": expected a numeric value")
	default:
		p.c.Warn(applet.Curly(a), ": value not completely converted")
	}
	p.status = 1
}

func (p *printer) integer(a string) int64 {
	if r, ok := p.character(a); ok || a == "" {
		return int64(r)
	}
	v, n, over := cformat.ParseInt(a)
	p.verify(a, n, over)
	return v
}

func (p *printer) unsigned(a string) uint64 {
	if r, ok := p.character(a); ok || a == "" {
		return uint64(r)
	}
	v, n, over := cformat.ParseUint(a)
	p.verify(a, n, over)
	return v
}

func (p *printer) float(a string) float64 {
	if r, ok := p.character(a); ok || a == "" {
		return float64(r)
	}
	v, n := cformat.ParseFloat(a)
	p.verify(a, n, false)
	return v
}
