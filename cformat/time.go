package cformat

import (
	"strconv"
	"strings"
	"time"
)

// Names of months and days in the C locale.
var (
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// AppendTime appends t in a format of strftime with the GNU flags _ - 0 ^ #,
// widths and %N.
func AppendTime(b []byte, format string, t time.Time) []byte {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b = append(b, format[i])
			continue
		}
		start := i
		i++
		f := timeField{t: t, width: -1}
		for ; i < len(format) && strings.IndexByte("_-0^#+", format[i]) >= 0; i++ {
			switch format[i] {
			case '^':
				f.upper = true
			case '#':
				f.swap = true
			default:
				f.pad = format[i]
			}
		}
		for ; i < len(format) && format[i] >= '0' && format[i] <= '9'; i++ {
			f.width = min(max(f.width, 0)*10+int(format[i]-'0'), 4096)
		}
		for ; i < len(format) && format[i] == ':'; i++ {
			f.colons++
		}
		if i < len(format) && (format[i] == 'E' || format[i] == 'O') {
			i++
		}
		if i == len(format) {
			return append(b, format[start:]...)
		}
		n := len(b)
		if b = f.append(b, format[i]); b == nil || len(b) == n && strings.IndexByte("pPZ", format[i]) < 0 {
			b = append(b[:n], format[start:i+1]...)
		}
	}
	return b
}

// timeField is one conversion.
type timeField struct {
	t           time.Time
	pad         byte // '_', '-', '0', '+' or 0
	width       int
	colons      int
	upper, swap bool
}

// num appends n with at least digits digits, filled with fill by default.
func (f *timeField) num(b []byte, n int64, digits int, fill byte) []byte {
	switch f.pad {
	case '_':
		fill = ' '
	case '0', '+':
		fill = '0'
	case '-':
		digits = 0
	}
	if f.width >= 0 && f.pad != '-' {
		digits = f.width
	}
	negative := n < 0
	if negative {
		n = -n
	}
	s := strconv.FormatInt(n, 10)
	if negative && fill == '0' {
		b = append(b, '-')
		digits--
	} else if negative {
		s = "-" + s
	}
	for range digits - len(s) {
		b = append(b, fill)
	}
	return append(b, s...)
}

func (f *timeField) text(b []byte, s string) []byte {
	if f.upper {
		s = strings.ToUpper(s)
	}
	fill := byte(' ')
	if f.pad == '0' {
		fill = '0'
	}
	if f.pad != '-' {
		for range f.width - len(s) {
			b = append(b, fill)
		}
	}
	return append(b, s...)
}

func (f *timeField) sub(b []byte, format string) []byte {
	return f.text(b, string(AppendTime(nil, format, f.t)))
}

// append appends the conversion named by verb; nothing when there is none of
// that name.
func (f *timeField) append(b []byte, verb byte) []byte {
	t := f.t
	hour12 := int64((t.Hour()+11)%12 + 1)
	switch verb {
	case '%':
		return f.text(b, "%")
	case 'n':
		return f.text(b, "\n")
	case 't':
		return f.text(b, "\t")
	case 'a':
		f.upper = f.upper || f.swap
		return f.text(b, dayNames[t.Weekday()][:3])
	case 'A':
		f.upper = f.upper || f.swap
		return f.text(b, dayNames[t.Weekday()])
	case 'b', 'h':
		f.upper = f.upper || f.swap
		return f.text(b, monthNames[t.Month()-1][:3])
	case 'B':
		f.upper = f.upper || f.swap
		return f.text(b, monthNames[t.Month()-1])
	case 'c':
		return f.sub(b, "%a %b %e %H:%M:%S %Y")
	case 'C':
		return f.num(b, int64(t.Year()/100), 2, '0')
	case 'd':
		return f.num(b, int64(t.Day()), 2, '0')
	case 'D', 'x':
		return f.sub(b, "%m/%d/%y")
	case 'e':
		return f.num(b, int64(t.Day()), 2, ' ')
	case 'F':
		return f.sub(b, "%Y-%m-%d")
	case 'g', 'G':
		year, _ := t.ISOWeek()
		if verb == 'g' {
			return f.num(b, int64((year%100+100)%100), 2, '0')
		}
		return f.num(b, int64(year), 4, '0')
	case 'V':
		_, week := t.ISOWeek()
		return f.num(b, int64(week), 2, '0')
	case 'H':
		return f.num(b, int64(t.Hour()), 2, '0')
	case 'I':
		return f.num(b, hour12, 2, '0')
	case 'j':
		return f.num(b, int64(t.YearDay()), 3, '0')
	case 'k':
		return f.num(b, int64(t.Hour()), 2, ' ')
	case 'l':
		return f.num(b, hour12, 2, ' ')
	case 'm':
		return f.num(b, int64(t.Month()), 2, '0')
	case 'M':
		return f.num(b, int64(t.Minute()), 2, '0')
	case 'N':
		// The width is a precision here: %3N are milliseconds.
		s := strconv.FormatInt(int64(t.Nanosecond())+1e9, 10)[1:]
		if f.pad == '-' {
			s = strings.TrimRight(s, "0")
		}
		if f.width > 0 {
			s = s[:min(f.width, len(s))]
			s += strings.Repeat("0", max(0, f.width-9))
		}
		return append(b, s...)
	case 'p', 'P':
		s := "AM"
		if t.Hour() >= 12 {
			s = "PM"
		}
		if verb == 'P' || f.swap {
			s = strings.ToLower(s)
		}
		return f.text(b, s)
	case 'q':
		return f.num(b, int64(t.Month()-1)/3+1, 1, '0')
	case 'r':
		return f.sub(b, "%I:%M:%S %p")
	case 'R':
		return f.sub(b, "%H:%M")
	case 's':
		return f.num(b, t.Unix(), 1, '0')
	case 'S':
		return f.num(b, int64(t.Second()), 2, '0')
	case 'T', 'X':
		return f.sub(b, "%H:%M:%S")
	case 'u':
		return f.num(b, int64(t.Weekday()+6)%7+1, 1, '0')
	case 'w':
		return f.num(b, int64(t.Weekday()), 1, '0')
	case 'U':
		return f.num(b, int64(t.YearDay()-1+7-int(t.Weekday()))/7, 2, '0')
	case 'W':
		return f.num(b, int64(t.YearDay()-1+7-int(t.Weekday()+6)%7)/7, 2, '0')
	case 'y':
		return f.num(b, int64((t.Year()%100+100)%100), 2, '0')
	case 'Y':
		return f.num(b, int64(t.Year()), 4, '0')
	case 'z':
		return f.zone(b)
	case 'Z':
		name, _ := t.Zone()
		if f.swap {
			name = strings.ToLower(name)
		}
		return f.text(b, name)
	}
	return b
}

// zone appends the offset from UTC: +hhmm, or with colons +hh:mm, +hh:mm:ss.
func (f *timeField) zone(b []byte) []byte {
	_, off := f.t.Zone()
	sign := "+"
	if off < 0 {
		sign, off = "-", -off
	}
	two := func(n int) string { return strconv.Itoa(n + 100)[1:] }
	s := two(off/3600) + two(off/60%60)
	switch f.colons {
	case 1:
		s = two(off/3600) + ":" + two(off/60%60)
	case 2:
		s = two(off/3600) + ":" + two(off/60%60) + ":" + two(off%60)
	case 3:
		s = two(off / 3600)
		if off%3600 != 0 {
			s += ":" + two(off/60%60)
		}
		if off%60 != 0 {
			s += ":" + two(off%60)
		}
	}
	for range f.width - len(s) - 1 {
		s = "0" + s
	}
	return append(append(b, sign...), s...)
}
