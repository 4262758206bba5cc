package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/worker"
	"github.com/spf13/pflag"
)

// A lineRunner runs lines: the session in this process, or workers.
type lineRunner interface {
	Inspect(context.Context, policy.Command) (policy.Command, error)
	Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error)
}

// isolation is the --isolation flag.
type isolation worker.Isolation

func (i *isolation) String() string { return string(*i) }
func (i *isolation) Type() string   { return "LEVEL" }
func (i *isolation) Set(s string) error {
	v, err := worker.ParseIsolation(s)
	*i = isolation(v)
	return err
}

func (i *isolation) add(fl *pflag.FlagSet, level worker.Isolation) {
	*i = isolation(level)
	fl.Var(i, "isolation", "run lines in jailed processes: `LEVEL` terminal (one for each that runs), session (one for each principal) or none")
}

// servedIsolation is the isolation of served terminals where nothing else is asked for:
// workers where their jail has been proven.
func servedIsolation() worker.Isolation {
	if runtime.GOOS == "linux" {
		return worker.PerTerminal
	}
	return worker.None
}

// isolate puts workers between the terminals and the files, unless none are
// wanted.
func (o *opened) isolate(ctx context.Context, c worker.Config) error {
	o.lines = o.homes
	if c.Isolation == "" || c.Isolation == worker.None {
		return nil
	}
	c.Argv = workerArgv()
	if !c.Setup.Served {
		c.Limits.Warm = -1 // no second line comes for which a worker could be ready
	}
	shown := c.Lookup != nil // with upstream servers the commands come and go
	c.Mounts, c.Session = o.homes.spare.mounts(shown), o.homes.spare.session
	c.Home = func(p policy.Principal) (worker.Home, error) { return o.homes.remote(p, shown) }
	pool, err := worker.NewPool(ctx, c)
	var missing *worker.MissingError
	switch {
	case errors.As(err, &missing):
		return &exitError{exitUsage, &hint{err, "--isolation none, which runs lines in the server's own process"}}
	case err != nil:
		return &exitError{exitFault, &hint{fmt.Errorf("isolation %q: %w", c.Isolation, err), "--isolation none, which runs lines in the server's own process"}}
	}
	o.pool, o.lines = pool, pool
	return nil
}

// Inspect reads a line where it would run.
func (o *opened) Inspect(ctx context.Context, c policy.Command) (policy.Command, error) {
	return o.lines.Inspect(ctx, c)
}

// forget makes workers ask again about everything: the policy has changed.
func (o *opened) forget() {
	if o.pool != nil {
		o.pool.Forget()
	}
}

// withWorkerCPU counts in used, in nanoseconds, what workers use for a line.
func withWorkerCPU(ctx context.Context, used *atomic.Int64) context.Context {
	return worker.WithCPU(ctx, func(d time.Duration) { used.Add(int64(d)) })
}
