package posixre

import (
	"math/bits"
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet/internal/scan"
)

// char is a node for one character, or for all its cases.
func char(r rune, fold bool) *node {
	if fold && unicode.SimpleFold(r) != r {
		c := &class{}
		c.add(r, r)
		c.foldRune(r)
		return &node{op: nClass, class: c}
	}
	return &node{op: nRune, r: r}
}

// literal is a node for plain text.
func literal(s string, fold bool) *node {
	n := &node{op: nCat}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			n.subs = append(n.subs, &node{op: nByte, r: rune(s[i])})
		} else {
			n.subs = append(n.subs, char(r, fold))
		}
		i += size
	}
	if len(n.subs) == 0 {
		return &node{op: nEmpty}
	}
	return n
}

// either returns the ASCII character that n stands for, if need be in both
// cases; of a letter it is the small one.
func (n *node) either() (byte, bool) {
	switch {
	case n.op == nRune && n.r < utf8.RuneSelf:
		return byte(n.r), n.r < 'A' || n.r > 'Z'
	case n.op == nClass && !n.class.neg && len(n.class.ranges) == 0 && len(n.class.props) == 0 && n.class.ascii[0] == 0:
		small := bits.TrailingZeros64(n.class.ascii[1] >> 32)
		if c := byte('`' + small); c >= 'a' && c <= 'z' && n.class.ascii[1] == 1<<small|1<<(small+32) {
			return c, true
		}
	}
	return 0, false
}

// text returns the plain text that n stands for.
func (n *node) text() (string, bool) {
	switch n.op {
	case nEmpty:
		return "", true
	case nRune:
		return string(n.r), true
	case nByte:
		return string([]byte{byte(n.r)}), true
	case nCat:
		b := make([]byte, 0, len(n.subs))
		for _, s := range n.subs {
			switch s.op {
			case nRune:
				b = utf8.AppendRune(b, s.r)
			case nByte:
				b = append(b, byte(s.r))
			default:
				return "", false
			}
		}
		return string(b), true
	}
	return "", false
}

// alternate joins alternatives. Those that are plain text become one trie, so
// that thousands of words (grep -f) stay cheap, with the longer before the
// shorter, so that groups take the longest.
func alternate(alts []*node) *node {
	if len(alts) == 1 {
		return alts[0]
	}
	if len(alts) == 0 { // no pattern at all: nothing matches
		return &node{op: nClass, class: &class{}}
	}
	var texts []string
	var rest []*node
	for _, a := range alts {
		if s, ok := a.text(); ok {
			texts = append(texts, s)
		} else {
			rest = append(rest, a)
		}
	}
	if len(texts) == 0 {
		return &node{op: nAlt, subs: alts}
	}
	sort.Strings(texts)
	trie := &node{op: nTrie, texts: texts}
	if len(rest) == 0 {
		return trie
	}
	return &node{op: nAlt, subs: append(rest, trie)}
}

// nullable tells whether n matches the empty string, whatever is around it.
func (n *node) nullable() bool {
	switch n.op {
	case nRune, nByte, nAny, nClass:
		return false
	case nCat:
		for _, s := range n.subs {
			if !s.nullable() {
				return false
			}
		}
		return true
	case nAlt:
		for _, s := range n.subs {
			if s.nullable() {
				return true
			}
		}
		return false
	case nRepeat:
		return n.min == 0 || n.subs[0].nullable()
	case nGroup:
		return n.subs[0].nullable()
	case nTrie:
		return n.texts[0] == ""
	}
	return true // assertions, back-references
}

// analyse finds what makes searching fast: the text that every match starts
// with or holds, the bytes it may start with.
func (re *Regexp) analyse(root *node) {
	re.empty = root.nullable()
	seq := flatten(root, nil)
	if len(seq) > 0 && (seq[0].op == nBufBegin || seq[0].op == nBegin && !re.opt.Multiline) {
		re.anchored = true
	}
	var run, best, fold []byte
	exact := true
	for i, n := range seq {
		if c, ok := n.either(); ok && re.opt.Fold {
			if fold = append(fold, c); len(fold) > len(re.fold) && len(fold) <= scan.MaxFold {
				re.fold = append(re.fold[:0], fold...)
			}
		} else {
			fold = fold[:0]
		}
		s, ok := n.text()
		if ok {
			run = append(run, s...)
			if i == len(seq)-1 || len(run) > len(best) {
				best = append(best[:0:0], run...)
			}
			if exact {
				re.prefix = append(re.prefix, s...)
			}
			continue
		}
		exact = false
		run = nil
		if n.op == nRepeat && n.min > 0 {
			if s, ok := n.subs[0].text(); ok && len(s) > len(best) {
				best = []byte(s)
			}
		}
	}
	if exact && len(re.prefix) > 0 && !re.backrefs && re.Groups == 0 {
		re.whole = true
	}
	if len(best) > 1 || len(best) == 1 && len(re.prefix) == 0 && !re.anchored {
		re.must = best
	}
	re.finder = newFinder(re.prefix)
	re.mustFind = newFinder(re.must)
	re.first = re.runes.firstBytes()
}

// flatten lists the parts of a sequence, groups opened.
func flatten(n *node, out []*node) []*node {
	switch n.op {
	case nEmpty:
	case nCat:
		for _, s := range n.subs {
			out = flatten(s, out)
		}
	case nGroup:
		out = flatten(n.subs[0], out)
	case nTrie:
		if len(n.texts) == 1 {
			return append(out, literal(n.texts[0], false).subs...)
		}
		out = append(out, n)
	default:
		out = append(out, n)
	}
	return out
}
