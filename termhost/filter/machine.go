package filter

import (
	"math"
	"regexp/syntax"
	"unicode/utf8"
)

// A program is a compiled pattern. The regexp package cannot say whether what
// it has read so far may become a match, which is what a stream needs to know;
// so its compiled form is run here, by all ways at once, each with the offset
// at which it started. Of several ways to the same instruction only the one
// that started first matters: it covers what the others would.
type program struct {
	*syntax.Prog
	first [256]bool // bytes with which a match can start
}

func compile(pattern string) (*program, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, err
	}
	p := &program{Prog: prog}
	p.starts()
	return p, nil
}

func (p *program) starts() {
	seen := make([]bool, len(p.Inst))
	var walk func(pc uint32)
	walk = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := &p.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			walk(in.Out)
			walk(in.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			walk(in.Out)
		case syntax.InstMatch: // by what follows nothing
		case syntax.InstFail:
		default:
			for c := range utf8.RuneSelf {
				p.first[c] = p.first[c] || in.MatchRune(rune(c))
			}
			wide := syntax.Flags(in.Arg)&syntax.FoldCase != 0 // k also matches the Kelvin sign
			for _, c := range in.Rune {
				wide = wide || c >= utf8.RuneSelf
			}
			for c := utf8.RuneSelf; c < 256 && wide; c++ {
				p.first[c] = true
			}
		}
	}
	walk(uint32(p.Start))
}

// canStart reports whether a match can start with c.
func (p *program) canStart(c rune) bool { return p.first[min(c, utf8.RuneSelf)] }

// machine runs a program over a stream.
type machine struct {
	*program
	ways, next set // instructions to go on with at the next character
	now        set // those that a character can satisfy
	match      int64
}

func newMachine(p *program) *machine {
	n := len(p.Inst)
	return &machine{program: p, ways: newSet(n), next: newSet(n), now: newSet(n)}
}

func (m *machine) clone() *machine {
	n := newMachine(m.program)
	for _, pc := range m.ways.list {
		n.ways.add(pc, m.ways.from[pc])
	}
	return n
}

// set is a set of instructions with the offset at which their way started.
type set struct {
	list []uint32
	from []int64 // by instruction; never marks those that are not in the set
}

const never = math.MaxInt64

func newSet(n int) set {
	s := set{from: make([]int64, n)}
	for i := range s.from {
		s.from[i] = never
	}
	return s
}

// add puts in pc, and reports whether that says something new.
func (s *set) add(pc uint32, from int64) bool {
	old := s.from[pc]
	if old <= from {
		return false
	}
	if old == never {
		s.list = append(s.list, pc)
	}
	s.from[pc] = from
	return true
}

func (s *set) clear() {
	for _, pc := range s.list {
		s.from[pc] = never
	}
	s.list = s.list[:0]
}

// oldest is where the earliest way started, or never.
func (s *set) oldest() int64 {
	from := int64(never)
	for _, pc := range s.list {
		from = min(from, s.from[pc])
	}
	return from
}

// edges is what is known of the place between two characters.
type edges struct {
	known bool
	ops   syntax.EmptyOp
}

// spread follows the ways that read nothing, into now. It returns where a
// match that ends here starts, or never.
func (m *machine) spread(e edges) int64 {
	m.now.clear()
	m.match = never
	for _, pc := range m.ways.list {
		m.walk(pc, m.ways.from[pc], e)
	}
	return m.match
}

func (m *machine) walk(pc uint32, from int64, e edges) {
	if !m.now.add(pc, from) {
		return
	}
	switch in := &m.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		m.walk(in.Out, from, e)
		m.walk(in.Arg, from, e)
	case syntax.InstCapture, syntax.InstNop:
		m.walk(in.Out, from, e)
	case syntax.InstEmptyWidth:
		if e.known && syntax.EmptyOp(in.Arg)&^e.ops == 0 {
			m.walk(in.Out, from, e)
		}
	case syntax.InstMatch:
		m.match = min(m.match, from)
	}
}

// step reads c at offset at, where a match may start. It returns where a match
// that ends before c starts, or never.
func (m *machine) step(e edges, c rune, at int64) (match int64) {
	if m.canStart(c) {
		m.ways.add(uint32(m.Start), at)
	} else if len(m.ways.list) == 0 {
		return never
	}
	match = m.spread(e)
	m.next.clear()
	for _, pc := range m.now.list {
		switch in := &m.Inst[pc]; in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if in.MatchRune(c) {
				m.next.add(in.Out, m.now.from[pc])
			}
		}
	}
	m.ways, m.next = m.next, m.ways
	return match
}
