package main

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"
)

// clients are the configurations that MCP clients want, by name. %s stands
// for the arguments of donax serve: as shell words, or as JSON or TOML items.
var clients = map[string]struct {
	where  string
	format string
	shell  bool
}{
	"claude-code": {"run this", "claude mcp add donax -- donax %s", true},
	"codex":       {"run this", "codex mcp add donax -- donax %s", true},
	"vscode":      {".vscode/mcp.json", "{\n  \"servers\": {\n    \"donax\": { \"type\": \"stdio\", \"command\": \"donax\", \"args\": [%s] }\n  }\n}", false},
	"cursor":      {".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"donax\": { \"command\": \"donax\", \"args\": [%s] }\n  }\n}", false},
	"gemini":      {"~/.gemini/settings.json", "{\n  \"mcpServers\": {\n    \"donax\": { \"command\": \"donax\", \"args\": [%s] }\n  }\n}", false},
	"zed":         {"settings.json", "{\n  \"context_servers\": {\n    \"donax\": { \"command\": \"donax\", \"args\": [%s] }\n  }\n}", false},
}

func newConnect(std stdio) *cobra.Command {
	var names []string
	for n := range clients {
		names = append(names, n)
	}
	sort.Strings(names)
	var policies, mounts []string
	cmd := &cobra.Command{
		Use:       "connect " + strings.Join(names, "|"),
		Short:     "Print the configuration that an MCP client needs",
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			c, ok := clients[args[0]]
			if !ok {
				return usageError("donax connect "+names[0], "no client %q is known: %s", args[0], strings.Join(names, ", "))
			}
			words := []string{"serve"}
			for _, p := range policies {
				abs, err := filepath.Abs(p)
				if err != nil {
					return err
				}
				words = append(words, "--policy", abs)
			}
			for _, m := range mounts {
				parsed, err := parseMount(m)
				if err != nil {
					return err
				}
				words = append(words, "--mount", parsed.src+":"+parsed.dst+":"+parsed.mode)
			}
			fmt.Fprintf(std.err, "# %s\n", c.where)
			fmt.Fprintf(std.out, c.format+"\n", quoteWords(words, c.shell))
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&policies, "policy", nil, "admit by the Rego in `PATH` (repeatable)")
	cmd.Flags().StringArrayVar(&mounts, "mount", nil, "show a host folder: `SRC[:DST][:MODE]` (repeatable)")
	return cmd
}

// quoteWords joins words for a shell, or as items of a JSON list.
func quoteWords(words []string, shell bool) string {
	var out []string
	for _, w := range words {
		switch {
		case !shell:
			out = append(out, fmt.Sprintf("%q", w))
		case strings.ContainsAny(w, " \t\n'\"\\$`*?[]{}()<>|&;#~!"):
			out = append(out, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		default:
			out = append(out, w)
		}
	}
	if shell {
		return strings.Join(out, " ")
	}
	return strings.Join(out, ", ")
}
