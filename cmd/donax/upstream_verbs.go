package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/donax-sh/donax/mcp/upstream"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/spf13/cobra"
)

func newUpstream(std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "upstream",
		Short: "Look at the upstream MCP servers of a .mcp.json, as their operator",
		Args:  cobra.ArbitraryArgs,
		RunE:  needVerb(std),
	}
	cmd.AddCommand(newUpstreamLs(std), newUpstreamStatus(std), newUpstreamTools(std), newUpstreamCall(std), newUpstreamPin(std))
	return cmd
}

// manager opens the servers of a file for its operator. close it.
func manager(std stdio, file string) (*upstream.Manager, error) {
	f := upstreamFlags{file: file}
	list, err := f.load(string(upstream.AskOnce), func(w string) { fmt.Fprintln(std.err, "donax:", w) })
	if err != nil {
		return nil, err
	}
	return upstream.New(upstream.Config{Servers: list.Servers, CacheDir: stateDir(), Version: version(), Progress: isTerminal(std.err)}), nil
}

func newUpstreamLs(std stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls FILE",
		Short: "List the servers and what is known of them; dials nobody",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := manager(std, args[0])
			if err != nil {
				return err
			}
			return errors.Join(printStatus(std, m, asJSON), m.Close())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newUpstreamStatus(std stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status FILE",
		Short: "Dial all servers and say how that went",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := manager(std, args[0])
			if err != nil {
				return err
			}
			m.Connect(cmd.Context())
			return errors.Join(printStatus(std, m, asJSON), m.Close())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printStatus(std stdio, m *upstream.Manager, asJSON bool) error {
	list := m.Status()
	if asJSON {
		return json.NewEncoder(std.out).Encode(list)
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SERVER\tSTATE\tTOOLS\tCONNECT\tREVISION\t")
	for _, s := range list {
		cost := "-"
		if s.Cost > 0 {
			cost = s.Cost.Round(time.Millisecond).String()
		}
		revision := s.Revision
		if revision == "" {
			revision = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", s.Name, s.State, s.Tools, cost, revision, s.Error)
	}
	return w.Flush()
}

func newUpstreamTools(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "tools FILE SERVER",
		Short: "List the tools of a server: command, confirm mode, summary",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := manager(std, args[0])
			if err != nil {
				return err
			}
			defer m.Close()
			tools, err := m.Tools(cmd.Context(), args[1])
			if err != nil {
				return &exitError{exitNo, &hint{err, "donax upstream status " + args[0]}}
			}
			w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
			for _, t := range tools {
				fmt.Fprintf(w, "%s\t%s\t%s\n", t.Command, t.Confirm, t.Summary())
			}
			return w.Flush()
		},
	}
}

func newUpstreamCall(std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "call FILE SERVER.TOOL [ARG...]",
		Short: "Call a tool as its operator: no policy, no confirm mode but block",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := manager(std, args[0])
			if err != nil {
				return err
			}
			defer m.Close()
			return callTool(cmd.Context(), std, m, args[1:])
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows are the tool's flags
	return cmd
}

// callTool runs one tool outside a sandbox. Files that it gives go to the
// current folder's side: they are named and lost with the process.
func callTool(ctx context.Context, std stdio, m *upstream.Manager, args []string) error {
	p := m.Operator(args[0])
	if p == nil {
		return &exitError{sandbox.StatusNotFound, &hint{fmt.Errorf("%s: command not found", args[0]), "donax upstream ls FILE"}}
	}
	files := vfs.NewMem(vfs.MemConfig{})
	if err := files.Mkdir("/tmp", 0o755); err != nil {
		return &exitError{exitFault, err}
	}
	err := p.Run(ctx, &sandbox.Proc{
		Args: args, Dir: "/", Stdin: std.in, Stdout: std.out, Stderr: std.err, FS: files,
		Admit: func(context.Context, policy.Action) (policy.Decision, error) {
			return policy.Decision{Effect: policy.Allow}, nil
		},
	})
	var code sandbox.ExitCode
	switch {
	case errors.As(err, &code):
		return &exitError{code: int(code)}
	case err != nil:
		return &exitError{exitFault, err}
	}
	return nil
}

func newUpstreamPin(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "pin FILE SERVER",
		Short: "Print the pin of the tools that a server has now, for its donax block",
		Long: `Dial a server and print the pin of its tools: names, descriptions, schemas and
annotations. With it under "donax" in FILE no tool of the server is called once any of
that has changed, until its operator has looked and pinned again.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := manager(std, args[0])
			if err != nil {
				return err
			}
			defer m.Close()
			pin, err := m.PinOf(cmd.Context(), args[1])
			if err != nil {
				return &exitError{exitNo, err}
			}
			fmt.Fprintf(std.out, "\"pin\": %q\n", pin)
			if isTerminal(std.out) {
				fmt.Fprintf(os.Stderr, "put it under \"donax\" of %q in %s\n", args[1], args[0])
			}
			return nil
		},
	}
}
