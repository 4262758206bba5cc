package tr

import "errors"

// build fills p's tables from the strings, n of which were given.
func (p *plan) build(sets [2]set, n int, complement, truncate bool) error {
	if err := check(sets, n, p.maps, complement, truncate); err != nil {
		return err
	}
	first := bytesOf(sets[0])
	if complement {
		first = complementOf(first)
	}
	second := sets[1]
	if p.deletes {
		for _, b := range first {
			p.drop[b] = true
		}
	}
	switch {
	case n == 1:
		for _, b := range first {
			p.squeeze[b] = true
		}
	case !p.maps:
		for _, b := range bytesOf(second) {
			p.squeeze[b] = true
		}
	}
	if !p.maps {
		return nil
	}
	to := fill(second, len(first), truncate)
	if complement && hasClass(sets[0]) {
		for i := range first {
			if i >= len(to) || to[i] != to[0] {
				return errors.New("when translating with complemented character classes,\nstring2 must map all characters in the domain to one")
			}
		}
	}
	for i := range p.to {
		p.to[i] = byte(i)
	}
	if !complement && hasCase(second) {
		if err := p.mapCases(sets[0], second, to); err != nil {
			return err
		}
	} else {
		for i := range min(len(first), len(to)) {
			p.to[first[i]] = to[i]
		}
	}
	if n := len(second.items); !truncate && n > 0 && n < len(first) && second.items[n-1].class != "" && !hasEndless(second) {
		return errors.New("when translating with string1 longer than string2,\nthe latter string must not end with a character class")
	}
	for _, b := range bytesOf(set{second.items}) {
		p.squeeze[b] = true
	}
	return nil
}

func check(sets [2]set, n int, translate, complement, truncate bool) error {
	for _, it := range sets[0].items {
		if it.endless {
			return errors.New("the [c*] repeat construct may not appear in string1")
		}
	}
	if n < 2 {
		return nil
	}
	endless := 0
	for _, it := range sets[1].items {
		if it.endless {
			endless++
		}
	}
	if endless > 1 {
		return errors.New("only one [c*] repeat construct may appear in string2")
	}
	if !translate {
		if endless > 0 {
			return errors.New("the [c*] construct may appear in string2 only when translating")
		}
		return nil
	}
	for _, it := range sets[1].items {
		if it.equiv {
			return errors.New("[=c=] expressions may not appear in string2 when translating")
		}
	}
	for _, it := range sets[1].items {
		if it.class != "" && it.class != "upper" && it.class != "lower" {
			return errors.New("when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'")
		}
	}
	if len(sets[1].items) == 0 && !truncate && (complement || len(sets[0].items) > 0) {
		return errors.New("when not truncating set1, string2 must be non-empty")
	}
	return nil
}

func hasEndless(s set) bool {
	for _, it := range s.items {
		if it.endless {
			return true
		}
	}
	return false
}

func hasClass(s set) bool {
	for _, it := range s.items {
		if it.class != "" {
			return true
		}
	}
	return false
}

func hasCase(s set) bool {
	for _, it := range s.items {
		if it.class == "upper" || it.class == "lower" {
			return true
		}
	}
	return false
}

// bytesOf returns the bytes of a set in its order.
func bytesOf(s set) []byte {
	var out []byte
	for _, it := range s.items {
		out = append(out, it.c)
	}
	return out
}

func complementOf(in []byte) []byte {
	var has [256]bool
	for _, b := range in {
		has[b] = true
	}
	var out []byte
	for b := range 256 {
		if !has[b] {
			out = append(out, byte(b))
		}
	}
	return out
}

// fill returns the second set's bytes, brought to the length of the first:
// [c*] takes what is missing, else the last byte is repeated.
func fill(s set, length int, truncate bool) []byte {
	missing := length - len(s.items)
	var out []byte
	filled := false
	for _, it := range s.items {
		if it.endless {
			filled = true
			for range max(0, missing+1) {
				out = append(out, it.c)
			}
			continue
		}
		out = append(out, it.c)
	}
	if !truncate && !filled && len(out) > 0 {
		for len(out) < length {
			out = append(out, out[len(out)-1])
		}
	}
	return out
}

// mapCases maps strings where [:lower:] and [:upper:] of one stand opposite
// those of the other.
func (p *plan) mapCases(a, b set, to []byte) error {
	misaligned := errors.New("misaligned [:upper:] and/or [:lower:] construct")
	for i, it := range b.items {
		if !it.first {
			continue
		}
		if i > len(a.items) {
			break // nothing comes near it
		}
		if i == len(a.items) || !a.items[i].first || a.items[i].class != "upper" && a.items[i].class != "lower" {
			return misaligned
		}
	}
	for i, it := range a.items {
		if i >= len(to) {
			break
		}
		p.to[it.c] = to[i]
		if i < len(b.items) && b.items[i].class != "" && it.class == b.items[i].class {
			p.to[it.c] = it.c
		}
	}
	return nil
}
