package iconv

import "strings"

// What U+00A0 to U+017F become, a word each; "?" stands for nothing alike and
// "_" for a space.
const latin = `_ ! c GBP ? JPY | ? ? (C) a << ! - (R) ? ? +- 2 3 ' u ? . , 1 o >> _1/4_ _1/2_ _3/4_ ?
A A A A A A AE C E E E E I I I I D N O O O O O x O U U U U Y TH ss
a a a a a a ae c e e e e i i i i d n o o o o o / o u u u u y th y
A a A a A a C c C c C c C c D d D d E e E e E e E e E e G g G g
G g G g H h H h I i I i I i I i I i IJ ij J j K k q L l L l L l L
l L l N n N n N n 'n N n O o O o O o OE oe R r R r R r S s S s
S s S s T t T t T t U u U u U u U u U u U u W w Y y Y Z z Z z Z z s`

// What other characters become.
const marks = `‐ - ‑ - ‒ - – - — -- ― - ‘ ' ’ ' ‚ , ‛ ' “ " ” " „ ,, ‟ " † + • o ․ . ‥ .. … ... ‹ < › > ‼ !! € EUR ™ (TM)
← <- → -> ↔ <-> − - ≠ != ≤ <= ≥ >= ﬀ ff ﬁ fi ﬂ fl`

// likeness returns the characters of ASCII that stand for c, "?" when there
// are none.
func likeness(c rune) string {
	if c >= 0xA0 && c <= 0x17F {
		return strings.ReplaceAll(strings.Fields(latin)[c-0xA0], "_", " ")
	}
	words := strings.Fields(marks)
	for i := 0; i < len(words); i += 2 {
		if words[i] == string(c) {
			return words[i+1]
		}
	}
	return "?"
}
