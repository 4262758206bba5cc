package jqlang

import (
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

func timeTable() map[string]nativeFunc {
	return map[string]nativeFunc{
		"now/0": func(*Interp, any, []any) (any, error) {
			return float64(time.Now().UnixMicro()) / 1e6, nil
		},
		"mktime/0":    mktime,
		"gmtime/0":    func(_ *Interp, v any, _ []any) (any, error) { return broken(v, "gmtime", time.UTC) },
		"localtime/0": func(_ *Interp, v any, _ []any) (any, error) { return broken(v, "localtime", local()) },
		"strftime/1":  func(_ *Interp, v any, a []any) (any, error) { return strftime(v, a[0], "strftime", time.UTC) },
		"strflocaltime/1": func(_ *Interp, v any, a []any) (any, error) {
			return strftime(v, a[0], "strflocaltime", local())
		},
		"strptime/1": strptime,
	}
}

func local() *time.Location {
	if l, err := gnudate.Location(os.Getenv("TZ")); err == nil {
		return l
	}
	return time.UTC
}

// broken is a time taken apart: year, month from 0, day, hours, minutes,
// seconds, day of the week, day of the year.
func broken(v any, name string, loc *time.Location) (any, error) {
	f, ok := num(v)
	if !ok {
		return nil, fail(name, "() requires numeric inputs")
	}
	whole := math.Floor(f)
	t := time.Unix(int64(whole), 0).In(loc)
	return fields(t, f-whole), nil
}

func fields(t time.Time, frac float64) []any {
	return []any{float64(t.Year()), float64(t.Month() - 1), float64(t.Day()), float64(t.Hour()), float64(t.Minute()),
		float64(t.Second()) + frac, float64(t.Weekday()), float64(t.YearDay() - 1)}
}

func unbroken(v any, name string, loc *time.Location) (time.Time, error) {
	a, ok := v.([]any)
	if !ok {
		return time.Time{}, fail(name, " requires array inputs")
	}
	if len(a) < 6 {
		return time.Time{}, fail(name, " requires array of 6 numbers")
	}
	var n [6]int
	for i := range n {
		f, ok := num(a[i])
		if !ok {
			return time.Time{}, fail(name, " requires parsed datetime inputs")
		}
		n[i] = int(math.Floor(f))
	}
	return time.Date(n[0], time.Month(n[1]+1), n[2], n[3], n[4], n[5], 0, loc), nil
}

func mktime(_ *Interp, v any, _ []any) (any, error) {
	t, err := unbroken(v, "mktime", time.UTC)
	return float64(t.Unix()), err
}

func strftime(v, f any, name string, loc *time.Location) (any, error) {
	s, ok := f.(string)
	if !ok {
		return nil, fail(name, "/1 requires a string format")
	}
	var t time.Time
	if x, ok := num(v); ok {
		t = time.Unix(int64(math.Floor(x)), 0).In(loc)
	} else {
		if _, ok := v.([]any); !ok {
			return nil, fail(name, "/1 requires parsed datetime inputs")
		}
		var err error
		if t, err = unbroken(v, name+"/1", loc); err != nil {
			return nil, err
		}
	}
	return gnudate.Format(s, t), nil
}

func strptime(_ *Interp, v any, a []any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fail("strptime/1 requires string inputs and arguments")
	}
	f, ok := a[0].(string)
	if !ok {
		return nil, fail("strptime/1 requires string inputs and arguments")
	}
	p := timeParser{s: s, year: 1900, month: 1, day: 0}
	if !p.parse(f) || p.s != "" {
		return nil, fail("date \"", s, "\" does not match format \"", f, "\"")
	}
	day := p.day
	if day == 0 && p.yday == 0 {
		day = 1
	}
	t := time.Date(p.year, time.Month(p.month), day, p.hour, p.min, p.sec, 0, time.UTC)
	if p.yday > 0 && p.day == 0 {
		t = time.Date(p.year, 1, p.yday, p.hour, p.min, p.sec, 0, time.UTC)
	}
	if p.epoch {
		t = time.Unix(p.unix, 0).UTC()
	}
	return fields(t, 0), nil
}

type timeParser struct {
	s                                      string
	year, month, day, hour, min, sec, yday int
	pm, twelve                             bool
	unix                                   int64
	epoch                                  bool
}

func (p *timeParser) parse(f string) bool {
	for i := 0; i < len(f); i++ {
		c := f[i]
		if c == ' ' || c == '\t' || c == '\n' {
			p.s = strings.TrimLeft(p.s, " \t\n")
			continue
		}
		if c != '%' || i+1 >= len(f) {
			if p.s == "" || p.s[0] != c {
				return false
			}
			p.s = p.s[1:]
			continue
		}
		i++
		if !p.directive(f[i]) {
			return false
		}
	}
	if p.twelve {
		p.hour %= 12
		if p.pm {
			p.hour += 12
		}
	}
	return true
}

func (p *timeParser) number(out *int, digits, lo, hi int) bool {
	p.s = strings.TrimLeft(p.s, " ")
	n := 0
	for n < digits && n < len(p.s) && '0' <= p.s[n] && p.s[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(p.s[:n])
	if err != nil || v < lo || v > hi {
		return false
	}
	*out, p.s = v, p.s[n:]
	return true
}

func (p *timeParser) name(out *int, n int, get func(int) string) bool {
	for i := range n {
		full := get(i)
		for _, w := range []string{full, full[:3]} {
			if len(p.s) >= len(w) && strings.EqualFold(p.s[:len(w)], w) {
				*out, p.s = i, p.s[len(w):]
				return true
			}
		}
	}
	return false
}

func (p *timeParser) directive(c byte) bool {
	var skip int
	switch c {
	case 'Y':
		return p.number(&p.year, 4, 0, 9999)
	case 'm':
		return p.number(&p.month, 2, 1, 12)
	case 'd', 'e':
		return p.number(&p.day, 2, 1, 31)
	case 'H', 'k':
		return p.number(&p.hour, 2, 0, 23)
	case 'I', 'l':
		p.twelve = true
		return p.number(&p.hour, 2, 1, 12)
	case 'M':
		return p.number(&p.min, 2, 0, 59)
	case 'S':
		return p.number(&p.sec, 2, 0, 61)
	case 'j':
		return p.number(&p.yday, 3, 1, 366)
	case 'y':
		if !p.number(&p.year, 2, 0, 99) {
			return false
		}
		if p.year += 1900; p.year < 1969 {
			p.year += 100
		}
		return true
	case 'b', 'B', 'h':
		ok := p.name(&p.month, 12, func(i int) string { return time.Month(i + 1).String() })
		p.month++
		return ok
	case 'a', 'A':
		return p.name(&skip, 7, func(i int) string { return time.Weekday(i).String() })
	case 'p', 'P':
		if len(p.s) < 2 || !strings.EqualFold(p.s[1:2], "m") || !strings.ContainsAny(p.s[:1], "aApP") {
			return false
		}
		p.pm = strings.EqualFold(p.s[:1], "p")
		p.s = p.s[2:]
		return true
	case 'T':
		return p.parse("%H:%M:%S")
	case 'R':
		return p.parse("%H:%M")
	case 'D':
		return p.parse("%m/%d/%y")
	case 'F':
		return p.parse("%Y-%m-%d")
	case 'c':
		return p.parse("%a %b %e %H:%M:%S %Y")
	case 's':
		n := 0
		for n < len(p.s) && '0' <= p.s[n] && p.s[n] <= '9' {
			n++
		}
		v, err := strconv.ParseInt(p.s[:n], 10, 64)
		p.unix, p.epoch, p.s = v, true, p.s[n:]
		return err == nil
	case 'z':
		if strings.HasPrefix(p.s, "Z") {
			p.s = p.s[1:]
			return true
		}
		n := 1
		for n < len(p.s) && n < 6 && (p.s[n] == ':' || '0' <= p.s[n] && p.s[n] <= '9') {
			n++
		}
		if len(p.s) < 3 || p.s[0] != '+' && p.s[0] != '-' {
			return false
		}
		p.s = p.s[n:]
		return true
	case 'Z':
		n := 0
		for n < len(p.s) && 'A' <= p.s[n]&^0x20 && p.s[n]&^0x20 <= 'Z' {
			n++
		}
		p.s = p.s[n:]
		return n > 0
	case 'n', 't':
		p.s = strings.TrimLeft(p.s, " \t\n")
		return true
	case '%':
		if !strings.HasPrefix(p.s, "%") {
			return false
		}
		p.s = p.s[1:]
		return true
	}
	return false
}
