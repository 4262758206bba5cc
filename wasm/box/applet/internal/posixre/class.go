package posixre

import (
	"sort"
	"unicode"
	"unicode/utf8"
)

// A class is a set of characters. ASCII is a bitmap that holds the answer;
// the rest is ranges and properties, negated together.
type class struct {
	ascii  [2]uint64
	ranges []rune // pairs, 0x80 and above
	props  []func(rune) bool
	neg    bool
}

func (c *class) has(r rune) bool {
	if r < 0x80 {
		return c.ascii[r>>6]>>(r&63)&1 != 0
	}
	return c.hasWide(r) != c.neg
}

func (c *class) hasWide(r rune) bool {
	for i := 0; i < len(c.ranges); i += 2 {
		if c.ranges[i] <= r && r <= c.ranges[i+1] {
			return true
		}
	}
	for _, p := range c.props {
		if p(r) {
			return true
		}
	}
	return false
}

func (c *class) add(lo, hi rune) {
	for r := lo; r <= hi && r < 0x80; r++ {
		c.ascii[r>>6] |= 1 << (r & 63)
	}
	if hi >= 0x80 {
		c.ranges = append(c.ranges, max(lo, 0x80), hi)
	}
}

func (c *class) addProp(p func(rune) bool) {
	for r := rune(0); r < 0x80; r++ {
		if p(r) {
			c.add(r, r)
		}
	}
	c.props = append(c.props, p)
}

func (c *class) negate() {
	c.ascii[0], c.ascii[1] = ^c.ascii[0], ^c.ascii[1]
	c.neg = !c.neg
}

func (c *class) remove(r rune) { c.ascii[r>>6] &^= 1 << (r & 63) }

// foldLimit bounds the work of folding one range: wider ranges hold both
// cases of what is in them.
const foldLimit = 4096

// fold adds the other cases of what is in c, which is not yet negated.
func (c *class) fold() {
	for r := rune(0); r < 0x80; r++ {
		if c.has(r) {
			c.foldRune(r)
		}
	}
	for i, n := 0, len(c.ranges); i < n; i += 2 {
		if c.ranges[i+1]-c.ranges[i] > foldLimit {
			continue
		}
		for r := c.ranges[i]; r <= c.ranges[i+1]; r++ {
			c.foldRune(r)
		}
	}
}

func (c *class) foldRune(r rune) {
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		c.add(f, f)
	}
}

// wide returns the ranges at and above 0x80 as sorted pairs, negation
// applied. It is only right without properties.
func (c *class) wide() []rune {
	type pair struct{ lo, hi rune }
	var ps []pair
	for i := 0; i < len(c.ranges); i += 2 {
		ps = append(ps, pair{c.ranges[i], c.ranges[i+1]})
	}
	sort.Slice(ps, func(i, j int) bool { return ps[i].lo < ps[j].lo })
	var out []rune
	for _, p := range ps {
		if n := len(out); n > 0 && p.lo <= out[n-1]+1 {
			out[n-1] = max(out[n-1], p.hi)
			continue
		}
		out = append(out, p.lo, p.hi)
	}
	if !c.neg {
		return out
	}
	var inv []rune
	next := rune(0x80)
	for i := 0; i < len(out); i += 2 {
		if out[i] > next {
			inv = append(inv, next, out[i]-1)
		}
		next = out[i+1] + 1
	}
	if next <= utf8.MaxRune {
		inv = append(inv, next, utf8.MaxRune)
	}
	return inv
}

func isWord(r rune) bool {
	if r < 0x80 {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return isAlpha(r)
}

// isAlpha follows the C library, for which digits of other scripts are
// letters.
func isAlpha(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r)
}

func isSpace(r rune) bool {
	if r < 0x80 {
		return r == ' ' || 9 <= r && r <= 13
	}
	// Without the spaces that do not break, which are no space to the C library.
	return unicode.IsSpace(r) && r != 0x85 && r != 0xA0 && r != 0x2007 && r != 0x202F
}

func isGraph(r rune) bool {
	if r < 0x80 {
		return 0x21 <= r && r <= 0x7E
	}
	return unicode.IsGraphic(r) && !isSpace(r)
}

// named returns the predicate of a class name: "alpha".
func named(name string) func(rune) bool {
	ascii := func(lo, hi rune) func(rune) bool {
		return func(r rune) bool { return lo <= r && r <= hi }
	}
	switch name {
	case "alpha":
		return isAlpha
	case "digit":
		return ascii('0', '9')
	case "alnum":
		return func(r rune) bool { return r != '_' && isWord(r) }
	case "upper":
		return unicode.IsUpper
	case "lower":
		return unicode.IsLower
	case "space":
		return isSpace
	case "blank":
		return func(r rune) bool {
			return r == ' ' || r == '\t' || r >= 0x80 && isSpace(r) && r != 0x2028 && r != 0x2029
		}
	case "punct":
		return func(r rune) bool {
			return isGraph(r) && (r >= 0x80 && !isAlpha(r) || r < 0x80 && (r == '_' || !isWord(r)))
		}
	case "print":
		return func(r rune) bool {
			return r == ' ' || isGraph(r) || r >= 0x80 && isSpace(r) && r != 0x2028 && r != 0x2029
		}
	case "graph":
		return isGraph
	case "cntrl":
		return func(r rune) bool { return r < 0x20 || r == 0x7F || 0x80 <= r && r < 0xA0 || r == 0x2028 || r == 0x2029 }
	case "xdigit":
		return func(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' }
	}
	return nil
}

// decode reads a character of text. An invalid byte has size 1 and the rune
// -1, which is in no class.
func decode(text []byte) (rune, int) {
	if len(text) > 0 && text[0] < 0x80 {
		return rune(text[0]), 1
	}
	r, n := utf8.DecodeRune(text)
	if r == utf8.RuneError && n <= 1 {
		return -1, 1
	}
	return r, n
}

// decodeLast reads the character that ends at the end of text.
func decodeLast(text []byte) rune {
	if n := len(text); text[n-1] < 0x80 {
		return rune(text[n-1])
	}
	r, n := utf8.DecodeLastRune(text)
	if r == utf8.RuneError && n <= 1 {
		return -1
	}
	return r
}
