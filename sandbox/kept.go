package sandbox

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/shell"
)

// kept is the state of a shell before and after one run. after is nil when
// the run left none.
type kept struct{ before, after *shell.State }

// A Shell is a shell of a [Session] that stays: the working folder, variables,
// functions, aliases and options go from one Run to the next, at most
// [Limits].State bytes of them. Descriptors, jobs and EXIT traps end with the
// line, and exit ends the line only.
type Shell struct {
	session *Session

	mu    sync.Mutex
	busy  bool
	state *shell.State // nil before the first line
}

// ErrBusy is the error of a second line in a [Shell] while one runs.
var ErrBusy = errors.New("the shell is busy with another line")

// NewShell returns a shell in its first state.
func (s *Session) NewShell() *Shell { return &Shell{session: s} }

// Inspect is [Session.Inspect] for the next line of the shell. A line is not
// Static when the shell has functions or aliases, which may stand behind any
// name.
func (k *Shell) Inspect(ctx context.Context, c policy.Command) (policy.Command, error) {
	k.mu.Lock()
	st := k.state
	k.mu.Unlock()
	return k.session.inspect(ctx, c, st)
}

// Run is [Session.Run] in the shell. c.Cwd, c.Environ and c.Params, where they
// are given, change the shell. A line that was ended from outside, by a limit
// or a signal of its own leaves the shell as it was before. A second Run at
// the same time fails with [ErrBusy].
func (k *Shell) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (status int, err error) {
	k.mu.Lock()
	if k.busy {
		k.mu.Unlock()
		return StatusFault, ErrBusy
	}
	k.busy = true
	line := &kept{before: k.state}
	k.mu.Unlock()

	status, err = k.session.run(ctx, c, line, in, out, errw)

	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy = false
	// After an error the line may have been abandoned, and still be writing.
	if err == nil && line.after != nil {
		k.state = line.after
	}
	return status, err
}

// Close drops the state.
func (k *Shell) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = nil
	return nil
}
