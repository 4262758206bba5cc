package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An editor's settings are edited as text, so that comments, order and layout
// stay as somebody wrote them.

// A jsonObject is an object of a JSON text, as positions in it.
type jsonObject struct {
	open, close int // of its braces
	members     []jsonMember
	comma       bool // there is one after the last member
}

type jsonMember struct {
	name       string
	start, end int // of the value
	object     *jsonObject
}

// find returns the member of this name, or nil.
func (o *jsonObject) find(name string) *jsonMember {
	for i := range o.members {
		if o.members[i].name == name {
			return &o.members[i]
		}
	}
	return nil
}

// jsonText reads a JSON text; loose allows comments and trailing commas.
type jsonText struct {
	b     []byte
	i     int
	depth int
	loose bool
}

const maxSettingsDepth = 100

// parseJSON reads text, which must be one object.
func parseJSON(text []byte, loose bool) (*jsonObject, error) {
	t := &jsonText{b: text, loose: loose}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		t.i = len("\ufeff")
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("not UTF-8")
	}
	if err := t.space(); err != nil {
		return nil, err
	}
	if t.peek() != '{' {
		return nil, t.errorf("not an object")
	}
	o, err := t.value()
	if err == nil {
		err = t.space()
	}
	if err == nil && t.i < len(t.b) {
		err = t.errorf("text after the end")
	}
	return o, err
}

func (t *jsonText) errorf(format string, args ...any) error {
	line := 1 + bytes.Count(t.b[:min(t.i, len(t.b))], []byte("\n"))
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

func (t *jsonText) peek() byte {
	if t.i < len(t.b) {
		return t.b[t.i]
	}
	return 0
}

// space skips white space and, where they may be, comments.
func (t *jsonText) space() error {
	for t.i < len(t.b) {
		rest := t.b[t.i:]
		switch {
		case bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0:
			t.i++
		case rest[0] == '/' && !t.loose:
			return t.errorf("a comment, which this client's JSON may not have")
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			t.i += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return t.errorf("a comment without an end")
			}
			t.i += n + 4
		default:
			return nil
		}
	}
	return nil
}

// value reads a value; the object is nil when it is none.
func (t *jsonText) value() (*jsonObject, error) {
	if t.depth++; t.depth > maxSettingsDepth {
		return nil, t.errorf("nested too deeply")
	}
	defer func() { t.depth-- }()
	switch t.peek() {
	case '{':
		return t.object()
	case '[':
		_, err := t.list(']', func() error { _, err := t.value(); return err })
		return nil, err
	case '"':
		_, err := t.string()
		return nil, err
	}
	from := t.i
	for t.i < len(t.b) && bytes.IndexByte([]byte(" \t\r\n,:]}/"), t.b[t.i]) < 0 {
		t.i++
	}
	if !json.Valid(t.b[from:t.i]) {
		t.i = from
		return nil, t.errorf("no value")
	}
	return nil, nil
}

func (t *jsonText) string() (string, error) {
	from := t.i
	for t.i++; t.i < len(t.b) && t.b[t.i] != '"'; t.i++ {
		if t.b[t.i] == '\\' {
			t.i++
		}
	}
	t.i++
	var s string
	if t.i > len(t.b) || json.Unmarshal(t.b[from:t.i], &s) != nil {
		t.i = from
		return "", t.errorf("no string")
	}
	return s, nil
}

// list reads what stands between a bracket and close.
func (t *jsonText) list(close byte, item func() error) (comma bool, err error) {
	t.i++
	for n := 0; ; n++ {
		if err := t.space(); err != nil {
			return false, err
		}
		if t.peek() == close && (n == 0 || t.loose) {
			t.i++
			return n > 0, nil
		}
		if err := item(); err != nil {
			return false, err
		}
		if err := t.space(); err != nil {
			return false, err
		}
		switch t.peek() {
		case ',':
			t.i++
		case close:
			t.i++
			return false, nil
		default:
			return false, t.errorf("no comma or %q", string(close))
		}
	}
}

func (t *jsonText) object() (*jsonObject, error) {
	o := &jsonObject{open: t.i}
	comma, err := t.list('}', func() error {
		if t.peek() != '"' {
			return t.errorf("no member name")
		}
		name, err := t.string()
		if err != nil {
			return err
		}
		if o.find(name) != nil {
			return t.errorf("%q is there twice", name)
		}
		if err := t.space(); err != nil {
			return err
		}
		if t.peek() != ':' {
			return t.errorf("no colon")
		}
		t.i++
		if err := t.space(); err != nil {
			return err
		}
		m := jsonMember{name: name, start: t.i}
		m.object, err = t.value()
		m.end = t.i
		o.members = append(o.members, m)
		return err
	})
	o.comma, o.close = comma, t.i-1
	return o, err
}

// setJSON sets the member at path, in objects that are made where they are
// missing, and leaves every other byte as it is.
func setJSON(text []byte, path []string, value any, loose bool) ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))) == 0 {
		text = append(text, "{}\n"...)
	}
	o, err := parseJSON(text, loose)
	if err != nil {
		return nil, err
	}
	unit := indentUnit(text, o)
	for i, name := range path {
		m := o.find(name)
		last := i == len(path)-1
		switch {
		case m == nil:
			for j := len(path) - 1; j > i; j-- {
				value = map[string]any{path[j]: value}
			}
			return insert(text, o, name, value, unit, i+1), nil
		case last:
			return splice(text, m.start, m.end, encode(value, unit, i+1)), nil
		case m.object == nil:
			return nil, fmt.Errorf("%q is no object", strings.Join(path[:i+1], "."))
		}
		o = m.object
	}
	return text, nil
}

// insert puts a new member at the end of o, which lies depth-1 deep.
func insert(text []byte, o *jsonObject, name string, value any, unit string, depth int) []byte {
	nl := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		nl = "\r\n"
	}
	member := encode(name, "", 0) + ": " + encode(value, unit, depth)
	end := o.open + 1 + len(bytes.TrimRight(text[o.open+1:o.close], " \t\r\n")) // behind a comment, too
	tail := nl + strings.Repeat(unit, depth) + strings.ReplaceAll(member, "\n", nl) + nl + strings.Repeat(unit, depth-1)
	out := splice(text, end, o.close, tail)
	if n := len(o.members); n > 0 && !o.comma {
		at := o.members[n-1].end
		out = splice(out, at, at, ",")
	}
	return out
}

func splice(text []byte, from, to int, with string) []byte {
	return bytes.Join([][]byte{text[:from], []byte(with), text[to:]}, nil)
}

// encode is a value on lines of its own, the first one where it stands.
func encode(v any, unit string, depth int) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(strings.Repeat(unit, depth), unit)
	if err := e.Encode(v); err != nil {
		panic(err) // strings, and maps and lists of them, always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// indentUnit is what the first member of the text is indented by.
func indentUnit(text []byte, o *jsonObject) string {
	if len(o.members) == 0 {
		return "  "
	}
	space := text[o.open+1:]
	if nl := bytes.IndexByte(space, '\n'); nl >= 0 {
		space = space[nl+1:]
		if n := len(space) - len(bytes.TrimLeft(space, " \t")); n > 0 && n <= 8 {
			return string(space[:n])
		}
	}
	return "  "
}
