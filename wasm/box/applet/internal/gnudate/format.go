// Package gnudate prints and reads dates as GNU date does, in the C locale.
package gnudate

import (
	"strconv"
	"strings"
	"time"
)

// Format prints t by the directives of format: those of strftime and GNU's
// %N %:z %P %q, the flags - _ 0 + ^ #, and widths. What is no directive is
// printed as it is.
func Format(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); {
		if format[i] != '%' {
			b.WriteByte(format[i])
			i++
			continue
		}
		n, s, ok := directive(format[i:], t)
		if !ok {
			b.WriteByte('%')
			i++
			continue
		}
		b.WriteString(s)
		i += n
	}
	return b.String()
}

type spec struct {
	pad    byte // 0: the directive's own
	upper  bool
	swap   bool
	plus   bool
	width  int
	colons int
}

// maxWidth bounds what one directive prints.
const maxWidth = 1 << 16

func directive(f string, t time.Time) (n int, out string, ok bool) {
	var s spec
	i := 1
flags:
	for ; i < len(f); i++ {
		switch f[i] {
		case '-', '_', '0':
			s.pad = f[i]
		case '+':
			s.pad, s.plus = '0', true
		case '^':
			s.upper = true
		case '#':
			s.swap = true
		default:
			break flags
		}
	}
	s.width = -1
	for ; i < len(f) && '0' <= f[i] && f[i] <= '9'; i++ {
		s.width = min(max(s.width, 0)*10+int(f[i]-'0'), maxWidth)
	}
	if i < len(f) && (f[i] == 'E' || f[i] == 'O') {
		i++
	}
	for i < len(f) && f[i] == ':' {
		s.colons++
		i++
	}
	if i >= len(f) {
		return 0, "", false
	}
	out, ok = s.value(f[i], t)
	return i + 1, out, ok
}

// num prints a number with its usual width.
func (s spec) num(v, width int, pad byte) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	} else if s.plus && len(strconv.Itoa(v)) > width {
		sign = "+"
	}
	digits := strconv.Itoa(v)
	if s.pad != 0 {
		pad = s.pad
	}
	if pad == '-' {
		return sign + digits
	}
	if s.width >= 0 {
		width = max(s.width, width)
		if s.plus && s.width > 4 && sign == "" {
			sign = "+"
		}
	}
	if n := width - len(sign) - len(digits); n > 0 {
		if pad == '_' {
			return strings.Repeat(" ", n) + sign + digits
		}
		digits = strings.Repeat("0", n) + digits
	}
	return sign + digits
}

func (s spec) text(v string) string {
	if s.upper || s.swap {
		v = strings.ToUpper(v)
	}
	return s.fill(v)
}

func (s spec) fill(v string) string {
	if n := s.width - len(v); n > 0 && s.pad != '-' {
		c := " "
		if s.pad == '0' {
			c = "0"
		}
		return strings.Repeat(c, n) + v
	}
	return v
}

func (s spec) sub(format string, t time.Time) string {
	v := Format(format, t)
	if s.upper {
		v = strings.ToUpper(v)
	}
	return s.fill(v)
}

func (s spec) value(c byte, t time.Time) (string, bool) {
	if s.colons > 0 && c != 'z' {
		return "", false
	}
	hour12 := (t.Hour()+11)%12 + 1
	switch c {
	case '%':
		return s.fill("%"), true
	case 'n':
		return s.fill("\n"), true
	case 't':
		return s.fill("\t"), true
	case 'a':
		return s.text(t.Weekday().String()[:3]), true
	case 'A':
		return s.text(t.Weekday().String()), true
	case 'b', 'h':
		return s.text(t.Month().String()[:3]), true
	case 'B':
		return s.text(t.Month().String()), true
	case 'c':
		return s.sub("%a %b %e %H:%M:%S %Y", t), true
	case 'C':
		return s.num(floorDiv(t.Year(), 100), 2, '0'), true
	case 'd':
		return s.num(t.Day(), 2, '0'), true
	case 'D', 'x':
		return s.sub("%m/%d/%y", t), true
	case 'e':
		return s.num(t.Day(), 2, '_'), true
	case 'F':
		year := Format("%Y", t)
		if s.plus || s.width > 0 {
			y := s
			y.width = s.width - 6
			if s.width < 0 {
				y.width = -1
			}
			year = y.num(t.Year(), 4, '0')
		}
		return year + Format("-%m-%d", t), true
	case 'g':
		y, _ := t.ISOWeek()
		return s.num(mod(y, 100), 2, '0'), true
	case 'G':
		y, _ := t.ISOWeek()
		return s.num(y, 4, '0'), true
	case 'H':
		return s.num(t.Hour(), 2, '0'), true
	case 'I':
		return s.num(hour12, 2, '0'), true
	case 'j':
		return s.num(t.YearDay(), 3, '0'), true
	case 'k':
		return s.num(t.Hour(), 2, '_'), true
	case 'l':
		return s.num(hour12, 2, '_'), true
	case 'm':
		return s.num(int(t.Month()), 2, '0'), true
	case 'M':
		return s.num(t.Minute(), 2, '0'), true
	case 'N':
		return s.nanos(t), true
	case 'p', 'P':
		v := "AM"
		if t.Hour() >= 12 {
			v = "PM"
		}
		if c == 'P' || s.swap {
			v = strings.ToLower(v)
			if s.upper {
				v = strings.ToUpper(v)
			}
			return s.fill(v), true
		}
		return s.fill(v), true
	case 'q':
		return s.num((int(t.Month())-1)/3+1, 1, '0'), true
	case 'r':
		return s.sub("%I:%M:%S %p", t), true
	case 'R':
		return s.sub("%H:%M", t), true
	case 's':
		return s.num(int(t.Unix()), 1, '0'), true
	case 'S':
		return s.num(t.Second(), 2, '0'), true
	case 'T', 'X':
		return s.sub("%H:%M:%S", t), true
	case 'u':
		return s.num((int(t.Weekday())+6)%7+1, 1, '0'), true
	case 'U':
		return s.num((t.YearDay()+6-int(t.Weekday()))/7, 2, '0'), true
	case 'V':
		_, w := t.ISOWeek()
		return s.num(w, 2, '0'), true
	case 'w':
		return s.num(int(t.Weekday()), 1, '0'), true
	case 'W':
		return s.num((t.YearDay()+6-(int(t.Weekday())+6)%7)/7, 2, '0'), true
	case 'y':
		return s.num(mod(t.Year(), 100), 2, '0'), true
	case 'Y':
		return s.num(t.Year(), 4, '0'), true
	case 'z':
		return s.zone(t)
	case 'Z':
		name, _ := t.Zone()
		if s.swap {
			return s.fill(strings.ToLower(name)), true
		}
		return s.text(name), true
	}
	return "", false
}

func (s spec) nanos(t time.Time) string {
	digits := strconv.Itoa(1_000_000_000 + t.Nanosecond())[1:]
	if s.width > 0 {
		for len(digits) < s.width {
			digits += "0"
		}
		digits = digits[:s.width]
	}
	if s.pad == '_' { // zeros at the end become spaces
		cut := strings.TrimRight(digits[1:], "0")
		return digits[:1] + cut + strings.Repeat(" ", len(digits)-1-len(cut))
	}
	return digits
}

func (s spec) zone(t time.Time) (string, bool) {
	_, off := t.Zone()
	sign := "+"
	if off < 0 {
		sign, off = "-", -off
	}
	two := func(v int) string { return strconv.Itoa(100 + v%100)[1:] }
	h, m, sec := off/3600, off/60%60, off%60
	var v string
	switch s.colons {
	case 0:
		v = two(h) + two(m)
	case 1:
		v = two(h) + ":" + two(m)
	case 2:
		v = two(h) + ":" + two(m) + ":" + two(sec)
	case 3:
		v = two(h)
		if m != 0 || sec != 0 {
			v += ":" + two(m)
		}
		if sec != 0 {
			v += ":" + two(sec)
		}
	default:
		return "", false
	}
	if s.pad == '-' || s.pad == '_' {
		for len(v) > 1 && v[0] == '0' && v[1] != ':' {
			v = v[1:]
		}
	}
	if s.pad == '_' {
		usual := []int{5, 6, 9, 3}[s.colons]
		if n := max(s.width, usual) - 1 - len(v); n > 0 {
			return strings.Repeat(" ", n) + sign + v, true
		}
	}
	if n := s.width - 1 - len(v); n > 0 && s.pad != '-' {
		v = strings.Repeat("0", n) + v
	}
	return sign + v, true
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func mod(a, b int) int { return (a%b + b) % b }
