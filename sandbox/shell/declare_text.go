package shell

import "strings"

// compoundText parses "(a b [k]=v)" that came from a value: words are split
// and unquoted, nothing is expanded.
func (sh *shell) compoundText(s string, isAssoc bool) []element {
	body := s[1 : len(s)-1]
	var out []element
	for _, w := range splitQuoted(body) {
		if strings.HasPrefix(w, "[") {
			end := subscriptEnd(w, 1)
			if end < len(w) && w[end] == '=' {
				key := unquoteText(w[1 : end-1])
				e := element{keyed: true, key: key, val: unquoteText(w[end+1:])}
				if !isAssoc {
					e.idx = sh.arithString(key)
				}
				out = append(out, e)
				continue
			}
		}
		out = append(out, element{val: unquoteText(w)})
	}
	return out
}

// splitQuoted splits at blanks outside of quotes.
func splitQuoted(s string) []string {
	var out []string
	start := -1
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n':
			if start >= 0 {
				out = append(out, s[start:i])
				start = -1
			}
			i++
			continue
		case start < 0:
			start = i
		}
		switch c := s[i]; {
		case c == '\\':
			i += 2
		case c == '\'' || c == '"':
			i = skipQuoted(s, i)
		case c == '$' && i+1 < len(s) && s[i+1] == '\'':
			i = skipAnsi(s, i)
		default:
			i++
		}
	}
	if start >= 0 {
		out = append(out, s[start:])
	}
	return out
}

// unquoteText removes quotes; expansions stay text.
func unquoteText(s string) string {
	if !strings.ContainsAny(s, "\\'\"") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			b.WriteByte(s[i+1])
			i += 2
		case c == '\'':
			j := skipQuoted(s, i)
			b.WriteString(strings.TrimSuffix(s[i+1:j], "'"))
			i = j
		case c == '"':
			j := skipQuoted(s, i)
			in := strings.TrimSuffix(s[i+1:j], "\"")
			for k := 0; k < len(in); k++ {
				if in[k] == '\\' && k+1 < len(in) && strings.IndexByte("\\\"$`", in[k+1]) >= 0 {
					k++
				}
				b.WriteByte(in[k])
			}
			i = j
		case c == '$' && i+1 < len(s) && s[i+1] == '\'':
			j := skipAnsi(s, i)
			b.WriteString(ansiC(strings.TrimSuffix(s[i+2:j], "'")))
			i = j
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}
