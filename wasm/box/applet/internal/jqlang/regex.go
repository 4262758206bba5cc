package jqlang

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// matcher is a regular expression as Oniguruma reads it: Go's engine where it
// can, since its time is linear, else regexp2.
type matcher struct {
	linear *regexp.Regexp
	back   *regexp2.Regexp
	names  []string
}

const matchTimeout = 5 * time.Second

func regexTable() map[string]nativeFunc {
	cache := map[string]*matcher{}
	return map[string]nativeFunc{
		"_match/3": func(_ *Interp, v any, a []any) (any, error) { return match(cache, v, a[0], a[1], truthy(a[2])) },
		"test/1": func(_ *Interp, v any, a []any) (any, error) {
			re, flags := a[0], any(nil)
			if list, ok := re.([]any); ok {
				re, _ = get(list, 0.0)
				flags, _ = get(list, 1.0)
			}
			return match(cache, v, re, flags, true)
		},
		"test/2": func(_ *Interp, v any, a []any) (any, error) { return match(cache, v, a[0], a[1], true) },
		"_capture/0": func(_ *Interp, v any, _ []any) (any, error) {
			list, err := get(v, "captures")
			if err != nil {
				return nil, err
			}
			o := NewObject(4)
			err = each(list, nil, func(c any, _ *path) error {
				name, _ := get(c, "name")
				s, _ := get(c, "string")
				if n, ok := name.(string); ok {
					o.Add(n, s)
				}
				return nil
			})
			return o, err
		},
	}
}

func match(cache map[string]*matcher, v, re, flags any, test bool) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fail(show(v), " cannot be matched, as it is not a string")
	}
	pat, ok := re.(string)
	if !ok {
		return nil, fail(show(re), " cannot be matched, as it is not a string")
	}
	f := ""
	if flags != nil {
		if f, ok = flags.(string); !ok {
			return nil, fail(show(flags), " is not a string")
		}
	}
	global := false
	skipEmpty := false
	mods := ""
	for _, c := range f {
		switch c {
		case 'g':
			global = true
		case 'i', 'x':
			mods += string(c)
		case 's', 'p': // single line: . matches newlines
			mods += "s"
		case 'n':
			skipEmpty = true
		case 'l':
		default:
			return nil, fail(f, " is not a valid modifier string")
		}
	}
	key := mods + "/" + pat
	m := cache[key]
	if m == nil {
		var err error
		if m, err = newMatcher(pat, mods); err != nil {
			return nil, fail(pat, " (at offset 0) is not a valid regex: ", err.Error())
		}
		cache[key] = m
	}
	if test && m.linear != nil && !skipEmpty {
		return m.linear.MatchString(s), nil
	}
	locs, err := m.all(s, global)
	if err != nil {
		return nil, fail(pat, ": exceeded the backtracking limit")
	}
	out := []any{}
	at, chars := 0, 0 // a byte offset and its count of characters
	runeAt := func(i int) float64 {
		if i < at {
			at, chars = 0, 0
		}
		chars += utf8.RuneCountInString(s[at:i])
		at = i
		return float64(chars)
	}
	for _, loc := range locs {
		if skipEmpty && loc[0] == loc[1] {
			continue
		}
		o := NewObject(4)
		start := runeAt(loc[0])
		o.Add("offset", start)
		o.Add("length", runeAt(loc[1])-start)
		o.Add("string", s[loc[0]:loc[1]])
		caps := []any{}
		for g := 1; g < len(loc)/2; g++ {
			c := NewObject(4)
			if loc[2*g] < 0 {
				c.Add("offset", -1.0)
				c.Add("length", 0.0)
				c.Add("string", nil)
			} else {
				from := runeAt(loc[2*g])
				c.Add("offset", from)
				c.Add("length", runeAt(loc[2*g+1])-from)
				c.Add("string", s[loc[2*g]:loc[2*g+1]])
			}
			if m.names[g] == "" {
				c.Add("name", nil)
			} else {
				c.Add("name", m.names[g])
			}
			caps = append(caps, c)
		}
		o.Add("captures", caps)
		out = append(out, o)
	}
	if test {
		return len(out) > 0, nil
	}
	return out, nil
}

func newMatcher(pat, mods string) (*matcher, error) {
	goMods := strings.ReplaceAll(mods, "x", "")
	if !strings.Contains(mods, "x") {
		prefix := "(?m" + goMods + ")"
		if re, err := regexp.Compile(prefix + pat); err == nil && !strings.Contains(pat, `\h`) && !strings.Contains(pat, `\H`) {
			return &matcher{linear: re, names: re.SubexpNames()}, nil
		}
	}
	opt := regexp2.RegexOptions(regexp2.RE2 | regexp2.Multiline)
	for _, c := range mods {
		switch c {
		case 'i':
			opt |= regexp2.IgnoreCase
		case 'x':
			opt |= regexp2.IgnorePatternWhitespace
		case 's':
			opt |= regexp2.Singleline
		}
	}
	// \h is a hexadecimal digit.
	pat = strings.NewReplacer(`\\`, `\\`, `\h`, `[0-9a-fA-F]`, `\H`, `[^0-9a-fA-F]`).Replace(pat)
	re, err := regexp2.Compile(pat, opt)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = matchTimeout
	m := &matcher{back: re}
	for i, n := range re.GetGroupNames() {
		if n == itoa(i) {
			n = ""
		}
		m.names = append(m.names, n)
	}
	return m, nil
}

func itoa(i int) string { return text(float64(i)) }

// all returns the matches as byte offsets, one or all of them.
func (m *matcher) all(s string, global bool) ([][]int, error) {
	if m.linear != nil {
		n := 1
		if global {
			n = -1
		}
		locs := m.linear.FindAllStringSubmatchIndex(s, n)
		return locs, nil
	}
	var out [][]int
	r, err := m.back.FindStringMatch(s)
	for err == nil && r != nil {
		var loc []int
		for _, g := range r.Groups() {
			if len(g.Captures) == 0 {
				loc = append(loc, -1, -1)
				continue
			}
			i, n := g.ByteRange()
			loc = append(loc, i, i+n)
		}
		out = append(out, loc)
		if !global {
			break
		}
		r, err = m.back.FindNextMatch(r)
	}
	return out, err
}
