package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/interp"
)

// ownPrintf is printf as bash has it.
func (sh *interpShell) ownPrintf(ctx context.Context, hc interp.HandlerContext, args []string) error {
	name := ""
	if len(args) > 0 && strings.HasPrefix(args[0], "-v") {
		if args[0] == "-v" {
			args = args[1:]
		} else {
			args[0] = args[0][2:]
		}
		if len(args) == 0 || !validName(args[0]) {
			return sh.fail(hc, 2, "printf: `%s': not a valid identifier", strings.Join(args[:min(1, len(args))], ""))
		}
		name, args = args[0], args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return sh.fail(hc, 2, "printf: usage: printf [-v var] format [arguments]")
	}
	p := printer{args: args[1:], complain: func(format string, a ...any) { _ = sh.fail(hc, 1, "printf: "+format, a...) }}
	if len(args[0]) > 1 && args[0][0] == '-' && len(args) == 1 && args[0] != "-" && !strings.ContainsRune(args[0], '%') {
		return sh.fail(hc, 2, "printf: %s: invalid option", args[0][:2])
	}
	for first := true; first || len(p.args) > 0 && p.used; first = false {
		p.used = false
		p.format(args[0])
		if p.stop {
			break
		}
	}
	var err error
	if name != "" {
		err = sh.assign(ctx, hc, name, strings.ReplaceAll(p.out.String(), "\x00", ""))
	} else {
		err = sh.write(ctx, hc, p.out.String())
	}
	if err == nil && p.failed {
		return exitStatus(1)
	}
	return err
}

// A printer runs a format over arguments.
type printer struct {
	out      strings.Builder
	args     []string
	used     bool // the format took an argument
	stop     bool
	failed   bool
	complain func(format string, a ...any)
}

func (p *printer) bad(format string, a ...any) {
	p.failed = true
	p.complain(format, a...)
}

func (p *printer) next() (string, bool) {
	p.used = true
	if len(p.args) == 0 {
		return "", false
	}
	a := p.args[0]
	p.args = p.args[1:]
	return a, true
}

func (p *printer) format(f string) {
	for i := 0; i < len(f) && !p.stop; {
		switch f[i] {
		case '\\':
			i = p.escape(f, i+1)
		case '%':
			i = p.conversion(f, i+1)
		default:
			p.out.WriteByte(f[i])
			i++
		}
	}
}

// escape handles the backslash before f[i].
func (p *printer) escape(f string, i int) int {
	switch {
	case i == len(f):
		p.out.WriteByte('\\')
	case f[i] >= '0' && f[i] <= '7':
		return octal(&p.out, f, i, 3)
	case f[i] == '"' || f[i] == '\'' || f[i] == '?':
		p.out.WriteByte(f[i])
		return i + 1
	default:
		if n, ok := escape(&p.out, f[i:]); ok {
			return i + n
		}
		p.out.WriteByte('\\')
	}
	return i
}

// spec is one conversion.
type spec struct {
	flags       string
	width, prec int // prec -1: none
}

// conversion handles the conversion that begins after the % at f[i-1].
func (p *printer) conversion(f string, i int) int {
	if i < len(f) && f[i] == '%' {
		p.out.WriteByte('%')
		return i + 1
	}
	s := spec{prec: -1}
	for i < len(f) && strings.IndexByte("-+ 0#'", f[i]) >= 0 {
		s.flags += f[i : i+1]
		i++
	}
	s.width, i = p.number(f, i)
	if s.width < 0 {
		s.flags, s.width = s.flags+"-", -s.width
	}
	if i < len(f) && f[i] == '.' {
		s.prec, i = p.number(f, i+1)
	}
	for i < len(f) && strings.IndexByte("hlLjzt", f[i]) >= 0 {
		i++
	}
	const most = 1 << 20
	if s.width > most || s.prec > most {
		p.bad("width %d: too large", max(s.width, s.prec))
		p.stop = true
		return len(f)
	}
	if i >= len(f) {
		p.bad("`%s': missing format character", "%"+f[max(0, i-1):])
		p.stop = true
		return len(f)
	}
	switch c := f[i]; c {
	case 's', 'q', 'Q', 'b', 'c':
		p.text(s, c)
	case 'd', 'i', 'o', 'u', 'x', 'X':
		p.integer(s, c)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		p.float(s, c)
	case '(':
		end := strings.IndexByte(f[i:], ')')
		if end < 0 || i+end+1 >= len(f) || f[i+end+1] != 'T' {
			p.bad("`%s': invalid time format specification", "%"+f[i:])
			p.stop = true
			return len(f)
		}
		p.time(s, f[i+1:i+end])
		return i + end + 2
	default:
		p.bad("`%c': invalid format character", c)
		p.stop = true
		return len(f)
	}
	return i + 1
}

// number reads a width or precision, perhaps from the arguments.
func (p *printer) number(f string, i int) (int, int) {
	if i < len(f) && f[i] == '*' {
		a, _ := p.next()
		return int(p.parseInt(a)), i + 1
	}
	n := 0
	for ; i < len(f) && f[i] >= '0' && f[i] <= '9'; i++ {
		n = min(n*10+int(f[i]-'0'), 1<<30)
	}
	return n, i
}

// pad writes text in its width. Zeros go between sign and digits, which fmt
// has done already.
func (p *printer) pad(s spec, text string) {
	fill := strings.Repeat(" ", max(0, s.width-len(text)))
	if strings.Contains(s.flags, "-") {
		p.out.WriteString(text + fill)
		return
	}
	p.out.WriteString(fill + text)
}

func (p *printer) text(s spec, c byte) {
	a, _ := p.next()
	switch c {
	case 'c':
		if len(a) > 1 {
			a = a[:1]
		}
		if a == "" {
			a = "\x00"
		}
	case 'q', 'Q':
		a = bashQuote(a)
	case 'b':
		var stop bool
		a, stop = bEscapes(a)
		p.stop = p.stop || stop
	}
	if s.prec >= 0 && s.prec < len(a) && c != 'c' {
		a = a[:s.prec]
	}
	p.pad(s, a)
}

// bEscapes expands the escapes of %b: those of echo -e, and \NNN.
func bEscapes(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] >= '1' && s[i+1] <= '7' {
			i = octal(&b, s, i+1, 3) - 1
			continue
		}
		if s[i] == '\\' && i+1 < len(s) && s[i+1] == 'c' {
			return b.String(), true
		}
		if s[i] == '\\' && i+1 < len(s) && s[i+1] == '0' {
			i = octal(&b, s, i+2, 3) - 1
			continue
		}
		if s[i] == '\\' && i+1 < len(s) {
			if n, ok := escape(&b, s[i+1:]); ok {
				i += n
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), false
}

func (p *printer) integer(s spec, c byte) {
	a, _ := p.next()
	n := p.parseInt(a)
	verb := map[byte]string{'i': "d", 'u': "d"}[c]
	if verb == "" {
		verb = string(c)
	}
	flags := strings.ReplaceAll(s.flags, "'", "")
	if s.prec >= 0 { // C ignores the flag 0 when a precision is given
		flags = strings.ReplaceAll(flags, "0", "")
	}
	f := "%" + flags
	if s.width > 0 {
		f += strconv.Itoa(s.width)
	}
	if s.prec >= 0 {
		f += "." + strconv.Itoa(s.prec)
	}
	if c == 'd' || c == 'i' {
		fmt.Fprintf(&p.out, f+verb, n)
		return
	}
	f = strings.NewReplacer("+", "", " ", "").Replace(f)
	fmt.Fprintf(&p.out, f+verb, uint64(n))
}

// parseInt reads an argument as C's strtoimax does; 'c is the code of c.
func (p *printer) parseInt(a string) int64 {
	if n, ok := charCode(a); ok {
		return n
	}
	t := strings.TrimLeft(a, " \t\n")
	if t == "" {
		if a != "" {
			p.bad("%s: invalid number", a)
		}
		return 0
	}
	end := numberPrefix(t)
	digits := t[:end]
	// Go would also take 0b, 0o and underscores.
	if strings.Trim(digits, "+-0123456789abcdefABCDEFxX") != "" {
		digits = ""
	}
	n, err := strconv.ParseInt(digits, 0, 64)
	if errors.Is(err, strconv.ErrRange) {
		if u, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), 0, 64); err == nil {
			return int64(u)
		}
		p.complain("warning: %s: Numerical result out of range", a)
		return n
	}
	if end < len(t) || err != nil {
		p.bad("%s: invalid number", a)
	}
	return n
}

// numberPrefix is how much of s is an integer in C's syntax.
func numberPrefix(s string) int {
	i := 0
	if s[0] == '+' || s[0] == '-' {
		i++
	}
	digits := "0123456789"
	switch {
	case len(s) > i+2 && s[i] == '0' && s[i+1]|0x20 == 'x' && isHex(s[i+2]):
		i, digits = i+2, "0123456789abcdefABCDEF"
	case len(s) > i && s[i] == '0':
		digits = "01234567"
	}
	start := i
	for i < len(s) && strings.IndexByte(digits, s[i]) >= 0 {
		i++
	}
	if i == start {
		return 0
	}
	return i
}

func charCode(a string) (int64, bool) {
	if a == "" || a[0] != '\'' && a[0] != '"' {
		return 0, false
	}
	if len(a) == 1 {
		return 0, true
	}
	r, n := utf8.DecodeRuneInString(a[1:])
	if r == utf8.RuneError && n == 1 {
		return int64(a[1]), true
	}
	return int64(r), true
}

func (p *printer) float(s spec, c byte) {
	a, _ := p.next()
	var v float64
	if n, ok := charCode(a); ok {
		v = float64(n)
	} else if t := strings.TrimSpace(a); t != "" {
		var err error
		switch v, err = strconv.ParseFloat(t, 64); {
		case errors.Is(err, strconv.ErrRange):
			p.bad("%s: Numerical result out of range", a)
		case err != nil || strings.Contains(t, "_"):
			v = 0
			p.bad("%s: invalid number", a)
		}
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		text := map[bool]string{true: "nan", false: "inf"}[math.IsNaN(v)]
		if v < 0 {
			text = "-" + text
		}
		if c < 'a' {
			text = strings.ToUpper(text)
		}
		p.pad(s, text)
		return
	}
	if s.prec < 0 {
		s.prec = 6
	}
	if c|0x20 == 'g' && s.prec == 0 {
		s.prec = 1
	}
	f := "%" + strings.ReplaceAll(s.flags, "'", "")
	if s.width > 0 {
		f += strconv.Itoa(s.width)
	}
	fmt.Fprintf(&p.out, f+"."+strconv.Itoa(s.prec)+string(c), v)
}

func (p *printer) time(s spec, layout string) {
	at := time.Now().UTC()
	if a, ok := p.next(); ok && a != "-1" && a != "-2" {
		at = time.Unix(p.parseInt(a), 0).UTC()
	}
	if layout == "" {
		layout = "%X"
	}
	p.pad(s, strftime(layout, at))
}

// strftime formats a time as C does in the C locale, in UTC.
func strftime(layout string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' || i+1 == len(layout) {
			b.WriteByte(layout[i])
			continue
		}
		i++
		if goLayout, ok := timeLayouts[layout[i]]; ok {
			b.WriteString(t.Format(goLayout))
			continue
		}
		switch layout[i] {
		case 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case 'k':
			fmt.Fprintf(&b, "%2d", t.Hour())
		case 's':
			fmt.Fprintf(&b, "%d", t.Unix())
		case 'u':
			fmt.Fprintf(&b, "%d", (int(t.Weekday())+6)%7+1)
		case 'w':
			fmt.Fprintf(&b, "%d", t.Weekday())
		case 'C':
			fmt.Fprintf(&b, "%02d", t.Year()/100)
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '%':
			b.WriteByte('%')
		default:
			b.WriteString("%" + layout[i:i+1])
		}
	}
	return b.String()
}

var timeLayouts = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'y': "06", 'I': "03", 'p': "PM", 'P': "pm",
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'e': "_2", 'Z': "MST", 'z': "-0700",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'X': "15:04:05", 'x': "01/02/06", 'r': "03:04:05 PM",
	'c': "Mon Jan _2 15:04:05 2006",
}

// bashQuote quotes as bash's %q does.
func bashQuote(s string) string {
	if s == "" {
		return "''"
	}
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return dollarQuote(s)
		}
		if r < 0x80 && strings.ContainsRune(" !\"#$&'()*;<>?[\\]^`{|}~,", r) && !(strings.ContainsRune("#~", r) && b.Len() > 0) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func dollarQuote(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		c := s[i]
		switch {
		case c == '\'' || c == '\\':
			b.WriteString("\\" + string(c))
		case strings.IndexByte("\a\b\x1b\f\n\r\t\v", c) >= 0:
			b.WriteString("\\" + string("abEfnrtv"[strings.IndexByte("\a\b\x1b\f\n\r\t\v", c)]))
		case c < ' ' || c == 0x7f || r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String() + "'"
}
