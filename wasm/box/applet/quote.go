package applet

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quote quotes a name as GNU commands do where a name always stands in
// quotes: 'name', "it's", 'a'$'\n”b'. A shell reads the name back.
func Quote(s string) string {
	q, _ := shellQuote(s)
	return q
}

// Name returns a name as it stands in messages of the form "cat: NAME: why":
// as it is when a shell would read it as it is, else as Quote writes it.
func Name(s string) string {
	q, needed := shellQuote(s)
	if needed {
		return q
	}
	return s
}

// Curly quotes an argument that is not a file's name, as GNU commands do in a
// UTF-8 locale: ‘12x’.
func Curly(s string) string {
	var b strings.Builder
	b.WriteString("‘")
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1 || !strconv.IsPrint(r):
			for k := 0; k < n; k++ {
				next := byte(0)
				if i+k+1 < len(s) {
					next = s[i+k+1]
				}
				b.WriteString(cEscape(s[i+k], next))
			}
		case r == '\\' || r == '’':
			b.WriteByte('\\')
			b.WriteString(s[i : i+n])
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteString("’")
	return b.String()
}

// cEscape writes a byte that cannot be printed as C does. next is the byte
// after it: a digit there makes a NUL three digits long.
func cEscape(c, next byte) string {
	if i := strings.IndexByte("\a\b\f\n\r\t\v", c); i >= 0 {
		return `\` + "abfnrtv"[i:i+1]
	}
	if c == 0 && (next < '0' || next > '9') {
		return `\0`
	}
	return string([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
}

// shellQuote quotes s for a shell and tells whether the quotes are needed.
func shellQuote(s string) (quoted string, needed bool) {
	needed = s == ""
	single, double := false, true // holds a single quote; may stand in double quotes
	var b strings.Builder
	b.WriteByte('\'')
	escaped := false // inside $'...'
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1 || !strconv.IsPrint(r):
			needed, double = true, false
			for k := 0; k < n; k++ {
				if !escaped {
					b.WriteString("'$'")
					escaped = true
				}
				next := byte(0)
				if i+k+1 < len(s) {
					next = s[i+k+1]
				}
				b.WriteString(cEscape(s[i+k], next))
			}
			i += n
			continue
		case r == '\'':
			if escaped {
				// The quote that ends $'...' and the one of '\'' are one.
				escaped = false
			}
			single, needed = true, true
			b.WriteString(`'\''`)
			i++
			continue
		case (r == '{' || r == '}') && len(s) == 1, (r == '#' || r == '~') && i == 0, r == ' ':
			needed = true
		case strings.ContainsRune("!\"$&()*;<=>[^`|\\?", r):
			needed, double = true, false
		case r == '{' || r == '}' || r == '#' || r == '~':
			double = false
		}
		if escaped {
			b.WriteString("''")
			escaped = false
		}
		b.WriteString(s[i : i+n])
		i += n
	}
	if single && double {
		return `"` + s + `"`, true
	}
	b.WriteByte('\'')
	return b.String(), needed
}
