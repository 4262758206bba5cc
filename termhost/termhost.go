// Package termhost holds terminals: one command each, with its output kept and
// streamed and its end recorded once.
//
// It knows neither MCP nor an interpreter. Commands are admitted by a
// [policy.Engine] and run by a [Runner]; whoever serves them calls [Host] and
// [Terminal]. A terminal is created, runs, has exited, and is released, in
// that order and never back.
package termhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
)

// A Runner runs commands. It is safe for concurrent use.
type Runner interface {
	// Inspect parses c, within bounds, and returns it with the facts that
	// admission needs. Nothing of c has run when it returns.
	Inspect(ctx context.Context, c policy.Command) (policy.Command, error)

	// Run runs c and returns its status. It returns soon after ctx ends and
	// only when nothing of c runs any more; it never writes after that. An
	// error says that the command did not end by itself: a limit (status
	// 137), the end of ctx, or a fault of the sandbox.
	Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (status int, err error)
}

// Errors of a Host. Their texts are fit for a model.
var (
	// ErrUnknown is the one answer to an id that was never given, was
	// released, has expired, or belongs to another principal.
	ErrUnknown = errors.New("unknown terminal: it was released or has expired, or the id is wrong")

	// ErrClosed says that the Host has been closed.
	ErrClosed = errors.New("the terminal host is shutting down")

	// ErrNoPrincipal says that the context carries nobody to bind a terminal to.
	ErrNoPrincipal = errors.New("no principal to bind a terminal to")

	// ErrTooMany is matched by the error that refuses one more running terminal.
	ErrTooMany = errors.New("too many terminals")
)

// Config configures a [Host].
type Config struct {
	Runner Runner
	Engine policy.Engine // nil denies every command
	Limits Limits

	// Shell opens a shell for a named session. It does not wait. Nil means
	// that there are no named sessions.
	Shell func(ctx context.Context) (Shell, error)
}

// A Host creates terminals and finds them again. It is safe for concurrent use.
type Host struct {
	runner Runner
	engine policy.Engine
	limits Limits
	open   func(context.Context) (Shell, error)

	stop chan struct{}  // closed by Close: ends the sweeper
	wg   sync.WaitGroup // the sweeper and the goroutine of every command

	mu      sync.Mutex
	closed  bool
	halted  error // why no command may start; nil when they may
	terms   map[string]*Terminal
	live    map[*Terminal]struct{} // with a command that runs, also when released
	byOwner map[owner]*account
	shells  map[shellKey]*shell
	running int   // commands of all principals
	stats   Stats // without what is counted above
}

// New returns a Host. It panics without a Runner: that is a mistake in the
// program, not in its input.
func New(c Config) *Host {
	if c.Runner == nil {
		panic("termhost: Config.Runner is nil")
	}
	h := &Host{
		runner:  c.Runner,
		engine:  c.Engine,
		open:    c.Shell,
		limits:  c.Limits.withDefaults(),
		stop:    make(chan struct{}),
		terms:   map[string]*Terminal{},
		live:    map[*Terminal]struct{}{},
		byOwner: map[owner]*account{},
		shells:  map[shellKey]*shell{},
	}
	if h.limits.Idle > 0 {
		h.wg.Go(h.sweep)
	}
	return h
}

// Limits returns the limits in force.
func (h *Host) Limits() Limits { return h.limits }

// Stats is what a Host counts.
type Stats struct {
	Running     int   // commands that run or are being admitted
	Terminals   int   // that are not released
	Created     int64 // since the start
	Denied      int64 // by the policy, since the start
	OutputBytes int64 // that ended commands have written
}

// Stats returns the counts at this moment.
func (h *Host) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.stats
	s.Running, s.Terminals = h.running, len(h.terms)
	return s
}

// Get finds a terminal of principal p. The error is [ErrUnknown] alike for
// an id that never was and for one of somebody else.
func (h *Host) Get(p policy.Principal, id string) (*Terminal, error) {
	h.mu.Lock()
	t := h.terms[id]
	h.mu.Unlock()
	if t == nil || t.owner != ownerOf(p) {
		return nil, ErrUnknown
	}
	t.touch()
	return t, nil
}

// List returns the terminals of principal p that are not released, oldest
// first.
func (h *Host) List(p policy.Principal) []*Terminal {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.byOwner[ownerOf(p)]; a != nil {
		return slices.Clone(a.terms)
	}
	return nil
}

// EndSession releases every terminal that was created through the session
// with this id ([policy.Session].ID), and waits for their commands to end, at
// most [Limits].CloseLimit. It is for transports whose end is the client's end.
func (h *Host) EndSession(id string) error {
	if id == "" { // what belongs to no session does not end with one
		return nil
	}
	ts := h.collect(func(t *Terminal) bool { return t.subject.Session.ID == id })
	for _, t := range ts {
		t.Release()
	}
	return h.await(ts)
}

// Close releases every terminal, waits for all commands to end and refuses
// new ones. It waits at most [Limits].CloseLimit; the error counts the
// commands that were still not gone then. Close may be called again.
func (h *Host) Close() error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.stop)
	}
	h.mu.Unlock()
	ts := h.collect(func(*Terminal) bool { return true })
	for _, t := range ts {
		t.end(errClosing)
		t.Release()
	}
	if err := h.await(ts); err != nil {
		return err
	}
	h.sweepShells(time.Now(), true)
	h.wg.Wait() // all that is left are goroutines about to return
	return nil
}

// collect returns the terminals that match: those that are known and those
// whose command has not ended.
func (h *Host) collect(match func(*Terminal) bool) []*Terminal {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ts []*Terminal
	for _, t := range h.terms {
		if match(t) {
			ts = append(ts, t)
		}
	}
	for t := range h.live {
		if h.terms[t.id] == nil && match(t) {
			ts = append(ts, t)
		}
	}
	return ts
}

// await waits for the commands of ts to end.
func (h *Host) await(ts []*Terminal) error {
	limit := time.NewTimer(h.limits.CloseLimit)
	defer limit.Stop()
	for i, t := range ts {
		select {
		case <-t.done:
		case <-limit.C:
			left := 0
			for _, t := range ts[i:] {
				select {
				case <-t.done:
				default:
					left++
				}
			}
			if left > 0 {
				return fmt.Errorf("%d command(s) did not stop within %v", left, h.limits.CloseLimit)
			}
			return nil
		}
	}
	return nil
}

// sweep releases what nobody asks about.
func (h *Host) sweep() {
	tick := time.NewTicker(max(h.limits.Idle/8, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case now := <-tick.C:
			h.mu.Lock()
			var idle []*Terminal
			for _, t := range h.terms {
				if t.idleSince(now) >= h.limits.Idle {
					idle = append(idle, t)
				}
			}
			h.mu.Unlock()
			for _, t := range idle {
				t.end(errIdle)
				t.Release()
			}
			h.sweepShells(now, false)
		}
	}
}
