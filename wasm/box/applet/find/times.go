package find

import (
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/when"
)

// timeOf returns a file's access, change or modification time.
func timeOf(which byte, e *entry) time.Time {
	switch which {
	case 'a':
		return applet.Stat(e.info).Atime
	case 'c':
		return applet.Stat(e.info).Ctime
	}
	return e.info.ModTime()
}

// timeTest compiles the tests on times.
func (p *parser) timeTest(name string) (expr, bool) {
	switch name {
	case "-amin", "-cmin", "-mmin":
		return p.age(name, time.Minute), true
	case "-atime", "-ctime", "-mtime":
		return p.age(name, 24*time.Hour), true
	case "-newer", "-anewer", "-cnewer":
		which := byte('m')
		if name != "-newer" {
			which = name[1]
		}
		return p.newer(which, 'm', p.arg(name)), true
	}
	if len(name) == 8 && strings.HasPrefix(name, "-newer") {
		x, y := name[6], name[7]
		if strings.IndexByte("acm", x) >= 0 && strings.IndexByte("acmt", y) >= 0 {
			return p.newer(x, y, p.arg(name)), true
		}
		if x == 'B' || y == 'B' {
			p.fail("This system does not provide a way to find the birth time of a file.")
		}
	}
	return nil, false
}

// age compares how long ago something was, in whole units for days and to the
// fraction for minutes, as GNU find does.
func (p *parser) age(name string, unit time.Duration) expr {
	v := p.arg(name)
	sign := byte(0)
	text := v
	if v != "" && (v[0] == '+' || v[0] == '-') {
		sign, text = v[0], v[1:]
	}
	d, ok := applet.ParseDuration(text) // digits with a fraction; a unit is refused below
	if !ok || strings.Trim(text, "0123456789.") != "" {
		p.fail("invalid argument `", v, "' to `", name, "'")
	}
	n := d.Seconds()
	origin := p.f.now
	if p.f.daystart {
		y, m, day := origin.Date()
		origin = time.Date(y, m, day+1, 0, 0, 0, 0, origin.Location())
	}
	which := name[1]
	return func(e *entry) bool {
		age := float64(origin.Sub(timeOf(which, e))) / float64(unit)
		switch sign {
		case '+':
			return age >= n+1 && unit != time.Minute || unit == time.Minute && age > n
		case '-':
			return age < n
		}
		if unit == time.Minute {
			return age > n-1 && age <= n
		}
		return age >= n && age < n+1
	}
}

// newer compares with the time of a file, or with a date.
func (p *parser) newer(which, than byte, v string) expr {
	var limit time.Time
	if than == 't' {
		t, ok := when.Parse(v, p.f.now)
		if !ok {
			p.fail("I cannot figure out how to interpret ", applet.Curly(v), " as a date or time")
		}
		limit = t
	} else {
		fi, err := p.f.stat(v, 0)
		if err != nil {
			p.fail(applet.Curly(v), ": ", applet.Reason(err))
		}
		limit = timeOf(than, &entry{info: fi})
	}
	return func(e *entry) bool { return timeOf(which, e).After(limit) }
}
