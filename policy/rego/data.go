package rego

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/util"
	"go.yaml.in/yaml/v3"
)

// Bounds that end documents whose aliases multiply or contain themselves.
const (
	maxYAMLNodes = 1 << 20
	maxYAMLDepth = 1000
)

// mergeData puts all documents below one root. Two files that define the same
// place are an error: which of them wins must not depend on their names.
func mergeData(files []dataFile, pkg []string) (map[string]any, error) {
	root := map[string]any{}
	owner := map[string]string{}
	for _, f := range files {
		v, err := f.decode()
		if err != nil {
			return nil, fmt.Errorf("policy: %s: %w", f.name, err)
		}
		if len(f.under) == 0 {
			if _, ok := v.(map[string]any); !ok {
				return nil, fmt.Errorf("policy: %s: data must be an object", f.name)
			}
		}
		for i := len(f.under) - 1; i >= 0; i-- {
			v = map[string]any{f.under[i]: v}
		}
		if err := merge(root, v.(map[string]any), "data", f.name, owner); err != nil {
			return nil, err
		}
	}
	// Data below the policy's package would read as rules: data.donax.allow from a file that nobody reviews as code.
	at := root
	for i, k := range pkg {
		v, ok := at[k]
		if !ok {
			break
		}
		next, isObject := v.(map[string]any)
		if i == len(pkg)-1 || !isObject {
			return nil, fmt.Errorf("policy: %s defines data.%s, which belongs to the rules", ownerOf(owner, "data."+strings.Join(pkg[:i+1], ".")), strings.Join(pkg, "."))
		}
		at = next
	}
	return root, nil
}

func ownerOf(owner map[string]string, at string) string {
	for path, name := range owner {
		if path == at || strings.HasPrefix(path, at+".") {
			return name
		}
	}
	return "a data file"
}

func merge(into, from map[string]any, at, name string, owner map[string]string) error {
	for k, v := range from {
		path := at + "." + k
		old, dup := into[k]
		if !dup {
			into[k], owner[path] = v, name
			continue
		}
		a, okA := old.(map[string]any)
		b, okB := v.(map[string]any)
		if !okA || !okB {
			return fmt.Errorf("policy: %s and %s both define %s", ownerOf(owner, path), name, path)
		}
		if err := merge(a, b, path, name, owner); err != nil {
			return err
		}
	}
	return nil
}

func (f dataFile) decode() (any, error) {
	if f.value != nil {
		return f.value, nil
	}
	if strings.HasSuffix(strings.ToLower(f.name), ".json") {
		if err := noDuplicates(json.NewDecoder(bytes.NewReader(f.text))); err != nil {
			return nil, err
		}
		var v any
		err := util.UnmarshalJSON(f.text, &v)
		return v, err
	}
	var doc, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(f.text))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF): // an empty file
		return map[string]any{}, nil
	case err != nil:
		return nil, err
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("only one YAML document in a file: what follows --- would be lost")
	}
	left := maxYAMLNodes
	return fromYAML(&doc, &left, 0)
}

// noDuplicates refuses objects in which a key is there twice: JSON readers
// take the last one, and what the first one lists would be lost.
func noDuplicates(dec *json.Decoder) error {
	type level struct {
		keys map[string]bool // nil in a list
		key  bool            // the next string is a key
	}
	var stack []level
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var top *level
		if len(stack) > 0 {
			top = &stack[len(stack)-1]
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			if top != nil && top.keys != nil {
				top.key = true // after this value comes a key
			}
			l := level{}
			if tok == json.Delim('{') {
				l = level{keys: map[string]bool{}, key: true}
			}
			stack = append(stack, l)
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
			continue
		}
		if top == nil || top.keys == nil {
			continue
		}
		if name, ok := tok.(string); ok && top.key {
			if top.keys[name] {
				return fmt.Errorf("key %q is there twice", name)
			}
			top.keys[name] = true
			top.key = false
			continue
		}
		top.key = true
	}
}

var oldOctal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-+]?0[0-9_]+$`) })

// fromYAML converts a node as a reader would expect it: what YAML turns into
// something else without a word is refused.
func fromYAML(n *yaml.Node, left *int, depth int) (any, error) {
	if *left--; *left < 0 || depth > maxYAMLDepth {
		return nil, errors.New("too many or too deeply nested values")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return fromYAML(n.Content[0], left, depth+1)
	case yaml.AliasNode:
		return fromYAML(n.Alias, left, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := fromYAML(c, left, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
				return nil, fmt.Errorf("line %d: keys must be plain text", k.Line)
			}
			if _, dup := m[k.Value]; dup {
				return nil, fmt.Errorf("line %d: key %q is there twice", k.Line, k.Value)
			}
			v, err := fromYAML(n.Content[i+1], left, depth+1)
			if err != nil {
				return nil, err
			}
			m[k.Value] = v
		}
		return m, nil
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil, fmt.Errorf("line %d: not supported", n.Line)
}

func scalar(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!!str", "!!timestamp":
		return n.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool":
		var v bool
		err := n.Decode(&v)
		return v, err
	case "!!int":
		if oldOctal().MatchString(n.Value) { // a port 010 would be 8
			return nil, fmt.Errorf("line %d: %s would be read as octal: quote it, or write 0o or no leading zero", n.Line, n.Value)
		}
		var v int64
		err := n.Decode(&v)
		return json.Number(fmt.Sprint(v)), err
	case "!!float":
		var v float64
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s is not a number that policies can use", n.Line, n.Value)
		}
		return json.Number(text), nil
	}
	return nil, fmt.Errorf("line %d: tag %s is not supported", n.Line, n.Tag)
}
