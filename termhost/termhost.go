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
	"strings"
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

// Limits bounds a Host. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Running      int           // commands of one principal that run at a time; one more is refused
	Kept         int           // terminals of one principal; the oldest exited ones are released to make room
	Total        int           // commands that run at a time for all principals together
	Output       int           // bytes of output kept where a Spec does not say
	OutputMax    int           // the most bytes that a Spec may ask to be kept
	Shells       int           // named sessions of one principal; one more is refused
	Idle         time.Duration // a terminal that nobody asks about for so long is killed and released, a named session unused for so long is closed; negative: never
	InspectLimit time.Duration // wall time of parsing and of the decision together
	CloseLimit   time.Duration // how long Close waits for commands to end
}

// DefaultLimits is the one place where defaults live.
var DefaultLimits = Limits{
	Running:      32,
	Kept:         256,
	Total:        4096,
	Output:       1 << 20,
	OutputMax:    8 << 20,
	Shells:       16,
	Idle:         30 * time.Minute,
	InspectLimit: 10 * time.Second,
	CloseLimit:   5 * time.Second,
}

func orDefault[T int | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	l.Running = orDefault(l.Running, d.Running)
	l.Kept = max(orDefault(l.Kept, d.Kept), l.Running) // so that making room never touches a running terminal
	l.Total = orDefault(l.Total, d.Total)
	l.Output = orDefault(l.Output, d.Output)
	l.OutputMax = max(orDefault(l.OutputMax, d.OutputMax), l.Output)
	l.Shells = orDefault(l.Shells, d.Shells)
	l.Idle = orDefault(l.Idle, d.Idle)
	l.InspectLimit = orDefault(l.InspectLimit, d.InspectLimit)
	l.CloseLimit = orDefault(l.CloseLimit, d.CloseLimit)
	return l
}

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
	terms   map[string]*Terminal
	live    map[*Terminal]struct{} // with a command that runs, also when released
	byOwner map[owner]*account
	shells  map[shellKey]*shell
	running int   // commands of all principals
	stats   Stats // without what is counted above
}

// owner is what a terminal id is bound to: the principal, never a connection.
type owner struct{ sub, tenant, auth string }

func ownerOf(p policy.Principal) owner { return owner{p.Sub, p.Tenant, p.Auth} }

// account is what one principal holds.
type account struct {
	running int         // commands being admitted or running
	terms   []*Terminal // not released, in order of creation
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

// admit takes a place among the running commands of o.
func (h *Host) admit(o owner) (usage int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return 0, ErrClosed
	}
	a := h.byOwner[o]
	if a == nil {
		a = &account{}
		h.byOwner[o] = a
	}
	if a.running >= h.limits.Running {
		var ids []string
		for _, t := range a.terms {
			if t.Running() && len(ids) < 3 {
				ids = append(ids, t.id)
			}
		}
		more := ""
		if len(ids) > 0 {
			more = ", for example " + strings.Join(ids, ", ")
		}
		return 0, fmt.Errorf("%w: %d commands are running, which is the limit; wait for, kill or release one%s", ErrTooMany, a.running, more)
	}
	if h.running >= h.limits.Total {
		return 0, fmt.Errorf("%w: the server runs as many commands as it may; try again later", ErrTooMany)
	}
	a.running++
	h.running++
	return a.running - 1, nil
}

// ended gives the place of a command that has ended back.
func (h *Host) ended(t *Terminal) {
	h.mu.Lock()
	delete(h.live, t)
	h.stats.OutputBytes += t.out.written()
	h.mu.Unlock()
	h.leave(t.owner)
}

// leave gives the place of admit back.
func (h *Host) leave(o owner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running--
	if a := h.byOwner[o]; a != nil {
		a.running--
		h.prune(o, a)
	}
}

// prune forgets an account that holds nothing. The caller holds h.mu.
func (h *Host) prune(o owner, a *account) {
	if a.running == 0 && len(a.terms) == 0 {
		delete(h.byOwner, o)
	}
}

// add registers t and returns the terminals that had to go to make room.
func (h *Host) add(t *Terminal) (evicted []*Terminal, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	a := h.byOwner[t.owner]
	for _, old := range a.terms {
		if len(a.terms)-len(evicted) < h.limits.Kept {
			break
		}
		if !old.Running() {
			evicted = append(evicted, old)
		}
	}
	h.terms[t.id] = t
	h.stats.Created++
	h.live[t] = struct{}{}
	a.terms = append(a.terms, t)
	h.wg.Add(1) // under mu: Close sees either the terminal or a refusal
	return evicted, nil
}

// drop makes t's id unknown.
func (h *Host) drop(t *Terminal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.terms, t.id)
	if a := h.byOwner[t.owner]; a != nil {
		a.terms = slices.DeleteFunc(a.terms, func(u *Terminal) bool { return u == t })
		h.prune(t.owner, a)
	}
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
