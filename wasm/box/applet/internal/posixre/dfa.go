package posixre

// What came before a state, as far as the program's assertions ask.
const (
	ctxBegin   = 1 << iota // the text begins here
	ctxNewline             // a newline came before
	ctxWord                // a word character came before
)

// A dfa builds its states while it runs. It looks one byte ahead: a match
// that ends before a byte shows in the transition over that byte, so that $
// and \b need no second thought.
type dfa struct {
	prog     *prog
	opt      Options
	unanchor bool // a match may start anywhere; the first seen ends the search

	classes [256]uint8
	nclass  int     // byte classes; the symbol nclass is the end of the text
	repr    []byte  // one byte of each class
	sep     int     // class of the line separator in scan, or -1
	words   bool    // looks at word characters: bytes above 0x7F end it
	trans   []int32 // state*stride+symbol: see below
	stride  int
	states  []dstate
	ids     map[string]int32
	starts  [8]int32 // by context; 0: not yet made
	bytes   int      // memory that the states take, about

	set, next sparse
	stack     []int32
	key       []byte
}

type dstate struct {
	insts []int32 // before assertions and splits are followed
	ctx   uint8
}

// A transition is 0 when not yet known, else the next state's row shifted by
// two, with these bits.
const (
	trMatch = 1 // a match ended before this symbol
	trStop  = 2 // nothing can follow: dead when the row is 1, quit when 2
)

const (
	rowDead   = 1
	rowQuit   = 2
	firstRow  = 3
	maxMemory = 4 << 20 // of one dfa; then it starts afresh
)

func newDFA(p *prog, opt Options, unanchor bool) *dfa {
	d := &dfa{prog: p, opt: opt, unanchor: unanchor, sep: -1}
	d.words = p.uses(nWordEdge, nNoWordEdge, nWordBegin, nWordEnd, nNoWordBefore, nNoWordAfter)
	d.makeClasses()
	d.stride = d.nclass + 1
	d.set.init(len(p.insts))
	d.next.init(len(p.insts))
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.ids = map[string]int32{}
	d.states = make([]dstate, firstRow, 64)
	d.trans = make([]int32, firstRow*d.stride, 64*d.stride)
	d.starts = [8]int32{}
	d.bytes = 0
}

// makeClasses groups the bytes that the program never tells apart.
func (d *dfa) makeClasses() {
	var edge [257]bool
	cut := func(lo, hi int) { edge[lo], edge[hi+1] = true, true }
	sets := map[bitset]bool{}
	for i := range d.prog.insts {
		switch in := &d.prog.insts[i]; in.op {
		case iByte:
			cut(int(in.lo), int(in.hi))
		case iSet:
			sets[*in.set] = true
		}
	}
	for s := range sets {
		for c := 1; c < 256; c++ {
			if s.has(byte(c)) != s.has(byte(c-1)) {
				edge[c] = true
			}
		}
	}
	if d.opt.HasSep {
		cut(int(d.opt.Sep), int(d.opt.Sep))
	}
	if d.opt.Multiline {
		cut('\n', '\n')
	}
	if d.words {
		for c := 1; c < 128; c++ {
			if isWord(rune(c)) != isWord(rune(c-1)) {
				edge[c] = true
			}
		}
	}
	cut(0, 0x7F)
	for c := 0; c < 256; c++ {
		if edge[c] && c > 0 {
			d.nclass++
		}
		d.classes[c] = uint8(d.nclass)
		if len(d.repr) <= d.nclass {
			d.repr = append(d.repr, byte(c))
		}
	}
	d.nclass++
	if d.opt.HasSep {
		d.sep = int(d.classes[d.opt.Sep])
	}
}

// ctxOf is the context after byte b.
func (d *dfa) ctxOf(b byte) uint8 {
	var ctx uint8
	if d.opt.Multiline && b == '\n' {
		ctx |= ctxNewline
	}
	if d.words && b < 0x80 && isWord(rune(b)) {
		ctx |= ctxWord
	}
	return ctx
}

// holds evaluates an assertion between what came before and the next symbol:
// a byte, or -1 at the end of the text.
func (d *dfa) holds(op nodeOp, ctx uint8, next int) bool {
	prev := ctx&ctxWord != 0
	word := next >= 0 && isWord(rune(next))
	switch op {
	case nBegin:
		return ctx&(ctxBegin|ctxNewline) != 0
	case nEnd:
		return next < 0 || d.opt.Multiline && next == '\n'
	case nBufBegin:
		return ctx&ctxBegin != 0
	case nBufEnd:
		return next < 0
	case nWordEdge:
		return prev != word
	case nNoWordEdge:
		return prev == word
	case nWordBegin:
		return !prev && word
	case nWordEnd:
		return prev && !word
	case nNoWordBefore:
		return !prev
	case nNoWordAfter:
		return !word
	}
	return false
}

// follow puts pc and all that it leads to without taking a byte into d.set.
func (d *dfa) follow(pc int32, ctx uint8, next int) {
	d.stack = append(d.stack[:0], pc)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		for d.set.add(pc) {
			i := &d.prog.insts[pc]
			if i.op == iSplit {
				d.stack = append(d.stack, i.alt)
			} else if i.op != iAssert || !d.holds(nodeOp(i.n), ctx, next) {
				break
			}
			pc = i.out
		}
	}
}

// step computes the transition of a state over a symbol.
func (d *dfa) step(row int32, sym int) int32 {
	st := d.states[row]
	next := -1
	if sym < d.nclass && sym != d.sepIfLine() {
		next = int(d.repr[sym])
	}
	if next >= 0x80 && d.words {
		return rowQuit<<2 | trStop
	}
	d.set.clear()
	for _, pc := range st.insts {
		d.follow(pc, st.ctx, next)
	}
	var flags int32
	d.next.clear()
	for _, pc := range d.set.dense {
		i := &d.prog.insts[pc]
		switch i.op {
		case iMatch:
			flags = trMatch
		case iByte:
			if next >= int(i.lo) && next <= int(i.hi) {
				d.next.add(i.out)
			}
		case iSet:
			if next >= 0 && i.set.has(byte(next)) {
				d.next.add(i.out)
			}
		case iAnyByte:
			if next >= 0 {
				d.next.add(i.out)
			}
		case iWide:
			if next >= 0x80 {
				return rowQuit<<2 | trStop
			}
		}
	}
	if next < 0 {
		if sym < d.nclass { // the next line starts
			return d.start(ctxBegin)<<2 | flags
		}
		return rowDead<<2 | trStop | flags
	}
	if d.unanchor {
		d.next.add(d.prog.start)
	}
	if len(d.next.dense) == 0 {
		return rowDead<<2 | trStop | flags
	}
	return d.state(d.next.dense, d.ctxOf(byte(next)))<<2 | flags
}

func (d *dfa) sepIfLine() int {
	if d.unanchor {
		return d.sep
	}
	return -1
}

func (d *dfa) start(ctx uint8) int32 {
	if d.starts[ctx] == 0 {
		d.starts[ctx] = d.state([]int32{d.prog.start}, ctx)
	}
	return d.starts[ctx]
}

// state returns the row of a state, made if it is new.
func (d *dfa) state(insts []int32, ctx uint8) int32 {
	d.key = append(d.key[:0], ctx)
	for _, pc := range insts {
		d.key = append(d.key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	if row, ok := d.ids[string(d.key)]; ok {
		return row
	}
	row := int32(len(d.states))
	d.ids[string(d.key)] = row
	d.states = append(d.states, dstate{append([]int32(nil), insts...), ctx})
	for range d.stride {
		d.trans = append(d.trans, 0)
	}
	d.bytes += 8*len(insts) + 4*d.stride + 100
	return row
}

// move returns the transition of row over sym. When the states have outgrown
// their memory it drops them all first; row is then no longer valid, the
// transition is.
func (d *dfa) move(row int32, sym int) int32 {
	at := int(row)*d.stride + sym
	if t := d.trans[at]; t != 0 {
		return t
	}
	if d.bytes > maxMemory {
		st := d.states[row]
		d.reset()
		row = d.state(st.insts, st.ctx)
		at = int(row)*d.stride + sym
	}
	t := d.step(row, sym)
	d.trans[at] = t
	return t
}

// exists tells whether text, one line, holds a match.
func (d *dfa) exists(text []byte) (found, quit bool) {
	row := d.start(ctxBegin)
	for i := 0; i <= len(text); i++ {
		sym := d.nclass
		if i < len(text) {
			sym = int(d.classes[text[i]])
		}
		t := d.trans[int(row)*d.stride+sym]
		if t == 0 {
			t = d.move(row, sym)
		}
		if t&(trMatch|trStop) != 0 {
			if t&trMatch != 0 {
				return true, false
			}
			return false, t>>2 == rowQuit
		}
		row = t >> 2
	}
	return false, false
}

// scan returns a position in the first line at or after from, where a line
// starts, that holds a match; with quit, in a line that it cannot judge. -1:
// no such line.
func (d *dfa) scan(text []byte, from int) (pos int, quit bool) {
	row := int(d.start(ctxBegin))
	stride := d.stride
	classes := &d.classes
	for i := from; i < len(text); i++ {
		sym := int(classes[text[i]])
		t := d.trans[row*stride+sym]
		if t&(trMatch|trStop) != 0 || t == 0 {
			if t == 0 {
				t = d.move(int32(row), sym)
			}
			if t&trMatch != 0 {
				return i, false
			}
			if t&trStop != 0 {
				return i, true
			}
		}
		row = int(t >> 2)
	}
	if len(text) == from || d.sep >= 0 && text[len(text)-1] == d.opt.Sep {
		return -1, false
	}
	t := d.move(int32(row), d.nclass)
	if t&trMatch != 0 {
		return len(text), false
	}
	return -1, false
}

// longestAt returns the end of the longest match that starts at pos, or -1,
// and how far it had to look.
func (d *dfa) longestAt(text []byte, pos int) (end, seen int, quit bool) {
	ctx := uint8(ctxBegin)
	if pos > 0 {
		if d.words && text[pos-1] >= 0x80 {
			return -1, pos, true
		}
		ctx = d.ctxOf(text[pos-1])
	}
	row := int(d.start(ctx))
	end = -1
	for i := pos; ; i++ {
		sym := d.nclass
		if i < len(text) {
			sym = int(d.classes[text[i]])
		}
		t := d.trans[row*d.stride+sym]
		if t&(trMatch|trStop) != 0 || t == 0 {
			if t == 0 {
				t = d.move(int32(row), sym)
			}
			if t&trMatch != 0 {
				end = i
			}
			if t&trStop != 0 {
				return end, i, t>>2 == rowQuit
			}
		}
		row = int(t >> 2)
	}
}

// sparse is a set of small numbers that is cleared at no cost.
type sparse struct {
	dense []int32
	at    []int32
}

func (s *sparse) init(n int) { s.at = make([]int32, n) }
func (s *sparse) clear()     { s.dense = s.dense[:0] }
func (s *sparse) add(v int32) bool {
	if i := s.at[v]; int(i) < len(s.dense) && s.dense[i] == v {
		return false
	}
	s.at[v] = int32(len(s.dense))
	s.dense = append(s.dense, v)
	return true
}
