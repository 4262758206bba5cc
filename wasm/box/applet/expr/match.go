package expr

// matcher finds the longest match at the start of a text.
type matcher struct {
	text   string
	groups [][2]int // of the attempt at hand
	best   [][2]int // of the longest match
	end    int      // of the longest match, -1 for none
	steps  int
}

// maxSteps bounds an expression that has too many ways to match.
const maxSteps = 20_000_000

type next func(pos int) bool

// match returns the end of the longest match that begins where text does, -1
// when there is none, and where the first group matched.
func match(re *node, groups int, text string) (end int, group [2]int, ok bool) {
	m := matcher{text: text, groups: make([][2]int, groups+1), end: -1}
	for i := range m.groups {
		m.groups[i] = [2]int{-1, -1}
	}
	m.node(re, 0, func(pos int) bool {
		if pos > m.end {
			m.end = pos
			m.best = append(m.best[:0], m.groups...)
		}
		return pos == len(text) // nothing can be longer
	})
	if m.steps > maxSteps {
		return -1, group, false
	}
	group = [2]int{-1, -1}
	if m.end >= 0 && groups > 0 {
		group = m.best[1]
	}
	return m.end, group, true
}

// node matches n as often as it may be, the most first.
func (m *matcher) node(n *node, pos int, k next) bool {
	if n.kind == 'c' {
		// The usual case needs no recursion.
		most := pos
		for most < len(m.text) && (n.max < 0 || most-pos < n.max) && n.set[m.text[most]] {
			most++
		}
		for at := most; at-pos >= n.min; at-- {
			if m.steps++; m.steps > maxSteps {
				return true
			}
			if k(at) {
				return true
			}
		}
		return false
	}
	return m.repeat(n, pos, 0, k)
}

func (m *matcher) repeat(n *node, pos, count int, k next) bool {
	if m.steps++; m.steps > maxSteps {
		return true
	}
	if n.max < 0 || count < n.max {
		if m.once(n, pos, func(at int) bool {
			if at == pos && count >= n.min {
				return false // an empty turn changes nothing
			}
			return m.repeat(n, at, count+1, k)
		}) {
			return true
		}
	}
	return count >= n.min && k(pos)
}

func (m *matcher) once(n *node, pos int, k next) bool {
	switch n.kind {
	case '^':
		return pos == 0 && k(pos)
	case '$':
		return pos == len(m.text) && k(pos)
	case 'r':
		g := m.groups[n.index]
		if g[0] < 0 {
			return false
		}
		s := m.text[g[0]:g[1]]
		if len(m.text)-pos < len(s) || m.text[pos:pos+len(s)] != s {
			return false
		}
		return k(pos + len(s))
	case 'c':
		return pos < len(m.text) && n.set[m.text[pos]] && k(pos+1)
	}
	for _, seq := range n.alts {
		if m.sequence(seq, pos, func(at int) bool {
			if n.index <= 0 {
				return k(at)
			}
			old := m.groups[n.index]
			m.groups[n.index] = [2]int{pos, at}
			if k(at) {
				return true
			}
			m.groups[n.index] = old
			return false
		}) {
			return true
		}
	}
	return false
}

func (m *matcher) sequence(seq []*node, pos int, k next) bool {
	if len(seq) == 0 {
		return k(pos)
	}
	return m.node(seq[0], pos, func(at int) bool { return m.sequence(seq[1:], at, k) })
}
