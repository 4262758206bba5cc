package bzip2

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// What the format says: symbols in a group that shares a table, and how long a
// code may be. Readers take up to 20 bits; bzip2 itself writes up to 17.
const (
	groupSize = 50
	maxCode   = 17
)

// code writes a transformed block: which bytes occur, the tables of codes,
// which group uses which, and the codes.
func (b *bits) code(last []byte) {
	var used [256]bool
	for _, c := range last {
		used[c] = true
	}
	var rows uint64
	for c, u := range used {
		if u {
			rows |= 1 << (15 - c/16)
		}
	}
	b.write(rows, 16)
	for r := range 16 {
		if rows>>(15-r)&1 == 0 {
			continue
		}
		var row uint64
		for _, u := range used[16*r : 16*r+16] {
			row <<= 1
			if u {
				row |= 1
			}
		}
		b.write(row, 16)
	}
	symbols, size := moveToFront(last, used)
	tables, choice := fit(symbols, size)
	b.write(uint64(len(tables)), 3)
	b.write(uint64(len(choice)), 15)
	front := []int{0, 1, 2, 3, 4, 5}
	for _, c := range choice {
		n := slices.Index(front, c)
		copy(front[1:n+1], front[:n])
		front[0] = c
		b.write(1<<(n+1)-2, uint(n+1)) // n ones and a zero
	}
	var codes [6][]uint32
	for i, t := range tables {
		b.lengths(t)
		codes[i] = assign(t)
	}
	for i, s := range symbols {
		c := choice[i/groupSize]
		b.write(uint64(codes[c][s]), uint(tables[c][s]))
	}
}

// moveToFront replaces each byte by how many others came since it came last.
// Zeros, which are frequent, become numbers of their count in the digits 1 and
// 2, written as the symbols 0 and 1; all other numbers move up by one. The last
// symbol ends the block. size is how many there are.
func moveToFront(last []byte, used [256]bool) (symbols []uint16, size int) {
	var front []byte
	for c, u := range used {
		if u {
			front = append(front, byte(c))
		}
	}
	size = len(front) + 2
	zeros := 0
	count := func() {
		for ; zeros > 0; zeros = (zeros - 1) / 2 {
			symbols = append(symbols, uint16(zeros-1)&1)
		}
	}
	for _, c := range last {
		if c == front[0] {
			zeros++
			continue
		}
		count()
		n := bytes.IndexByte(front, c)
		copy(front[1:n+1], front[:n])
		front[0] = c
		symbols = append(symbols, uint16(n+1))
	}
	count()
	return append(symbols, uint16(size-1)), size
}

// fit makes two to six tables of code lengths and chooses one of them for each
// group of symbols. It begins with tables that each know a part of the symbols,
// and lets choices and tables follow each other some rounds.
func fit(symbols []uint16, size int) (tables [][]uint8, choice []int) {
	n := 2
	for _, from := range []int{200, 600, 1200, 2400} {
		if len(symbols) >= from {
			n++
		}
	}
	freq := make([]int, size)
	for _, s := range symbols {
		freq[s]++
	}
	tables = make([][]uint8, n)
	from, left := 0, len(symbols)
	for t := range tables {
		part, to := 0, from
		for to < size && (part < left/(n-t) || t == n-1) {
			part += freq[to]
			to++
		}
		tables[t] = slices.Repeat([]uint8{15}, size)
		clear(tables[t][from:to])
		from, left = to, left-part
	}
	for range 4 {
		freqs := make([][]int, n)
		for t := range freqs {
			freqs[t] = make([]int, size)
		}
		choice = choice[:0]
		for group := range slices.Chunk(symbols, groupSize) {
			best, least := 0, math.MaxInt
			for t, lengths := range tables {
				cost := 0
				for _, s := range group {
					cost += int(lengths[s])
				}
				if cost < least {
					best, least = t, cost
				}
			}
			choice = append(choice, best)
			for _, s := range group {
				freqs[best][s]++
			}
		}
		for t := range tables {
			tables[t] = huffman(freqs[t])
		}
	}
	return tables, choice
}

// huffman returns how long the code of each symbol is. Frequencies are levelled
// until no code is too long; all symbols get one.
func huffman(freq []int) []uint8 {
	n := len(freq)
	weight := make([]int, n, 2*n)
	for i, f := range freq {
		weight[i] = max(1, f)
	}
	for {
		leaves := make([]int, n)
		for i := range leaves {
			leaves[i] = i
		}
		slices.SortStableFunc(leaves, func(a, b int) int { return cmp.Compare(weight[a], weight[b]) })
		weight = weight[:n]
		parent := make([]int, 2*n-1)
		inner := n // the first inner node without parent
		least := func() int {
			if len(leaves) > 0 && (inner == len(weight) || weight[leaves[0]] <= weight[inner]) {
				l := leaves[0]
				leaves = leaves[1:]
				return l
			}
			inner++
			return inner - 1
		}
		for range n - 1 {
			x, y := least(), least()
			parent[x], parent[y] = len(weight), len(weight)
			weight = append(weight, weight[x]+weight[y])
		}
		depth := make([]uint8, 2*n-1)
		longest := uint8(0)
		for i := 2*n - 3; i >= 0; i-- {
			depth[i] = depth[parent[i]] + 1
			longest = max(longest, depth[i])
		}
		if longest <= maxCode {
			return depth[:n]
		}
		for i := range n {
			weight[i] = weight[i]/2 + 1
		}
	}
}

// assign gives codes to lengths: short ones first, and in order.
func assign(lengths []uint8) []uint32 {
	codes := make([]uint32, len(lengths))
	next := uint32(0)
	for l := uint8(1); l <= maxCode; l++ {
		for s, have := range lengths {
			if have == l {
				codes[s] = next
				next++
			}
		}
		next <<= 1
	}
	return codes
}

// lengths writes a table: each length as the way from the one before.
func (b *bits) lengths(table []uint8) {
	at := table[0]
	b.write(uint64(at), 5)
	for _, l := range table {
		for ; at < l; at++ {
			b.write(0b10, 2)
		}
		for ; at > l; at-- {
			b.write(0b11, 2)
		}
		b.write(0, 1)
	}
}
