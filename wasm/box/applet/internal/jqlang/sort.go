package jqlang

import "sort"

type keyed struct {
	v   any
	key []any
}

func ordered(items []any, keys [][]any) []keyed {
	out := make([]keyed, len(items))
	for i := range items {
		out[i] = keyed{items[i], keys[i]}
	}
	sort.SliceStable(out, func(i, j int) bool { return compareKeys(out[i].key, out[j].key) < 0 })
	return out
}

func compareKeys(a, b []any) int {
	if len(a) == 1 && len(b) == 1 {
		return Compare(a[0], b[0])
	}
	return Compare(a, b)
}

func sortBy(items []any, keys [][]any) any {
	out := make([]any, len(items))
	for i, k := range ordered(items, keys) {
		out[i] = k.v
	}
	return out
}

func groupBy(items []any, keys [][]any) any {
	out := []any{}
	var group []any
	var last []any
	for i, k := range ordered(items, keys) {
		if i > 0 && compareKeys(last, k.key) != 0 {
			out = append(out, group)
			group = nil
		}
		group, last = append(group, k.v), k.key
	}
	if group != nil {
		out = append(out, group)
	}
	return out
}

func uniqueBy(items []any, keys [][]any) any {
	out := []any{}
	var last []any
	for i, k := range ordered(items, keys) {
		if i == 0 || compareKeys(last, k.key) != 0 {
			out = append(out, k.v)
		}
		last = k.key
	}
	return out
}

func minBy(items []any, keys [][]any) any {
	best := -1
	for i := range items {
		if best < 0 || compareKeys(keys[i], keys[best]) < 0 {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return items[best]
}

func maxBy(items []any, keys [][]any) any {
	best := -1
	for i := range items {
		if best < 0 || compareKeys(keys[i], keys[best]) >= 0 {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return items[best]
}

// itself are the keys of items that are ordered by themselves.
func itself(items []any) [][]any {
	keys := make([][]any, len(items))
	for i := range items {
		keys[i] = items[i : i+1]
	}
	return keys
}
