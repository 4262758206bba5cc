package shell

import "math/bits"

// A posSet is a set of byte positions, 0..n.
type posSet struct {
	w     []uint64
	empty bool
}

func (s *posSet) has(i int) bool { return s.w[i>>6]>>(i&63)&1 != 0 }
func (s *posSet) add(i int)      { s.w[i>>6] |= 1 << (i & 63); s.empty = false }

func (s *posSet) min() int {
	for i, w := range s.w {
		if w != 0 {
			return i<<6 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

func (s *posSet) max() int {
	for i := len(s.w) - 1; i >= 0; i-- {
		if s.w[i] != 0 {
			return i<<6 + 63 - bits.LeadingZeros64(s.w[i])
		}
	}
	return -1
}

// union adds all of t and reports whether s grew.
func (s *posSet) union(t *posSet) bool {
	grew := false
	for i, w := range t.w {
		if w&^s.w[i] != 0 {
			s.w[i] |= w
			grew = true
		}
	}
	s.empty = s.empty && t.empty
	return grew
}

// A matcher runs a pattern over s, forwards or backwards.
type matcher struct {
	p     *pattern
	s     string
	back  bool
	steps int
}

func (m *matcher) set() *posSet {
	return &posSet{w: make([]uint64, len(m.s)>>6+1), empty: true}
}

func (m *matcher) single(i int) *posSet {
	s := m.set()
	s.add(i)
	return s
}

func (m *matcher) tick() {
	if m.steps++; m.steps&255 == 0 {
		m.p.sh.tick()
	}
}

// next is the character at position i in the direction of the match, and the
// position after it; ok is false at the end.
func (m *matcher) next(i int) (r rune, to int, ok bool) {
	if m.back {
		if i == 0 {
			return 0, 0, false
		}
		r, n := decodeLast(m.s, i)
		return r, i - n, true
	}
	if i == len(m.s) {
		return 0, 0, false
	}
	r, n := decode(m.s, i)
	return r, i + n, true
}

// run advances the positions of in over els.
func (m *matcher) run(els []patEl, in *posSet) *posSet {
	cur := in
	for k := range els {
		e := &els[k]
		if m.back {
			e = &els[len(els)-1-k]
		}
		if cur.empty {
			return cur
		}
		cur = m.step(e, cur)
	}
	return cur
}

func (m *matcher) step(e *patEl, in *posSet) *posSet {
	out := m.set()
	switch e.kind {
	case patStar:
		i := in.min()
		if m.back {
			i = in.max()
		}
		for {
			out.add(i)
			m.tick()
			_, to, ok := m.next(i)
			if !ok {
				return out
			}
			i = to
		}
	case patExt:
		return m.ext(e, in)
	}
	for wi, w := range in.w {
		for w != 0 {
			i := wi<<6 + bits.TrailingZeros64(w)
			w &= w - 1
			m.tick()
			if r, to, ok := m.next(i); ok && e.matchRune(r, m.p.fold) {
				out.add(to)
			}
		}
	}
	return out
}

func (m *matcher) ext(e *patEl, in *posSet) *posSet {
	alts := func(from *posSet) *posSet {
		out := m.set()
		for _, a := range e.alts {
			out.union(m.run(a, from))
		}
		return out
	}
	switch e.op {
	case '@':
		return alts(in)
	case '?':
		out := alts(in)
		out.union(in)
		return out
	case '*', '+':
		out := alts(in)
		for frontier := out; !frontier.empty; {
			m.tick()
			more := alts(frontier)
			grown := m.set()
			for i, w := range more.w {
				if n := w &^ out.w[i]; n != 0 {
					grown.w[i] = n
					grown.empty = false
				}
			}
			out.union(grown)
			frontier = grown
		}
		if e.op == '*' {
			out.union(in)
		}
		return out
	}
	// !(...): every end that no alternative reaches, from each start by itself.
	out := m.set()
	for wi, w := range in.w {
		for w != 0 {
			i := wi<<6 + bits.TrailingZeros64(w)
			w &= w - 1
			m.p.sh.tick()
			hit := alts(m.single(i))
			for j := i; ; {
				m.tick()
				if !hit.has(j) {
					out.add(j)
				}
				_, to, ok := m.next(j)
				if !ok {
					break
				}
				j = to
			}
		}
	}
	return out
}
