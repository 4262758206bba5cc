package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/donax-sh/donax/sandbox/worker"
	"github.com/donax-sh/donax/wasm"
	"github.com/spf13/cobra"
)

// newWorker is what a server starts itself as: a process that runs lines and
// reaches nothing.
func newWorker(std stdio) *cobra.Command {
	probe := false
	cmd := &cobra.Command{
		Use:    "worker",
		Short:  "Run lines for the server that started this process",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if probe {
				return printIsolation(cmd.Context(), std.out)
			}
			return &exitError{code: worker.Serve(workerPrograms(wasm.NewTracker(snapshots)))}
		},
	}
	cmd.Flags().BoolVar(&probe, "probe", false, "start one worker and say what its jail holds on this machine")
	return cmd
}

// printIsolation says of each mechanism whether it holds. The status is 1 when
// one is missing without which served lines are not run in workers.
func printIsolation(ctx context.Context, w io.Writer) error {
	found, err := isolationFindings(ctx)
	if err != nil {
		return &exitError{exitNo, err}
	}
	var failed error
	for _, f := range found {
		state := "ok  "
		switch {
		case !f.OK && f.Required:
			state, failed = "FAIL", &exitError{code: exitNo}
		case !f.OK:
			state = "warn"
		}
		fmt.Fprintf(w, "%s %-14s %s\n", state, f.Name, f.Detail)
	}
	return failed
}

// isolationFindings starts a worker to see what holds.
func isolationFindings(ctx context.Context) ([]worker.Finding, error) {
	return worker.Probe(ctx, worker.Config{Argv: workerArgv(), Setup: worker.Setup{Dir: "/", CacheDir: cacheDir()}})
}

// workerArgv starts this program as a worker.
func workerArgv() []string { return []string{"donax", "worker"} }

// errNotCached keeps a worker from compiling the box, which its server does
// once for all.
var errNotCached = errors.New("the box is not compiled yet")

// snapshots is how many tiers of the box a worker can have snapshots of: once it
// is locked it makes no file for another.
const snapshots = 2

// workerPrograms gives what there is inside a worker: the box, and what the
// server has loaded besides.
func workerPrograms(t *wasm.Tracker) func(worker.Setup) (worker.Programs, error) {
	return func(s worker.Setup) (worker.Programs, error) {
		if s.Pagemap != nil {
			t.Pagemap(s.Pagemap)
		}
		return openPrograms(s, t)
	}
}

func openPrograms(s worker.Setup, t *wasm.Tracker) (worker.Programs, error) {
	rt, err := wasm.New(wasm.Config{CacheDir: s.CacheDir, Memory: s.Limits.Memory, Tracker: t})
	if err != nil {
		return worker.Programs{}, err
	}
	var added []wasm.Loaded
	if len(s.Added) > 0 {
		if err := json.Unmarshal(s.Added, &added); err != nil {
			return worker.Programs{}, err
		}
	}
	programs := rt.Programs()
	var ready []func(context.Context) error
	for _, l := range added {
		program, load := rt.Reload(l)
		programs, ready = append(programs, program), append(ready, load)
	}
	p := worker.Programs{
		List: programs,
		Trim: rt.Trim,
		Load: func(ctx context.Context) error {
			if !rt.Cached() {
				return nil // what runs first will find it
			}
			return rt.Warm(ctx, "core")
		},
		Rest: func(ctx context.Context) error {
			for _, load := range ready {
				_ = load(ctx) // whoever runs it is told
			}
			if !rt.Cached() {
				return errNotCached
			}
			return rt.Warm(ctx)
		},
	}
	if s.Served {
		p.Raise = raiseServed
	}
	return p, nil
}
