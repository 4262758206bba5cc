package upstream

import (
	"fmt"
	"strings"
)

// help is what --help and mcp.describe print. All the words in it but the
// frame are the server's.
func (t *Tool) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", t.Command, t.synopsis())
	if t.Title != "" {
		fmt.Fprintf(&b, "%s\n", t.Title)
	}
	if t.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", t.Description)
	}
	if len(t.schema.properties) > 0 {
		b.WriteString("\nArguments:\n")
	}
	for _, p := range t.schema.properties {
		fmt.Fprintf(&b, "  --%s", line(p.name, 100))
		if !p.schema.only("boolean") {
			fmt.Fprintf(&b, " %s", strings.ToUpper(placeholder(p.schema)))
		}
		fmt.Fprintf(&b, "  (%s", p.schema.facts())
		if p.required {
			b.WriteString("; required")
		}
		if p.schema.fallback != nil {
			fmt.Fprintf(&b, "; default %s", line(show(p.schema.fallback), 200))
		}
		b.WriteString(")\n")
		if d := p.schema.description; d != "" {
			fmt.Fprintf(&b, "      %s\n", strings.ReplaceAll(d, "\n", "\n      "))
		}
	}
	b.WriteString("\n--json '{...}' or - (standard input) gives the arguments as a JSON object; --json alone prints the result as JSON.\n")
	fmt.Fprintf(&b, "Tool %q of the upstream server %s, whose words these are. Confirm mode: %s.\n", line(t.Name, 100), t.Server, t.Confirm)
	return b.String()
}

// synopsis is the arguments in one line.
func (t *Tool) synopsis() string {
	var parts []string
	for _, p := range t.schema.properties {
		one := "--" + line(p.name, 60)
		if !p.schema.only("boolean") {
			one += " " + strings.ToUpper(placeholder(p.schema))
		}
		if p.schema.only("array") {
			one += "..."
		}
		if !p.required {
			one = "[" + one + "]"
		}
		if parts = append(parts, one); len(parts) == 12 && len(t.schema.properties) > 13 {
			parts = append(parts, fmt.Sprintf("[%d more]", len(t.schema.properties)-12))
			break
		}
	}
	return strings.Join(parts, " ")
}

func placeholder(s *schema) string {
	switch {
	case s.only("integer") || s.only("number"):
		return "number"
	case s.only("object"):
		return "json"
	case s.only("array") && s.items != nil:
		return placeholder(s.items)
	}
	return "text"
}
