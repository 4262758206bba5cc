package when

import "strings"

// months and days by the first three letters; longer words must go on as the
// names do.
var (
	months = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	days   = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
)

func lookup(names []string, word string) int {
	for i, n := range names {
		if word == n || word == n[:3] {
			return i
		}
	}
	return -1
}

func month(word string) int {
	if word == "sept" {
		return 9
	}
	return lookup(months[:], word) + 1
}

func weekday(word string) int {
	switch word {
	case "tues":
		return 2
	case "wednes":
		return 3
	case "thur", "thurs":
		return 4
	}
	return lookup(days[:], word)
}

var ordinals = map[string]int{"last": -1, "this": 0, "next": 1, "first": 1, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6,
	"seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12}

// zones holds the abbreviations that need no data base, in hours from UTC.
var zones = map[string]float64{"utc": 0, "gmt": 0, "z": 0, "ut": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "met": 1, "mest": 2,
	"eet": 2, "eest": 3, "msk": 3, "ist": 5.5, "jst": 9, "nzst": 12, "nzdt": 13, "nst": -3.5, "ndt": -2.5, "ast": -4, "adt": -3,
	"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10}

// item reads one part of a date.
func (p *parser) item() bool {
	t := p.peek(0)
	if t.number {
		return p.numeric()
	}
	switch t.text {
	case ",":
		p.take(1)
		return true
	case "now", "today":
		p.take(1)
		p.hasRel = true
		return true
	case "tomorrow":
		p.take(1)
		p.days++
		return true
	case "yesterday":
		p.take(1)
		p.days--
		return true
	case "t":
		// Between a date and a time.
		if p.hasDate && p.peek(1).number {
			p.take(1)
			return true
		}
		return false
	}
	if m := month(t.text); m > 0 {
		return p.monthFirst(m)
	}
	if d := weekday(t.text); d >= 0 {
		p.take(1)
		return p.setDay(d, 0)
	}
	if n, ok := ordinals[t.text]; ok {
		next := p.peek(1).text
		if d := weekday(next); d >= 0 {
			p.take(2)
			return p.setDay(d, n)
		}
		p.take(1)
		return p.relative(int64(n))
	}
	if unit(t.text) != 0 {
		return p.relative(1)
	}
	if h, ok := zones[t.text]; ok {
		p.take(1)
		if p.hasZone {
			return false
		}
		p.zone, p.hasZone = int(h*3600), true
		if p.peek(0).text == "dst" {
			p.take(1)
			p.zone += 3600
		}
		if n := p.peek(0); n.sign != 0 && !n.spaced { // UTC+2
			return p.offset()
		}
		return true
	}
	return false
}

func (p *parser) setDay(d, ordinal int) bool {
	if p.hasDay {
		return false
	}
	p.hasDay, p.weekday, p.ordinal = true, d, ordinal
	return true
}

func (p *parser) setDate(year, month, day int, hasYear bool) bool {
	if p.hasDate {
		return false
	}
	p.hasDate, p.month, p.day = true, month, day
	if hasYear {
		p.year, p.hasYear = year, true
	}
	return true
}

// fullYear makes 1969 to 2068 of two digits.
func fullYear(text string) int {
	y := atoi(text)
	if len(text) <= 2 {
		if y < 69 {
			y += 2000
		} else {
			y += 1900
		}
	}
	return y
}

// monthFirst reads "May 6", "May 6, 2024", "May 2024"? no: a lone number is a
// day.
func (p *parser) monthFirst(m int) bool {
	d := p.peek(1)
	if !d.number {
		return false
	}
	if d.sign == '-' && p.peek(2).sign == '-' { // May-06-2024
		p.take(3)
		return false
	}
	if d.sign != 0 || strings.HasPrefix(p.peek(2).text, ":") {
		return false
	}
	if p.peek(2).text == "," && p.peek(3).number && p.peek(3).sign == 0 && p.peek(4).text != ":" {
		y := p.peek(3).text
		p.take(4)
		return p.setDate(fullYear(y), m, atoi(d.text), true)
	}
	p.take(2)
	return p.setDate(0, m, atoi(d.text), false)
}

// numeric reads what begins with a number.
func (p *parser) numeric() bool {
	a, b, c := p.peek(0), p.peek(1), p.peek(2)
	if a.sign == 0 {
		switch {
		case b.text == ":" && c.number:
			return p.clock()
		case isMeridian(b.text):
			return p.clock()
		case b.text == "/" && c.number:
			return p.slashes()
		case b.number && b.sign == '-' && !b.spaced && c.number && c.sign == '-' && !c.spaced: // 2024-05-06
			p.take(3)
			return p.setDate(fullYear(a.text), atoi(b.text), atoi(c.text), true)
		case month(b.text) > 0: // 6 May 2024, 6May
			y := c
			if y.number && y.sign == 0 && p.peek(3).text != ":" {
				p.take(3)
				return p.setDate(fullYear(y.text), month(b.text), atoi(a.text), true)
			}
			p.take(2)
			return p.setDate(0, month(b.text), atoi(a.text), false)
		case b.text == "-" && month(c.text) > 0: // 6-May-2024
			y := p.peek(3)
			if y.number && y.sign == '-' {
				p.take(4)
				return p.setDate(fullYear(y.text), month(c.text), atoi(a.text), true)
			}
			p.take(3)
			return p.setDate(0, month(c.text), atoi(a.text), false)
		case weekday(b.text) >= 0 && p.hasDate:
		}
	}
	if unit(b.text) != 0 || b.text == "fortnight" {
		n := int64(atoi(a.text))
		if a.sign == '-' {
			n = -n
		}
		p.take(1)
		return p.relative(n)
	}
	if a.sign != 0 {
		if p.hasTime && !p.hasZone {
			return p.offset()
		}
		return false
	}
	// A bare number: a year after a date and a time, 20240506, or hhmm.
	switch {
	case p.hasDate && !p.hasYear && (p.hasTime || len(a.text) > 2):
		p.take(1)
		p.year, p.hasYear = fullYear(a.text), true
		return true
	case len(a.text) > 4:
		p.take(1)
		n := len(a.text)
		return p.setDate(fullYear(a.text[:n-4]), atoi(a.text[n-4:n-2]), atoi(a.text[n-2:]), true)
	case !p.hasTime:
		p.take(1)
		p.hasTime = true
		p.hour = atoi(a.text)
		if len(a.text) > 2 {
			p.hour, p.minute = atoi(a.text[:len(a.text)-2]), atoi(a.text[len(a.text)-2:])
		}
		return p.hour < 24 && p.minute < 60
	}
	return false
}

func isMeridian(word string) bool { return word == "am" || word == "pm" }

// slashes reads 5/6, 5/6/2024 or 2024/5/6.
func (p *parser) slashes() bool {
	a, b := p.peek(0).text, p.peek(2).text
	if p.peek(3).text != "/" || !p.peek(4).number {
		p.take(3)
		return p.setDate(0, atoi(a), atoi(b), false)
	}
	c := p.peek(4).text
	p.take(5)
	if len(a) >= 4 {
		return p.setDate(fullYear(a), atoi(b), atoi(c), true)
	}
	return p.setDate(fullYear(c), atoi(a), atoi(b), true)
}

// clock reads 7pm, 7:08, 7:08:09.5 and what may follow: am, pm, a zone.
func (p *parser) clock() bool {
	if p.hasTime {
		return false
	}
	p.hasTime = true
	p.hour = atoi(p.peek(0).text)
	p.take(1)
	if p.peek(0).text == ":" {
		p.minute = atoi(p.peek(1).text)
		p.take(2)
		if p.peek(0).text == ":" && p.peek(1).number {
			p.second = atoi(p.peek(1).text)
			p.take(2)
			if sep := p.peek(0).text; (sep == "." || sep == ",") && p.peek(1).number && !p.peek(1).spaced {
				p.ns = nanos(p.peek(1).text)
				p.take(2)
			}
		}
	}
	if m := p.peek(0).text; isMeridian(m) {
		if p.hour < 1 || p.hour > 12 {
			return false
		}
		p.hour %= 12
		if m == "pm" {
			p.hour += 12
		}
		p.take(1)
	} else if p.peek(0).number && p.peek(0).sign != 0 && !p.hasZone {
		if !p.offset() {
			return false
		}
	}
	return p.hour < 24 && p.minute < 60 && p.second <= 60
}

// offset reads +2, +0200 or +02:00.
func (p *parser) offset() bool {
	t := p.peek(0)
	p.take(1)
	h, m := atoi(t.text), 0
	if len(t.text) > 2 {
		h, m = atoi(t.text[:len(t.text)-2]), atoi(t.text[len(t.text)-2:])
	} else if p.peek(0).text == ":" && p.peek(1).number {
		m = atoi(p.peek(1).text)
		p.take(2)
	}
	if h > 24 || m > 59 {
		return false
	}
	off := h*3600 + m*60
	if t.sign == '-' {
		off = -off
	}
	p.zone, p.hasZone = p.zone+off, true
	return true
}

// unit returns the letter of a unit's word, 0 for none.
func unit(word string) byte {
	switch strings.TrimSuffix(word, "s") {
	case "year":
		return 'Y'
	case "month":
		return 'M'
	case "fortnight":
		return 'F'
	case "week":
		return 'W'
	case "day":
		return 'D'
	case "hour":
		return 'h'
	case "minute", "min":
		return 'm'
	case "second", "sec":
		return 's'
	}
	return 0
}

// relative reads a unit, and perhaps "ago", for n of it.
func (p *parser) relative(n int64) bool {
	u := unit(p.peek(0).text)
	if u == 0 {
		return false
	}
	p.take(1)
	switch p.peek(0).text {
	case "ago":
		n = -n
		p.take(1)
	case "hence":
		p.take(1)
	}
	switch u {
	case 'Y':
		p.years += n
	case 'M':
		p.months += n
	case 'F':
		p.days += 14 * n
	case 'W':
		p.days += 7 * n
	case 'D':
		p.days += n
	case 'h':
		p.hours += n
	case 'm':
		p.minutes += n
	case 's':
		p.secs += n
	}
	p.hasRel = true
	return true
}
