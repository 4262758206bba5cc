package gnudate

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ErrInvalid is returned for what is no date.
var ErrInvalid = errors.New("invalid date")

// Parse reads a date as date -d does. What the text leaves open comes from
// now, whose location is used unless the text names a zone.
func Parse(text string, now time.Time) (time.Time, error) {
	s := strings.TrimSpace(text)
	local := now.Location()
	if rest, ok := strings.CutPrefix(s, `TZ="`); ok {
		name, after, ok := strings.Cut(rest, `"`)
		if !ok {
			return time.Time{}, ErrInvalid
		}
		loc, err := Location(name)
		if err != nil {
			return time.Time{}, ErrInvalid
		}
		now, s = now.In(loc), strings.TrimSpace(after)
	}
	if rest, ok := strings.CutPrefix(s, "@"); ok {
		return epoch(rest, local)
	}
	p := &parser{toks: scan(s), now: now}
	for p.at < len(p.toks) {
		if !p.item() {
			return time.Time{}, ErrInvalid
		}
	}
	t, err := p.result()
	return t.In(local), err
}

func epoch(s string, loc *time.Location) (time.Time, error) {
	s = strings.TrimSpace(s)
	whole, frac, hasFrac := strings.Cut(strings.Replace(s, ",", ".", 1), ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, ErrInvalid
	}
	var ns int64
	if hasFrac {
		if frac == "" || strings.Trim(frac, "0123456789") != "" {
			return time.Time{}, ErrInvalid
		}
		ns, _ = strconv.ParseInt((frac + "000000000")[:9], 10, 64)
		if strings.HasPrefix(whole, "-") {
			ns = -ns
		}
	}
	return time.Unix(sec, ns).In(loc), nil
}

type tok struct {
	text  string // lower case; punctuation is one character
	num   bool
	space bool // white space came before
}

func scan(s string) []tok {
	var out []tok
	space := false
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || 9 <= c && c <= 13:
			space = true
			i++
			continue
		case c == '(': // a comment
			depth := 0
			for i < len(s) {
				if s[i] == '(' {
					depth++
				} else if s[i] == ')' {
					depth--
				}
				i++
				if depth == 0 {
					break
				}
			}
			space = true
			continue
		}
		j := i + 1
		t := tok{space: space}
		switch {
		case isDigit(c):
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			t.num = true
		case isLetter(c):
			for j < len(s) && (isLetter(s[j]) || s[j] == '.') {
				j++
			}
		}
		t.text = strings.ToLower(s[i:j])
		if isLetter(c) {
			t.text = strings.ReplaceAll(t.text, ".", "")
		}
		out = append(out, t)
		space = false
		i = j
	}
	return out
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

type parser struct {
	toks []tok
	at   int
	now  time.Time

	dates, times, zones, days, rels int
	y, m, d                         int
	yearGiven                       bool
	iso                             int // what follows an ISO date
	hour, min, sec, ns              int
	zone                            *time.Location
	weekday, ordinal                int
	rel                             [7]int // years months days hours minutes seconds nanoseconds
}

// is tells whether the token n ahead is the text.
func (p *parser) is(n int, text string) bool {
	return p.at+n < len(p.toks) && p.toks[p.at+n].text == text
}

// num returns the number n ahead and its count of digits, 0 when there is
// none.
func (p *parser) num(n int) (v, digits int) {
	if p.at+n >= len(p.toks) || !p.toks[p.at+n].num {
		return 0, 0
	}
	s := p.toks[p.at+n].text
	v, err := strconv.Atoi(s)
	if err != nil || v > 1<<40 {
		return 0, 0
	}
	return v, len(s)
}

func (p *parser) word(n int) string {
	if p.at+n < len(p.toks) && isLetter(p.toks[p.at+n].text[0]) {
		return p.toks[p.at+n].text
	}
	return ""
}

func (p *parser) item() bool {
	t := p.toks[p.at]
	switch {
	case t.text == ",":
		p.at++
		return true
	case t.num:
		return p.number(1, p.at)
	case t.text == "+" || t.text == "-":
		sign := 1
		if t.text == "-" {
			sign = -1
		}
		if _, n := p.num(1); n == 0 {
			return false
		}
		p.at++
		if p.relative(sign) {
			return true
		}
		p.at--
		return p.times > 0 && p.offset(sign)
	case isLetter(t.text[0]):
		return p.wordItem(t.text)
	}
	return false
}

// number parses an item that starts with a digit.
func (p *parser) number(sign, _ int) bool {
	a, an := p.num(0)
	if an == 0 {
		return false
	}
	b, bn := p.num(2)
	c, cn := p.num(4)
	switch {
	case p.is(1, ":") && bn > 0:
		return p.clock()
	case p.is(1, "-") && bn > 0 && p.is(3, "-") && cn > 0: // 2024-05-06
		p.at += 5
		p.iso = p.at
		return p.date(year(a, an), b, c, true)
	case p.is(1, "/") && bn > 0:
		if p.is(3, "/") && cn > 0 {
			p.at += 5
			if an >= 4 {
				return p.date(a, b, c, true)
			}
			return p.date(year(c, cn), a, b, true)
		}
		p.at += 3
		return p.date(p.now.Year(), a, b, false)
	case p.is(1, "-") && month(p.word(2)) > 0: // 6-may-2024
		m := month(p.word(2))
		if p.is(3, "-") && cn > 0 {
			p.at += 5
			return p.date(year(c, cn), m, a, true)
		}
	case meridian(p.word(1)) >= 0: // 5pm
		h, ok := twelve(a, meridian(p.word(1)))
		p.at += 2
		return ok && p.setTime(h, 0, 0, 0)
	case month(p.word(1)) > 0: // 6 may 2024
		m := month(p.word(1))
		p.at += 2
		if y, n := p.num(0); n >= 3 && !p.is(1, ":") || n == 2 && y > 31 && !p.is(1, ":") {
			p.at++
			return p.date(year(y, n), m, a, true)
		}
		return p.date(p.now.Year(), m, a, false)
	}
	if p.relative(sign) {
		return true
	}
	p.at++
	return p.plain(a, an)
}

// plain is a number that nothing explains: a year, a date or a time.
func (p *parser) plain(v, n int) bool {
	switch {
	case p.dates > 0 && !p.yearGiven && p.rels == 0 && (p.times > 0 || n > 2):
		p.y, p.yearGiven = year(v, n), true
		return true
	case n > 4:
		return p.date(v/10000, v/100%100, v%100, true)
	case n <= 2:
		return p.setTime(v, 0, 0, 0)
	}
	return p.setTime(v/100, v%100, 0, 0)
}

// clock parses 12:34[:56[.789]] [pm] [+0200].
func (p *parser) clock() bool {
	h, _ := p.num(0)
	m, _ := p.num(2)
	p.at += 3
	sec, ns := 0, 0
	if v, n := p.num(1); p.is(0, ":") && n > 0 {
		sec = v
		p.at += 2
		if f, n := p.num(1); n > 0 && (p.is(0, ".") || p.is(0, ",")) && !p.toks[p.at+1].space {
			_ = f
			ns, _ = strconv.Atoi((p.toks[p.at+1].text + "000000000")[:9])
			p.at += 2
		}
	}
	if mer := meridian(p.word(0)); mer >= 0 {
		var ok bool
		if h, ok = twelve(h, mer); !ok {
			return false
		}
		p.at++
		return p.setTime(h, m, sec, ns) // no offset stands behind am or pm
	}
	if !p.setTime(h, m, sec, ns) {
		return false
	}
	if p.is(0, "+") || p.is(0, "-") {
		// Even before a unit: "12:00 +3 hours" is one hour after noon in zone +3.
		if _, n := p.num(1); n > 0 {
			sign := 1
			if p.is(0, "-") {
				sign = -1
			}
			return p.offset(sign)
		}
	}
	return true
}

// offset parses a sign and hh, hhmm or hh:mm; p.at is at the sign.
func (p *parser) offset(sign int) bool {
	v, n := p.num(1)
	p.at += 2
	h, m := v, 0
	if sign < 0 && n == 2 && v > 24 {
		return false
	}
	if n > 2 {
		h, m = v/100, v%100
	} else if mm, n := p.num(1); p.is(0, ":") && n > 0 {
		m = mm
		p.at += 2
	}
	if h > 24 || m > 59 || n > 4 {
		return false
	}
	p.zones++
	p.zone = time.FixedZone("", sign*(h*3600+m*60))
	return true
}

// relative parses a number and a unit; p.at is at the number.
func (p *parser) relative(sign int) bool {
	v, n := p.num(0)
	u := unit(p.word(1))
	if n == 0 || u < 0 {
		return false
	}
	p.at += 2
	p.addRel(u, sign*v)
	return true
}

func (p *parser) addRel(u, v int) {
	p.rels++
	if p.word(0) == "ago" {
		v = -v
		p.at++
	}
	switch u {
	case unitWeek:
		p.rel[2] += 7 * v
	case unitFortnight:
		p.rel[2] += 14 * v
	default:
		p.rel[u] += v
	}
}

func (p *parser) wordItem(w string) bool {
	if ord, ok := ordinals[w]; ok && p.at+1 < len(p.toks) {
		if day := weekday(p.word(1)); day >= 0 {
			p.at += 2
			p.days++
			p.weekday, p.ordinal = day, ord
			return true
		}
		if u := unit(p.word(1)); u >= 0 {
			p.at += 2
			p.addRel(u, ord)
			return true
		}
	}
	p.at++
	switch w {
	case "now", "today":
		p.rels++
		return true
	case "tomorrow", "yesterday":
		v := 1
		if w == "yesterday" {
			v = -1
		}
		p.addRel(2, v)
		return true
	case "t": // between date and time of ISO 8601, else a zone
		if p.iso > 0 && p.iso == p.at-1 && p.at < len(p.toks) && p.toks[p.at].num {
			return true
		}
	case "dst":
		return p.zones > 0
	}
	if m := month(w); m > 0 {
		return p.monthFirst(m)
	}
	if day := weekday(w); day >= 0 {
		p.days++
		p.weekday, p.ordinal = day, 0
		return true
	}
	if u := unit(w); u >= 0 { // "day" is one day
		p.addRel(u, 1)
		return true
	}
	if off, ok := zones[w]; ok {
		p.zones++
		p.zone = time.FixedZone(strings.ToUpper(w), off)
		if (p.is(0, "+") || p.is(0, "-")) && unit(p.word(2)) < 0 && off == 0 { // UTC+2
			if _, n := p.num(1); n > 0 {
				sign := 1
				if p.is(0, "-") {
					sign = -1
				}
				p.zones--
				return p.offset(sign)
			}
		}
		return true
	}
	return false
}

// monthFirst parses may 6[, 2024] and may-6-2024; p.at is behind the month.
func (p *parser) monthFirst(m int) bool {
	if p.is(0, "-") {
		d, dn := p.num(1)
		y, yn := p.num(3)
		if dn == 0 || !p.is(2, "-") || yn == 0 {
			return false
		}
		p.at += 4
		return p.date(year(y, yn), m, d, true)
	}
	d, n := p.num(0)
	if n == 0 {
		return false
	}
	p.at++
	if p.is(0, ",") {
		if y, n := p.num(1); n > 0 && !p.is(2, ":") {
			p.at += 2
			return p.date(year(y, n), m, d, true)
		}
	}
	return p.date(p.now.Year(), m, d, false)
}

func (p *parser) date(y, m, d int, withYear bool) bool {
	p.dates++
	p.y, p.m, p.d, p.yearGiven = y, m, d, withYear
	return true
}

func (p *parser) setTime(h, m, s, ns int) bool {
	p.times++
	p.hour, p.min, p.sec, p.ns = h, m, s, ns
	return true
}

func (p *parser) result() (time.Time, error) {
	if p.dates > 1 || p.times > 1 || p.zones > 1 || p.days > 1 {
		return time.Time{}, ErrInvalid
	}
	loc := p.now.Location()
	now := p.now
	if p.zone != nil {
		loc = p.zone // of the time that is named; what is not named is the local clock's, as GNU has it
	}
	y, m, d := now.Year(), int(now.Month()), now.Day()
	if p.dates > 0 {
		y, m, d = p.y, p.m, p.d
		if m < 1 || m > 12 || d < 1 || d > daysIn(y, m) {
			return time.Time{}, ErrInvalid
		}
	}
	h, mi, s, ns := now.Hour(), now.Minute(), now.Second(), now.Nanosecond()
	switch {
	case p.times > 0:
		h, mi, s, ns = p.hour, p.min, p.sec, p.ns
		if h > 23 || mi > 59 || s > 60 {
			return time.Time{}, ErrInvalid
		}
	case p.dates > 0 || p.days > 0 || len(p.toks) == 0 || p.zones > 0 && p.rels == 0:
		h, mi, s, ns = 0, 0, 0, 0
	}
	if p.days > 0 && p.dates == 0 {
		wd := int(time.Date(y, time.Month(m), d, 12, 0, 0, 0, loc).Weekday())
		ord := p.ordinal
		if ord > 0 && wd != p.weekday {
			ord--
		}
		d += (p.weekday-wd+7)%7 + 7*ord
	}
	t := time.Date(y+p.rel[0], time.Month(m+p.rel[1]), d+p.rel[2], h, mi, s, ns, loc)
	t = t.Add(time.Duration(p.rel[3])*time.Hour + time.Duration(p.rel[4])*time.Minute + time.Duration(p.rel[5])*time.Second)
	return t, nil
}

func daysIn(y, m int) int { return time.Date(y, time.Month(m+1), 0, 0, 0, 0, 0, time.UTC).Day() }

// year completes years of two digits.
func year(v, digits int) int {
	if digits > 2 {
		return v
	}
	if v < 69 {
		return 2000 + v
	}
	return 1900 + v
}

// twelve turns an hour with am (0) or pm (1) into one of 24.
func twelve(h, mer int) (int, bool) {
	if h < 1 || h > 12 {
		return 0, false
	}
	return h%12 + 12*mer, true
}
