package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/donax-sh/donax/sandbox"
)

// A metaCommand is one of donax's own commands about tools: they let a model
// find tools without having them all in front of it.
type metaCommand struct {
	name, synopsis, summary string
	run                     func(m *Manager, ctx context.Context, p *sandbox.Proc, args []string) error
}

func metaCommands() []metaCommand {
	return []metaCommand{
		{"mcp.list", "[SERVER]", "list the tools of upstream servers", (*Manager).metaList},
		{"mcp.search", "WORD...", "find tools whose name or description has all the words", (*Manager).metaSearch},
		{"mcp.describe", "[--json] TOOL...", "show the arguments of tools", (*Manager).metaDescribe},
		{"mcp.load", "GROUP", "connect the servers of a deferred group", (*Manager).metaLoad},
	}
}

type meta struct {
	m *Manager
	metaCommand
}

func (m *Manager) metaPrograms() map[string]sandbox.Program {
	all := map[string]sandbox.Program{}
	for _, c := range metaCommands() {
		all[c.name] = &meta{m, c}
	}
	return all
}

// Usage implements [sandbox.Program].
func (c *meta) Usage() sandbox.Usage {
	return sandbox.Usage{Name: c.name, Synopsis: c.synopsis, Summary: c.summary, Kind: "tool", SHA256: hash([]byte(c.name))}
}

// Run implements [sandbox.Program].
func (c *meta) Run(ctx context.Context, p *sandbox.Proc) error {
	if len(p.Args) == 2 && (p.Args[1] == "--help" || p.Args[1] == "-h") {
		return write(p.Stdout, fmt.Sprintf("%s %s\n%s\n", c.name, c.synopsis, c.summary))
	}
	err := c.run(c.m, ctx, p, p.Args[1:])
	if _, own := err.(sandbox.ExitCode); err == nil || own {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, _ = fmt.Fprintf(p.Stderr, "%s: %s\n", c.name, clean(err.Error()))
	return sandbox.ExitCode(1)
}

// visible dials the servers that were never asked and returns all tools.
func (m *Manager) visible(ctx context.Context, p *sandbox.Proc) []*Tool {
	errs := m.each(ctx, func(s *server) bool { return s.cfg.Group == "" && !s.listed() })
	var list []*Tool
	for _, s := range m.servers {
		if err := errs[s]; err != nil && ctx.Err() == nil {
			_, _ = fmt.Fprintf(p.Stderr, "warning: %s\n", line(s.hide(err.Error()), 400))
		}
		list = append(list, s.known()...)
	}
	return list
}

func (m *Manager) metaList(ctx context.Context, p *sandbox.Proc, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("want at most one server")
	}
	var b strings.Builder
	if len(args) == 1 {
		if m.byName[args[0]] == nil {
			return fmt.Errorf("no upstream server %q; there are: %s", cut(args[0], 100), strings.Join(m.names(), ", "))
		}
		tools, err := m.Tools(ctx, args[0])
		if err != nil {
			return err
		}
		for _, t := range tools {
			fmt.Fprintf(&b, "%s\t%s\n", t.Command, t.Summary())
		}
		return write(p.Stdout, b.String())
	}
	for _, t := range m.visible(ctx, p) {
		fmt.Fprintf(&b, "%s\t%s\n", t.Command, t.Summary())
	}
	for _, g := range m.groups() {
		fmt.Fprintf(&b, "(group %s is not loaded: mcp.load %s)\n", g, g)
	}
	return write(p.Stdout, b.String())
}

// groups returns the deferred groups whose tools are not known.
func (m *Manager) groups() []string {
	var list []string
	for _, s := range m.servers {
		if g := s.cfg.Group; g != "" && !s.cfg.Disabled && !s.listed() && !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	return list
}

func (m *Manager) metaSearch(ctx context.Context, p *sandbox.Proc, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("want words to look for")
	}
	var b strings.Builder
	for _, t := range m.visible(ctx, p) {
		hay := strings.ToLower(t.Command + " " + t.Title + " " + t.Description)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(hay, strings.ToLower(w)) }) {
			fmt.Fprintf(&b, "%s\t%s\n", t.Command, t.Summary())
		}
	}
	if b.Len() == 0 {
		return sandbox.ExitCode(1) // as grep has it
	}
	return write(p.Stdout, b.String())
}

func (m *Manager) metaDescribe(ctx context.Context, p *sandbox.Proc, args []string) error {
	asJSON := slices.Contains(args, "--json")
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--json" })
	if len(args) == 0 {
		return fmt.Errorf("want the name of a tool")
	}
	for i, name := range args {
		t, err := m.describe(ctx, name)
		if err != nil {
			return err
		}
		text := t.help()
		if asJSON {
			if text, err = t.json(); err != nil {
				return err
			}
		} else if i > 0 {
			text = "\n" + text
		}
		if err := write(p.Stdout, text); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) describe(ctx context.Context, name string) (*Tool, error) {
	prefix, _, _ := strings.Cut(name, ".")
	s := m.byName[prefix]
	if s == nil {
		return nil, fmt.Errorf("no tool is named %q: mcp.list lists them", cut(name, 100))
	}
	if !s.listed() {
		_, release, err := s.use(ctx)
		if err != nil {
			return nil, err
		}
		release()
	}
	if t := s.tool(name); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("no tool is named %q: `mcp.list %s` lists those of the server", cut(name, 100), prefix)
}

// json is the tool as one line of JSON.
func (t *Tool) json() (string, error) {
	type argument struct {
		Name        string `json:"name"`
		Required    bool   `json:"required"`
		Type        string `json:"type"`
		Description string `json:"description,omitempty"`
	}
	args := []argument{}
	for _, a := range t.schema.properties {
		args = append(args, argument{line(a.name, 100), a.required, a.schema.facts(), a.schema.description})
	}
	b, err := json.Marshal(map[string]any{
		"command": t.Command, "server": t.Server, "description": t.Description, "arguments": args,
		"confirm": t.Confirm, "annotations": t.Annotations, "sha256": t.SHA256,
	})
	return string(b) + "\n", err
}

func (m *Manager) metaLoad(ctx context.Context, p *sandbox.Proc, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want a group: %s", strings.Join(m.groups(), ", "))
	}
	var b strings.Builder
	errs := m.each(ctx, func(s *server) bool { return s.cfg.Group == args[0] })
	if len(errs) == 0 {
		return fmt.Errorf("no server is in a group %q", cut(args[0], 100))
	}
	failed := false
	for _, s := range m.servers {
		err, in := errs[s]
		switch {
		case !in:
		case err != nil:
			failed = true
			_, _ = fmt.Fprintf(p.Stderr, "warning: %s\n", line(s.hide(err.Error()), 400))
		default:
			fmt.Fprintf(&b, "%s: %d tools\n", s.name, len(s.known()))
		}
	}
	if err := write(p.Stdout, b.String()); err != nil || !failed {
		return err
	}
	return sandbox.ExitCode(1)
}
