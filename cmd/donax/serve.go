package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/termhost"
	"github.com/donax-sh/donax/wasm"
	"github.com/spf13/cobra"
)

func newServe(std stdio) *cobra.Command {
	var f sandboxFlags
	var terminals int
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Serve MCP on stdin and stdout",
		Long: `Serve MCP on stdin and stdout: terminal_create, terminal_output,
terminal_wait_for_exit, terminal_kill, terminal_release. All terminals of one server
share the files of one sandbox; each is a fresh shell. The server ends, with its
terminals, when stdin does. Messages for the operator go to stderr.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if terminals < 1 {
				return usageError("--terminals 32", "--terminals %d: at least one is needed", terminals)
			}
			box, err := f.open(ctx, std.err, policy.Session{})
			if err != nil {
				return err
			}
			defer box.Close()
			log := slog.New(slog.NewTextHandler(std.err, nil))
			go func() { // the first command should not wait for a compilation
				if err := box.runtime.Warm(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, wasm.ErrClosed) {
					log.Warn("the box could not be prepared", "error", err)
				}
			}()
			host := termhost.New(termhost.Config{Runner: box, Engine: box.engine, Limits: termhost.Limits{Running: terminals}})
			defer host.Close()
			server, err := mcp.New(mcp.Config{Info: mcp.Info{Name: "donax", Version: version()}, Host: host, Logger: log})
			if err != nil {
				return &exitError{exitFault, err}
			}
			if err := server.Serve(ctx, std.in, std.out); err != nil {
				return &exitError{exitFault, fmt.Errorf("serve: %w", err)}
			}
			return nil
		},
	}
	f.add(cmd, 0, sandbox.DefaultLimits.Memory, sandbox.DefaultLimits.Output)
	cmd.Flags().IntVar(&terminals, "terminals", termhost.DefaultLimits.Running, "commands that may run at a time, `N`")
	return cmd
}
