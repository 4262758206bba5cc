package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/rego"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/termhost"
	"github.com/donax-sh/donax/wasm"
	"github.com/spf13/cobra"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	sandboxFlags
	terminals int
	http      httpFlags
	control   string
}

func newServe(std stdio) *cobra.Command {
	f := serveFlags{sandboxFlags: sandboxFlags{waist: waistFlags{serving: true}}}
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Serve MCP on stdin and stdout, or over HTTP",
		Long: `Serve MCP on stdin and stdout, or over HTTP with --http: terminal_create,
terminal_output, terminal_wait_for_exit, terminal_kill, terminal_release. All terminals
of one server share the files of one sandbox; each is a fresh shell, unless its client
names a session: then the shell of that name goes on. On stdin the server
ends, with its terminals, when stdin does. Policies are read again when they change.
Messages for the operator go to stderr.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context(), std) },
	}
	f.add(cmd, 0, sandbox.DefaultLimits.Memory, sandbox.DefaultLimits.Output)
	f.isolation.add(cmd.Flags(), servedIsolation())
	cmd.Flags().IntVar(&f.terminals, "terminals", termhost.DefaultLimits.Running, "commands of one principal that may run at a time, `N`")
	cmd.Flags().StringVar(&f.control, "control", "", "socket `PATH` on which donax brake reaches this server, or off; one in the user's runtime folder unless given")
	f.http.add(cmd)
	return cmd
}

func (f *serveFlags) serve(ctx context.Context, std stdio) error {
	if f.terminals < 1 {
		return usageError("--terminals 32", "--terminals %d: at least one is needed", f.terminals)
	}
	if err := f.http.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := slog.New(slog.NewTextHandler(std.err, nil))
	f.upstream.log = func(msg string) { log.Info(msg) }
	f.raise = raiseServed
	box, err := f.open(ctx, std.err, policy.Session{})
	if err != nil {
		return err
	}
	defer box.Close()
	if !box.runtime.Cached() {
		// The first command should not wait for a compilation. What is compiled
		// already stays on disk until it is needed: it takes tens of MiB.
		go func() {
			if err := box.runtime.Warm(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, wasm.ErrClosed) {
				log.Warn("the box could not be prepared", "error", err)
			}
		}()
	}
	report := func(u rego.Update) {
		if u.Err != nil {
			log.Error("policy", "error", u.Err)
		} else {
			log.Info("policy reloaded", "old", u.Old, "new", u.New)
		}
		box.forget()
		box.waist.reloaded(ctx, u)
	}
	if f.http.addr != "" { // over stdio the hangup is the client's, and ends the server
		go reloadOnHangup(ctx, box.layers, report)
	}
	for _, layer := range box.layers {
		go layer.Watch(ctx, 0, report)
	}
	limits := termhost.Limits{Running: f.terminals}
	if box.pool != nil {
		limits.InspectLimit = time.Minute // a worker may have to be started first
	}
	host := termhost.New(termhost.Config{Runner: box.waist.runner(box), Shell: box.waist.shells(box.shell), Engine: box.engine, Limits: limits})
	defer host.Close()
	release, err := box.waist.control(ctx, f.control, host, f.mounts, log)
	if err != nil {
		return err
	}
	defer release()
	server, err := mcp.New(mcp.Config{
		Info: mcp.Info{Name: "donax", Version: version()}, Host: host, Remember: box.book.Wrap, Raw: f.raw, Logger: log,
		// Each terminal may have a wait in progress, and somebody who reads it.
		Limits: mcp.Limits{Calls: max(mcp.DefaultLimits.Calls, 2*f.terminals), Requests: max(mcp.DefaultLimits.Requests, 2*f.terminals)},
		Gate:   box.waist.gate(), Metrics: box.waist.metrics(), Health: box.waist.health, Isolation: policy.Isolation(f.isolation),
		More: prepare(ctx, box.tools, f.upstream.log),
	})
	if err != nil {
		return &exitError{exitFault, err}
	}
	if f.http.addr != "" {
		return f.http.serve(ctx, server, log, box.waist.serving)
	}
	box.waist.serving()
	if err := server.Serve(ctx, std.in, std.out); err != nil {
		return &exitError{exitFault, fmt.Errorf("serve: %w", err)}
	}
	return nil
}
