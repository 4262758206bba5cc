// Package when reads dates as GNU date -d and touch -d do: "2024-05-06 07:08",
// "next friday 5pm", "@1700000000", "3 days ago".
package when

import (
	"strconv"
	"strings"
	"time"
)

// Parse reads a date. What it leaves open is that of now, whose location is the
// time zone of what names none. ok is false when s is no date.
func Parse(s string, now time.Time) (t time.Time, ok bool) {
	if zone, rest, ok := zonePrefix(s); ok {
		now, s = now.In(zone), rest
	}
	if v, found := strings.CutPrefix(strings.TrimSpace(s), "@"); found {
		return seconds(v)
	}
	p := parser{now: now}
	if p.tokens, ok = scan(s); !ok {
		return t, false
	}
	p.hasTime = len(p.tokens) == 0 // nothing at all is midnight
	for len(p.tokens) > 0 {
		if !p.item() {
			return t, false
		}
	}
	return p.result()
}

// zonePrefix takes TZ="..." from the front of s.
func zonePrefix(s string) (*time.Location, string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t"), `TZ="`)
	if !ok {
		return nil, s, false
	}
	name, rest, ok := strings.Cut(rest, `"`)
	if !ok {
		return nil, s, false
	}
	if name == "" || strings.HasPrefix(name, "UTC") {
		return time.UTC, rest, true
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, s, false
	}
	return loc, rest, true
}

// seconds reads seconds since 1970 with an optional fraction.
func seconds(v string) (time.Time, bool) {
	whole, frac, dot := strings.Cut(v, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || dot && (frac == "" || strings.Trim(frac, "0123456789") != "") {
		return time.Time{}, false
	}
	ns := nanos(frac)
	if strings.HasPrefix(whole, "-") {
		ns = -ns
	}
	return time.Unix(n, ns), true
}

func nanos(frac string) int64 {
	n, _ := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	return n
}

// token is a word, a number, or one other character.
type token struct {
	text   string
	number bool
	sign   byte // of a number, when it stands right before it
	spaced bool // white space before it
}

func scan(s string) (tokens []token, ok bool) {
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r') {
			i++
		}
		if i == len(s) {
			break
		}
		t := token{spaced: i > start}
		c := s[i]
		switch {
		case c == '(':
			depth := 0
			for ; i < len(s); i++ {
				if s[i] == '(' {
					depth++
				} else if s[i] == ')' {
					if depth--; depth == 0 {
						i++
						break
					}
				}
			}
			if depth != 0 {
				return nil, false
			}
			continue
		case isDigit(c):
			t.number = true
		case isAlpha(c):
			j := i
			for j < len(s) && (isAlpha(s[j]) || s[j] == '.') {
				j++
			}
			t.text = strings.ToLower(strings.ReplaceAll(s[i:j], ".", ""))
			i = j
		case c == '+' || c == '-':
			j := i + 1
			for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
				j++
			}
			if j == len(s) || !isDigit(s[j]) {
				if c == '-' {
					i++
					t.text = "-"
					break
				}
				return nil, false
			}
			t.number, t.sign = true, c
			i = j
		default:
			t.text = string(rune(c))
			i++
		}
		if t.number {
			j := i
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			t.text = s[i:j]
			i = j
		}
		tokens = append(tokens, t)
	}
	return tokens, true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' }

// parser holds what has been read.
type parser struct {
	now    time.Time
	tokens []token

	hasDate, hasTime, hasDay, hasZone, hasRel, hasYear bool

	year, month, day     int
	hour, minute, second int
	ns                   int64
	weekday, ordinal     int
	zone                 int // seconds east of UTC
	years, months, days  int64
	hours, minutes, secs int64
	relNS                int64
}

func (p *parser) peek(i int) token {
	if i < len(p.tokens) {
		return p.tokens[i]
	}
	return token{}
}

func (p *parser) take(n int) { p.tokens = p.tokens[min(n, len(p.tokens)):] }

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 40
	}
	return n
}

// result puts the parts together.
func (p *parser) result() (time.Time, bool) {
	loc := p.now.Location()
	if p.hasZone {
		loc = time.FixedZone("", p.zone)
	}
	base := p.now
	year, month, day := base.Year(), int(base.Month()), base.Day()
	if p.hasZone {
		// The day is the local one all the same, as GNU has it.
		base = p.now
	}
	if p.hasDate {
		month, day = p.month, p.day
		if p.hasYear {
			year = p.year
		}
		if month < 1 || month > 12 || day < 1 || day > time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day() {
			return time.Time{}, false
		}
	}
	hour, minute, second, ns := p.hour, p.minute, p.second, p.ns
	if !p.hasTime && (p.hasDate || p.hasDay) {
		hour, minute, second, ns = 0, 0, 0, 0
	} else if !p.hasTime {
		hour, minute, second = base.Clock()
		ns = int64(base.Nanosecond())
	}
	if p.hasDay && !p.hasDate {
		today := int(time.Date(year, time.Month(month), day, 12, 0, 0, 0, time.UTC).Weekday())
		ordinal := p.ordinal
		if ordinal > 0 && today != p.weekday {
			ordinal--
		}
		day += (p.weekday-today+7)%7 + 7*ordinal
	}
	const limit = 1 << 40
	for _, n := range []int64{p.years, p.months, p.days, p.hours, p.minutes, p.secs} {
		if n > limit || n < -limit {
			return time.Time{}, false
		}
	}
	t := time.Date(year+int(p.years), time.Month(month+int(p.months)), day+int(p.days), hour, minute, second, int(ns), loc)
	sum := p.hours*3600 + p.minutes*60 + p.secs
	return time.Unix(t.Unix()+sum, int64(t.Nanosecond())+p.relNS).In(p.now.Location()), true
}
