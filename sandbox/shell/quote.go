package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/donax-sh/donax/cformat"
)

// Unescape returns what $'s' stands for.
func Unescape(s string) string { return ansiC(s) }

// ansiC resolves the escapes of $'...'. A NUL ends the text, as in C.
func ansiC(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out, _ := unescapeC(s, escAnsi)
	if i := strings.IndexByte(out, 0); i >= 0 {
		out = out[:i]
	}
	return out
}

type escMode uint8

const (
	escAnsi   escMode = iota // $'...'
	escEcho                  // echo -e
	escB                     // printf %b
	escPrintf                // the format of printf
)

// unescapeC resolves backslash escapes; stop is set by \c where that ends
// the output.
func unescapeC(s string, mode escMode) (out string, stop bool) {
	var b []byte
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return string(append(b, s...)), false
		}
		var n int
		if b, n, stop = escapeC(append(b, s[:i]...), s[i+1:], mode); stop {
			return string(b), true
		}
		s = s[i+1+n:]
	}
}

// escapeC appends what the escape behind a backslash stands for; n is how many
// bytes of s belong to it.
func escapeC(b []byte, s string, mode escMode) (out []byte, n int, stop bool) {
	if s == "" {
		return append(b, '\\'), 0, false
	}
	switch c := s[0]; {
	case c == 'E':
		return append(b, 27), 1, false
	case c == 'c' && mode == escAnsi && len(s) > 1:
		return append(b, s[1]&0x1f), 2, false
	case c == 'c' && (mode == escAnsi || mode == escPrintf), c >= '1' && c <= '7' && mode == escEcho, strings.IndexByte(`'"?`, c) >= 0 && mode == escEcho:
		return append(b, '\\', c), 1, false
	case c == '\'' || c == '?':
		return append(b, c), 1, false
	case mode == escAnsi && strings.HasPrefix(s, "x{"):
		if v, k := hexDigits(s[2:], 8); k > 0 {
			if n = 2 + k; n < len(s) && s[n] == '}' {
				n++
			}
			return append(b, byte(v)), n, false
		}
	case c == 'u':
		if v, k := hexDigits(s[1:], 4); k > 0 {
			return appendCode(b, v), k + 1, false
		}
	case c == 'U':
		if v, k := hexDigits(s[1:], 8); k > 0 {
			return appendCode(b, v), k + 1, false
		}
	}
	if b, n, stop = cformat.Escape(b, s, mode == escEcho || mode == escB); n == 0 {
		b = append(b, '\\') // it is none
	}
	return b, n, stop
}

// appendCode appends a code point the way bash does: also surrogates and
// values beyond Unicode, in the old long forms of UTF-8.
func appendCode(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	n := 1 // bytes behind the first
	for n < 5 && v >= 1<<(5*n+6) {
		n++
	}
	b = append(b, byte(0xFF)<<(7-n)|byte(v>>(6*n)))
	for n--; n >= 0; n-- {
		b = append(b, 0x80|byte(v>>(6*n)&0x3f))
	}
	return b
}

func hexDigits(s string, most int) (v uint64, n int) {
	for n < most && n < len(s) {
		c := s[n]
		switch {
		case c >= '0' && c <= '9':
			v = v*16 + uint64(c-'0')
		case c >= 'a' && c <= 'f':
			v = v*16 + uint64(c-'a'+10)
		case c >= 'A' && c <= 'F':
			v = v*16 + uint64(c-'A'+10)
		default:
			return v, n
		}
		n++
	}
	return v, n
}

// needsAnsi tells whether s can only be written as $'...'.
func needsAnsi(s string) bool {
	for i := 0; i < len(s); {
		r, n := decode(s, i)
		if r < 0 || r < 0x20 || r == 0x7f || r > 0x7f && !unicode.IsPrint(r) {
			return true
		}
		i += n
	}
	return false
}

// shellQuote is ${x@Q}: single quotes, or $'...' for control characters.
func shellQuote(s string) string {
	if needsAnsi(s) {
		return ansiQuote(s)
	}
	return singleQuote(s)
}

func singleQuote(s string) string {
	if s == "'" {
		return "\\'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func ansiQuote(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		r, n := decode(s, i)
		switch {
		case r > 0 && strings.ContainsRune("\a\b\x1b\f\n\r\t\v\\'", r):
			b.WriteByte('\\')
			b.WriteByte("abEfnrtv\\'"[strings.IndexRune("\a\b\x1b\f\n\r\t\v\\'", r)])
		case r < 0x20 || r == 0x7f || r > 0x7f && !unicode.IsPrint(r):
			for k := i; k < i+n; k++ {
				c := s[k]
				b.WriteByte('\\')
				b.WriteByte('0' + c>>6)
				b.WriteByte('0' + c>>3&7)
				b.WriteByte('0' + c&7)
			}
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

// doubleQuote is the form declare -p uses for values.
func doubleQuote(s string) string {
	if needsAnsi(s) {
		return ansiQuote(s)
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"', '\\', '$', '`':
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
	return b.String()
}

// quoteKey is the form declare -p uses for keys.
func quoteKey(s string) string {
	if needsAnsi(s) {
		return ansiQuote(s)
	}
	if s == "" || strings.ContainsAny(s, " \t\n'\"\\$`|&;()<>[]*?!{}~#^,@") && s != "@x" {
		return doubleQuote(s)
	}
	return s
}

// backslashQuote is printf %q.
func backslashQuote(s string) string {
	if s == "" {
		return "''"
	}
	if needsAnsi(s) {
		return ansiQuote(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == ',' || quoted(s, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// quoted tells whether s[i] would not stand for itself in a script.
func quoted(s string, i int) bool {
	switch s[i] {
	case '#':
		return i == 0
	case '~':
		return i == 0 || s[i-1] == ':' || s[i-1] == '='
	}
	return strings.IndexByte(" \t\n'\"\\|&;()<>!{}*[]?^$`", s[i]) >= 0
}

// setQuote is the form set and xtrace use: plain when nothing needs quotes.
func setQuote(s string) string {
	if s == "" {
		return ""
	}
	if needsAnsi(s) {
		return ansiQuote(s)
	}
	if needsQuote(s) {
		return singleQuote(s)
	}
	return s
}

func needsQuote(s string) bool {
	for i := 0; i < len(s); i++ {
		if quoted(s, i) {
			return true
		}
	}
	return !utf8.ValidString(s)
}

// atoi parses a plain decimal number, with sign.
func atoi(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	neg := false
	i := 0
	if s[0] == '-' || s[0] == '+' {
		neg = s[0] == '-'
		i++
	}
	if i == len(s) || len(s)-i > 18 {
		return 0, false
	}
	var n int64
	for ; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}
