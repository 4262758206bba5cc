package grep

import (
	"errors"
	"strconv"
	"strings"
)

// Characters that PCRE's escapes name and Go's engines do not know, as the
// inside of a bracket expression.
const (
	blanks   = `\t \x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`
	newlines = `\n\x{b}\f\r\x{85}\x{2028}\x{2029}`
)

// perlEscape writes the escape at the start of s, which begins with a
// backslash, as Go's engines have it, and returns its length. groups is how
// many groups began before it. 0: it is the same there.
func perlEscape(s string, class bool, groups int) (text string, n int, err error) {
	if len(s) < 2 {
		return "", 0, errors.New(`\ at end of pattern`)
	}
	set := func(inside string, negated bool) (string, int, error) {
		switch {
		case class && negated:
			return "", 0, errors.New(s[:2] + " inside [] is not supported")
		case class:
			return inside, 2, nil
		case negated:
			return "[^" + inside + "]", 2, nil
		}
		return "[" + inside + "]", 2, nil
	}
	switch s[1] {
	case 'h', 'H':
		return set(blanks, s[1] == 'H')
	case 'v', 'V':
		return set(newlines, s[1] == 'V')
	case 'F', 'L', 'l', 'U', 'u':
		return "", 0, errors.New(`PCRE2 does not support \F, \L, \l, \N{name}, \U, or \u`)
	case 'N', 'R', 'X':
		switch {
		case class:
			return "", 0, errors.New(`escape sequence is invalid in character class`)
		case strings.HasPrefix(s, `\N{U+`):
			return `\x{`, len(`\N{U+`), nil
		case s[1] == 'N':
			return `[^\n]`, 2, nil
		case s[1] == 'R':
			return `(?:\r\n|[` + newlines + `])`, 2, nil
		}
		return `(?:\P{M}\p{M}*)`, 2, nil
	case 'o':
		digits, _, ok := strings.Cut(strings.TrimPrefix(s[2:], "{"), "}")
		v, err := strconv.ParseUint(digits, 8, 21)
		if !ok || err != nil || s[2] != '{' {
			return "", 0, errors.New(`missing opening brace after \o`)
		}
		return `\x{` + strconv.FormatUint(v, 16) + "}", len(digits) + 4, nil
	case 'g':
		if class {
			break
		}
		name, end := "", 0
		if after, ok := strings.CutPrefix(s[2:], "{"); ok {
			name, _, _ = strings.Cut(after, "}")
			end = len(name) + 4
		} else {
			name = s[2 : 2+len(s[2:])-len(strings.TrimLeft(s[2:], "-0123456789"))]
			end = len(name) + 2
		}
		i, err := strconv.Atoi(name)
		switch {
		case name == "" || end > len(s):
			return "", 0, errors.New(`\g is not followed by a braced, angle-bracketed, or quoted name/number or by a plain number`)
		case err != nil:
			return `\k<` + name + ">", end, nil
		case i < 0:
			i += groups + 1
		}
		return `(?:\` + strconv.Itoa(i) + ")", end, nil
	case 'i', 'I', 'j', 'J', 'm', 'M', 'O', 'q', 'T', 'y', 'Y':
		return "", 0, errors.New(`unrecognized character follows \`)
	}
	return "", 0, nil
}
