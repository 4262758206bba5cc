package curl

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// expanded is one URL of a pattern, and what its parts were.
type expanded struct {
	url   string
	parts []string
}

// fill puts the parts into an output's name: #1 is the first.
func (e expanded) fill(name string) string {
	if len(e.parts) == 0 || !strings.Contains(name, "#") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		k := i + 1
		for k < len(name) && name[k] >= '0' && name[k] <= '9' {
			k++
		}
		if n, err := strconv.Atoi(name[i+1 : k]); name[i] == '#' && err == nil && n >= 1 && n <= len(e.parts) {
			b.WriteString(e.parts[n-1])
			i = k - 1
			continue
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// maxExpanded bounds the URLs of one pattern.
const maxExpanded = 10_000

// expand expands {a,b} and [1-9], [01-10:2], [a-z] in a URL.
func (s *state) expand(pattern string) ([]expanded, error) {
	list := []expanded{{}}
	rest := pattern
	for !s.globOff {
		i := strings.IndexAny(rest, "{[")
		if i < 0 {
			break
		}
		if i > 0 && rest[i-1] == '\\' {
			list = extend(list, []string{rest[:i-1] + rest[i:i+1]}, false)
			rest = rest[i+1:]
			continue
		}
		closing := strings.IndexByte(rest[i:], map[byte]byte{'{': '}', '[': ']'}[rest[i]])
		if closing < 0 {
			return nil, fatal{3, "unmatched brace in URL position " + itoa(len(pattern)-len(rest)+i+1) + ":\n" + pattern}
		}
		body := rest[i+1 : i+closing]
		var words []string
		if rest[i] == '{' {
			words = strings.Split(body, ",")
		} else if words = span(body); words == nil {
			if strings.Contains(body, ":") { // an IPv6 address
				list = extend(list, []string{rest[:i+closing+1]}, false)
				rest = rest[i+closing+1:]
				continue
			}
			return nil, fatal{3, "bad range in URL position " + itoa(len(pattern)-len(rest)+i+2) + ":\n" + pattern}
		}
		list = extend(extend(list, []string{rest[:i]}, false), words, true)
		if len(list) > maxExpanded {
			return nil, fatal{3, "range overflow in URL:\n" + pattern}
		}
		rest = rest[i+closing+1:]
	}
	return extend(list, []string{rest}, false), nil
}

func extend(list []expanded, words []string, part bool) []expanded {
	var out []expanded
	for _, e := range list {
		for _, w := range words {
			n := expanded{e.url + w, e.parts}
			if part {
				n.parts = append(e.parts[:len(e.parts):len(e.parts)], w)
			}
			if out = append(out, n); len(out) > maxExpanded {
				return out
			}
		}
	}
	return out
}

// span lists what is in [FROM-TO:STEP]; nil when it is no such range.
func span(body string) (words []string) {
	body, stepText, hasStep := strings.Cut(body, ":")
	from, to, ok := strings.Cut(body, "-")
	step := 1
	if hasStep {
		var err error
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return nil
		}
	}
	if !ok || from == "" || to == "" {
		return nil
	}
	if len(from) == 1 && len(to) == 1 && from[0] > '9' && from[0] <= to[0] {
		for c := int(from[0]); c <= int(to[0]); c += step {
			words = append(words, string(rune(c)))
		}
		return words
	}
	a, err1 := strconv.ParseUint(from, 10, 31)
	b, err2 := strconv.ParseUint(to, 10, 31)
	if err1 != nil || err2 != nil || a > b || (b-a)/uint64(step) > maxExpanded {
		return nil
	}
	for n := a; n <= b; n += uint64(step) {
		w := strconv.FormatUint(n, 10)
		if from[0] == '0' {
			w = strings.Repeat("0", max(0, len(from)-len(w))) + w
		}
		words = append(words, w)
	}
	return words
}
