package rego

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

//go:embed schema.json
var schemaText []byte

// Schema returns the JSON schema of the input document that policies see. It
// describes all seven actions; which of them this version asks about is in
// the descriptions.
func Schema() []byte { return slices.Clone(schemaText) }

// schemaNode is as much of a JSON schema as checks of our own need.
type schemaNode struct {
	Type       string                 `json:"type"`
	Enum       []string               `json:"enum"`
	Properties map[string]*schemaNode `json:"properties"`
	Items      *schemaNode            `json:"items"`
}

var parsedSchema = sync.OnceValues(func() (any, *schemaNode) {
	var whole any
	var node schemaNode
	if json.Unmarshal(schemaText, &whole) != nil || json.Unmarshal(schemaText, &node) != nil {
		panic("policy/rego: the embedded schema is not JSON") // a build that tests never let through
	}
	return whole, &node
})

func newSchemaSet() *ast.SchemaSet {
	whole, _ := parsedSchema()
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, whole)
	return set
}

// enums returns the closed sets of strings in the input, by reference:
// input.action, input.exec.kind, ...
func enums() map[string][]string {
	out := map[string][]string{}
	var walk func(at string, n *schemaNode)
	walk = func(at string, n *schemaNode) {
		if len(n.Enum) > 0 {
			out[at] = n.Enum
		}
		for _, k := range slices.Sorted(maps.Keys(n.Properties)) {
			walk(at+"."+k, n.Properties[k])
		}
	}
	_, root := parsedSchema()
	walk("input", root)
	return out
}
