package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'e', 'E':
			b.WriteByte(27)
		case 'f':
			b.WriteByte(12)
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte(11)
		case '\\':
			b.WriteByte('\\')
		case '\'', '"', '?':
			if mode == escEcho {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case 'c':
			switch mode {
			case escAnsi:
				if i+1 < len(s) {
					i++
					b.WriteByte(s[i] & 0x1f)
				}
			case escPrintf:
				b.WriteString("\\c")
			default:
				return b.String(), true
			}
		case 'x':
			v, n := hexDigits(s[i+1:], 2)
			if mode == escAnsi && n == 0 && i+1 < len(s) && s[i+1] == '{' {
				if v, n = hexDigits(s[i+2:], 8); n > 0 {
					i += n + 1
					if i+1 < len(s) && s[i+1] == '}' {
						i++
					}
					b.WriteByte(byte(v))
					continue
				}
			}
			if n == 0 {
				b.WriteString("\\x")
				continue
			}
			i += n
			b.WriteByte(byte(v))
		case 'u', 'U':
			most := 4
			if c == 'U' {
				most = 8
			}
			v, n := hexDigits(s[i+1:], most)
			if n == 0 {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			i += n
			writeCode(&b, v)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			if (mode == escEcho || mode == escB) && c != '0' && mode == escEcho {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			j := i
			most := 3
			if c == '0' && (mode == escEcho || mode == escB) {
				j++
			}
			v, n := 0, 0
			for n < most && j < len(s) && s[j] >= '0' && s[j] <= '7' {
				v = v*8 + int(s[j]-'0')
				j++
				n++
			}
			i = j - 1
			b.WriteByte(byte(v))
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String(), false
}

// writeCode writes a code point the way bash does: also surrogates and values
// beyond Unicode, in the old long forms of UTF-8.
func writeCode(b *strings.Builder, v uint64) {
	switch {
	case v < 0x80:
		b.WriteByte(byte(v))
	case v < 0x800:
		b.WriteByte(0xC0 | byte(v>>6))
		b.WriteByte(0x80 | byte(v&0x3f))
	case v < 0x10000:
		b.WriteByte(0xE0 | byte(v>>12))
		b.WriteByte(0x80 | byte(v>>6&0x3f))
		b.WriteByte(0x80 | byte(v&0x3f))
	case v < 0x200000:
		b.WriteByte(0xF0 | byte(v>>18))
		b.WriteByte(0x80 | byte(v>>12&0x3f))
		b.WriteByte(0x80 | byte(v>>6&0x3f))
		b.WriteByte(0x80 | byte(v&0x3f))
	case v < 0x4000000:
		b.WriteByte(0xF8 | byte(v>>24))
		for _, s := range []uint{18, 12, 6, 0} {
			b.WriteByte(0x80 | byte(v>>s&0x3f))
		}
	case v < 0x80000000:
		b.WriteByte(0xFC | byte(v>>30))
		for _, s := range []uint{24, 18, 12, 6, 0} {
			b.WriteByte(0x80 | byte(v>>s&0x3f))
		}
	}
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
		case r == '\\' || r == '\'':
			b.WriteByte('\\')
			b.WriteByte(byte(r))
		case r == 7:
			b.WriteString("\\a")
		case r == 8:
			b.WriteString("\\b")
		case r == 27:
			b.WriteString("\\E")
		case r == 12:
			b.WriteString("\\f")
		case r == '\n':
			b.WriteString("\\n")
		case r == '\r':
			b.WriteString("\\r")
		case r == '\t':
			b.WriteString("\\t")
		case r == 11:
			b.WriteString("\\v")
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
		c := s[i]
		switch {
		case strings.IndexByte(" \t\n'\"\\|&;()<>!{}*[]?^$`,", c) >= 0,
			c == '#' && i == 0, c == '~' && (i == 0 || s[i-1] == ':' || s[i-1] == '='):
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
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
	if s == "" {
		return true
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if strings.IndexByte(" \t\n'\"\\|&;()<>!{}*[]?^$`", c) >= 0 ||
			c == '#' && i == 0 || c == '~' && (i == 0 || s[i-1] == ':' || s[i-1] == '=') {
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
