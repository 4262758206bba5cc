package shell

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/cformat"
)

// A printer is one printf that walks its arguments.
type printer struct {
	call
	used   bool // an argument was taken in this pass of the format
	out    []byte
	status int
	stop   bool
}

func builtinPrintf(sh *shell, c call) int {
	target, set := c.arg('v')
	if set && !validRef(target) {
		c.fail("`%s': not a valid identifier", target)
		return 2
	}
	if len(c.rest) == 0 {
		return c.misuse("")
	}
	format := c.rest[0]
	c.rest = c.rest[1:]
	p := &printer{call: c}
	for {
		p.used = false
		if !p.pass(format) || p.stop || len(p.rest) == 0 || !p.used {
			break
		}
		sh.tick()
		p.bound(0)
	}
	if set {
		name, sub, _ := sh.parseRef(target)
		out, _, _ := bytes.Cut(p.out, []byte{0})
		sh.assignTo(name, sub, string(out), false)
		return p.status
	}
	sh.out(string(p.out))
	return p.status
}

// bound refuses output that is too long, with n bytes more.
func (p *printer) bound(n int) {
	if lim := p.sh.run.lim.Expansion; int64(len(p.out)+n) > lim {
		throw(&LimitError{What: "printf output of " + size(lim)})
	}
}

func (p *printer) next() string {
	if len(p.rest) == 0 {
		return ""
	}
	a := p.rest[0]
	p.rest, p.used = p.rest[1:], true
	return a
}

// wrong reports an argument or format; output goes on.
func (p *printer) wrong(format string, args ...any) { p.status = p.fail(format, args...) }

// pass writes the format once; false stops everything.
func (p *printer) pass(f string) bool {
	for {
		i := strings.IndexAny(f, `%\`)
		if i < 0 {
			p.out = append(p.out, f...)
			return true
		}
		p.out = append(p.out, f[:i]...)
		rest := f[i+1:]
		if f[i] == '\\' {
			var n int
			p.out, n, _ = escapeC(p.out, rest, escPrintf)
			f = rest[n:]
			continue
		}
		var ok bool
		if f, ok = p.conversion(rest); !ok || p.stop {
			return ok
		}
	}
}

// number reads a width or precision.
func (p *printer) number(f string) (n int, rest string) {
	if rest, ok := strings.CutPrefix(f, "*"); ok {
		return int(max(min(p.integer(p.next()), 1<<40), -1<<40)), rest
	}
	rest = strings.TrimLeft(f, "0123456789")
	n, err := strconv.Atoi("0" + f[:len(f)-len(rest)])
	if err != nil {
		n = 1 << 40
	}
	return n, rest
}

// conversion writes the conversion behind a % and returns the rest.
func (p *printer) conversion(f string) (rest string, ok bool) {
	if rest, ok := strings.CutPrefix(f, "%"); ok {
		p.out = append(p.out, '%')
		return rest, true
	}
	s := cformat.Spec{Prec: -1}
	s.Width, rest = p.number(s.Flags(f))
	if s.Width < 0 {
		s.Minus, s.Width = true, -s.Width
	}
	if strings.HasPrefix(rest, ".") {
		s.Prec, rest = p.number(rest[1:])
		s.Prec = max(s.Prec, -1)
	}
	p.bound(max(s.Width, s.Prec))
	rest = strings.TrimLeft(rest, "hlLjzt")
	if rest == "" {
		p.wrong("`%%%s': missing format character", f)
		return "", false
	}
	s.Verb = rest[0]
	if end := strings.Index(rest, ")T"); s.Verb == '(' && end > 0 {
		p.out = s.String(p.out, p.time(rest[1:end]))
		return rest[end+2:], true
	}
	switch a := ""; s.Verb {
	case 's':
		p.out = s.String(p.out, p.next())
	case 'b':
		a, p.stop = unescapeC(p.next(), escB)
		p.out = s.String(p.out, a)
	case 'c':
		a = p.next()
		p.out = s.String(p.out, a[:min(1, len(a))])
	case 'q', 'Q':
		if a = p.next(); s.Verb == 'Q' && s.Prec >= 0 {
			a = a[:min(s.Prec, len(a))]
		}
		s.Prec = -1
		p.out = s.String(p.out, backslashQuote(a))
	case 'd', 'i':
		p.out = s.Int(p.out, p.integer(p.next()))
	case 'o', 'u', 'x', 'X':
		p.out = s.Uint(p.out, p.unsigned(p.next()))
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		s.Prec = min(s.Prec, 4096)
		p.out = s.Float(p.out, p.float(p.next()))
	case 'n':
		if a = p.next(); isName(a) {
			p.sh.assignTo(a, nil, itoa(len(p.out)), false)
		}
	default:
		p.wrong("`%c': invalid format character", s.Verb)
		return "", false
	}
	return rest[1:], true
}

// character reads 'c or "c, which stand for the character's number.
func character(a string) (n int64, is bool) {
	if a == "" || a[0] != '\'' && a[0] != '"' {
		return 0, false
	}
	if len(a) == 1 {
		return 0, true
	}
	r, _ := decode(a, 1)
	return int64(max(r, -r)), true
}

// integer reads a signed argument by C's rules, unsigned an unsigned one.
func (p *printer) integer(a string) int64 {
	n, is := character(a)
	if is || a == "" {
		return n
	}
	n, read, over := cformat.ParseInt(a)
	p.verify(a, read, over)
	return n
}

func (p *printer) unsigned(a string) uint64 {
	if n, is := character(a); is || a == "" {
		return uint64(n)
	}
	n, read, over := cformat.ParseUint(a)
	p.verify(a, read, over)
	return n
}

// verify complains about a number that was not read to its end.
func (p *printer) verify(a string, read int, over bool) {
	switch {
	case read < len(a) && read > 0 && strings.HasPrefix(strings.TrimLeft(a, " \t\n\v\f\r+-"), "0") && !strings.ContainsAny(a, "xX"):
		p.wrong("%s: invalid octal number", a)
	case read < len(a):
		p.wrong("%s: invalid number", a)
	case over:
		p.fail("warning: %s: Numerical result out of range", a)
	}
}

func (p *printer) float(a string) float64 {
	if n, is := character(a); is || a == "" {
		return float64(n)
	}
	v, read := cformat.ParseFloat(a)
	if read < len(a) {
		p.wrong("%s: invalid number", a)
	}
	return v
}

// time is %(fmt)T. The sandbox has one time zone, UTC.
func (p *printer) time(f string) string {
	t := p.sh.run.host.Now()
	if a := p.next(); a != "" {
		switch n := p.integer(a); n {
		case -1:
		case -2:
			t = p.sh.run.start
		default:
			t = time.Unix(n, 0)
		}
	}
	return string(cformat.AppendTime(nil, firstOf(f, "%X"), t.UTC()))
}
