package grep

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// perlMatcher is grep -P: Go's engine where it understands the pattern, since
// its time is linear, else regexp2, which backtracks within limits.
type perlMatcher struct {
	linear *regexp.Regexp
	back   *regexp2.Regexp
	group  int // what a match is: 1 when \K cut its start off
	kept   string
	word   bool
	sep    byte
	locs   [][]int // all matches of the line last asked for
}

const perlTimeout = 5 * time.Second // of one line

var errPerlMany = errors.New("the -P option only supports a single pattern")

func newPerl(o *options) (matcher, error) {
	if len(o.patterns) != 1 {
		return nil, errPerlMany
	}
	p := &perlMatcher{sep: '\n'}
	if o.null {
		p.sep = 0
	}
	src, kept, err := keep(o.patterns[0])
	if err != nil {
		return nil, err
	}
	if kept {
		p.kept = keepName
	}
	if o.line {
		src = `^(?:` + src + `)$`
	} else if o.word {
		src = `(?<!\w)(?:` + src + `)(?!\w)`
	}
	flags := ""
	if o.fold {
		flags = "(?i)"
	}
	if o.null {
		flags += "(?m)"
	}
	if !strings.Contains(src, `\Z`) && !strings.Contains(src, `\z`) {
		if p.linear, err = regexp.Compile(flags + src); err == nil {
			if kept {
				p.group = p.linear.SubexpIndex(keepName)
			}
			return p, nil
		}
	}
	p.back, err = regexp2.Compile(flags+src, regexp2.RE2)
	if err != nil {
		return nil, errors.New(perlReason(err.Error()))
	}
	p.back.MatchTimeout = perlTimeout
	return p, nil
}

// perlReason says what is wrong with a pattern as PCRE does, for the common
// mistakes.
func perlReason(msg string) string {
	switch {
	case strings.Contains(msg, "missing closing )"), strings.Contains(msg, "not enough )"):
		return "missing closing parenthesis"
	case strings.Contains(msg, "unterminated [] set"), strings.Contains(msg, "missing closing ]"):
		return "missing terminating ] for character class"
	case strings.Contains(msg, "too many )"), strings.Contains(msg, "unexpected )"):
		return "unmatched closing parenthesis"
	case strings.Contains(msg, "nested repetition"), strings.Contains(msg, "quantifier"), strings.Contains(msg, "missing argument to repetition"):
		return "quantifier does not follow a repeatable item"
	case strings.Contains(msg, "undefined group"), strings.Contains(msg, "named back reference"):
		return "reference to non-existent subpattern"
	}
	return strings.TrimPrefix(msg, "error parsing regexp: ")
}

const keepName = "donaxKeep"

// keep rewrites \K, which makes a match start there: what follows it becomes
// a group, and the group is the match. It also writes the escapes that are
// PCRE's own in other ways.
func keep(p string) (string, bool, error) {
	depth, groups, class, open, found := 0, 0, false, false, false
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case strings.HasPrefix(p[i:], `\Q`):
			quoted, _, _ := strings.Cut(p[i+2:], `\E`)
			b.WriteString(regexp.QuoteMeta(quoted))
			i = min(i+len(quoted)+3, len(p))
			continue
		case c == '\\':
			text, n, err := perlEscape(p[i:], class, groups)
			if err != nil {
				return "", false, err
			}
			if n > 0 {
				b.WriteString(text)
				i += n - 1
				continue
			}
			if p[i+1] == 'K' && !class {
				if depth > 0 || found {
					return "", false, errors.New(`\K is supported once, and not inside a group`)
				}
				b.WriteString("(?P<" + keepName + ">")
				open, found = true, true
				i++
				continue
			}
			b.WriteByte(c)
			i++
			c = p[i]
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if i+1 < len(p) && p[i+1] == '^' {
				b.WriteByte(c)
				i++
				c = '^'
			}
			if i+1 < len(p) && p[i+1] == ']' {
				b.WriteByte(c)
				i++
				c = ']'
			}
		case c == '(':
			depth++
			if i+2 >= len(p) || p[i+1] != '?' || p[i+2] == '<' && !strings.ContainsRune("=!", rune(p[min(i+3, len(p)-1)])) || p[i+2] == 'P' || p[i+2] == '\'' {
				groups++
			}
		case c == ')':
			depth--
		case c == '|' && depth == 0 && open:
			b.WriteByte(')')
			open = false
		}
		b.WriteByte(c)
	}
	if open {
		b.WriteByte(')')
	}
	return b.String(), found, nil
}

// Scan offers every line.
func (p *perlMatcher) Scan(text []byte, from int) (int, bool) {
	if from >= len(text) {
		return -1, false
	}
	if p.linear == nil {
		return from, true
	}
	if lit, whole := p.linear.LiteralPrefix(); whole && lit != "" {
		if i := bytes.Index(text[from:], []byte(lit)); i >= 0 {
			return from + i, true
		}
		return -1, false
	}
	return from, true
}

// Match tells whether a line matches.
func (p *perlMatcher) Match(line []byte) (bool, error) {
	if p.linear != nil {
		return p.linear.Match(line), nil
	}
	ok, err := p.back.MatchString(string(line))
	return ok, perlError(err)
}

// Find returns the next match.
func (p *perlMatcher) Find(line []byte, from int) (start, end int, ok bool, err error) {
	if p.linear != nil {
		// \b and ^ look at what came before: matches are found from the start
		// of the line.
		if from == 0 {
			p.locs = p.linear.FindAllSubmatchIndex(line, -1)
		}
		for len(p.locs) > 0 {
			loc := p.locs[0]
			g := p.group
			if g > 0 && loc[2*g] < 0 {
				g = 0
			}
			if loc[2*g] >= from {
				return loc[2*g], loc[2*g+1], true, nil
			}
			p.locs = p.locs[1:]
		}
		return 0, 0, false, nil
	}
	for from < len(line) && !utf8.RuneStart(line[from]) { // behind an empty match
		from++
	}
	m, err := p.back.FindStringMatchStartingAt(string(line), from)
	if err != nil || m == nil {
		return 0, 0, false, perlError(err)
	}
	i, n := m.ByteRange()
	if p.kept != "" {
		if g := m.GroupByName(p.kept); g != nil && len(g.Captures) > 0 {
			i, n = g.ByteRange()
		}
	}
	return i, i + n, true, nil
}

func perlError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New("exceeded PCRE's backtracking limit")
}
