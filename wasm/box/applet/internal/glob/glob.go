// Package glob matches names against shell patterns as the C library's
// fnmatch does.
package glob

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Options change how a pattern matches.
type Options struct {
	Fold     bool // ignore case
	Pathname bool // * ? and [ do not match a slash
	NoEscape bool // a backslash is an ordinary character
}

// Match tells whether all of name matches pattern. It takes time
// proportional to the product of their lengths at worst: only the last star
// is ever tried again.
func Match(pattern, name string, opt Options) bool {
	starP, starN := -1, 0
	p, n := 0, 0
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				for p < len(pattern) && pattern[p] == '*' {
					p++
				}
				starP, starN = p, n
				continue
			}
			if n < len(name) {
				if size, next, ok := one(pattern, p, name[n:], opt); ok {
					p, n = next, n+size
					continue
				}
			}
		}
		if starP < 0 || starN >= len(name) || opt.Pathname && name[starN] == '/' {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[starN:])
		starN += size
		p, n = starP, starN
	}
	return true
}

// one matches one character of s against the element at pattern[p:].
func one(pattern string, p int, s string, opt Options) (size, next int, ok bool) {
	r, size := utf8.DecodeRuneInString(s)
	if opt.Pathname && r == '/' && pattern[p] != '/' && pattern[p] != '\\' {
		return 0, 0, false
	}
	switch c := pattern[p]; {
	case c == '?':
		return size, p + 1, true
	case c == '[':
		in, next, valid := bracket(pattern, p, r, opt)
		if valid {
			return size, next, in
		}
	case c == '\\' && !opt.NoEscape:
		if p++; p == len(pattern) { // nothing to escape: no name ends so
			return 0, 0, false
		}
	}
	pr, psize := utf8.DecodeRuneInString(pattern[p:])
	if pr == utf8.RuneError && psize == 1 || r == utf8.RuneError && size == 1 {
		return 1, p + 1, pattern[p] == s[0]
	}
	return size, p + psize, pr == r || opt.Fold && fold(pr) == fold(r)
}

func fold(r rune) rune { return unicode.ToLower(r) }

// bracket matches r against the bracket expression at pattern[p:]. valid is
// false when it is none: then the [ is an ordinary character.
func bracket(pattern string, p int, r rune, opt Options) (in bool, next int, valid bool) {
	i := p + 1
	neg := false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		neg = true
		i++
	}
	if opt.Fold {
		r = fold(r)
	}
	element := func() (rune, bool) {
		if i < len(pattern) && pattern[i] == '\\' && !opt.NoEscape {
			i++
		}
		if i >= len(pattern) {
			return 0, false
		}
		e, n := utf8.DecodeRuneInString(pattern[i:])
		i += n
		if opt.Fold {
			e = fold(e)
		}
		return e, true
	}
	for first := true; ; first = false {
		if i >= len(pattern) {
			return false, 0, false
		}
		if pattern[i] == ']' && !first {
			return in != neg, i + 1, true
		}
		if strings.HasPrefix(pattern[i:], "[:") {
			if end := strings.Index(pattern[i:], ":]"); end > 0 {
				if isClass(pattern[i+2:i+end], r, opt.Fold) {
					in = true
				}
				i += end + 2
				continue
			}
		}
		lo, ok := element()
		if !ok {
			return false, 0, false
		}
		hi := lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			i++
			if hi, ok = element(); !ok {
				return false, 0, false
			}
		}
		if lo <= r && r <= hi {
			in = true
		}
	}
}

func isClass(name string, r rune, folded bool) bool {
	switch name {
	case "alpha":
		return unicode.IsLetter(r)
	case "digit":
		return '0' <= r && r <= '9'
	case "alnum":
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	case "upper":
		return unicode.IsUpper(r) || folded && unicode.IsLower(r)
	case "lower":
		return unicode.IsLower(r)
	case "space":
		return unicode.IsSpace(r)
	case "blank":
		return r == ' ' || r == '\t'
	case "punct":
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	case "print":
		return unicode.IsPrint(r)
	case "graph":
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	case "cntrl":
		return unicode.IsControl(r)
	case "xdigit":
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F'
	}
	return false
}
