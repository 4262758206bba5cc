package shell

import (
	"fmt"
	"strconv"
	"strings"
)

// A braces is a word with a brace expansion: a list of nodes whose
// alternatives are multiplied, leftmost slowest.
type braces struct{ nodes []braceNode }

type braceNode struct {
	parts []part    // plain text
	alts  []*braces // {a,b}
	seq   *braceSeq // {a..b}
}

type braceSeq struct {
	from, to, step int64
	width          int
	letters        bool
}

// A braceItem is one unquoted character, or a part that cannot be split.
type braceItem struct {
	c byte
	p part
}

// parseBraces returns nil when parts hold no brace expansion.
func parseBraces(lw *lowerer, parts []part) *braces {
	if !strings.ContainsFunc(litText(parts), func(r rune) bool { return r == '{' }) {
		return nil
	}
	var items []braceItem
	for _, p := range parts {
		if l, ok := p.(*litPart); ok {
			for i := 0; i < len(l.s); i++ {
				items = append(items, braceItem{c: l.s[i]})
			}
		} else {
			items = append(items, braceItem{p: p})
		}
	}
	match := make([]int, len(items)) // index of the closing brace, 0 when none
	var stack []int
	for i, it := range items {
		if it.p != nil {
			continue
		}
		switch it.c {
		case '{':
			stack = append(stack, i)
		case '}':
			if n := len(stack); n > 0 {
				match[stack[n-1]] = i
				stack = stack[:n-1]
			}
		}
	}
	found := false
	b := braceList(lw, items, match, 0, len(items), &found, 0)
	if !found {
		return nil
	}
	return b
}

func litText(parts []part) string {
	for _, p := range parts {
		if l, ok := p.(*litPart); ok && strings.Contains(l.s, "{") {
			return l.s
		}
	}
	return ""
}

func braceList(lw *lowerer, items []braceItem, match []int, i, end int, found *bool, depth int) *braces {
	if depth > lw.sh.run.lim.Nesting {
		throw(errNesting(lw.sh))
	}
	out := &braces{}
	var cur []part
	var lit strings.Builder
	flushLit := func() {
		if lit.Len() > 0 {
			cur = append(cur, &litPart{lit.String()})
			lit.Reset()
		}
	}
	flush := func() {
		flushLit()
		if cur != nil {
			out.nodes = append(out.nodes, braceNode{parts: cur})
			cur = nil
		}
	}
	for i < end {
		it := items[i]
		if it.p != nil {
			flushLit()
			cur = append(cur, it.p)
			i++
			continue
		}
		if it.c == '{' && match[i] > 0 && match[i] < end {
			j := match[i]
			if commas := braceCommas(items, match, i+1, j); len(commas) > 0 {
				*found = true
				n := braceNode{}
				start := i + 1
				for _, c := range append(commas, j) {
					n.alts = append(n.alts, braceList(lw, items, match, start, c, found, depth+1))
					start = c + 1
				}
				flush()
				out.nodes = append(out.nodes, n)
				i = j + 1
				continue
			}
			if s := parseSeq(items[i+1 : j]); s != nil {
				*found = true
				flush()
				out.nodes = append(out.nodes, braceNode{seq: s})
				i = j + 1
				continue
			}
		}
		lit.WriteByte(it.c)
		i++
	}
	flush()
	return out
}

// braceCommas finds the commas of one level.
func braceCommas(items []braceItem, match []int, i, end int) []int {
	var out []int
	for ; i < end; i++ {
		if items[i].p != nil {
			continue
		}
		switch items[i].c {
		case '{':
			if match[i] > 0 {
				i = match[i]
			}
		case ',':
			out = append(out, i)
		}
	}
	return out
}

func parseSeq(items []braceItem) *braceSeq {
	if len(items) > 70 {
		return nil
	}
	var b strings.Builder
	for _, it := range items {
		if it.p != nil {
			return nil
		}
		b.WriteByte(it.c)
	}
	f := strings.Split(b.String(), "..")
	if len(f) != 2 && len(f) != 3 {
		return nil
	}
	s := &braceSeq{step: 1}
	if len(f) == 3 {
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil || n == -1<<63 {
			return nil
		}
		if n < 0 {
			n = -n
		}
		if n != 0 {
			s.step = n
		}
	}
	if len(f[0]) == 1 && len(f[1]) == 1 && isLetter(f[0][0]) && isLetter(f[1][0]) {
		s.letters = true
		s.from, s.to = int64(f[0][0]), int64(f[1][0])
		return s
	}
	var err1, err2 error
	s.from, err1 = strconv.ParseInt(f[0], 10, 64)
	s.to, err2 = strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil {
		return nil
	}
	padded := func(t string) bool {
		t = strings.TrimLeft(t, "+-")
		return len(t) > 1 && t[0] == '0'
	}
	if padded(f[0]) || padded(f[1]) {
		s.width = max(len(f[0]), len(f[1]))
	}
	return s
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// expandBraces calls yield with the parts of each word.
func (sh *shell) expandBraces(b *braces, yield func([]part)) {
	sh.checkBraces(b)
	var walk func(nodes []braceNode, pre []part, next func([]part))
	walk = func(nodes []braceNode, pre []part, next func([]part)) {
		sh.tick()
		if len(nodes) == 0 {
			next(pre)
			return
		}
		n, rest := nodes[0], nodes[1:]
		pre = pre[:len(pre):len(pre)]
		switch {
		case n.alts != nil:
			for _, a := range n.alts {
				walk(a.nodes, pre, func(p []part) { walk(rest, p, next) })
			}
		case n.seq != nil:
			n.seq.each(func(s string) { walk(rest, append(pre, &litPart{s}), next) })
		default:
			walk(rest, append(pre, n.parts...), next)
		}
	}
	walk(b.nodes, nil, yield)
}

// checkBraces refuses a brace expansion of too many words before any of them
// is made.
func (sh *shell) checkBraces(b *braces) {
	if b.count(int64(sh.run.lim.Words)) > int64(sh.run.lim.Words) {
		throw(&LimitError{What: "brace expansion of more than " + itoa(sh.run.lim.Words) + " words"})
	}
}

// count is how many words b makes; all above most is most+1.
func (b *braces) count(most int64) int64 {
	n := int64(1)
	for _, x := range b.nodes {
		k := int64(1)
		switch {
		case x.alts != nil:
			k = 0
			for _, a := range x.alts {
				k = min(k+a.count(most), most+1)
			}
		case x.seq != nil:
			// The distance may not fit a signed number.
			d := uint64(max(x.seq.from, x.seq.to)) - uint64(min(x.seq.from, x.seq.to))
			k = int64(min(d/uint64(x.seq.step), uint64(most))) + 1
		}
		n = min(n*k, most+1)
	}
	return n
}

// mergeParts joins texts that brace expansion put side by side. As braces
// are expanded first, text may also lengthen the name in $name before it.
func mergeParts(in []part) []part {
	out := make([]part, 0, len(in))
	for _, p := range in {
		l, ok := p.(*litPart)
		if !ok || len(out) == 0 {
			out = append(out, p)
			continue
		}
		switch prev := out[len(out)-1].(type) {
		case *litPart:
			out[len(out)-1] = &litPart{prev.s + l.s}
			continue
		case *paramPart:
			n := 0
			for prev.short && isName(prev.name) && n < len(l.s) && isNameByte(l.s[n]) {
				n++
			}
			if n > 0 {
				out[len(out)-1] = &paramPart{name: prev.name + l.s[:n], short: true}
				if n < len(l.s) {
					out = append(out, &litPart{l.s[n:]})
				}
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

func (s *braceSeq) each(f func(string)) {
	step := s.step
	if s.to < s.from {
		step = -step
	}
	for v := s.from; ; {
		f(s.text(v))
		next := v + step
		if step > 0 && (next > s.to || next < v) || step < 0 && (next < s.to || next > v) {
			return
		}
		v = next
	}
}

func (s *braceSeq) text(v int64) string {
	if s.letters {
		return string(rune(v))
	}
	if t := strconv.FormatInt(v, 10); len(t) >= s.width {
		return t
	}
	return fmt.Sprintf("%0*d", s.width, v)
}
