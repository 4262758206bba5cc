package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/donax-sh/donax/wasm/box"
	"github.com/spf13/cobra"
)

func newCommands(std stdio) *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "commands [NAME]",
		Short: "List the commands of the box, or show the help of one",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := boxCommands()
			if err != nil {
				return &exitError{exitFault, err}
			}
			if len(args) == 1 {
				i := slices.IndexFunc(list, func(c box.Command) bool { return c.Name == args[0] || slices.Contains(c.Aliases, args[0]) })
				if i < 0 {
					return &exitError{exitNo, &hint{fmt.Errorf("no command %q is in the box", args[0]), "donax commands"}}
				}
				list = list[i : i+1]
			}
			switch {
			case asJSON:
				return json.NewEncoder(std.out).Encode(list)
			case asMarkdown:
				fmt.Fprint(std.out, markdown(list))
			case len(args) == 1:
				c := list[0]
				fmt.Fprintf(std.out, "%s\n%s.\n", strings.TrimSpace(c.Name+" "+c.Synopsis), c.Summary)
				if c.Help != "" {
					fmt.Fprintf(std.out, "\n%s\n", strings.TrimRight(c.Help, "\n"))
				}
			default:
				w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
				for _, c := range list {
					fmt.Fprintf(w, "%s\t%s\n", c.Name, c.Summary)
				}
				return w.Flush()
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the table of the README")
	return cmd
}

// boxCommands returns the catalogue, sorted by name.
func boxCommands() ([]box.Command, error) {
	list, err := box.Catalog()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b box.Command) int { return strings.Compare(a.Name, b.Name) })
	for i, c := range list {
		if len(c.Aliases) > 0 {
			list[i].Summary += "; also called " + strings.Join(c.Aliases, ", ")
		}
	}
	return list, nil
}

// markdown is the table between the markers in the README.
func markdown(list []box.Command) string {
	var b strings.Builder
	b.WriteString("| command | arguments | what it does |\n|---|---|---|\n")
	escape := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, c := range list {
		synopsis := ""
		if c.Synopsis != "" {
			synopsis = "`" + escape.Replace(c.Synopsis) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, synopsis, escape.Replace(c.Summary))
	}
	return b.String()
}
