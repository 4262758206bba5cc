package upstream

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// check reports the first argument that the schema rules out. at is where v
// is, "" for the whole.
func (s *schema) check(at string, v any, depth int) error {
	if depth > maxArgDepth {
		return fmt.Errorf("%s: nested more than %d deep", flagName(at), maxArgDepth)
	}
	if n, ok := v.(json.Number); ok && len(n) > maxDigits {
		return fmt.Errorf("%s: a number of more than %d digits", flagName(at), maxDigits)
	}
	if s.types != nil && !slices.ContainsFunc(s.types, func(t string) bool { return hasType(v, t) }) {
		return fmt.Errorf("%s: want %s, not %s", flagName(at), s.facts(), typeOf(v))
	}
	if s.enum != nil && !slices.ContainsFunc(s.enum, func(e any) bool { return show(e) == show(v) }) {
		return fmt.Errorf("%s: want %s", flagName(at), s.facts())
	}
	size := -1
	switch v := v.(type) {
	case string:
		size = utf8.RuneCountInString(v)
	case []any:
		size = len(v)
		for i, e := range v {
			items := s.items
			if items == nil {
				items = &schema{}
			}
			if err := items.check(fmt.Sprintf("%s[%d]", at, i), e, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := s.checkObject(at, v, depth); err != nil {
			return err
		}
	case json.Number:
		f, err := v.Float64()
		if err == nil && (s.min != nil && f < *s.min || s.max != nil && f > *s.max) {
			return fmt.Errorf("%s: want %s, not %s", flagName(at), s.facts(), v)
		}
	}
	if size >= 0 && (s.minLen != nil && size < *s.minLen || s.maxLen != nil && size > *s.maxLen) {
		return fmt.Errorf("%s: want %s, not %d", flagName(at), s.facts(), size)
	}
	return nil
}

func (s *schema) checkObject(at string, v map[string]any, depth int) error {
	for _, p := range s.properties {
		if _, ok := v[p.name]; !ok && p.required {
			return fmt.Errorf("%s is missing: %s", flagName(join(at, p.name)), p.schema.facts())
		}
	}
	for _, name := range sortedKeys(v) {
		p := s.property(name)
		if p == nil && s.closed {
			return fmt.Errorf("%s is not known to this tool", flagName(join(at, name)))
		}
		inner := &schema{}
		if p != nil {
			inner = p.schema
		}
		if err := inner.check(join(at, name), v[name], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func join(at, name string) string {
	if at == "" {
		return cut(name, 100)
	}
	return at + "." + cut(name, 100)
}

func flagName(at string) string {
	if at == "" {
		return "the arguments"
	}
	return "--" + line(at, 200)
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if isInteger(v) {
			return "integer"
		}
	}
	return "number"
}

func isInteger(n json.Number) bool {
	if _, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return true
	}
	f, err := n.Float64()
	return err == nil && f == math.Trunc(f)
}

func hasType(v any, want string) bool {
	have := typeOf(v)
	return have == want || have == "integer" && want == "number"
}

// show is a scalar as JSON shows it.
func show(v any) string {
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			v = f
		}
	}
	b, _ := json.Marshal(v) // scalars cannot fail
	return string(b)
}

// facts says in a few words what a schema wants.
func (s *schema) facts() string {
	if s.enum != nil {
		var all []string
		for _, e := range s.enum {
			t, ok := e.(string)
			if !ok {
				t = show(e)
			}
			all = append(all, t)
		}
		return "one of " + line(strings.Join(all, ", "), 400)
	}
	what := strings.Join(s.types, " or ")
	if what == "" {
		what = "any value"
	}
	unit := ""
	if s.only("string") {
		unit = " characters"
	}
	if s.only("array") {
		unit = " items"
		if s.items != nil && s.items.types != nil {
			what += " of " + s.items.facts()
		}
	}
	bound := func(lo, hi, unit string) {
		switch {
		case lo != "" && hi != "":
			what += ", " + lo + " to " + hi + unit
		case lo != "":
			what += ", at least " + lo + unit
		case hi != "":
			what += ", at most " + hi + unit
		}
	}
	bound(float(s.min), float(s.max), "")
	bound(integer(s.minLen), integer(s.maxLen), unit)
	return what
}

func float(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'g', -1, 64)
}

func integer(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}
