package upstream

import (
	"encoding/json"
	"slices"
	"strings"
)

// A schema is what donax keeps of an input schema: enough to read flags, to
// check arguments and to word help. What is not here is not checked; the
// server checks again. It holds no reference and no name that was not made
// for it, and is bounded in depth and size whatever the server sent.
type schema struct {
	types       []string // of JSON; nil means any
	description string
	properties  []property // sorted: required ones first, then by name
	closed      bool       // no other properties
	items       *schema
	enum        []any
	min, max    *float64
	minLen      *int
	maxLen      *int
	fallback    any  // the default, shown in help
	loose       bool // something was cut off: what is missing here may be there
}

type property struct {
	name     string
	required bool
	schema   *schema
}

// Bounds of a schema.
const (
	maxDepth      = 12
	maxNodes      = 2000
	maxProperties = 256
	maxEnum       = 256
	maxSchemaText = 1000
)

// parser builds schemas from decoded JSON.
type parser struct {
	root  map[string]any
	nodes int
}

// parseSchema reads an input schema. What is no schema of an object is one
// that takes anything.
func parseSchema(v any) *schema {
	root, _ := v.(map[string]any)
	p := &parser{root: root}
	s := p.schema(root, 0)
	if root == nil || s.types != nil && !slices.Contains(s.types, "object") {
		s = &schema{}
	}
	s.types = []string{"object"}
	return s
}

func (p *parser) schema(v any, depth int) *schema {
	m, ok := v.(map[string]any)
	p.nodes++
	if depth > maxDepth || p.nodes > maxNodes {
		return &schema{loose: true}
	}
	if !ok {
		return &schema{} // true, false, and what is no schema
	}
	if ref, ok := m["$ref"].(string); ok {
		return p.schema(p.local(ref), depth+1) // a ring ends at the depth
	}
	s := &schema{types: typesOf(m["type"]), fallback: scalar(m["default"])}
	s.description = prose(text(m["description"]), maxSchemaText)
	if s.description == "" {
		s.description = prose(text(m["title"]), maxSchemaText)
	}
	s.enum = enumOf(m)
	s.min, s.max = number(m["minimum"]), number(m["maximum"])
	s.minLen, s.maxLen = count(m["minLength"]), count(m["maxLength"])
	if n := count(m["minItems"]); n != nil {
		s.minLen = n
	}
	if n := count(m["maxItems"]); n != nil {
		s.maxLen = n
	}
	if m["items"] != nil {
		s.items = p.schema(m["items"], depth+1)
	}
	p.object(s, m, depth)
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		p.branches(s, m[word], word == "allOf", depth)
	}
	if s.types == nil && len(s.properties) > 0 {
		s.types = []string{"object"}
	}
	return s
}

func (p *parser) object(s *schema, m map[string]any, depth int) {
	props, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	names := sortedKeys(props)
	if len(names) > maxProperties {
		names, s.loose = names[:maxProperties], true
	}
	for _, name := range names {
		if len(name) > maxToolName {
			s.loose = true
			continue
		}
		s.properties = append(s.properties, property{name, slices.Contains(required, any(name)), p.schema(props[name], depth+1)})
	}
	slices.SortStableFunc(s.properties, func(a, b property) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	s.closed = m["additionalProperties"] == false && !s.loose
}

// branches takes from alternatives what holds for all of them: the types any
// may have. The parts of an allOf hold each.
func (p *parser) branches(s *schema, v any, all bool, depth int) {
	list, _ := v.([]any)
	if len(list) == 0 {
		return
	}
	var types []string
	open := false
	var enum []any
	enums := 0
	for _, one := range list[:min(len(list), 32)] {
		b := p.schema(one, depth+1)
		if b.types == nil {
			open = true
		}
		for _, t := range b.types {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
		if s.items == nil {
			s.items = b.items
		}
		if b.enum != nil {
			enums++
			enum = append(enum, b.enum...)
		}
		if all {
			s.properties = append(s.properties, b.properties...)
		} else if len(b.properties) > 0 {
			s.loose = true
		}
		s.closed = false
	}
	if s.types == nil && !open && !all {
		s.types = types
	}
	if enums == len(list) && s.enum == nil {
		s.enum = enum
	}
}

// local follows a reference inside the schema; others lead to nothing.
func (p *parser) local(ref string) any {
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	var at any = p.root
	for _, part := range strings.Split(rest, "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}

var jsonTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

func typesOf(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var types []string
	for _, t := range list {
		if name := text(t); slices.Contains(jsonTypes, name) {
			types = append(types, name)
		}
	}
	return types
}

func enumOf(m map[string]any) []any {
	if c, ok := m["const"]; ok && scalar(c) != nil {
		return []any{scalar(c)}
	}
	list, _ := m["enum"].([]any)
	if len(list) == 0 || len(list) > maxEnum {
		return nil
	}
	var out []any
	for _, v := range list {
		if v != nil && scalar(v) == nil {
			return nil // an enum of objects is the server's to check
		}
		out = append(out, scalar(v))
	}
	return out
}

// scalar returns v if it is a short text, a number or a boolean.
func scalar(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) <= maxSchemaText {
			return v
		}
	case float64, bool, json.Number:
		return v
	}
	return nil
}

func text(v any) string { s, _ := v.(string); return s }

func number(v any) *float64 {
	if f, ok := v.(float64); ok {
		return &f
	}
	return nil
}

func count(v any) *int {
	if f, ok := v.(float64); ok && f >= 0 && f < 1<<31 {
		n := int(f)
		return &n
	}
	return nil
}

func (s *schema) is(t string) bool {
	return slices.Contains(s.types, t) || t == "integer" && slices.Contains(s.types, "number")
}

// only reports whether values are of type t, or null.
func (s *schema) only(t string) bool {
	for _, have := range s.types {
		if have != t && have != "null" {
			return false
		}
	}
	return s.is(t)
}

func (s *schema) property(name string) *property {
	for i := range s.properties {
		if s.properties[i].name == name {
			return &s.properties[i]
		}
	}
	return nil
}
