package posixre

import "unicode/utf8"

// reach is what can come next from a place in a program of characters: the
// bytes that may be taken, and whether the end may be reached without any.
type reach struct {
	set   bitset
	match bool
	big   bool // gave up
}

// maxReach bounds the look ahead from one place.
const maxReach = 200

// next computes what can come from pc.
func (p *prog) next(pc int32) reach {
	var r reach
	seen := map[int32]bool{}
	stack := []int32{pc}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		if len(seen) > maxReach {
			r.big = true
			return r
		}
		seen[pc] = true
		switch i := &p.insts[pc]; i.op {
		case iMatch:
			r.match = true
		case iSplit:
			stack = append(stack, i.out, i.alt)
		case iSave, iAssert, iMark, iProgress:
			stack = append(stack, i.out)
		case iBackref:
			r.set.add(0, 255)
			r.match = true
		default:
			i.addFirst(&r.set)
		}
	}
	return r
}

// addFirst adds the bytes that the characters of i start with.
func (i *inst) addFirst(set *bitset) {
	switch i.op {
	case iByte:
		set.add(i.lo, i.hi)
	case iSet:
		for k := range set {
			set[k] |= i.set[k]
		}
	case iRune:
		var buf [utf8.UTFMax]byte
		utf8.EncodeRune(buf[:], i.r)
		set.add(buf[0], buf[0])
	case iAnyRune:
		set.add(0, 0x7F)
		set.add(0xC2, 0xF4)
	case iClass:
		set[0] |= i.class.ascii[0]
		set[1] |= i.class.ascii[1]
		if i.class.neg || len(i.class.ranges) > 0 || len(i.class.props) > 0 {
			set.add(0xC2, 0xF4)
		}
	default:
		set.add(0, 255)
	}
}

// markDeterministic finds the splits where the next byte decides.
func (c *compiler) markDeterministic() {
	for pc := range c.insts {
		i := &c.insts[pc]
		if i.op != iSplit {
			continue
		}
		a, b := c.next(i.out), c.next(i.alt)
		common := a.set[0]&b.set[0] | a.set[1]&b.set[1] | a.set[2]&b.set[2] | a.set[3]&b.set[3]
		if common == 0 && !a.match && !a.big && !b.big {
			set := a.set
			i.det = &set
			continue
		}
		i.index = int32(c.splits)
		c.splits++
	}
}

// firstBytes returns the bytes that a match may start with, nil when that is
// no help.
func (p *prog) firstBytes() *[256]bool {
	r := p.next(p.start)
	if r.match || r.big {
		return nil
	}
	n := 0
	out := new([256]bool)
	for c := range out {
		if out[c] = r.set.has(byte(c)); out[c] {
			n++
		}
	}
	if n > 200 {
		return nil
	}
	return out
}
