package posixre

import "unicode/utf8"

type instOp uint8

const (
	iMatch    instOp = iota
	iSplit           // out before alt
	iSave            // n: slot
	iAssert          // n: the node's op
	iByte            // lo..hi
	iSet             // set
	iRune            // r
	iClass           // class
	iAnyRune         // any character; n is 1 when not a newline
	iWide            // a character that only the other program can judge
	iAnyByte         // any byte at all
	iBackref         // n: group
	iMark            // n: slot that keeps the place where a turn of a loop began
	iProgress        // n: that slot: fails when the turn took nothing, or leaves the loop to alt
)

type inst struct {
	op       instOp
	lo, hi   byte
	r        rune
	n        int
	out, alt int32
	set      *bitset
	class    *class
	// Of a split: when the next byte is in det, only out can lead to a match,
	// and else only alt. Else index counts the splits without that.
	det   *bitset
	index int32
}

// bitset is a set of bytes.
type bitset [4]uint64

func (b *bitset) has(c byte) bool { return b[c>>6]>>(c&63)&1 != 0 }
func (b *bitset) add(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		b[c>>6] |= 1 << (c & 63)
	}
}

type prog struct {
	insts   []inst
	start   int32
	slots   int // captures and loop marks
	splits  int // that need remembering
	asserts uint32
	wide    bool // holds iWide
}

// uses tells whether the program holds the assertion.
func (p *prog) uses(ops ...nodeOp) bool {
	for _, op := range ops {
		if p.asserts>>op&1 != 0 {
			return true
		}
	}
	return false
}

// maxInsts bounds a program: intervals of intervals grow without end.
const maxInsts = 120_000

type compiler struct {
	prog
	opt      Options
	bytes    bool
	backrefs bool
	err      error
	shared   map[inst]int32
}

// compile makes the program of bytes that the DFA runs or the one of
// characters that the others run.
func compile(root *node, groups int, opt Options, bytes, backrefs bool) (*prog, error) {
	c := &compiler{opt: opt, bytes: bytes, backrefs: backrefs, shared: map[inst]int32{}}
	c.slots = 2*groups + 2
	match := c.emit(inst{op: iMatch})
	c.start = c.node(root, match)
	if c.err != nil {
		return nil, c.err
	}
	if !bytes {
		c.markDeterministic()
	}
	p := c.prog
	return &p, nil
}

func (c *compiler) emit(i inst) int32 {
	if len(c.insts) >= maxInsts {
		c.err = errTooBig
		return 0
	}
	c.insts = append(c.insts, i)
	return int32(len(c.insts) - 1)
}

// share emits a byte range unless the same is there: the tails of UTF-8
// sequences are common to many.
func (c *compiler) share(lo, hi byte, out int32) int32 {
	i := inst{op: iByte, lo: lo, hi: hi, out: out}
	if at, ok := c.shared[i]; ok {
		return at
	}
	at := c.emit(i)
	c.shared[i] = at
	return at
}

func (c *compiler) split(out, alt int32) int32 { return c.emit(inst{op: iSplit, out: out, alt: alt}) }

// choose joins alternatives, the first preferred.
func (c *compiler) choose(alts []int32) int32 {
	if len(alts) == 0 {
		return c.emit(inst{op: iSet, set: new(bitset)})
	}
	cur := alts[len(alts)-1]
	for i := len(alts) - 2; i >= 0; i-- {
		cur = c.split(alts[i], cur)
	}
	return cur
}

// node compiles n so that it goes on at next, and returns where it starts.
func (c *compiler) node(n *node, next int32) int32 {
	if c.err != nil {
		return next
	}
	switch n.op {
	case nEmpty:
		return next
	case nRune:
		return c.rune(n.r, next)
	case nByte:
		return c.emit(inst{op: iByte, lo: byte(n.r), hi: byte(n.r), out: next})
	case nAny:
		return c.any(next)
	case nClass:
		return c.class(n.class, next)
	case nCat:
		for i := len(n.subs) - 1; i >= 0; i-- {
			next = c.node(n.subs[i], next)
		}
		return next
	case nAlt:
		alts := make([]int32, len(n.subs))
		for i, s := range n.subs {
			alts[i] = c.node(s, next)
		}
		return c.choose(alts)
	case nTrie:
		return c.trie(n.texts, 0, next)
	case nRepeat:
		return c.repeat(n, next)
	case nGroup:
		if c.bytes {
			return c.node(n.subs[0], next)
		}
		end := c.emit(inst{op: iSave, n: 2*n.n + 1, out: next})
		return c.emit(inst{op: iSave, n: 2 * n.n, out: c.node(n.subs[0], end)})
	case nBackref:
		if c.bytes { // whatever it stands for
			loop := c.split(0, next)
			c.insts[loop].out = c.emit(inst{op: iAnyByte, out: loop})
			return loop
		}
		return c.emit(inst{op: iBackref, n: n.n, out: next})
	}
	c.asserts |= 1 << n.op
	return c.emit(inst{op: iAssert, n: int(n.op), out: next})
}

func (c *compiler) repeat(n *node, next int32) int32 {
	sub := n.subs[0]
	cur, min := next, n.min
	switch {
	case n.max < 0:
		loop := c.split(0, next)
		body := c.loopBody(sub, loop, next)
		c.insts[loop].out = body
		cur = loop
		if min > 0 && !(c.backrefs && sub.nullable()) {
			cur = body
			min--
		}
	default:
		for i := n.min; i < n.max && c.err == nil; i++ {
			cur = c.split(c.loopBody(sub, cur, next), next)
		}
	}
	for ; min > 0 && c.err == nil; min-- {
		cur = c.node(sub, cur)
	}
	return cur
}

// loopBody compiles one turn of a loop that need not be taken. A turn that
// takes nothing counts as none: its groups stay as they were (with
// back-references it sets them and ends the loop), and a
// backtracker that does not remember where it was does not turn for ever.
func (c *compiler) loopBody(sub *node, loop, next int32) int32 {
	if c.bytes || !sub.nullable() {
		return c.node(sub, loop)
	}
	slot := c.slots
	c.slots++
	check := c.emit(inst{op: iProgress, n: slot, out: loop, alt: next})
	return c.emit(inst{op: iMark, n: slot, out: c.node(sub, check)})
}

func (c *compiler) rune(r rune, next int32) int32 {
	if !c.bytes {
		return c.emit(inst{op: iRune, r: r, out: next})
	}
	var buf [utf8.UTFMax]byte
	for i := utf8.EncodeRune(buf[:], r) - 1; i >= 0; i-- {
		next = c.emit(inst{op: iByte, lo: buf[i], hi: buf[i], out: next})
	}
	return next
}

func (c *compiler) any(next int32) int32 {
	noNewline := c.opt.Multiline || c.opt.NoNewline
	if !c.bytes {
		i := inst{op: iAnyRune, out: next}
		if noNewline {
			i.n = 1
		}
		return c.emit(i)
	}
	set := new(bitset)
	set.add(0, 0x7F)
	if noNewline {
		set['\n'>>6] &^= 1 << '\n'
	}
	alts := c.wideRanges([]rune{0x80, utf8.MaxRune}, next)
	return c.choose(append([]int32{c.emit(inst{op: iSet, set: set, out: next})}, alts...))
}

func (c *compiler) class(cl *class, next int32) int32 {
	if !c.bytes {
		return c.emit(inst{op: iClass, class: cl, out: next})
	}
	set := &bitset{cl.ascii[0], cl.ascii[1]}
	alts := []int32{c.emit(inst{op: iSet, set: set, out: next})}
	if len(cl.props) > 0 {
		c.wide = true
		alts = append(alts, c.emit(inst{op: iWide, out: next}))
	} else {
		alts = append(alts, c.wideRanges(cl.wide(), next)...)
	}
	return c.choose(alts)
}

// wideRanges compiles ranges of characters that need several bytes.
func (c *compiler) wideRanges(ranges []rune, next int32) []int32 {
	var alts []int32
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		for _, part := range [][2]rune{{0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, utf8.MaxRune}} {
			if l, h := max(lo, part[0]), min(hi, part[1]); l <= h {
				var a, b [utf8.UTFMax]byte
				n := utf8.EncodeRune(a[:], l)
				utf8.EncodeRune(b[:], h)
				alts = append(alts, c.byteRange(a[:n], b[:n], next)...)
			}
		}
	}
	return alts
}

// byteRange compiles the sequences of equal length from lo to hi.
func (c *compiler) byteRange(lo, hi []byte, next int32) []int32 {
	if len(lo) == 1 {
		return []int32{c.share(lo[0], hi[0], next)}
	}
	full := func(b []byte, v byte) bool {
		for _, x := range b {
			if x != v {
				return false
			}
		}
		return true
	}
	fill := func(v byte) []byte {
		b := make([]byte, len(lo)-1)
		for i := range b {
			b[i] = v
		}
		return b
	}
	var alts []int32
	head := func(l, h byte, tails []int32) {
		alts = append(alts, c.share(l, h, c.choose(tails)))
	}
	l, h := lo[0], hi[0]
	if l == h {
		head(l, h, c.byteRange(lo[1:], hi[1:], next))
		return alts
	}
	if !full(lo[1:], 0x80) {
		head(l, l, c.byteRange(lo[1:], fill(0xBF), next))
		l++
	}
	last := !full(hi[1:], 0xBF)
	if last {
		h--
	}
	if l <= h {
		head(l, h, c.byteRange(fill(0x80), fill(0xBF), next))
	}
	if last {
		head(hi[0], hi[0], c.byteRange(fill(0x80), hi[1:], next))
	}
	return alts
}

// trie compiles sorted texts that are equal up to off.
func (c *compiler) trie(texts []string, off int, next int32) int32 {
	var alts []int32
	ends := false
	for len(texts) > 0 && len(texts[0]) == off {
		ends = true
		texts = texts[1:]
	}
	for len(texts) > 0 && c.err == nil {
		size := 1
		r := rune(texts[0][off])
		raw := true
		if !c.bytes {
			if dr, n := utf8.DecodeRuneInString(texts[0][off:]); dr != utf8.RuneError || n > 1 {
				r, size, raw = dr, n, false
			}
		}
		n := 1
		for n < len(texts) && len(texts[n]) >= off+size && texts[n][off:off+size] == texts[0][off:off+size] {
			n++
		}
		tail := c.trie(texts[:n], off+size, next)
		if raw {
			alts = append(alts, c.emit(inst{op: iByte, lo: byte(r), hi: byte(r), out: tail}))
		} else {
			alts = append(alts, c.emit(inst{op: iRune, r: r, out: tail}))
		}
		texts = texts[n:]
	}
	if ends {
		alts = append(alts, next)
	}
	return c.choose(alts)
}
