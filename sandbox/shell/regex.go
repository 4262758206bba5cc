package shell

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// matchRegex is =~: a POSIX extended expression, leftmost and longest.
func (sh *shell) matchRegex(s, ere string) bool {
	if len(ere) > 1<<16 {
		throw(&LimitError{What: "regular expression over 64 KiB"})
	}
	re, err := compileERE(ere, sh.opts.has(optNocasematch))
	if err != nil {
		sh.condError = true
		return false
	}
	var m []int
	if len(s) < 1<<12 {
		m = re.FindStringSubmatchIndex(s)
	} else { // so long that it must be possible to stop it
		m = re.FindReaderSubmatchIndex(&tickingReader{s: s, sh: sh})
		sh.tick()
	}
	var els []element
	if m != nil {
		for i := 0; i < len(m); i += 2 {
			v := ""
			if m[i] >= 0 {
				v = s[m[i]:m[i+1]]
			}
			els = append(els, element{val: v})
		}
	}
	if !sh.vars.m["BASH_REMATCH"].has(attrReadonly) {
		sh.assignArray("BASH_REMATCH", els, false)
	}
	return m != nil
}

// A tickingReader reads a string and ends early when its shell must.
type tickingReader struct {
	s     string
	sh    *shell
	reads int
}

func (r *tickingReader) ReadRune() (c rune, n int, err error) {
	if r.reads++; r.s == "" || r.reads&1023 == 0 && (r.sh.run.stop.Load() || r.sh.proc.dead.Load()) {
		return 0, 0, io.EOF
	}
	c, n = utf8.DecodeRuneInString(r.s)
	r.s = r.s[n:]
	return c, n, nil
}

// compileERE translates a POSIX expression to Go's syntax, which runs in
// linear time whatever the expression is.
func compileERE(ere string, fold bool) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("(?s)")
	if fold {
		b.WriteString("(?i)")
	}
	atom := false // something that can be repeated stands before
	for i := 0; i < len(ere); {
		c := ere[i]
		switch c {
		case '\\':
			if i+1 == len(ere) {
				return nil, textError("trailing backslash")
			}
			n := ere[i+1]
			switch n {
			case '<', '>':
				b.WriteString(`\b`)
			case 'b', 'B', 'w', 'W', 's', 'S':
				b.WriteByte('\\')
				b.WriteByte(n)
			default:
				if n >= 0x80 || isNameByte(n) {
					_, w := decode(ere, i+1)
					b.WriteString(regexp.QuoteMeta(ere[i+1 : i+1+w]))
					i += w - 1
				} else {
					b.WriteString(regexp.QuoteMeta(string(rune(n))))
				}
			}
			atom = true
			i += 2
		case '[':
			n, cls, err := ereBracket(ere[i:])
			if err != nil {
				return nil, err
			}
			b.WriteString(cls)
			i += n
			atom = true
		case '*', '+', '?':
			if !atom {
				if c == '*' {
					b.WriteString(`\*`)
					atom = true
					i++
					continue
				}
				return nil, textError("nothing to repeat")
			}
			// a*+ and its like all mean a*.
			i++
			for ; i < len(ere) && strings.IndexByte("*+?", ere[i]) >= 0; i++ {
				if ere[i] != c {
					c = '*'
				}
			}
			b.WriteByte(c)
		case '{':
			end := strings.IndexByte(ere[i:], '}')
			if atom && end > 0 && validRepeat(ere[i+1:i+end]) {
				body := ere[i+1 : i+end]
				if strings.HasPrefix(body, ",") {
					body = "0" + body
				}
				b.WriteString("{" + body + "}")
				i += end + 1
			} else {
				b.WriteString(`\{`)
				i++
				atom = true
			}
		case '(':
			b.WriteByte('(')
			i++
			atom = false
			if i < len(ere) && ere[i] == ')' {
				b.WriteByte(')')
				i++
				atom = true
			}
		case ')':
			b.WriteByte(')')
			i++
			atom = true
		case '|':
			b.WriteByte('|')
			i++
			atom = false
		case '^', '$', '.':
			b.WriteByte(c)
			i++
			atom = c != '^'
		default:
			_, n := decode(ere, i)
			b.WriteString(regexp.QuoteMeta(ere[i : i+n]))
			i += n
			atom = true
		}
	}
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, err
	}
	re.Longest()
	return re, nil
}

func validRepeat(s string) bool {
	if s == "" || s == "," {
		return false
	}
	commas := 0
	for i := 0; i < len(s); i++ {
		if s[i] == ',' {
			commas++
		} else if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return commas <= 1
}

// ereBracket translates a bracket expression; n is its length.
func ereBracket(s string) (n int, out string, err error) {
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if i < len(s) && s[i] == '^' {
		b.WriteByte('^')
		i++
	}
	for first := true; ; first = false {
		if i >= len(s) {
			return 0, "", textError("unmatched [")
		}
		c := s[i]
		if c == ']' && !first {
			b.WriteByte(']')
			return i + 1, b.String(), nil
		}
		if c == '[' && i+1 < len(s) && (s[i+1] == ':' || s[i+1] == '.' || s[i+1] == '=') {
			end := strings.Index(s[i+2:], string(s[i+1])+"]")
			if end < 0 {
				return 0, "", textError("unmatched [:")
			}
			name := s[i+2 : i+2+end]
			if s[i+1] == ':' {
				if charClass(name) == nil {
					return 0, "", textError("invalid character class")
				}
				switch name {
				case "alpha":
					b.WriteString(`\p{L}`)
				case "alnum":
					b.WriteString(`\p{L}\p{Nd}`)
				case "upper":
					b.WriteString(`\p{Lu}`)
				case "lower":
					b.WriteString(`\p{Ll}`)
				case "punct":
					b.WriteString(`[:punct:]\p{P}`)
				default:
					b.WriteString("[:" + name + ":]")
				}
			} else {
				b.WriteString(classQuote(name))
			}
			i += end + 4
			continue
		}
		if c == '\\' && i+1 < len(s) && strings.IndexByte(`\.[]()*+?{}|^$`, s[i+1]) >= 0 {
			// A quoted character inside of brackets.
			b.WriteString(classQuote(s[i+1 : i+2]))
			i += 2
			continue
		}
		_, w := decode(s, i)
		if c == '-' {
			// A range when it stands between two characters.
			if first || i+1 < len(s) && s[i+1] == ']' {
				b.WriteString(`\-`)
			} else {
				b.WriteByte('-')
			}
			i++
			continue
		}
		b.WriteString(classQuote(s[i : i+w]))
		i += w
	}
}

func classQuote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`\[]^-&~`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
