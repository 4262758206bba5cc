package shell

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A printfState walks the arguments of printf.
type printfState struct {
	sh   *shell
	args []string
	i    int
	out  strings.Builder
	st   int
	stop bool
}

func builtinPrintf(sh *shell, args []string) int {
	o := newGetopt(args, "v:")
	target := ""
	for o.next() {
		if o.opt != 'v' {
			return sh.usage(o, "printf [-v var] format [arguments]")
		}
		target = o.arg
		if !validRef(target) {
			sh.errorf("printf: `%s': not a valid identifier", target)
			return 2
		}
	}
	rest := o.rest()
	if len(rest) == 0 {
		sh.errorf("printf: usage: printf [-v var] format [arguments]")
		return 2
	}
	p := &printfState{sh: sh, args: rest[1:]}
	for {
		start := p.i
		ok := p.format(rest[0])
		if !ok || p.stop || p.i >= len(p.args) || p.i == start {
			break
		}
		sh.tick()
		if int64(p.out.Len()) > sh.run.lim.Expansion {
			throw(&LimitError{What: "printf output of " + size(sh.run.lim.Expansion)})
		}
	}
	if target != "" {
		name, sub, _ := sh.parseRef(target)
		s := p.out.String()
		if i := strings.IndexByte(s, 0); i >= 0 {
			s = s[:i]
		}
		sh.assignTo(name, sub, s, false)
		return p.st
	}
	sh.out(p.out.String())
	return p.st
}

func (p *printfState) next() (string, bool) {
	if p.i >= len(p.args) {
		return "", false
	}
	p.i++
	return p.args[p.i-1], true
}

type printfSpec struct {
	flags string
	width int
	prec  int
	hasP  bool
}

// format runs the format once; false stops everything.
func (p *printfState) format(f string) bool {
	for i := 0; i < len(f); {
		c := f[i]
		if c == '\\' {
			j := i + 1
			if j < len(f) {
				// Take the whole escape.
				n := escapeLen(f[i:])
				if f[j] == 'c' {
					p.out.WriteString("\\c")
					i += 2
					continue
				}
				s, _ := unescapeC(f[i:i+n], escPrintf)
				p.out.WriteString(s)
				i += n
				continue
			}
			p.out.WriteByte('\\')
			i++
			continue
		}
		if c != '%' {
			p.out.WriteByte(c)
			i++
			continue
		}
		i++
		if i < len(f) && f[i] == '%' {
			p.out.WriteByte('%')
			i++
			continue
		}
		var s printfSpec
		for i < len(f) && strings.IndexByte("-+ #0'", f[i]) >= 0 {
			s.flags += string(f[i])
			i++
		}
		s.width, i = p.number(f, i)
		if s.width < 0 {
			s.flags += "-"
			s.width = -s.width
		}
		if i < len(f) && f[i] == '.' {
			s.hasP = true
			s.prec, i = p.number(f, i+1)
			if s.prec < 0 {
				s.hasP = false
			}
		}
		if int64(s.width) > p.sh.run.lim.Expansion || int64(s.prec) > p.sh.run.lim.Expansion {
			throw(&LimitError{What: "printf output of " + size(p.sh.run.lim.Expansion)})
		}
		for i < len(f) && strings.IndexByte("hlLjzt", f[i]) >= 0 {
			i++
		}
		if i >= len(f) {
			p.sh.errorf("printf: `%s': missing format character", f[strings.LastIndexByte(f, '%'):])
			p.st = 1
			return false
		}
		if f[i] == '(' {
			end := strings.IndexByte(f[i:], ')')
			if end > 0 && i+end+1 < len(f) && f[i+end+1] == 'T' {
				p.pad(s, p.time(f[i+1:i+end]))
				i += end + 2
				continue
			}
			p.sh.errorf("printf: `(': invalid format character")
			p.st = 1
			return false
		}
		verb := f[i]
		i++
		if !p.verb(verb, s) {
			return false
		}
		if p.stop {
			return true
		}
	}
	return true
}

func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	digits := func(from, most int, ok func(byte) bool) int {
		n := 0
		for n < most && from+n < len(s) && ok(s[from+n]) {
			n++
		}
		return from + n
	}
	isHex := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
	switch c := s[1]; {
	case c == 'x':
		return digits(2, 2, isHex)
	case c == 'u':
		return digits(2, 4, isHex)
	case c == 'U':
		return digits(2, 8, isHex)
	case c >= '0' && c <= '7':
		return digits(1, 3, func(c byte) bool { return c >= '0' && c <= '7' })
	}
	return 2
}

func (p *printfState) number(f string, i int) (int, int) {
	if i < len(f) && f[i] == '*' {
		a, _ := p.next()
		n, _ := p.integer(a)
		return int(max(min(n, 1<<40), -1<<40)), i + 1
	}
	n := 0
	for i < len(f) && f[i] >= '0' && f[i] <= '9' {
		n = min(n*10+int(f[i]-'0'), 1<<40)
		i++
	}
	return n, i
}

func (p *printfState) verb(verb byte, s printfSpec) bool {
	switch verb {
	case 's', 'b', 'q', 'Q', 'c':
		a, _ := p.next()
		switch verb {
		case 'b':
			a, p.stop = unescapeC(a, escB)
		case 'q':
			a = backslashQuote(a)
		case 'Q':
			if s.hasP {
				a = cutBytes(a, s.prec)
			}
			a = backslashQuote(a)
			s.hasP = false
		case 'c':
			if len(a) > 0 {
				a = a[:1]
			}
		}
		if s.hasP && verb != 'q' {
			a = cutBytes(a, s.prec)
		}
		p.pad(s, a)
	case 'd', 'i':
		a, ok := p.next()
		n := int64(0)
		if ok {
			n, _ = p.integer(a)
		}
		neg := n < 0
		u := uint64(n)
		if neg {
			u = -u
		}
		p.int(s, u, neg, 10, "", false, true)
	case 'o', 'u', 'x', 'X':
		a, ok := p.next()
		n := int64(0)
		if ok {
			n, _ = p.integer(a)
		}
		base, prefix := 10, ""
		switch verb {
		case 'o':
			base, prefix = 8, "0"
		case 'x':
			base, prefix = 16, "0x"
		case 'X':
			base, prefix = 16, "0X"
		}
		p.int(s, uint64(n), false, base, prefix, verb == 'X', false)
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		a, ok := p.next()
		v := 0.0
		if ok {
			v = p.float(a)
		}
		p.floatOut(s, verb, v)
	case 'n':
		a, _ := p.next()
		if isName(a) {
			p.sh.assignTo(a, nil, strconv.Itoa(p.out.Len()), false)
		}
	default:
		p.sh.errorf("printf: `%c': invalid format character", verb)
		p.st = 1
		return false
	}
	return true
}

func cutBytes(s string, n int) string {
	if n < len(s) {
		return s[:n]
	}
	return s
}

// pad writes a with the width of s.
func (p *printfState) pad(s printfSpec, a string) {
	n := s.width - len(a)
	if n <= 0 {
		p.out.WriteString(a)
		return
	}
	if strings.Contains(s.flags, "-") {
		p.out.WriteString(a)
		p.spaces(n)
		return
	}
	p.spaces(n)
	p.out.WriteString(a)
}

func (p *printfState) spaces(n int) { p.out.WriteString(strings.Repeat(" ", n)) }

func (p *printfState) int(s printfSpec, u uint64, neg bool, base int, prefix string, upper, signed bool) {
	d := strconv.FormatUint(u, base)
	if upper {
		d = strings.ToUpper(d)
	}
	if s.hasP {
		if s.prec == 0 && u == 0 {
			d = ""
		}
		if len(d) < s.prec {
			d = strings.Repeat("0", s.prec-len(d)) + d
		}
	}
	sign := ""
	if signed {
		switch {
		case neg:
			sign = "-"
		case strings.Contains(s.flags, "+"):
			sign = "+"
		case strings.Contains(s.flags, " "):
			sign = " "
		}
	}
	if strings.Contains(s.flags, "#") && (u != 0 && base == 16 || base == 8 && !strings.HasPrefix(d, "0")) {
		sign += prefix
	}
	if strings.Contains(s.flags, "0") && !strings.Contains(s.flags, "-") && !s.hasP {
		if n := s.width - len(sign) - len(d); n > 0 {
			d = strings.Repeat("0", n) + d
		}
	}
	p.pad(s, sign+d)
}

// integer parses an integer argument by C's rules.
func (p *printfState) integer(a string) (int64, bool) {
	if a == "" {
		return 0, true
	}
	if a[0] == '\'' || a[0] == '"' {
		if len(a) == 1 {
			return 0, true
		}
		r, _ := decode(a, 1)
		if r < 0 {
			r = -r
		}
		return int64(r), true
	}
	t := strings.TrimLeft(a, " \t\n\v\f\r")
	neg := false
	u := t
	if u != "" && (u[0] == '-' || u[0] == '+') {
		neg = u[0] == '-'
		u = u[1:]
	}
	base := uint64(10)
	if strings.HasPrefix(u, "0x") || strings.HasPrefix(u, "0X") {
		base, u = 16, u[2:]
	} else if strings.HasPrefix(u, "0") {
		base = 8
	}
	var v uint64
	n := 0
	over := false
	for n < len(u) {
		d, k := hexDigits(u[n:], 1)
		if k == 0 || d >= base {
			break
		}
		if v > (math.MaxUint64-d)/base {
			over = true
		}
		v = v*base + d
		n++
	}
	if n == 0 || n < len(u) {
		if base == 8 && n > 0 {
			p.sh.errorf("printf: %s: invalid octal number", a)
		} else {
			p.sh.errorf("printf: %s: invalid number", a)
		}
		p.st = 1
	}
	if over || v > math.MaxInt64 && !neg && base == 10 || neg && v > 1<<63 {
		p.sh.errorf("printf: warning: %s: Numerical result out of range", a)
		if neg {
			return math.MinInt64, false
		}
		return math.MaxInt64, false
	}
	if neg {
		return -int64(v), true
	}
	return int64(v), true
}

func (p *printfState) float(a string) float64 {
	if a == "" {
		return 0
	}
	if a[0] == '\'' || a[0] == '"' {
		n, _ := p.integer(a)
		return float64(n)
	}
	t := strings.TrimSpace(a)
	for n := len(t); n > 0; n-- {
		v, err := strconv.ParseFloat(t[:n], 64)
		if err == nil || math.IsInf(v, 0) {
			if strings.ContainsRune(t[:n], '_') {
				continue
			}
			if n < len(t) {
				p.sh.errorf("printf: %s: invalid number", a)
				p.st = 1
			}
			return v
		}
	}
	if n, err := strconv.ParseInt(t, 0, 64); err == nil {
		return float64(n)
	}
	p.sh.errorf("printf: %s: invalid number", a)
	p.st = 1
	return 0
}

func (p *printfState) floatOut(s printfSpec, verb byte, v float64) {
	prec := 6
	if s.hasP {
		prec = s.prec
	} else if verb == 'a' || verb == 'A' {
		prec = -1
	}
	prec = min(prec, 4096)
	var d string
	neg := math.Signbit(v) && !math.IsNaN(v)
	abs := math.Abs(v)
	special := math.IsInf(v, 0) || math.IsNaN(v)
	switch {
	case math.IsInf(v, 0):
		d = "inf"
	case math.IsNaN(v):
		d = "nan"
	case verb == 'a' || verb == 'A':
		d = strconv.FormatFloat(abs, 'x', prec, 64)
		d = strings.Replace(strings.Replace(d, "p+0", "p+", 1), "p-0", "p-", 1)
	case verb == 'g' || verb == 'G':
		d = formatG(abs, prec, strings.Contains(s.flags, "#"))
	case verb == 'f' || verb == 'F':
		d = strconv.FormatFloat(abs, 'f', prec, 64)
	default:
		d = strconv.FormatFloat(abs, 'e', prec, 64)
	}
	if verb < 'a' {
		d = strings.ToUpper(d)
	}
	sign := ""
	switch {
	case neg:
		sign = "-"
	case strings.Contains(s.flags, "+"):
		sign = "+"
	case strings.Contains(s.flags, " "):
		sign = " "
	}
	if strings.Contains(s.flags, "0") && !strings.Contains(s.flags, "-") && !special {
		if n := s.width - len(sign) - len(d); n > 0 {
			d = strings.Repeat("0", n) + d
		}
	}
	p.pad(s, sign+d)
}

// formatG is C's %g.
func formatG(v float64, prec int, alt bool) string {
	if prec == 0 {
		prec = 1
	}
	e := strconv.FormatFloat(v, 'e', prec-1, 64)
	x, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	var d string
	if x < -4 || x >= prec {
		d = e
	} else {
		d = strconv.FormatFloat(v, 'f', prec-1-x, 64)
	}
	if alt || !strings.Contains(d, ".") {
		return d
	}
	m, exp, has := strings.Cut(d, "e")
	m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
	if has {
		return m + "e" + exp
	}
	return m
}

// time is %(fmt)T.
func (p *printfState) time(f string) string {
	a, ok := p.next()
	t := p.sh.run.host.Now()
	if ok && a != "" {
		n, _ := p.integer(a)
		switch n {
		case -1:
		case -2:
			t = p.sh.run.start
		default:
			t = time.Unix(n, 0)
		}
	}
	if f == "" {
		f = "%X"
	}
	if p.sh.get("TZ") == "" || true {
		t = t.UTC()
	}
	return strftime(f, t)
}

// strftime formats a time by C's rules, in the C locale.
func strftime(f string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		if f[i] != '%' || i+1 == len(f) {
			b.WriteByte(f[i])
			continue
		}
		i++
		flag := byte(0)
		if strings.IndexByte("-_0^#", f[i]) >= 0 && i+1 < len(f) {
			flag = f[i]
			i++
		}
		if (f[i] == 'E' || f[i] == 'O') && i+1 < len(f) {
			i++
		}
		b.WriteString(timeVerb(f[i], flag, t))
	}
	return b.String()
}

func timeVerb(c, flag byte, t time.Time) string {
	num := func(n, w int, pad byte) string {
		switch flag {
		case '-':
			return strconv.Itoa(n)
		case '_':
			pad = ' '
		case '0':
			pad = '0'
		}
		s := strconv.Itoa(n)
		for len(s) < w {
			s = string(pad) + s
		}
		return s
	}
	text := func(s string) string {
		if flag == '^' || flag == '#' {
			return strings.ToUpper(s)
		}
		return s
	}
	h12 := (t.Hour()+11)%12 + 1
	switch c {
	case 'a':
		return text(t.Format("Mon"))
	case 'A':
		return text(t.Format("Monday"))
	case 'b', 'h':
		return text(t.Format("Jan"))
	case 'B':
		return text(t.Format("January"))
	case 'c':
		return t.Format("Mon Jan _2 15:04:05 2006")
	case 'C':
		return num(t.Year()/100, 2, '0')
	case 'd':
		return num(t.Day(), 2, '0')
	case 'D', 'x':
		return t.Format("01/02/06")
	case 'e':
		return num(t.Day(), 2, ' ')
	case 'F':
		return t.Format("2006-01-02")
	case 'G':
		y, _ := t.ISOWeek()
		return num(y, 4, '0')
	case 'g':
		y, _ := t.ISOWeek()
		return num(y%100, 2, '0')
	case 'H':
		return num(t.Hour(), 2, '0')
	case 'I':
		return num(h12, 2, '0')
	case 'j':
		return num(t.YearDay(), 3, '0')
	case 'k':
		return num(t.Hour(), 2, ' ')
	case 'l':
		return num(h12, 2, ' ')
	case 'm':
		return num(int(t.Month()), 2, '0')
	case 'M':
		return num(t.Minute(), 2, '0')
	case 'n':
		return "\n"
	case 'N':
		return fmt.Sprintf("%09d", t.Nanosecond())
	case 'p':
		if flag == '#' {
			return strings.ToLower(t.Format("PM"))
		}
		return t.Format("PM")
	case 'P':
		return strings.ToLower(t.Format("PM"))
	case 'r':
		return t.Format("03:04:05 PM")
	case 'R':
		return t.Format("15:04")
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	case 'S':
		return num(t.Second(), 2, '0')
	case 't':
		return "\t"
	case 'T', 'X':
		return t.Format("15:04:05")
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
	case 'U':
		return num((t.YearDay()+6-int(t.Weekday()))/7, 2, '0')
	case 'V':
		_, w := t.ISOWeek()
		return num(w, 2, '0')
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 'W':
		return num((t.YearDay()+6-(int(t.Weekday())+6)%7)/7, 2, '0')
	case 'y':
		return num(t.Year()%100, 2, '0')
	case 'Y':
		return num(t.Year(), 4, '0')
	case 'z':
		return t.Format("-0700")
	case 'Z':
		return t.Format("MST")
	case '%':
		return "%"
	}
	return "%" + string(c)
}
