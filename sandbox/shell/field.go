package shell

import (
	"strings"
	"unicode/utf8"
)

// A builder collects the result of expanding a word: one string, or fields.
//
// In esc a copy is kept in which quoted pattern characters are escaped; in
// field mode only once the field holds active pattern characters.
type builder struct {
	sh    *shell
	mode  buildMode
	buf   []byte
	esc   []byte
	isEsc bool // esc is kept
	glob  bool // the field holds active pattern characters
	has   bool // there is a field, even if empty
	out   []string
	total int64
	ifs   string
	ifsOK bool
	white bool // the field before ended in IFS white space

	assign  bool // the right side of an assignment
	heredoc bool // the body of a here-document
}

type buildMode uint8

const (
	buildFields  buildMode = iota
	buildString            // one string, no splitting
	buildPattern           // one pattern, in esc
	buildRegex             // one regular expression, in esc
)

const patSpecial = `*?[]\|&()<>!@+-^{}~ '"$` + "`"

func escapeTo(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if isPatSpecial(s[i]) {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return dst
}

func isPatSpecial(c byte) bool {
	switch c {
	case '*', '?', '[', ']', '\\', '|', '(', ')', '!', '@', '+', '-', '^':
		return true
	}
	return false
}

func escapeRegex(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\', '.', '[', ']', '(', ')', '*', '+', '?', '{', '}', '|', '^', '$':
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return dst
}

// grow checks the size of what is being built.
func (b *builder) grow(n int) {
	if b.total += int64(n); b.total > b.sh.run.lim.Expansion {
		throw(&LimitError{What: "expansion of " + size(b.sh.run.lim.Expansion)})
	}
	if b.total > memBatch { // small results are not worth counting
		b.sh.hold(int64(n))
	}
}

// quoted adds quoted text.
func (b *builder) quoted(s string) {
	b.has = true
	b.white = false
	b.grow(len(s))
	if b.mode < buildPattern {
		b.buf = append(b.buf, s...)
	}
	if b.isEsc {
		if b.mode == buildRegex {
			b.esc = escapeRegex(b.esc, s)
		} else {
			b.esc = escapeTo(b.esc, s)
		}
	}
}

// active adds text of the script in which pattern characters count.
func (b *builder) active(s string) {
	if s == "" {
		return
	}
	b.has = true
	b.white = false
	b.grow(len(s))
	if !b.isEsc && b.mode == buildFields && !b.glob && hasGlob(s) {
		b.startEsc()
	}
	if b.isEsc && b.mode == buildFields && hasGlobChar(s) {
		b.glob = true
	}
	if b.mode < buildPattern {
		b.buf = append(b.buf, s...)
	}
	if b.isEsc {
		b.esc = append(b.esc, s...)
	}
}

func (b *builder) startEsc() {
	b.isEsc = true
	b.esc = escapeTo(b.esc[:0], string(b.buf))
}

// hasGlob tells whether s holds anything that pathname expansion looks at.
func hasGlob(s string) bool { return strings.ContainsAny(s, `*?[\(`) }

func hasGlobChar(s string) bool { return strings.ContainsAny(s, `*?[(`) }

// split adds the unquoted result of an expansion: it is cut at IFS.
func (b *builder) split(s string) {
	if b.mode != buildFields {
		b.active(s)
		return
	}
	ifs := b.fieldSep()
	if ifs == "" {
		b.active(s)
		return
	}
	for len(s) > 0 {
		// A run of separators.
		i := strings.IndexAny(s, ifs)
		if i < 0 {
			b.active(s)
			return
		}
		if i > 0 {
			b.active(s[:i])
			s = s[i:]
		}
		if ifsWhite(s[0]) {
			n := 0
			for n < len(s) && ifsWhite(s[n]) && strings.IndexByte(ifs, s[n]) >= 0 {
				n++
			}
			s = s[n:]
			if b.has { // white space before another separator belongs to it
				b.flush()
				b.white = true
			}
			continue
		}
		n := sepLen(s, ifs)
		if b.has || !b.white {
			b.has = true
			b.flush()
		}
		b.white = false
		s = s[n:]
		for len(s) > 0 && ifsWhite(s[0]) && strings.IndexByte(ifs, s[0]) >= 0 {
			s = s[1:]
		}
	}
}

// sepLen is the length of the separator character at the start of s.
func sepLen(s, ifs string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

func ifsWhite(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

func (b *builder) fieldSep() string {
	if !b.ifsOK {
		b.ifs, b.ifsOK = b.sh.ifs(), true
	}
	return b.ifs
}

// flush ends the current field, if there is one.
func (b *builder) flush() {
	if !b.has {
		return
	}
	if b.glob && !b.sh.opts.has(optNoglob) {
		b.out = b.sh.glob(b.out, string(b.buf), string(b.esc))
	} else {
		b.out = append(b.out, string(b.buf))
	}
	if len(b.out) > b.sh.run.lim.Words {
		throw(&LimitError{What: "more than " + itoa(b.sh.run.lim.Words) + " words"})
	}
	b.buf, b.esc = b.buf[:0], b.esc[:0]
	b.isEsc, b.glob, b.has = false, false, false
}

// endWord ends a word.
func (b *builder) endWord() {
	b.flush()
	b.white = false
}

// list adds the elements of a list expansion.
func (b *builder) list(v []string, star, quoted bool) { b.listAt(v, star, quoted, false) }

// listAt is list; at says that the list is one of $@, joined as if it were $*.
func (b *builder) listAt(v []string, star, quoted, at bool) {
	if b.mode != buildFields {
		sep := " "
		if star {
			if sep = b.sh.ifsJoin(); sep == "" && at {
				sep = " "
			}
		}
		add := b.active
		if quoted {
			add = b.quoted
		}
		for i, s := range v {
			b.sh.tick()
			if i > 0 {
				add(sep)
			}
			add(s)
		}
		return
	}
	if quoted {
		if star {
			b.quoted(joinLimited(b, v, b.sh.ifsJoin()))
			return
		}
		for i, s := range v {
			if i > 0 {
				b.sh.tick()
				b.has = true
				b.flush()
			}
			b.quoted(s)
		}
		return
	}
	if b.fieldSep() == "" {
		for i, s := range v {
			if i > 0 {
				b.flush()
			}
			b.active(s)
		}
		return
	}
	if sep := b.sh.ifsJoin(); !ifsWhite(sep[0]) {
		b.split(joinLimited(b, v, sep)) // empty elements count then
		return
	}
	for i, s := range v {
		if i > 0 {
			b.sh.tick()
			b.flush()
			b.white = false
		}
		b.split(s)
	}
}

func joinLimited(b *builder, v []string, sep string) string {
	n := int64(0)
	for _, s := range v {
		n += int64(len(s) + len(sep))
	}
	if n > b.sh.run.lim.Expansion {
		throw(&LimitError{What: "expansion of " + size(b.sh.run.lim.Expansion)})
	}
	return strings.Join(v, sep)
}

// ifs is the value of IFS, or its default.
func (sh *shell) ifs() string {
	if !sh.ifsSet {
		return " \t\n"
	}
	return sh.ifsVal
}

// ifsJoin is what "$*" puts between elements.
func (sh *shell) ifsJoin() string {
	s := sh.ifs()
	if s == "" {
		return ""
	}
	return s[:sepLen(s, s)]
}
