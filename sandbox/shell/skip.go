package shell

// These helpers find the end of quoted text and of expansions in source
// text. They are used on text that the parser has already accepted, and
// return len(s) when an end is missing.

// skipQuoted returns the index after the quoted text that starts at s[i],
// which is ' or ".
func skipQuoted(s string, i int) int {
	q := s[i]
	i++
	for i < len(s) {
		switch {
		case s[i] == q:
			return i + 1
		case q == '"' && s[i] == '\\':
			i += 2
		case q == '"' && (s[i] == '$' || s[i] == '`'):
			i = skipDollar(s, i)
		default:
			i++
		}
	}
	return len(s)
}

// skipAnsi returns the index after $'...' that starts at s[i].
func skipAnsi(s string, i int) int {
	for i += 2; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == '\'' {
			return i + 1
		}
	}
	return len(s)
}

// skipDollar returns the index after the expansion that starts at s[i], which
// is $ or a back quote.
func skipDollar(s string, i int) int {
	if s[i] == '`' {
		for i++; i < len(s); i++ {
			if s[i] == '\\' {
				i++
			} else if s[i] == '`' {
				return i + 1
			}
		}
		return len(s)
	}
	i++
	if i >= len(s) {
		return i
	}
	switch c := s[i]; {
	case c == '{':
		return skipTo(s, i+1, '{', '}')
	case c == '(':
		return skipTo(s, i+1, '(', ')')
	case c == '[':
		return skipTo(s, i+1, '[', ']')
	case isNameByte(c) && (c < '0' || c > '9'):
		for i < len(s) && isNameByte(s[i]) {
			i++
		}
		return i
	case c == '\'' || c == '"':
		return i
	}
	return i + 1
}

// skipTo returns the index after the close that matches an open before i.
func skipTo(s string, i int, open, end byte) int {
	for depth := 1; i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			i += 2
		case c == '\'' || c == '"':
			i = skipQuoted(s, i)
		case c == '`':
			i = skipDollar(s, i)
		case c == '$':
			if i+1 < len(s) && s[i+1] == '\'' {
				i = skipAnsi(s, i)
			} else {
				i = skipDollar(s, i)
			}
		case c == open:
			depth++
			i++
		case c == end:
			i++
			if depth--; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(s)
}

// cut splits s at the separators that stand outside of quotes, expansions
// and brackets of any kind.
func cutTop(s string, sep byte, n int) []string {
	var out []string
	start, quest := 0, 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			i += 2
		case c == '\'' || c == '"':
			i = skipQuoted(s, i)
		case c == '$' || c == '`':
			i = skipDollar(s, i)
		case c == '(':
			i = skipTo(s, i+1, '(', ')')
		case c == '[':
			i = skipTo(s, i+1, '[', ']')
		case c == '?' && sep == ':':
			quest++
			i++
		case c == ':' && sep == ':' && quest > 0:
			quest--
			i++
		case c == sep && (n < 0 || len(out) < n-1):
			out = append(out, s[start:i])
			i++
			start = i
		default:
			i++
		}
	}
	return append(out, s[min(start, len(s)):])
}
