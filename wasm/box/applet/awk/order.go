package awk

import (
	"cmp"
	"sort"
	"strings"
)

// element is a key of an array with its value, for an order.
type element struct {
	key string
	v   *value
	n   float64 // of the key, where it is a number
	num bool
}

// keys returns the keys of a in the order that PROCINFO["sorted_in"] asks for;
// without it numbers come first, then texts.
func (m *machine) keys(a *array) []string {
	how := ""
	if v := m.vars["PROCINFO"]; v != nil {
		if p := m.array(v).m["sorted_in"]; p != nil {
			how = m.str(p)
		}
	}
	list := m.sorted(a, how)
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].key
	}
	return out
}

// sorted returns the elements of a in an order: one of gawk's, or that of a
// function of the program.
func (m *machine) sorted(a *array, how string) []element {
	list := make([]element, 0, len(a.m))
	for k, v := range a.m {
		e := element{key: k, v: v}
		e.n, e.num = looksNumeric(k)
		list = append(list, e)
	}
	byKey := func(a, b *element) int {
		switch {
		case a.num && b.num && a.n != b.n:
			if a.n < b.n {
				return -1
			}
			return 1
		case a.num != b.num:
			if a.num {
				return -1
			}
			return 1
		}
		return strings.Compare(a.key, b.key)
	}
	order := byKey
	switch name := strings.TrimSuffix(strings.TrimSuffix(how, "_asc"), "_desc"); name {
	case "", "@unsorted":
	case "@ind_num": // where a text that is no number counts as 0
		order = func(a, b *element) int {
			x, _ := parseNumber(a.key)
			y, _ := parseNumber(b.key)
			return cmp.Or(compareFloats(x, y), strings.Compare(a.key, b.key))
		}
	case "@ind_str":
		order = func(a, b *element) int { return strings.Compare(a.key, b.key) }
	case "@val_str":
		order = func(a, b *element) int { return strings.Compare(m.str(a.v), m.str(b.v)) }
	case "@val_num":
		order = func(a, b *element) int {
			return cmp.Or(compareFloats(a.v.num(), b.v.num()), strings.Compare(m.str(a.v), m.str(b.v)))
		}
	case "@val_type":
		order = func(a, b *element) int { return m.byType(a.v, b.v) }
	default:
		f := m.funcs[how]
		if f == nil || len(f.params) < 4 {
			m.fatal("sort comparison function `" + how + "' is not defined")
		}
		order = func(a, b *element) int {
			frame := make([]slot, len(f.params))
			frame[0].v, frame[1].v, frame[2].v, frame[3].v = value{s: a.key, k: input}, *a.v, value{s: b.key, k: input}, *b.v
			v := m.enter(f, frame)
			return int(v.num())
		}
	}
	sign := 1
	if strings.HasSuffix(how, "_desc") {
		sign = -1
	}
	sort.Slice(list, func(i, j int) bool {
		c := order(&list[i], &list[j])
		if c == 0 {
			c = byKey(&list[i], &list[j])
		}
		return sign*c < 0
	})
	return list
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// byType puts numbers before texts.
func (m *machine) byType(a, b *value) int {
	x, xNum := a.numeric()
	y, yNum := b.numeric()
	switch {
	case xNum && yNum:
		return compareFloats(x, y)
	case xNum:
		return -1
	case yNum:
		return 1
	}
	return strings.Compare(m.str(a), m.str(b))
}

// makeSort is asort and, with keys, asorti.
func makeSort(p *parser, a []*expr, keys bool) *expr {
	src := p.arrayArg(a[0], "asort")
	dst := src
	if len(a) > 1 {
		dst = p.arrayArg(a[1], "asort")
	}
	return numeric(func(m *machine) float64 {
		how := "@val_type_asc"
		if keys {
			how = "@ind_str_asc"
		}
		if len(a) > 2 {
			how = a[2].str(m)
		}
		list := m.sorted(m.array(src), how)
		vals := make([]value, len(list))
		for i, e := range list {
			if vals[i] = *e.v; keys {
				vals[i] = str(e.key)
			}
		}
		out := m.array(dst)
		out.clear()
		for i, v := range vals {
			out.set(itoa(i+1), v)
		}
		return float64(len(vals))
	})
}
