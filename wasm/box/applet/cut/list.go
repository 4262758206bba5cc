package cut

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// span is a range of positions, both ends included, counted from 1.
type span struct{ lo, hi int }

// parseList reads a list such as 1,3-5,7- . The second result is a complaint.
func parseList(list string, fields, complement bool) ([]span, string) {
	from1, value, big := "byte/character positions are numbered from 1", "invalid byte/character position ", "byte/character offset "
	if fields {
		from1, value, big = "fields are numbered from 1", "invalid field value ", "field number "
	}
	number := func(s string) (int, string) {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		if digits < len(s) {
			return 0, value + applet.Curly(s[digits:])
		}
		n, err := strconv.ParseInt(s, 10, 0)
		if err != nil || n == math.MaxInt {
			return 0, big + applet.Curly(s) + " is too large"
		}
		return int(n), ""
	}
	var spans []span
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		left, right, dash := strings.Cut(item, "-")
		if item == "-" {
			return nil, "invalid range with no endpoint: -"
		}
		s := span{1, math.MaxInt}
		var bad string
		if left != "" {
			if s.lo, bad = number(left); bad != "" {
				return nil, bad
			}
		}
		switch {
		case !dash:
			s.hi = s.lo
		case strings.Contains(right, "-"):
			return nil, "invalid " + map[bool]string{true: "field range", false: "byte or character range"}[fields]
		case right != "":
			if s.hi, bad = number(right); bad != "" {
				return nil, bad
			}
		}
		if s.lo == 0 || !dash && s.hi == 0 {
			return nil, from1
		}
		if s.hi < s.lo {
			return nil, "invalid decreasing range"
		}
		spans = append(spans, s)
	}
	if strings.HasPrefix(list, ",") || strings.HasSuffix(list, ",") || strings.Contains(list, ",,") {
		return nil, from1
	}
	if len(spans) == 0 {
		return nil, from1
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	merged := spans[:1]
	for _, s := range spans[1:] {
		last := &merged[len(merged)-1]
		if s.lo <= last.hi {
			last.hi = max(last.hi, s.hi)
		} else {
			merged = append(merged, s)
		}
	}
	if complement {
		return invert(merged), ""
	}
	return merged, ""
}

func invert(spans []span) []span {
	var out []span
	next := 1
	for _, s := range spans {
		if s.lo > next {
			out = append(out, span{next, s.lo - 1})
		}
		if s.hi == math.MaxInt {
			return out
		}
		next = s.hi + 1
	}
	return append(out, span{next, math.MaxInt})
}
