package posixre

// simulator runs a program of characters over all its threads at once. It is
// slower than the DFA, and knows what the DFA does not: the properties of
// characters outside ASCII.
type simulator struct {
	prog      *prog
	multiline bool
	cur, raw  threads
	stack     []int32
}

// threads keeps for each place in the program the earliest start that got
// there; those that started earlier come first.
type threads struct {
	sparse
	start []int
}

func (t *threads) add(pc int32, start int) bool {
	if !t.sparse.add(pc) {
		return false
	}
	t.start[pc] = start
	return true
}

// find returns the leftmost-longest match from from on; with any, it stops at
// the first match it sees.
func (s *simulator) find(text []byte, from int, any bool) (start, end int, ok bool) {
	if s.cur.at == nil {
		for _, t := range []*threads{&s.cur, &s.raw} {
			t.init(len(s.prog.insts))
			t.start = make([]int, len(s.prog.insts))
		}
	}
	s.raw.clear()
	best := -1
	for pos := from; ; {
		if !ok && !midRune(text, pos) {
			s.raw.add(s.prog.start, pos)
		}
		s.cur.clear()
		for _, pc := range s.raw.dense {
			if st := s.raw.start[pc]; !ok || st <= best {
				s.follow(text, pos, pc, st)
			}
		}
		s.raw.clear()
		r, size := rune(-1), 0
		if pos < len(text) {
			r, size = decode(text[pos:])
		}
		for _, pc := range s.cur.dense {
			st := s.cur.start[pc]
			i := &s.prog.insts[pc]
			switch {
			case i.op == iMatch:
				if !ok || st <= best {
					best, end, ok = st, pos, true
				}
				if any {
					return best, end, true
				}
			case size > 0 && i.takes(text[pos], r):
				s.raw.add(i.out, st)
			}
		}
		if size == 0 || ok && len(s.raw.dense) == 0 {
			return best, end, ok
		}
		pos += size
	}
}

// follow puts pc and all that it leads to without taking a character into
// s.cur.
func (s *simulator) follow(text []byte, pos int, pc int32, start int) {
	s.stack = append(s.stack[:0], pc)
	for len(s.stack) > 0 {
		pc := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		for s.cur.add(pc, start) {
			i := &s.prog.insts[pc]
			if i.op == iSplit {
				s.stack = append(s.stack, i.alt)
			} else if i.op == iAssert {
				if !holdsAt(nodeOp(i.n), text, pos, s.multiline) {
					break
				}
			} else if i.op != iSave && i.op != iMark && i.op != iProgress {
				break
			}
			pc = i.out
		}
	}
}

// takes tells whether i takes the character r that starts with byte b; r is
// -1 when b is not UTF-8.
func (i *inst) takes(b byte, r rune) bool {
	switch i.op {
	case iByte:
		return r < 0x80 && b >= i.lo && b <= i.hi
	case iSet:
		return r < 0x80 && i.set.has(b)
	case iRune:
		return r == i.r
	case iClass:
		return r >= 0 && i.class.has(r)
	case iAnyRune:
		return r >= 0 && (i.n == 0 || r != '\n')
	}
	return false
}

// holdsAt evaluates an assertion at pos.
func holdsAt(op nodeOp, text []byte, pos int, multiline bool) bool {
	switch op {
	case nBegin:
		return pos == 0 || multiline && text[pos-1] == '\n'
	case nEnd:
		return pos == len(text) || multiline && text[pos] == '\n'
	case nBufBegin:
		return pos == 0
	case nBufEnd:
		return pos == len(text)
	}
	before := pos > 0 && isWord(decodeLast(text[:pos]))
	after := false
	if pos < len(text) {
		r, _ := decode(text[pos:])
		after = isWord(r)
	}
	switch op {
	case nWordEdge:
		return before != after
	case nNoWordEdge:
		return before == after
	case nWordBegin:
		return !before && after
	case nWordEnd:
		return before && !after
	case nNoWordBefore:
		return !before
	case nNoWordAfter:
		return !after
	}
	return false
}
