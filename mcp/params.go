package mcp

import (
	"encoding/json"
	"fmt"
)

// checkParams checks the shape of what the SDK would otherwise report in
// words of its own, with the whole text of the params quoted. It returns the
// members of _meta.
func (e *envelope) checkParams() (meta map[string][]byte, why string) {
	if e.params == nil {
		return nil, ""
	}
	want := func(name, kind string, v []byte) {
		if why == "" && jsonKind(v) != kind {
			why = name + " must be " + kind + ", not " + jsonKind(v)
		}
	}
	ok := members(e.params, func(name string, v []byte) {
		switch {
		case name == "_meta":
			meta = map[string][]byte{}
			if !members(v, func(name string, v []byte) { meta[name] = v }) {
				want("_meta", "an object", v)
			}
		case e.method == "tools/call" && (name == "name" || name == "requestState"):
			want(name, "a string", v)
			if name == "name" {
				_ = json.Unmarshal(v, &e.tool) // stays "" when it is no string
			}
		case e.method == "tools/call" && (name == "arguments" || name == "inputResponses"):
			if string(v) != "null" { // several clients write their lack of arguments so
				want(name, "an object", v)
			}
			if name == "inputResponses" {
				members(v, func(name string, v []byte) {
					if why == "" && !isAnswer(v) {
						why = fmt.Sprintf("inputResponses %.60q is no answer to a question", name)
					}
				})
			}
		case e.method == "tools/list" && name == "cursor":
			want(name, "a string", v)
		case e.method == "initialize" && name == "protocolVersion":
			want(name, "a string", v)
		case e.method == "initialize" && (name == "capabilities" || name == "clientInfo"):
			want(name, "an object", v)
		}
	})
	if !ok {
		return nil, "params must be an object, not " + jsonKind(e.params)
	}
	if t, ok := meta["progressToken"]; ok && why == "" && string(t) != "null" {
		if _, ok := readID(t); !ok {
			why = "progressToken must be a string or an integer below 2^53"
		}
	}
	return meta, why
}

// isAnswer reports whether v has the shape of an answer: to an elicitation,
// to a request for roots, or to one for a message of a model.
func isAnswer(v []byte) bool {
	kinds := map[string]string{}
	members(v, func(name string, v []byte) { kinds[name] = jsonKind(v) })
	if c := kinds["content"]; kinds["action"] == "a string" && c != "" && c != "an object" && c != "null" {
		return false
	}
	return kinds["action"] == "a string" || kinds["roots"] == "an array" || kinds["role"] == "a string"
}

// jsonKind names the type of a JSON value for people.
func jsonKind(v []byte) string {
	if len(v) == 0 {
		return "nothing"
	}
	switch v[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
