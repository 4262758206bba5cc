package filter

import "regexp/syntax"

// A lane is one reading of the stream by all rules: of every byte, or of what
// a terminal would show.
type lane struct {
	states []*state
	prev   rune  // the character before, or -1
	end    int64 // offset behind it
}

// state is how far one rule has come.
type state struct {
	*rule
	m     *machine
	u     *machine // looks for the end, while in one
	since int64    // offset from which all is hidden while u is in use
	open  bool     // u is in use
}

func newLane(rules []*rule) *lane {
	l := &lane{prev: -1}
	for _, r := range rules {
		s := &state{rule: r, m: newMachine(r.prog)}
		if r.until != nil {
			s.u = newMachine(r.until)
		}
		l.states = append(l.states, s)
	}
	return l
}

func (l *lane) clone() *lane {
	c := &lane{prev: l.prev, end: l.end}
	for _, s := range l.states {
		n := *s
		n.m = s.m.clone()
		if s.u != nil {
			n.u = s.u.clone()
		}
		c.states = append(c.states, &n)
	}
	return c
}

// idle reports whether no match is under way.
func (l *lane) idle() bool {
	for _, s := range l.states {
		if s.open || len(s.m.ways.list) > 0 {
			return false
		}
	}
	return true
}

// step reads the character c, of n bytes, at offset at.
func (l *lane) step(r *Redactor, c rune, at int64, n int) {
	e := edges{true, syntax.EmptyOpContext(l.prev, c)}
	for _, s := range l.states {
		if s.open {
			if s.u.step(e, c, at) == never {
				continue
			}
			s.close(r, l.end)
		}
		if from := s.m.step(e, c, at); from != never && s.hit(r, from, l.end) {
			s.u.step(e, c, at) // the end is looked for from here on
		}
	}
	l.prev, l.end = c, at+int64(n)
}

// settle looks for matches that end with what was read so far: those that
// depend on what follows only when nothing follows.
func (l *lane) settle(r *Redactor, final bool) {
	var e edges
	if final {
		e = edges{true, syntax.EmptyOpContext(l.prev, -1)}
	}
	for _, s := range l.states {
		if s.open {
			if s.u.spread(e) != never {
				s.close(r, l.end)
			} else {
				r.cover(s.since, r.at, s.text)
			}
			continue
		}
		if from := s.m.spread(e); from != never {
			s.hit(r, from, l.end)
		}
		if s.open && final {
			r.cover(s.since, r.at, s.text)
		}
	}
}

// hit hides a match. It reports whether all is hidden from now on.
func (s *state) hit(r *Redactor, from, to int64) bool {
	if from >= to {
		return false
	}
	r.cover(from, to, s.text)
	if s.u == nil {
		return false
	}
	s.open, s.since = true, from
	s.m.ways.clear()
	s.u.ways.clear()
	return true
}

// close ends what hit has opened.
func (s *state) close(r *Redactor, to int64) {
	r.cover(s.since, to, s.text)
	s.open = false
	s.u.ways.clear()
	s.m.ways.clear()
}

// oldest is where the earliest match that is under way starts, and what would
// replace it.
func (l *lane) oldest() (from int64, text []byte) {
	from = never
	for _, s := range l.states {
		if f := s.m.ways.oldest(); f < from {
			from, text = f, s.text
		}
	}
	return from, text
}
