package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// arguments decodes the arguments of a call strictly, and in words that a
// model can act on. The first fault sticks; err returns it.
type arguments struct {
	raw   map[string][]byte
	fault error
}

// decodeArguments takes apart raw, which has passed scan, and refuses names
// that are not among known.
func decodeArguments(raw json.RawMessage, known ...string) *arguments {
	a := &arguments{raw: map[string][]byte{}}
	ok := members(raw, func(name string, v []byte) {
		if !slices.Contains(known, name) {
			a.fail("unknown argument %.60q; this tool takes %s", name, strings.Join(known, ", "))
			return
		}
		if string(v) != "null" { // how many models write "left out"
			a.raw[name] = v
		}
	})
	if !ok {
		a.fail("arguments must be an object, not %s", jsonKind(raw))
	}
	return a
}

func (a *arguments) err() error { return a.fault }

func (a *arguments) fail(format string, args ...any) {
	if a.fault == nil {
		a.fault = fmt.Errorf(format, args...)
	}
}

// require demands that the argument is there.
func (a *arguments) require(names ...string) {
	for _, n := range names {
		if a.raw[n] == nil {
			a.fail("missing argument %q", n)
		}
	}
}

func (a *arguments) has(name string) bool { return a.raw[name] != nil }

// text reads the string v, which is called what in an error.
func (a *arguments) text(what string, v []byte) string {
	var s string
	if v[0] != '"' || json.Unmarshal(v, &s) != nil {
		a.fail("%s must be a string, not %s", what, jsonKind(v))
		return ""
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		// Programs would see the text end there, and a policy would not.
		a.fail("%s holds a NUL character at offset %d", what, i)
	}
	return s
}

// str reads a string; "" when it is left out.
func (a *arguments) str(name string) string {
	if v := a.raw[name]; v != nil {
		return a.text(strconv.Quote(name), v)
	}
	return ""
}

// oneOf reads one of the words; the first when it is left out.
func (a *arguments) oneOf(name string, words ...string) string {
	if !a.has(name) {
		return words[0]
	}
	s := a.str(name)
	if !slices.Contains(words, s) {
		a.fail("%q must be %s", name, strings.Join(words, " or "))
	}
	return s
}

// strs reads an array of strings; nil when it is left out.
func (a *arguments) strs(name string) []string {
	v := a.raw[name]
	if v == nil {
		return nil
	}
	var list []json.RawMessage
	if v[0] != '[' || json.Unmarshal(v, &list) != nil {
		a.fail("%q must be an array of strings, not %s", name, jsonKind(v))
		return nil
	}
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = a.text(fmt.Sprintf("%q[%d]", name, i), e)
	}
	return out
}

const maxEnv = 1000 // variables

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// env reads an object of strings as NAME=VALUE, sorted as written.
func (a *arguments) env(name string) []string {
	v := a.raw[name]
	if v == nil {
		return nil
	}
	var out []string
	ok := members(v, func(key string, v []byte) {
		if !variable.MatchString(key) {
			a.fail("%q holds %.60q, which is no name of a variable: those are of letters, digits and _, no digit first", name, key)
		}
		if len(out) == maxEnv {
			a.fail("%q holds more than %d variables", name, maxEnv)
			return
		}
		if a.fault == nil {
			out = append(out, key+"="+a.text(fmt.Sprintf("%q[%.60q]", name, key), v))
		}
	})
	if !ok {
		a.fail("%q must be an object of strings, not %s", name, jsonKind(v))
	}
	return out
}

// integer reads a whole number from least to most; absent when it is left out.
func (a *arguments) integer(name string, least, most, absent int64) int64 {
	f := a.whole(name, least, absent)
	if f > float64(most) {
		a.fail("%q must be at most %d", name, most)
		return absent
	}
	return int64(f)
}

// wish is integer for what may be lowered to most.
func (a *arguments) wish(name string, least, most, absent int64) int64 {
	return int64(min(a.whole(name, least, absent), float64(most)))
}

// whole reads a whole number of at least least.
func (a *arguments) whole(name string, least, absent int64) float64 {
	v := a.raw[name]
	if v == nil {
		return float64(absent)
	}
	f, err := strconv.ParseFloat(string(v), 64)
	switch {
	case jsonKind(v) != "a number" || err != nil:
		a.fail("%q must be a whole number, not %s", name, jsonKind(v))
	case f != math.Trunc(f):
		a.fail("%q must be a whole number", name)
	case f < float64(least):
		a.fail("%q must be at least %d", name, least)
	default:
		return f
	}
	return float64(absent)
}
