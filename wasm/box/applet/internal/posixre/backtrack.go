package posixre

import (
	"bytes"
	"unicode"
)

// backtracker takes a match apart into its groups, and finds matches of
// patterns with back-references.
type backtracker struct {
	prog      *prog
	multiline bool
	fold      bool
	backrefs  bool

	stack   []job
	caps    []int
	visited []uint64
	best    int
	lenient bool // turns that take nothing count
}

// job is a place to go on from when the present way fails: a place in the
// program, or, when pc is negative, a slot to put back.
type job struct {
	pc  int32
	pos int
}

const (
	maxSteps   = 8_000_000 // of one search with back-references
	maxVisited = 1 << 29   // bits: of one match taken apart
	maxStack   = 8 << 20   // jobs
)

// longest returns the end of the longest match that starts at pos, or -1, of
// a pattern with back-references: every way must be tried.
func (b *backtracker) longest(text []byte, pos int) (int, error) {
	b.best = -1
	b.visited = nil
	_, err := b.run(text, pos, -1)
	return b.best, err
}

// groups returns the captures of the match from start to end.
func (b *backtracker) groups(text []byte, start, end, groups int) ([]int, error) {
	b.visited = b.visited[:0]
	if !b.backrefs {
		bits := b.prog.splits * (end - start + 1)
		if bits > maxVisited {
			return nil, ErrTooComplex
		}
		n := bits/64 + 1
		if cap(b.visited) < n {
			b.visited = make([]uint64, n)
		}
		b.visited = b.visited[:n]
		clear(b.visited)
	}
	b.lenient = false
	ok, err := b.run(text, start, end)
	if err == nil && !ok {
		// What failed for lack of progress is remembered as failed for good:
		// in rare cases that leaves no way. Then any way will do.
		b.lenient = true
		clear(b.visited)
		ok, err = b.run(text, start, end)
	}
	if err == nil && !ok {
		err = ErrTooComplex // cannot be: the match was found before
	}
	return b.caps, err
}

// run tries the ways from pos in order of preference. With limit >= 0 it
// stops at the first that ends there; else it tries all and keeps the longest
// end.
func (b *backtracker) run(text []byte, start, limit int) (bool, error) {
	if n := max(b.prog.slots, 2); cap(b.caps) < n {
		b.caps = make([]int, n)
	} else {
		b.caps = b.caps[:n]
	}
	for i := range b.caps {
		b.caps[i] = -1
	}
	stop := limit
	if limit < 0 {
		stop = len(text)
	}
	steps := 0
	b.stack = append(b.stack[:0], job{b.prog.start, start})
	for len(b.stack) > 0 {
		j := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		if j.pc < 0 {
			b.caps[-1-j.pc] = j.pos
			continue
		}
		pc, pos := j.pc, j.pos
		for alive := true; alive; {
			if b.backrefs {
				// Only back-references can make this exponential: what
				// failed is remembered otherwise.
				if steps++; steps > maxSteps {
					return false, ErrTooComplex
				}
			}
			i := &b.prog.insts[pc]
			switch i.op {
			case iSplit:
				if limit >= 0 && i.det != nil {
					if pos < stop && i.det.has(text[pos]) {
						pc = i.out
					} else {
						pc = i.alt
					}
					continue
				}
				if len(b.visited) > 0 {
					bit := int(i.index)*(limit-start+1) + pos - start
					if b.visited[bit>>6]>>(bit&63)&1 != 0 {
						alive = false
						continue
					}
					b.visited[bit>>6] |= 1 << (bit & 63)
				}
				if len(b.stack) > maxStack {
					return false, ErrTooComplex
				}
				b.stack = append(b.stack, job{i.alt, pos})
				pc = i.out
			case iSave, iMark:
				b.stack = append(b.stack, job{int32(-1 - i.n), b.caps[i.n]})
				b.caps[i.n] = pos
				pc = i.out
			case iProgress:
				pc = i.out
				if b.caps[i.n] == pos {
					if alive = b.lenient || b.backrefs; b.backrefs {
						pc = i.alt
					}
				}
			case iAssert:
				alive = holdsAt(nodeOp(i.n), text, pos, b.multiline)
				pc = i.out
			case iBackref:
				from, to := b.caps[2*i.n], b.caps[2*i.n+1]
				n := -1
				if from >= 0 && to >= 0 {
					n = b.same(text[from:to], text[pos:stop])
				}
				alive = n >= 0
				pos += max(n, 0)
				pc = i.out
			case iMatch:
				alive = false
				if limit >= 0 {
					if pos == limit {
						return true, nil
					}
				} else if pos > b.best {
					if b.best = pos; pos == len(text) {
						return true, nil
					}
				}
			default:
				if pos >= stop {
					alive = false
					continue
				}
				r, size := decode(text[pos:stop])
				alive = i.takes(text[pos], r)
				pos += size
				pc = i.out
			}
		}
	}
	return false, nil
}

// same returns how many bytes of text are a repetition of group, or -1.
func (b *backtracker) same(group, text []byte) int {
	if bytes.HasPrefix(text, group) {
		return len(group)
	}
	if !b.fold {
		return -1
	}
	n := 0
	for len(group) > 0 {
		if n >= len(text) {
			return -1
		}
		r1, s1 := decode(group)
		r2, s2 := decode(text[n:])
		if r1 != r2 && unicode.ToLower(r1) != unicode.ToLower(r2) {
			return -1
		}
		group = group[s1:]
		n += s2
	}
	return n
}
