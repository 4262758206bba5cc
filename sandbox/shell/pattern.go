package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A pattern is a compiled shell pattern. It is matched as sets of positions
// that advance together, so the work is bounded by pattern times text (times
// text again for !(...)) whatever the pattern is.
type pattern struct {
	els  []patEl
	fold bool
	lit  string // the text itself when simple
	simp bool
	sh   *shell
}

type patKind uint8

const (
	patChar patKind = iota
	patAny          // ?
	patStar         // *
	patSet          // [...]
	patExt          // op(...)
)

type patEl struct {
	kind patKind
	r    rune // patChar; invalid bytes are negative
	set  *patRange
	op   byte // ? * + @ !
	alts [][]patEl
}

type patRange struct {
	neg    bool
	ranges [][2]rune
	class  []func(rune) bool
}

// compilePattern compiles s, in which quoted characters are escaped.
func (sh *shell) compilePattern(s string) *pattern {
	return sh.compileFold(s, sh.opts.has(optNocasematch))
}

func (sh *shell) compileFold(s string, fold bool) *pattern {
	p := &pattern{fold: fold, sh: sh}
	if !fold && !strings.ContainsAny(s, `*?[\(`) {
		p.lit, p.simp = s, true
		return p
	}
	c := patCompiler{s: s, ext: true, lim: sh.run.lim.Nesting}
	p.els = c.list(false)
	lit := make([]byte, 0, len(s))
	for _, e := range p.els {
		if e.kind != patChar || fold {
			return p
		}
		lit = appendRune(lit, e.r)
	}
	p.lit, p.simp = string(lit), true
	return p
}

func appendRune(b []byte, r rune) []byte {
	if r < 0 {
		return append(b, byte(-r))
	}
	return utf8.AppendRune(b, r)
}

// decode returns the character at s[i:]; an invalid byte is a character of
// its own, negative.
func decode(s string, i int) (rune, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && n == 1 {
		return -rune(s[i]), 1
	}
	return r, n
}

func decodeLast(s string, end int) (rune, int) {
	if c := s[end-1]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, n := utf8.DecodeLastRuneInString(s[:end])
	if r == utf8.RuneError && n == 1 {
		return -rune(s[end-1]), 1
	}
	return r, n
}

type patCompiler struct {
	s     string
	i     int
	ext   bool
	depth int
	lim   int
}

// list compiles up to the end, or to | or ) inside an extended pattern.
func (c *patCompiler) list(inner bool) []patEl {
	var out []patEl
	for c.i < len(c.s) {
		ch := c.s[c.i]
		if inner && (ch == '|' || ch == ')') {
			return out
		}
		if c.ext && c.i+1 < len(c.s) && c.s[c.i+1] == '(' && strings.IndexByte("?*+@!", ch) >= 0 {
			if e, ok := c.extended(ch); ok {
				out = append(out, e)
				continue
			}
		}
		switch ch {
		case '*':
			c.i++
			if n := len(out); n == 0 || out[n-1].kind != patStar {
				out = append(out, patEl{kind: patStar})
			}
		case '?':
			c.i++
			out = append(out, patEl{kind: patAny})
		case '[':
			if set := c.bracket(); set != nil {
				out = append(out, patEl{kind: patSet, set: set})
				continue
			}
			c.i++
			out = append(out, patEl{kind: patChar, r: '['})
		case '\\':
			if c.i+1 < len(c.s) {
				c.i++
			}
			fallthrough
		default:
			r, n := decode(c.s, c.i)
			c.i += n
			out = append(out, patEl{kind: patChar, r: r})
		}
	}
	return out
}

func (c *patCompiler) extended(op byte) (patEl, bool) {
	start := c.i
	if c.depth++; c.depth > c.lim {
		throw(&LimitError{What: "pattern nested deeper than " + itoa(c.lim)})
	}
	defer func() { c.depth-- }()
	c.i += 2
	e := patEl{kind: patExt, op: op}
	for {
		e.alts = append(e.alts, c.list(true))
		if c.i >= len(c.s) {
			c.i = start
			return e, false
		}
		ch := c.s[c.i]
		c.i++
		if ch == ')' {
			return e, true
		}
	}
}

// bracket compiles [...] at c.i; nil when it is not closed.
func (c *patCompiler) bracket() *patRange {
	s := c.s
	i := c.i + 1
	set := &patRange{}
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		set.neg = true
		i++
	}
	first := true
	next := func() rune {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		r, n := decode(s, i)
		i += n
		return r
	}
	for {
		if i >= len(s) {
			return nil
		}
		if s[i] == ']' && !first {
			c.i = i + 1
			return set
		}
		first = false
		if s[i] == '[' && i+1 < len(s) && (s[i+1] == ':' || s[i+1] == '.' || s[i+1] == '=') {
			kind := s[i+1]
			if kind == '.' && !strings.Contains(s[i+2:], ".]") {
				return nil // bash looks for its end as far as the text goes
			}
			if end := strings.Index(s[i+2:], string(kind)+"]"); end >= 0 {
				name := s[i+2 : i+2+end]
				if kind == ':' {
					if f := charClass(name); f != nil {
						set.class = append(set.class, f)
					}
					i += end + 4
					continue
				}
				r, n := rune(0), 0
				if name != "" {
					r, n = decode(name, 0)
				}
				if n == len(name) {
					i += end + 4
					set.ranges = append(set.ranges, [2]rune{r, r})
					continue
				}
			}
		}
		lo := next()
		if i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			i++
			hi := next()
			set.ranges = append(set.ranges, [2]rune{lo, hi})
			continue
		}
		set.ranges = append(set.ranges, [2]rune{lo, lo})
	}
}

func charClass(name string) func(rune) bool {
	switch name {
	case "alpha":
		return unicode.IsLetter
	case "digit":
		return func(r rune) bool { return r >= '0' && r <= '9' }
	case "alnum":
		return func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	case "upper":
		return unicode.IsUpper
	case "lower":
		return unicode.IsLower
	case "space":
		return unicode.IsSpace
	case "blank":
		return func(r rune) bool { return r == ' ' || r == '\t' }
	case "punct":
		return func(r rune) bool {
			return r < 0x80 && r > ' ' && r != 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r) || r >= 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r))
		}
	case "print":
		return func(r rune) bool { return r == ' ' || unicode.IsGraphic(r) }
	case "graph":
		return func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
	case "cntrl":
		return unicode.IsControl
	case "xdigit":
		return func(r rune) bool {
			return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
		}
	case "word":
		return func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	case "ascii":
		return func(r rune) bool { return r >= 0 && r < 0x80 }
	}
	return nil
}

func (s *patRange) match(r rune, fold bool) bool {
	in := s.in(r)
	if !in && fold {
		in = s.in(unicode.ToLower(r)) || s.in(unicode.ToUpper(r))
	}
	return in != s.neg
}

func (s *patRange) in(r rune) bool {
	for _, x := range s.ranges {
		if r >= x[0] && r <= x[1] {
			return true
		}
	}
	for _, f := range s.class {
		if r >= 0 && f(r) {
			return true
		}
	}
	return false
}

func (e *patEl) matchRune(r rune, fold bool) bool {
	switch e.kind {
	case patAny:
		return true
	case patSet:
		return e.set.match(r, fold)
	}
	return e.r == r || fold && unicode.ToLower(e.r) == unicode.ToLower(r)
}

// match tells whether the pattern matches all of s.
func (p *pattern) match(s string) bool {
	if p.simp {
		return p.lit == s
	}
	if simple(p.els) {
		return p.glob(s)
	}
	m := matcher{p: p, s: s}
	return m.run(p.els, m.single(0)).has(len(s))
}

func simple(els []patEl) bool {
	for _, e := range els {
		if e.kind == patExt {
			return false
		}
	}
	return true
}

// glob matches a pattern without extended parts: only the last * is ever
// tried again.
func (p *pattern) glob(s string) bool {
	els := p.els
	i, j := 0, 0
	star, mark := -1, 0
	for steps := 0; ; steps++ {
		if steps&1023 == 1023 {
			p.sh.tick()
		}
		if j < len(els) && els[j].kind == patStar {
			star, mark = j, i
			j++
			continue
		}
		if i < len(s) && j < len(els) {
			r, n := decode(s, i)
			if els[j].matchRune(r, p.fold) {
				i += n
				j++
				continue
			}
		} else if i == len(s) && j == len(els) {
			return true
		}
		if star < 0 || mark >= len(s) {
			return false
		}
		_, n := decode(s, mark)
		mark += n
		i, j = mark, star+1
	}
}

// prefix returns the end of the shortest or longest prefix of s[from:] that
// matches, or -1.
func (p *pattern) prefix(s string, from int, long bool) int {
	if p.simp {
		if strings.HasPrefix(s[from:], p.lit) {
			return from + len(p.lit)
		}
		return -1
	}
	m := matcher{p: p, s: s}
	set := m.run(p.els, m.single(from))
	if long {
		return set.max()
	}
	return set.min()
}

// suffix returns the start of the shortest or longest suffix that matches.
func (p *pattern) suffix(s string, long bool) int {
	if p.simp {
		if strings.HasSuffix(s, p.lit) {
			return len(s) - len(p.lit)
		}
		return -1
	}
	m := matcher{p: p, s: s, back: true}
	set := m.run(p.els, m.single(len(s)))
	if long {
		return set.min()
	}
	return set.max()
}
