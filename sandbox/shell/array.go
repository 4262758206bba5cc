package shell

import (
	"cmp"
	"maps"
	"slices"
)

// An indexed is a sparse array: dense while its keys are 0..n-1, else with a
// sorted list of keys.
type indexed struct {
	keys []int64 // nil while dense
	vals []string
}

func (a *indexed) clone() *indexed {
	return &indexed{keys: slices.Clone(a.keys), vals: slices.Clone(a.vals)}
}

func (a *indexed) len() int {
	if a == nil {
		return 0
	}
	return len(a.vals)
}

func (a *indexed) find(k int64) (int, bool) {
	if a == nil {
		return 0, false
	}
	if a.keys == nil {
		if k < int64(len(a.vals)) {
			return int(k), true
		}
		return len(a.vals), false
	}
	return slices.BinarySearch(a.keys, k)
}

func (a *indexed) get(k int64) (string, bool) {
	if i, ok := a.find(k); ok {
		return a.vals[i], true
	}
	return "", false
}

func (a *indexed) set(k int64, v string) {
	i, ok := a.find(k)
	if ok {
		a.vals[i] = v
		return
	}
	if a.keys == nil && k == int64(len(a.vals)) {
		a.vals = append(a.vals, v)
		return
	}
	a.sparse()
	a.keys = slices.Insert(a.keys, i, k)
	a.vals = slices.Insert(a.vals, i, v)
}

func (a *indexed) sparse() {
	if a.keys == nil {
		a.keys = make([]int64, len(a.vals), len(a.vals)+1)
		for i := range a.keys {
			a.keys[i] = int64(i)
		}
	}
}

func (a *indexed) del(k int64) {
	i, ok := a.find(k)
	if !ok {
		return
	}
	if a.keys == nil && i == len(a.vals)-1 {
		a.vals = a.vals[:i]
		return
	}
	a.sparse()
	a.keys = slices.Delete(a.keys, i, i+1)
	a.vals = slices.Delete(a.vals, i, i+1)
}

func (a *indexed) key(i int) int64 {
	if a.keys == nil {
		return int64(i)
	}
	return a.keys[i]
}

// next is the key after the last one.
func (a *indexed) next() int64 {
	if a.len() == 0 {
		return 0
	}
	return a.key(len(a.vals)-1) + 1
}

// An assoc is an associative array. Keys are walked in the order of bash's
// own hash table (FNV-1 into a power of two of buckets, newest first in a
// bucket), so that scripts print the same.
type assoc struct {
	m     map[string]*entry
	count uint64
	nb    uint32
}

type entry struct {
	key, val string
	hash     uint32
	seq      uint64
}

const assocBuckets = 1024

func newAssoc() *assoc { return &assoc{m: map[string]*entry{}, nb: assocBuckets} }

func (a *assoc) clone() *assoc {
	c := &assoc{m: make(map[string]*entry, len(a.m)), count: a.count, nb: a.nb}
	for k, e := range a.m {
		d := *e
		c.m[k] = &d
	}
	return c
}

func (a *assoc) len() int {
	if a == nil {
		return 0
	}
	return len(a.m)
}

func (a *assoc) get(k string) (string, bool) {
	if a == nil {
		return "", false
	}
	e, ok := a.m[k]
	if !ok {
		return "", false
	}
	return e.val, true
}

func (a *assoc) set(k, v string) {
	if e, ok := a.m[k]; ok {
		e.val = v
		return
	}
	if uint32(len(a.m)) >= a.nb*2 {
		a.nb *= 4
	}
	h := uint32(2166136261)
	for i := 0; i < len(k); i++ {
		h *= 16777619
		h ^= uint32(int32(int8(k[i])))
	}
	a.count++
	a.m[k] = &entry{key: k, val: v, hash: h, seq: a.count}
}

func (a *assoc) del(k string) { delete(a.m, k) }

// entries returns the elements in order.
func (a *assoc) entries() []*entry {
	if a == nil {
		return nil
	}
	mask := a.nb - 1
	return slices.SortedFunc(maps.Values(a.m), func(x, y *entry) int {
		return cmp.Or(cmp.Compare(x.hash&mask, y.hash&mask), cmp.Compare(y.seq, x.seq))
	})
}

func (a *assoc) keys() []string {
	es := a.entries()
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = e.key
	}
	return out
}
