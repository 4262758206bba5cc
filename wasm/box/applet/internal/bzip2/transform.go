package bzip2

import "slices"

// transform sorts all rotations of block (Burrows and Wheeler). It returns
// their last bytes, and where the block itself came to stand.
//
// The time is bounded whatever the block holds: each round sorts by twice as
// many bytes as the one before, and only what is still alike.
func transform(block []byte) (last []byte, origin int) {
	n := len(block)
	order := make([]int32, n) // rotations by where they begin
	rank := make([]int32, n)  // of the rotation that begins there: where those like it begin in order
	groups := begin(block, order, rank)
	var keys []uint64
	for by := 2; len(groups) > 0 && by < n; by *= 2 {
		var next []group
		for _, g := range groups {
			part := order[g.from:g.to]
			keys = keys[:0]
			for _, i := range part {
				j := int(i) + by
				if j >= n {
					j -= n
				}
				keys = append(keys, uint64(rank[j])<<32|uint64(i))
			}
			slices.Sort(keys)
			for k := range part {
				part[k] = int32(uint32(keys[k]))
			}
			for k := 0; k < len(keys); {
				end := k + 1
				for end < len(keys) && keys[end]>>32 == keys[k]>>32 {
					end++
				}
				for _, i := range part[k:end] {
					rank[i] = g.from + int32(k)
				}
				if end-k > 1 {
					next = append(next, group{g.from + int32(k), g.from + int32(end)})
				}
				k = end
			}
		}
		groups = next
	}
	last = make([]byte, n)
	for k, i := range order {
		if i == 0 {
			origin, i = k, int32(n)
		}
		last[k] = block[i-1]
	}
	return last, origin
}

// group is a part of the order whose rotations are alike so far.
type group struct{ from, to int32 }

// begin sorts by the first two bytes.
func begin(block []byte, order, rank []int32) (groups []group) {
	n := len(block)
	pair := func(i int) int {
		j := i + 1
		if j == n {
			j = 0
		}
		return int(block[i])<<8 | int(block[j])
	}
	at := make([]int32, 1<<16+1)
	for i := range n {
		at[pair(i)+1]++
	}
	for p := range 1 << 16 {
		at[p+1] += at[p]
		if at[p+1]-at[p] > 1 {
			groups = append(groups, group{at[p], at[p+1]})
		}
	}
	next := slices.Clone(at)
	for i := range n {
		p := pair(i)
		order[next[p]] = int32(i)
		rank[i] = at[p]
		next[p]++
	}
	return groups
}
