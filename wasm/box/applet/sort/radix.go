package sort

import (
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"github.com/donax-sh/donax/wasm/box/applet/internal/word"
)

// entry is a line on its way to its place: a number that orders it as far as
// the numbers differ, and the line.
type entry struct {
	order uint64
	line  int32
	state state
}

// state is what an equal order means.
type state uint8

const (
	decided state = iota // the keys are equal
	longer               // the keys are equal so far: their next 8 bytes decide
	unsure               // only a comparison tells
)

// sort returns the order of the lines.
//
// It goes by digits and not by comparisons: each line gets a number made from
// the first 8 bytes, or the value, of its key; the numbers are sorted by radix,
// which is stable; and where they are equal the next 8 bytes, then the next
// key, then the whole line follow in the same way.
func (s *sorter) sort() []int32 {
	entries := make([]entry, len(s.lines))
	for i := range entries {
		entries[i].line = int32(i)
	}
	s.spare = make([]entry, len(entries))
	s.sortRun(entries, 0, 0)
	order := make([]int32, len(entries))
	for i := range entries {
		order[i] = entries[i].line
	}
	return order
}

// sortRun sorts entries whose keys before k, and whose first depth bytes of k,
// are equal. Key number len(s.keys) is the whole line.
func (s *sorter) sortRun(run []entry, k, depth int) {
	for len(run) > 1 {
		if k > len(s.keys) || k == len(s.keys) && k > 0 && (s.stable || s.unique) {
			return
		}
		if len(run) <= 12 && (k > 0 || depth > 0) {
			s.insert(run, k)
			return
		}
		s.number(run, k, depth)
		radix(run, s.spare[:len(run)])
		if run[0].order != run[len(run)-1].order {
			break
		}
		// All equal: go on without going deeper into the stack, which the
		// length of equal lines must not bound.
		switch sameState(run) {
		case decided:
			k, depth = k+1, 0
		case longer:
			depth += 8
		default:
			s.byComparison(run, k)
			return
		}
	}
	for i := 0; i < len(run); {
		j := i + 1
		for j < len(run) && run[j].order == run[i].order {
			j++
		}
		if j-i > 1 {
			switch sameState(run[i:j]) {
			case decided:
				s.sortRun(run[i:j], k+1, 0)
			case longer:
				s.sortRun(run[i:j], k, depth+8)
			default:
				s.byComparison(run[i:j], k)
			}
		}
		i = j
	}
}

func sameState(run []entry) state {
	for i := range run {
		if run[i].state != run[0].state {
			return unsure
		}
	}
	return run[0].state
}

func (s *sorter) byComparison(run []entry, k int) {
	slices.SortStableFunc(run, func(a, b entry) int {
		return s.compareFrom(&s.lines[a.line], &s.lines[b.line], k)
	})
}

func (s *sorter) insert(run []entry, k int) {
	for i := 1; i < len(run); i++ {
		e := run[i]
		j := i
		for j > 0 && s.compareFrom(&s.lines[run[j-1].line], &s.lines[e.line], k) > 0 {
			run[j] = run[j-1]
			j--
		}
		run[j] = e
	}
}

// number sets the entries' orders from key k, depth bytes into it.
func (s *sorter) number(run []entry, k, depth int) {
	flip := uint64(0)
	whole := k == len(s.keys)
	if whole && s.reverse || !whole && s.keys[k].reverse {
		flip = math.MaxUint64
	}
	for i := range run {
		e := &run[i]
		l := &s.lines[e.line]
		if whole {
			e.order, e.state = bytesOrder(s.text[l.start:l.end], depth)
		} else {
			e.order, e.state = s.keys[k].order(s.keyText(l, k), depth)
		}
		e.order ^= flip
	}
}

// bytesOrder makes a number of 8 bytes of text. Shorter text ends in zeros:
// the state of such lines differs by length, so that a NUL is not an end.
func bytesOrder(text []byte, depth int) (uint64, state) {
	text = text[min(depth, len(text)):]
	if len(text) >= 8 {
		return bits.ReverseBytes64(word.Load(text)), longer
	}
	n := uint64(0)
	if cap(text) >= 8 { // what follows is of the next line, and is taken off again
		n = bits.ReverseBytes64(word.Load(text[:8]))
	} else {
		for i, c := range text {
			n |= uint64(c) << (56 - 8*i)
		}
	}
	rest := ^uint64(0) >> (8 * len(text))
	const low, high = 0x0101010101010101, 0x8080808080808080
	if x := n | rest; (x-low)&^x&high != 0 { // one of the bytes is NUL
		return n &^ rest, unsure
	}
	return n &^ rest, decided
}

func (k *key) order(text []byte, depth int) (uint64, state) {
	switch k.kind {
	case byBytes:
		if !k.dict && !k.print && !k.fold {
			return bytesOrder(text, depth)
		}
		n := uint64(0)
		shift := 56
		for _, c := range text {
			if k.ignores(c) {
				continue
			}
			if shift < 0 {
				return n, unsure
			}
			if c = k.folded(c); c == 0 {
				return n, unsure
			}
			n |= uint64(c) << shift
			shift -= 8
		}
		return n, decided
	case byNumber:
		return numberOrder(text)
	case byHuman:
		n, st := numberOrder(text)
		u := unitOrder(text)
		v := int64(n ^ 1<<63)
		// Seven bits for the unit; a value that does not fit is compared.
		if v >= 1<<56 || v < -1<<56 {
			v, st = max(min(v, 1<<56-1), -1<<56), unsure
		}
		return uint64(u+32)<<57 + uint64(v+1<<56), st
	case byGeneral:
		f, ok := general(text)
		switch {
		case !ok:
			return 0, decided
		case math.IsNaN(f):
			return 1, decided
		case f == 0:
			f = 0 // -0 is 0
		}
		bits := math.Float64bits(f + 0)
		if bits>>63 == 1 {
			return ^bits, decided
		}
		return bits | 1<<63, decided
	case byMonth:
		return uint64(month(text)), decided
	case byRandom:
		return maphash.Bytes(seed, text), unsure
	}
	return 0, unsure
}

// numberOrder makes a number of a decimal one: up to 12 digits before the
// point and 6 after it, the rest needs a comparison.
func numberOrder(text []byte) (uint64, state) {
	x := parseNumber(text)
	st := decided
	v := int64(0)
	switch {
	case len(x.digits) > 12:
		v, st = 1e18, unsure
	default:
		for _, d := range x.digits {
			v = v*10 + int64(d-'0')
		}
		for i := range 6 {
			v *= 10
			if i < len(x.after) {
				v += int64(x.after[i] - '0')
			}
		}
		if len(x.after) > 6 {
			st = unsure
		}
	}
	if x.negative {
		v = -v
	}
	return uint64(v) ^ 1<<63, st
}

// radix sorts run by order; spare is as long as run.
func radix(run, spare []entry) {
	// Counting digits costs as much for few entries as for some thousand.
	if len(run) <= 2000 {
		mergeSort(run, spare)
		return
	}
	var counts [8][256]int32
	for i := range run {
		o := run[i].order
		for d := range 8 {
			counts[d][byte(o)]++
			o >>= 8
		}
	}
	from, to := run, spare
	for d := range 8 {
		c := &counts[d]
		shift := 8 * d
		if c[byte(from[0].order>>shift)] == int32(len(run)) {
			continue // the same in all
		}
		sum := int32(0)
		for i, n := range c {
			c[i] = sum
			sum += n
		}
		for i := range from {
			b := byte(from[i].order >> shift)
			to[c[b]] = from[i]
			c[b]++
		}
		from, to = to, from
	}
	if &from[0] != &run[0] {
		copy(run, from)
	}
}

// mergeSort sorts run by order and leaves equal entries as they are.
func mergeSort(run, spare []entry) {
	const chunk = 16
	for at := 0; at < len(run); at += chunk {
		part := run[at:min(at+chunk, len(run))]
		for i := 1; i < len(part); i++ {
			e := part[i]
			j := i
			for j > 0 && part[j-1].order > e.order {
				part[j] = part[j-1]
				j--
			}
			part[j] = e
		}
	}
	from, to := run, spare
	for width := chunk; width < len(run); width *= 2 {
		for at := 0; at < len(run); at += 2 * width {
			mid, end := min(at+width, len(run)), min(at+2*width, len(run))
			merge(to[at:end], from[at:mid], from[mid:end])
		}
		from, to = to, from
	}
	if &from[0] != &run[0] {
		copy(run, from)
	}
}

// merge merges two sorted parts; of equal entries those of a come first.
func merge(to, a, b []entry) {
	for i := range to {
		if len(b) == 0 || len(a) > 0 && a[0].order <= b[0].order {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
	}
}
