package awk

import (
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// regex is a regular expression, compiled when it is first used.
type regex struct {
	src  string
	re   *posixre.Regexp
	fold bool // as which it was compiled
}

// stringOf is b as a string; what it holds must not change any more.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf is s as bytes that must not be written to; it saves the copy.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func (m *machine) compiled(r *regex) *posixre.Regexp {
	if r.re == nil || r.fold != m.fold {
		re, err := posixre.Compile([]string{posixSyntax(r.src)}, posixre.Options{Dialect: posixre.Awk, Fold: m.fold})
		if err != nil {
			m.fatal("invalid regexp: " + err.Error() + ": /" + r.src + "/")
		}
		r.re, r.fold = re, m.fold
	}
	return r.re
}

// maxRegexes is how many expressions made at run time are kept.
const maxRegexes = 200

func (m *machine) dynamic(src string) *regex {
	r := m.regexes[src]
	if r == nil {
		if len(m.regexes) >= maxRegexes {
			clear(m.regexes)
		}
		r = &regex{src: src}
		m.regexes[strings.Clone(src)] = r
	}
	return r
}

func (m *machine) match(r *regex, s string) bool {
	ok, err := m.compiled(r).Match(bytesOf(s))
	if err != nil {
		m.fatal(err.Error())
	}
	return ok
}

func (m *machine) find(r *regex, s string, from int) (start, end int, ok bool) {
	start, end, ok, err := m.compiled(r).Find(bytesOf(s), from)
	if err != nil {
		m.fatal(err.Error())
	}
	return start, end, ok
}

func (m *machine) groups(r *regex, s string, start, end int) []int {
	loc, err := m.compiled(r).Submatch(m.loc[:0], bytesOf(s), start, end)
	if err != nil {
		m.fatal(err.Error())
	}
	m.loc = loc
	return loc
}

// posixSyntax rewrites awk's escapes, which POSIX expressions lack.
func posixSyntax(src string) string {
	if strings.IndexByte(src, '\\') < 0 {
		return src
	}
	var b strings.Builder
	for i := 0; i < len(src); {
		switch {
		case src[i] == '[':
			n := bracket(&b, src[i:])
			i += n
		case src[i] == '\\' && i+1 < len(src):
			i++
			i += backslash(&b, src[i:])
		default:
			b.WriteByte(src[i])
			i++
		}
	}
	return b.String()
}

// backslash writes what the escape at the start of s, behind its backslash,
// stands for and returns its length.
func backslash(b *strings.Builder, s string) int {
	switch c := s[0]; {
	case c == 'y':
		b.WriteString(`\b`)
	case c == '"' || c == '/' || c == '&' || c == '-':
		b.WriteByte(c)
	case c == 'b' || c == '0' || c != 'B' && c-'0' >= 10 || c-'0' < 8:
		if text, n, ok := escape(s); ok {
			if strings.ContainsAny(text, `\^$.[]|()*+?{}`) {
				b.WriteByte('\\')
			}
			b.WriteString(text)
			return n
		}
		fallthrough
	default:
		if isLetter(c) && strings.IndexByte("BwWsS", c) < 0 || c-'0' < 10 || c >= utf8.RuneSelf {
			b.WriteByte(c) // means itself
			return 1
		}
		b.WriteByte('\\')
		b.WriteByte(c)
	}
	return 1
}

// bracket writes a bracket expression without backslashes, which POSIX takes
// for themselves there, and returns its length in src.
func bracket(b *strings.Builder, src string) int {
	i := 1
	neg := i < len(src) && src[i] == '^'
	if neg {
		i++
	}
	closing, caret, dash := false, false, false
	var body strings.Builder
	for first := true; ; first = false {
		if i >= len(src) { // unterminated: the compiler says so
			b.WriteString(src)
			return len(src)
		}
		c := src[i]
		switch {
		case c == ']' && !first:
			if body.Len() == 0 && caret && !closing && !dash && !neg {
				b.WriteString(`\^`) // [^] would not end here
				return i + 1
			}
			b.WriteByte('[')
			if neg {
				b.WriteByte('^')
			}
			if closing {
				b.WriteByte(']')
			}
			b.WriteString(body.String())
			if caret {
				b.WriteByte('^')
			}
			if dash {
				b.WriteByte('-')
			}
			b.WriteByte(']')
			return i + 1
		case c == ']':
			closing = true
			i++
		case c == '[' && i+1 < len(src) && strings.IndexByte(":.=", src[i+1]) >= 0:
			if n := strings.Index(src[i+2:], src[i+1:i+2]+"]"); n >= 0 {
				body.WriteString(src[i : i+n+4])
				i += n + 4
				continue
			}
			body.WriteByte(c)
			i++
		case c == '\\' && i+1 < len(src):
			i++
			if text, n, ok := escape(src[i:]); ok {
				body.WriteString(text)
				i += n
				continue
			}
			switch src[i] {
			case ']':
				closing = true
			case '^':
				caret = true
			case '-':
				dash = true
			default:
				body.WriteByte(src[i])
			}
			i++
		default:
			body.WriteByte(c)
			i++
		}
	}
}
