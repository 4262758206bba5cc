package policies_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/rego"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/policy.md")

type node struct {
	Type        string           `json:"type"`
	Description string           `json:"description"`
	Enum        []string         `json:"enum"`
	Properties  map[string]*node `json:"properties"`
	Items       *node            `json:"items"`
}

// TestManualShowsTheSchema keeps the tables of the manual as the schema is;
// `go test ./examples/policies -run Manual -update` writes them.
func TestManualShowsTheSchema(t *testing.T) {
	var root node
	if err := json.Unmarshal(rego.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range []string{"principal", "session", "terminal", "usage"} {
		table(&b, name, root.Properties[name])
	}
	for _, k := range policy.Kinds() {
		table(&b, string(k), root.Properties[string(k)])
	}
	const file, from, to = "../../docs/policy.md", "<!-- schema: generated -->\n", "<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok1 || !ok2 {
		t.Fatal("the manual has no place for the schema")
	}
	want := head + from + b.String() + to + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Error("the manual does not show the schema as it is: go test ./examples/policies -run Manual -update")
	}
}

// table writes the fields of one object.
func table(b *strings.Builder, name string, n *node) {
	fmt.Fprintf(b, "\n### input.%s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", name, n.Description)
	rows(b, "", n)
}

func rows(b *strings.Builder, prefix string, n *node) {
	for _, k := range slices.Sorted(maps.Keys(n.Properties)) {
		p := n.Properties[k]
		kind := p.Type
		if p.Items != nil {
			kind = "array of " + p.Items.Type
		}
		what := p.Description
		if len(p.Enum) > 0 {
			what += " (" + strings.Join(p.Enum, ", ") + ")"
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, k, kind, strings.TrimSpace(strings.ReplaceAll(what, "|", "\\|")))
		if p.Items != nil {
			rows(b, prefix+k+"[].", p.Items)
		} else {
			rows(b, prefix+k+".", p)
		}
	}
}
