package applet

import "unicode/utf8"

// Glob tells whether name matches a shell pattern of *, ?, [...] and
// backslashes, as fnmatch does without flags: a star matches slashes too.
func Glob(pattern, name string) bool {
	// After a mismatch only the last star is tried again, one character
	// further: the time is at most the product of the two lengths.
	star, mark := -1, 0
	p, n := 0, 0
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				star, mark = p, n
				p++
				continue
			}
			if n < len(name) {
				r, size := utf8.DecodeRuneInString(name[n:])
				if next, ok := matchOne(pattern[p:], r); ok {
					p += next
					n += size
					continue
				}
			}
		}
		if star < 0 || mark >= len(name) {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[mark:])
		mark += size
		p, n = star+1, mark
	}
	return true
}

// matchOne matches the first element of a pattern against r and returns that
// element's length.
func matchOne(pattern string, r rune) (length int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		if len(pattern) > 1 {
			c, size := utf8.DecodeRuneInString(pattern[1:])
			return 1 + size, c == r
		}
	case '[':
		if length, ok := matchSet(pattern, r); length > 0 {
			return length, ok
		}
	}
	c, size := utf8.DecodeRuneInString(pattern)
	return size, c == r
}

// matchSet matches [...]; length is 0 when the bracket is never closed.
func matchSet(pattern string, r rune) (length int, ok bool) {
	i := 1
	negate := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negate {
		i++
	}
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, ok != negate
		}
		if pattern[i] == '[' && i+1 < len(pattern) && pattern[i+1] == ':' {
			if end := indexFrom(pattern, ":]", i+2); end >= 0 {
				ok = ok || inClass(pattern[i+2:end], r)
				i = end + 2
				continue
			}
		}
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		lo, size := utf8.DecodeRuneInString(pattern[i:])
		i += size
		hi := lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			i++
			if pattern[i] == '\\' && i+1 < len(pattern) {
				i++
			}
			hi, size = utf8.DecodeRuneInString(pattern[i:])
			i += size
		}
		ok = ok || lo <= r && r <= hi
	}
	return 0, false
}

func indexFrom(s, sub string, from int) int {
	for i := from; i+len(sub) <= len(s); i++ {
		if s[i:i+len(sub)] == sub {
			return i
		}
	}
	return -1
}

func inClass(name string, r rune) bool {
	lower, upper := r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z'
	digit := r >= '0' && r <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "alnum":
		return lower || upper || digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return r == ' ' || r >= '\t' && r <= '\r'
	case "blank":
		return r == ' ' || r == '\t'
	case "punct":
		return r > ' ' && r < 127 && !lower && !upper && !digit
	case "cntrl":
		return r < ' ' || r == 127
	case "xdigit":
		return digit || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
	case "graph":
		return r > ' ' && r < 127
	case "print":
		return r >= ' ' && r < 127
	}
	return false
}
