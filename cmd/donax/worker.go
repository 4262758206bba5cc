package main

import (
	"context"
	"errors"

	"github.com/donax-sh/donax/sandbox/worker"
	"github.com/donax-sh/donax/wasm"
	"github.com/spf13/cobra"
)

// newWorker is what a server starts itself as: a process that runs lines and
// reaches nothing.
func newWorker(stdio) *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Run lines for the server that started this process",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return &exitError{code: worker.Serve(workerPrograms)} },
	}
}

// errNotCached keeps a worker from compiling the box, which its server does
// once for all.
var errNotCached = errors.New("the box is not compiled yet")

// workerPrograms is the box inside a worker.
func workerPrograms(s worker.Setup) (worker.Programs, error) {
	rt, err := wasm.New(wasm.Config{CacheDir: s.CacheDir, Memory: s.Limits.Memory})
	if err != nil {
		return worker.Programs{}, err
	}
	p := worker.Programs{
		List: rt.Programs(),
		Load: func(ctx context.Context) error {
			if !rt.Cached() {
				return nil // what runs first will find it
			}
			return rt.Warm(ctx, "core")
		},
		Rest: func(ctx context.Context) error {
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
