package termhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
)

// A Terminal is one command, running or ended. It is safe for concurrent use.
type Terminal struct {
	id       string
	host     *Host
	runner   Runner
	free     func(keep bool) // gives a named shell back
	owner    owner
	subject  policy.Subject
	command  policy.Command
	warnings []policy.Reason
	created  time.Time
	asked    int          // Spec.Output
	seen     atomic.Int64 // when somebody last asked about it, Unix nanoseconds
	watchers atomic.Int32 // calls of Watch that were not ended

	cancel   context.CancelCauseFunc
	out      *buffer
	sink     io.Writer     // out, or what redacts before it
	flush    func() error  // passes on what sink has held back
	done     chan struct{} // closed after out has the exit
	released atomic.Bool

	questions questions
	meter     *policy.Meter
}

// ID names the terminal. It is a secret of its principal.
func (t *Terminal) ID() string { return t.id }

// Command returns the command as it was admitted, limits included.
func (t *Terminal) Command() policy.Command { return t.command }

// Subject returns who created the terminal.
func (t *Terminal) Subject() policy.Subject { return t.subject }

// OutputAsked returns the Output of the [Spec], lowered to what is kept; 0 when
// it was left to the host.
func (t *Terminal) OutputAsked() int { return min(t.asked, t.out.max) }

// Warnings returns what the policy wants to be shown beside the command.
func (t *Terminal) Warnings() []policy.Reason { return t.warnings }

// Created returns when the terminal was created.
func (t *Terminal) Created() time.Time { return t.created }

// Running reports whether the command has not ended yet.
func (t *Terminal) Running() bool {
	select {
	case <-t.done:
		return false
	default:
		return true
	}
}

func (t *Terminal) touch() { t.seen.Store(time.Now().UnixNano()) }

// idleSince is how long nobody has asked about t; a call in progress asks.
func (t *Terminal) idleSince(now time.Time) time.Duration {
	if t.watchers.Load() > 0 {
		return 0
	}
	return now.Sub(time.Unix(0, t.seen.Load()))
}

// Watch keeps t from expiring until the returned function is called.
func (t *Terminal) Watch() (leave func()) {
	t.watchers.Add(1)
	return func() { t.touch(); t.watchers.Add(-1) }
}

// run is the one owner of the terminal's state: it alone computes the exit.
func (t *Terminal) run(ctx context.Context) {
	defer t.host.wg.Done()
	limited := ctx
	if ms := t.command.Limits.TimeoutMS; ms > 0 {
		var stop context.CancelFunc
		limited, stop = context.WithTimeoutCause(ctx, time.Duration(ms)*time.Millisecond, errTimeLimit)
		defer stop()
	}
	status, err := t.start(limited)
	_ = t.flush() // fails only when the buffer takes nothing any more
	exit := exitOf(status, err, context.Cause(limited), t.command.Limits)
	t.cancel(nil) // frees the context; the exit is already computed
	t.free(exit.Reason != Fault && exit.Reason != Crashed)
	t.host.ended(t)
	t.out.finish(exit)
	if t.released.Load() {
		t.out.drop()
	}
	close(t.done)
	t.touch()
}

// start contains a panic of the runner.
func (t *Terminal) start(ctx context.Context) (status int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &FaultError{fmt.Errorf("panic while running: %v", p)}
		}
	}()
	// Commands never see the server's own input: theirs is empty.
	return t.runner.Run(ctx, t.command, strings.NewReader(""), t.sink, t.sink)
}

// end stops the command for a reason. Only the first reason counts.
func (t *Terminal) end(reason error) {
	t.cancel(reason)
	t.out.seal()
}

// Kill ends the command, if it runs. Its output stays until [Terminal.Release].
// Output stops at once; the command has ended when [Terminal.Wait] returns.
func (t *Terminal) Kill() {
	t.touch()
	if t.Running() {
		t.end(errKilled)
	}
}

// Release kills the command, if it runs, drops its output and makes the id
// unknown. Who waits in [Terminal.Wait] gets the exit.
func (t *Terminal) Release() {
	if t.released.Swap(true) {
		return
	}
	t.host.drop(t)
	if t.Running() {
		t.end(errReleased)
	}
	t.out.drop()
}

// Wait waits for the command to end and returns how it did; all output is
// visible then. When ctx ends first, Wait returns its error and the command
// runs on.
func (t *Terminal) Wait(ctx context.Context) (Exit, error) {
	defer t.Watch()()
	select {
	case <-t.done:
	default:
		select {
		case <-t.done:
		case <-ctx.Done():
			return Exit{}, ctx.Err()
		}
	}
	t.out.mu.Lock()
	defer t.out.mu.Unlock()
	return *t.out.exit, nil
}

// Done returns a channel that is closed when the command has ended.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// The reasons for which a Host ends a command.
var (
	errKilled    = errors.New("killed")
	errReleased  = errors.New("released")
	errIdle      = errors.New("nobody asked about it")
	errClosing   = errors.New("the server is shutting down")
	errTimeLimit = errors.New("time limit")
)
