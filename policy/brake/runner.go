package brake

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/donax-sh/donax/policy"
)

// A Runner runs commands, as package termhost says.
type Runner interface {
	Inspect(ctx context.Context, c policy.Command) (policy.Command, error)
	Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (status int, err error)
}

// Run returns a runner that runs commands on next and ends them when a grant
// that is bound to their context expires, or a breaker of theirs opens. b,
// which counts their CPU time and the bytes they write, may be nil.
func Run(next Runner, b *Breakers) Runner {
	if b == nil {
		b = &Breakers{cfg: BreakersConfig{Clock: time.Now}}
	}
	return &runner{next, b}
}

type runner struct {
	Runner
	b *Breakers
}

// look is how often the CPU time of a command is taken.
const look = 100 * time.Millisecond

// Run implements [Runner].
func (r *runner) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (status int, err error) {
	s := policy.SubjectFrom(ctx)
	for _, e := range policy.Bound(ctx) {
		if g, ok := e.(Grant); ok && !g.Until.IsZero() {
			limited, cancel := context.WithTimeoutCause(ctx, time.Until(g.Until), errExpired)
			defer cancel()
			ctx = limited
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	own := ctx
	defer func() {
		var ended *EndedError
		if cause := context.Cause(own); err != nil && errors.As(cause, &ended) {
			status, err = statusKilled, ended // else it would look like a fault of the sandbox
		}
	}()
	defer r.b.enlist(s, stop)()
	if r.b.counts(CPU) {
		metered, used := r.b.cfg.Meter(ctx)
		done, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			tick := time.NewTicker(look)
			defer tick.Stop()
			for last, more := time.Duration(0), true; more; {
				select {
				case <-tick.C:
				case <-done:
					more = false
				}
				now := used()
				r.b.spend(own, s, CPU, int64(now-last))
				last = now
			}
		}()
		defer func() { close(done); <-ended }()
		ctx = metered
	}
	if r.b.counts(Bytes) {
		out, errw = &counter{out, ctx, r.b, s}, &counter{errw, ctx, r.b, s}
	}
	return r.Runner.Run(ctx, c, in, out, errw)
}

// counts reports whether a breaker looks at w.
func (b *Breakers) counts(w What) bool { return b.cfg.Principal[w].N > 0 || b.cfg.Run[w].N > 0 }

const statusKilled = 137

// An EndedError is the error of a command that was ended by a breaker, or
// because its grant has expired.
type EndedError struct{ Why string }

func (e *EndedError) Error() string { return e.Why }

var errExpired = &EndedError{"the grant has expired"}

// enlist makes stop be called when a breaker of s opens.
func (b *Breakers) enlist(s policy.Subject, stop context.CancelCauseFunc) (leave func()) {
	now := b.cfg.Clock()
	b.mu.Lock()
	defer b.mu.Unlock()
	type place struct {
		t *tally
		n int
	}
	var places []place
	for a := range b.scopes(s) {
		t := b.tally(a, now)
		t.next++
		t.stops[t.next] = stop
		places = append(places, place{t, t.next})
	}
	if err := b.check(s, now); err != nil { // it opened after the command was admitted
		stop(&EndedError{err.Error()})
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range places {
			delete(p.t.stops, p.n)
		}
	}
}

type counter struct {
	io.Writer
	ctx context.Context
	b   *Breakers
	s   policy.Subject
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.b.spend(c.ctx, c.s, Bytes, int64(n))
	return n, err
}
