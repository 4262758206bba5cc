package yq

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/donax-sh/donax/wasm/box/applet/internal/jqlang"
)

// valuer turns YAML nodes into values.
type valuer struct {
	count int
	depth int
	lossy string // what the values do not hold: comments, anchors
}

// maxNodes bounds what aliases of aliases grow to.
const (
	maxNodes = 2_000_000
	maxDepth = 5000
)

func (v *valuer) value(n *yaml.Node) (any, error) {
	if v.count++; v.count > maxNodes {
		return nil, errors.New("the document is too large once its aliases are followed")
	}
	if v.depth++; v.depth > maxDepth {
		return nil, errors.New("the document is nested too deeply")
	}
	defer func() { v.depth-- }()
	if n.HeadComment != "" || n.LineComment != "" || n.FootComment != "" {
		v.lossy = "comments"
	}
	if n.Anchor != "" {
		v.lossy = "anchors"
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil
		}
		return v.value(n.Content[0])
	case yaml.AliasNode:
		return v.value(n.Alias)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			x, err := v.value(c)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case yaml.MappingNode:
		return v.mapping(n)
	case yaml.ScalarNode:
		return scalar(n), nil
	}
	return nil, nil
}

func (v *valuer) mapping(n *yaml.Node) (any, error) {
	o := jqlang.NewObject(len(n.Content) / 2)
	var merged []*jqlang.Object
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		x, err := v.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		if k.Tag == "!!merge" {
			list, ok := x.([]any)
			if !ok {
				list = []any{x}
			}
			for _, m := range list {
				if mo, ok := m.(*jqlang.Object); ok {
					merged = append(merged, mo)
				}
			}
			continue
		}
		key, err := v.value(k)
		if err != nil {
			return nil, err
		}
		s, ok := key.(string)
		if !ok {
			s = k.Value
			if k.Kind != yaml.ScalarNode {
				s = string(jqlang.Encode(nil, key, jqlang.Style{}))
			}
		}
		o.Add(s, x)
	}
	for _, m := range merged { // what is there already wins
		for i := range m.Len() {
			if _, ok := o.Get(m.Key(i)); !ok {
				o.Add(m.Key(i), m.Val(i))
			}
		}
	}
	return o, nil
}

func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			if f := float64(i); int64(f) == i && math.Abs(f) < 1<<53 {
				return f
			}
			return jqlang.Number{F: float64(i), Text: strconv.FormatInt(i, 10)}
		}
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return jqlang.Number{F: f, Text: strings.TrimPrefix(n.Value, "+")}
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil {
			return f
		}
	}
	return n.Value
}

// toNode turns a value into a YAML node.
func toNode(v any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := v.(type) {
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case float64:
		n.Tag, n.Value = "!!float", string(jqlang.Encode(nil, v, jqlang.Style{}))
		switch {
		case math.IsNaN(v):
			n.Value = ".nan"
		case math.IsInf(v, 1):
			n.Value = ".inf"
		case math.IsInf(v, -1):
			n.Value = "-.inf"
		case v == math.Trunc(v) && !strings.ContainsAny(n.Value, "e."):
			n.Tag = "!!int"
		}
	case jqlang.Number:
		n.Tag, n.Value = "!!int", v.Text
	case string:
		n.SetString(v)
	case []any:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		for _, x := range v {
			n.Content = append(n.Content, toNode(x))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
	case *jqlang.Object:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		for i := range v.Len() {
			n.Content = append(n.Content, toNode(v.Key(i)), toNode(v.Val(i)))
		}
		if v.Len() == 0 {
			n.Style = yaml.FlowStyle
		}
	}
	return n
}
