package awk

import "strings"

// replacement is a part of what a match is replaced by: text, then a group.
type replacement struct {
	text  string
	group int // -1: none
}

// parseReplacement takes the third argument of sub, gsub or gensub apart.
func parseReplacement(s string, gen bool) []replacement {
	var out []replacement
	var b []byte
	add := func(g int) {
		out = append(out, replacement{string(b), g})
		b = b[:0]
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '&':
			add(0)
		case c != '\\' || i+1 == len(s):
			b = append(b, c)
		case gen:
			i++
			switch c = s[i]; {
			case c-'0' < 10:
				add(int(c - '0'))
			default: // the backslash is lost
				b = append(b, c)
			}
		default:
			// Backslashes count only before an &.
			n := 0
			for i+n < len(s) && s[i+n] == '\\' {
				n++
			}
			if i+n < len(s) && s[i+n] == '&' {
				for range n / 2 {
					b = append(b, '\\')
				}
				if n%2 == 1 {
					b = append(b, '&')
					i++
				}
			} else {
				b = append(b, s[i:i+n]...)
			}
			i += n - 1
		}
	}
	if len(b) > 0 {
		add(-1)
	}
	return out
}

func (m *machine) replacement(s string, gen bool) []replacement {
	if r, ok := m.parsed[s]; ok && !gen {
		return r
	}
	r := parseReplacement(s, gen)
	if !gen {
		if len(m.parsed) > maxRegexes {
			clear(m.parsed)
		}
		m.parsed[strings.Clone(s)] = r
	}
	return r
}

// substitute replaces in s the matches that want chooses by their number, from
// 1, and returns how many those are. want also says whether to go on.
func (m *machine) substitute(re *regex, s string, parts []replacement, want func(n int) (replace, more bool)) (string, int) {
	groups := false
	for _, p := range parts {
		groups = groups || p.group > 0
	}
	b := m.buf[:0]
	done, n, last, from := 0, 0, -1, 0
	copied := 0
	for from <= len(s) {
		start, end, ok := m.find(re, s, from)
		if !ok {
			break
		}
		if start == end && start == last { // the empty string right behind a match
			from = start + max(1, charOffset(s[start:], 1))
			continue
		}
		n++
		replace, more := want(n)
		if replace {
			done++
			b = append(b, s[copied:start]...)
			var loc []int
			if groups {
				loc = m.groups(re, s, start, end)
			}
			for _, p := range parts {
				b = append(b, p.text...)
				switch {
				case p.group == 0:
					b = append(b, s[start:end]...)
				case p.group > 0 && 2*p.group+1 < len(loc) && loc[2*p.group] >= 0:
					b = append(b, s[loc[2*p.group]:loc[2*p.group+1]]...)
				}
			}
			copied = end
		}
		if !more {
			break
		}
		last, from = end, end
		if start == end {
			if end == len(s) {
				break
			}
			from += charOffset(s[end:], 1)
		}
	}
	m.buf = b[:0]
	if done == 0 {
		return s, 0
	}
	b = append(b, s[copied:]...)
	m.buf = b[:0]
	return string(b), done
}

func makeSub(_ *parser, a []*expr, global bool) *expr {
	l := &lvalue{field: constant(number(0))}
	if len(a) == 3 {
		l = a[2].lv // nil for a value: the result is lost
	}
	return numeric(func(m *machine) float64 {
		re := m.pattern(a[0])
		rep := a[1].str(m)
		var pl place
		var v value
		if l == nil {
			v = a[2].val(m)
		} else {
			pl = l.place(m)
			if l.field != nil && pl.i > m.countFields() { // it is there from now on
				stale := m.stale
				m.resize(pl.i)
				m.stale = stale
			}
			v = pl.get(m)
		}
		s, n := m.substitute(re, m.str(&v), m.replacement(rep, false), func(int) (bool, bool) { return true, global })
		if n > 0 && l != nil {
			pl.set(m, str(s))
		}
		return float64(n)
	})
}

func makeGensub(_ *parser, a []*expr) *expr {
	return textual(func(m *machine) string {
		re := m.pattern(a[0])
		rep := a[1].str(m)
		how := a[2].val(m)
		s := ""
		if len(a) == 4 {
			s = a[3].str(m)
		} else {
			s = m.text()
		}
		which := 0
		if t := m.str(&how); t == "" || t[0]|0x20 != 'g' {
			which = max(1, int(how.num()))
		}
		s, _ = m.substitute(re, s, m.replacement(rep, true), func(n int) (bool, bool) { return which == 0 || n == which, which == 0 || n < which })
		return s
	})
}
