package expr

import (
	"errors"
	"strings"
)

// A node is a part of a basic regular expression.
type node struct {
	kind     byte // c: bytes of set, g: group, r: back-reference, ^, $
	set      *[256]bool
	alts     [][]*node // of a group
	index    int       // of a group or back-reference
	min, max int
}

// compiler reads a basic regular expression with the GNU operators \+ \? \|.
type compiler struct {
	s      string
	i      int
	groups int
	open   int
}

func compile(s string) (*node, int, error) {
	c := compiler{s: s}
	alts, err := c.alternatives()
	if err == nil && c.i < len(s) {
		err = errors.New("Unmatched ) or \\)")
	}
	return &node{kind: 'g', alts: alts, index: 0, min: 1, max: 1}, c.groups, err
}

func (c *compiler) has(p string) bool { return strings.HasPrefix(c.s[c.i:], p) }

func (c *compiler) alternatives() ([][]*node, error) {
	var alts [][]*node
	for {
		seq, err := c.sequence()
		if err != nil {
			return nil, err
		}
		alts = append(alts, seq)
		if !c.has(`\|`) {
			return alts, nil
		}
		c.i += 2
	}
}

func (c *compiler) sequence() ([]*node, error) {
	var seq []*node
	start := true // a star here is a star
	for c.i < len(c.s) && !c.has(`\|`) && !(c.has(`\)`) && c.open > 0) {
		n, err := c.atom(start)
		if err != nil {
			return nil, err
		}
		start = n.kind == '^'
		if !start {
			if err := c.repeats(n); err != nil {
				return nil, err
			}
		}
		seq = append(seq, n)
	}
	return seq, nil
}

func one(b ...byte) *node {
	n := &node{kind: 'c', set: new([256]bool), min: 1, max: 1}
	for _, c := range b {
		n.set[c] = true
	}
	return n
}

func (c *compiler) atom(start bool) (*node, error) {
	b := c.s[c.i]
	c.i++
	switch b {
	case '.':
		n := one()
		for i := range n.set {
			n.set[i] = true
		}
		return n, nil
	case '[':
		return c.bracket()
	case '^':
		if start {
			return &node{kind: '^', min: 1, max: 1}, nil
		}
	case '$':
		if c.i == len(c.s) || c.has(`\)`) || c.has(`\|`) {
			return &node{kind: '$', min: 1, max: 1}, nil
		}
	case '\\':
		if c.i == len(c.s) {
			return nil, errors.New("Trailing backslash")
		}
		b = c.s[c.i]
		c.i++
		switch {
		case b == '(':
			c.groups++
			n := &node{kind: 'g', index: c.groups, min: 1, max: 1}
			c.open++
			var err error
			if n.alts, err = c.alternatives(); err != nil {
				return nil, err
			}
			if !c.has(`\)`) {
				return nil, errors.New("Unmatched ( or \\(")
			}
			c.i += 2
			c.open--
			return n, nil
		case b == ')':
			return nil, errors.New("Unmatched ) or \\)")
		case b >= '1' && b <= '9':
			if int(b-'0') > c.groups {
				return nil, errors.New("Invalid back reference")
			}
			return &node{kind: 'r', index: int(b - '0'), min: 1, max: 1}, nil
		case b == '{':
			return nil, errors.New("Invalid preceding regular expression")
		case strings.IndexByte("wWsS", b) >= 0:
			n := one()
			for i := range n.set {
				k := byte(i)
				word := k == '_' || k >= '0' && k <= '9' || k|32 >= 'a' && k|32 <= 'z'
				space := k == ' ' || k >= '\t' && k <= '\r'
				n.set[i] = b == 'w' && word || b == 'W' && !word || b == 's' && space || b == 'S' && !space
			}
			return n, nil
		case strings.IndexByte("bB<>`'", b) >= 0:
			return nil, errors.New("operator \\" + string(rune(b)) + " is not supported")
		}
	}
	return one(b), nil
}

// repeats reads what may follow an atom: * \+ \? \{m,n\}.
func (c *compiler) repeats(n *node) error {
	for {
		lo, hi := 0, -1
		switch {
		case c.has("*"):
			c.i++
		case c.has(`\+`):
			lo = 1
			c.i += 2
		case c.has(`\?`):
			hi = 1
			c.i += 2
		case c.has(`\{`):
			end := strings.Index(c.s[c.i:], `\}`)
			if end < 0 {
				return errors.New("Unmatched \\{")
			}
			a, b, comma := strings.Cut(c.s[c.i+2:c.i+end], ",")
			var ok bool
			if lo, ok = small(a); !ok && !(a == "" && comma) {
				return errors.New("Invalid content of \\{\\}")
			}
			hi = lo
			if comma {
				if hi, ok = small(b); b == "" {
					hi = -1
				} else if !ok {
					return errors.New("Invalid content of \\{\\}")
				}
			}
			if hi >= 0 && lo > hi {
				return errors.New("Invalid content of \\{\\}")
			}
			c.i += end + 2
		default:
			return nil
		}
		if n.min == 1 && n.max == 1 {
			n.min, n.max = lo, hi
			continue
		}
		// A repeat of a repeat becomes a group.
		inner := *n
		*n = node{kind: 'g', alts: [][]*node{{&inner}}, index: -1, min: lo, max: hi}
	}
}

func small(s string) (int, bool) {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 32767 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, s != "" && n <= 32767
}

func (c *compiler) bracket() (*node, error) {
	n := one()
	negate := c.has("^")
	if negate {
		c.i++
	}
	for first := true; ; first = false {
		if c.i >= len(c.s) {
			return nil, errors.New("Invalid regular expression")
		}
		if c.s[c.i] == ']' && !first {
			c.i++
			break
		}
		if c.has("[:") {
			end := strings.Index(c.s[c.i:], ":]")
			if end < 0 {
				return nil, errors.New("Unmatched [, [^, [:, [., or [=")
			}
			if !class(n.set, c.s[c.i+2:c.i+end]) {
				return nil, errors.New("Invalid character class name")
			}
			c.i += end + 2
			continue
		}
		lo := c.s[c.i]
		c.i++
		hi := lo
		if c.i+1 < len(c.s) && c.s[c.i] == '-' && c.s[c.i+1] != ']' {
			hi = c.s[c.i+1]
			c.i += 2
		}
		if lo > hi {
			return nil, errors.New("Invalid range end")
		}
		for b := int(lo); b <= int(hi); b++ {
			n.set[b] = true
		}
	}
	if negate {
		for i := range n.set {
			n.set[i] = !n.set[i]
		}
	}
	return n, nil
}

func class(set *[256]bool, name string) bool {
	var in func(b byte) bool
	lower := func(b byte) bool { return b >= 'a' && b <= 'z' }
	upper := func(b byte) bool { return b >= 'A' && b <= 'Z' }
	digit := func(b byte) bool { return b >= '0' && b <= '9' }
	graph := func(b byte) bool { return b > ' ' && b < 127 }
	alnum := func(b byte) bool { return lower(b) || upper(b) || digit(b) }
	switch name {
	case "alpha":
		in = func(b byte) bool { return lower(b) || upper(b) }
	case "digit":
		in = digit
	case "alnum":
		in = alnum
	case "lower":
		in = lower
	case "upper":
		in = upper
	case "space":
		in = func(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }
	case "blank":
		in = func(b byte) bool { return b == ' ' || b == '\t' }
	case "punct":
		in = func(b byte) bool { return graph(b) && !alnum(b) }
	case "graph":
		in = graph
	case "print":
		in = func(b byte) bool { return b == ' ' || graph(b) }
	case "cntrl":
		in = func(b byte) bool { return b < ' ' || b == 127 }
	case "xdigit":
		in = func(b byte) bool { return digit(b) || b|32 >= 'a' && b|32 <= 'f' }
	default:
		return false
	}
	for i := range set {
		set[i] = set[i] || in(byte(i))
	}
	return true
}
