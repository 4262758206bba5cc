package sort

// mergeOrder returns the order of the lines of sorted files, of which ends
// holds the ends: always the least of the files' next lines, the first of
// equal ones.
func (s *sorter) mergeOrder(ends []int) []int32 {
	at := make([]int, len(ends))
	for i := 1; i < len(ends); i++ {
		at[i] = ends[i-1]
	}
	order := make([]int32, 0, len(s.lines))
	for len(order) < len(s.lines) {
		best := -1
		for i, end := range ends {
			if at[i] < end && (best < 0 || s.compare(&s.lines[at[best]], &s.lines[at[i]]) > 0) {
				best = i
			}
		}
		order = append(order, int32(at[best]))
		at[best]++
	}
	return order
}
