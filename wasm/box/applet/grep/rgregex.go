package grep

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// rgMatcher finds lines by the DFA of grep where the pattern can be said in
// its language, and what matches in them by Go's regexp, whose language is
// that of rg.
type rgMatcher struct {
	perlMatcher
	lines *posixre.Regexp // nil: linear finds the lines too
}

func (m *rgMatcher) Scan(text []byte, from int) (int, bool) {
	if m.lines != nil {
		return m.lines.Scan(text, from)
	}
	return m.perlMatcher.Scan(text, from)
}

func (m *rgMatcher) Match(line []byte) (bool, error) {
	if m.lines != nil {
		return m.lines.Match(line)
	}
	return m.perlMatcher.Match(line)
}

func (o *rgOptions) rgMatcher() (*rgMatcher, error) {
	if o.pcre && o.syntax != fixed {
		if o.replace != nil || o.countMatches {
			return nil, errors.New("rg: -P with -r or --count-matches is not supported in the sandbox")
		}
		m, err := newPerl(&o.options)
		if err != nil {
			return nil, errors.New("PCRE2: error compiling pattern: " + err.Error())
		}
		return &rgMatcher{perlMatcher: *m.(*perlMatcher)}, nil
	}
	opt := posixre.Options{Dialect: posixre.GrepExtended, Literal: o.syntax == fixed, Fold: o.fold, Line: o.line, Word: o.word, NoNewline: true, HasSep: true, Sep: '\n'}
	var alts, native []string
	translated := true
	for _, p := range o.patterns {
		alt, ere := p, p
		if o.syntax == fixed {
			alt = regexp.QuoteMeta(p)
		} else {
			if _, err := regexp.Compile(p); err != nil {
				return nil, errors.New(rgReason(p, err))
			}
			var ok bool
			ere, ok = toERE(p)
			translated = translated && ok
		}
		alts, native = append(alts, "(?:"+alt+")"), append(native, ere)
	}
	src := strings.Join(alts, "|")
	switch {
	case o.line:
		src = "^(?:" + src + ")$"
	case o.word:
		src = `\b(?:` + src + `)\b`
	}
	if o.fold {
		src = "(?i)" + src
	}
	m := &rgMatcher{perlMatcher: perlMatcher{sep: '\n'}}
	var err error
	if m.linear, err = regexp.Compile(src); err != nil {
		return nil, errors.New(rgReason(strings.Join(o.patterns, "|"), err))
	}
	if translated {
		if re, err := posixre.Compile(native, opt); err == nil && len(re.Warnings) == 0 {
			m.lines = re
		}
	}
	return m, nil
}

func rgReason(pattern string, err error) string {
	why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	switch {
	case strings.Contains(why, "missing closing )"):
		why = "unclosed group"
	case strings.Contains(why, "unexpected )"):
		why = "unopened group"
	case strings.Contains(why, "missing closing ]"):
		why = "unclosed character class"
	case strings.Contains(why, "missing argument to repetition"):
		why = "repetition operator missing expression"
	case strings.Contains(why, "(?=") || strings.Contains(why, "(?!") || strings.Contains(why, "(?<"):
		why = "look-around, including look-ahead and look-behind, is not supported: use -P"
	}
	return "regex parse error:\n    " + pattern + "\nerror: " + why
}

// toERE says a pattern in grep -E's language, as far as whether a line
// matches goes; false where that is not sure to be the same.
func toERE(p string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch c {
		case '\\':
			i++
			if i == len(p) {
				return "", false
			}
			switch c = p[i]; {
			case c == 'd':
				b.WriteString("[0-9]")
			case c == 'D':
				b.WriteString("[^0-9]")
			case strings.IndexByte("wWsSbB", c) >= 0:
				b.WriteString(p[i-1 : i+1])
			case c == 't':
				b.WriteByte('\t')
			case strings.IndexByte(`.+*?()|[]{}^$\`, c) >= 0:
				b.WriteString(p[i-1 : i+1])
			case c < 0x80 && strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<>`'", c) < 0:
				b.WriteByte(c)
			default:
				return "", false
			}
		case '[':
			n, text, ok := bracketERE(p[i:])
			if !ok {
				return "", false
			}
			b.WriteString(text)
			i += n - 1
		case '(':
			b.WriteByte(c)
			if strings.HasPrefix(p[i:], "(?") {
				if !strings.HasPrefix(p[i:], "(?:") {
					return "", false
				}
				i += 2
			}
		case '*', '+', '?', '}':
			b.WriteByte(c)
			if i+1 < len(p) && p[i+1] == '?' { // lazy: the same lines
				i++
			}
		case '{':
			end := strings.IndexByte(p[i:], '}')
			if end < 2 || strings.Trim(p[i+1:i+end], "0123456789,") != "" || p[i+1] == ',' {
				return "", false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// bracketERE translates the class at the start of p and returns its length.
func bracketERE(p string) (n int, text string, ok bool) {
	var b strings.Builder
	i := 1
	b.WriteByte('[')
	if i < len(p) && p[i] == '^' {
		b.WriteByte('^')
		i++
	}
	for ; i < len(p); i++ {
		switch c := p[i]; c {
		case ']':
			b.WriteByte(']')
			return i + 1, b.String(), b.Len() > 2 && !strings.HasSuffix(b.String(), "[^]")
		case '\\':
			i++
			if i == len(p) {
				return 0, "", false
			}
			switch p[i] {
			case 'd':
				b.WriteString("0-9")
			case 'w':
				b.WriteString("[:alnum:]_")
			case 's':
				b.WriteString("[:space:]")
			case 't':
				b.WriteByte('\t')
			case '.', '/', '"', '\'', '$', '(', ')', '+', '*', '?', '{', '}', '|', ':', ',', ';', '#', '@', '!', '=', '%':
				b.WriteByte(p[i])
			default:
				return 0, "", false
			}
		case '[', '&', '~':
			if c == '[' || i+1 < len(p) && p[i+1] == c { // nested classes, && and ~~
				return 0, "", false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return 0, "", false
}

// errnoNumber is what Linux numbers an error that a path can meet with.
func errnoNumber(err error) (int, bool) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 2, true
	case errors.Is(err, fs.ErrPermission):
		return 13, true
	}
	return 0, false
}
