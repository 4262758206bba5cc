package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
)

// ErrClosed is the error of a pool that was closed.
var ErrClosed = errors.New("worker: the pool is closed")

// owner is whose lines a worker runs. Workers are never handed on from one to
// another: what a line has done to its worker harms nobody else.
type owner struct{ sub, tenant, auth string }

func ownerOf(ctx context.Context) owner {
	p := policy.SubjectFrom(ctx).Principal
	return owner{p.Sub, p.Tenant, p.Auth}
}

// A member is a worker of the pool.
type member struct {
	*process
	owner   owner
	settled bool      // its files are the owner's
	using   int       // inspections and runs that it was taken for
	since   time.Time // when using became 0
}

// A Pool runs commands in workers. It is a Runner of terminals, and safe for
// concurrent use.
type Pool struct {
	cfg    Config
	limits Limits
	spawn  *spawner
	epoch  atomic.Uint64
	shells atomic.Uint32 // made so far
	life   context.Context
	end    context.CancelFunc
	wg     sync.WaitGroup // processes, and the goroutines that start them

	mu       sync.Mutex
	closed   bool
	fresh    []*process // ready, and nobody's yet
	starting int        // on their way into fresh
	members  []*member
	waiting  int           // callers of take
	freed    chan struct{} // closed when a worker became free or gone
	failed   error         // why the last start in the background failed
	stats    Stats
}

// Stats is what a Pool counts.
type Stats struct {
	Fresh   int   // ready for their first line
	Idle    int   // that have run lines and wait for more of the same principal
	Busy    int   // with at least one line
	Started int64 // so far
	Lost    int64 // so far: that died with a line in them
}

// NewPool starts the first worker and returns when it is ready: what is missing
// on this machine is known then. The error is a [*MissingError] when the
// isolation that was asked for cannot be had.
func NewPool(ctx context.Context, cfg Config) (*Pool, error) {
	if cfg.Isolation != PerTerminal && cfg.Isolation != PerSession {
		return nil, fmt.Errorf("worker: a pool has no isolation %q", cfg.Isolation)
	}
	if len(cfg.Argv) == 0 {
		return nil, errors.New("worker: Config.Argv is empty")
	}
	var readable []string
	if cfg.Setup.CacheDir != "" {
		readable = []string{cfg.Setup.CacheDir}
	}
	sp, err := newSpawner(readable)
	if err != nil {
		return nil, err
	}
	p := &Pool{cfg: cfg, limits: cfg.Limits.withDefaults(cfg.Setup.Limits), spawn: sp, freed: make(chan struct{})}
	p.life, p.end = context.WithCancel(context.Background())
	first, err := start(ctx, &p.cfg, p.limits, sp, p.epoch.Load)
	if err != nil {
		p.end()
		sp.close()
		return nil, err
	}
	var missing []Finding
	for _, f := range first.found {
		if f.Required && !f.OK {
			missing = append(missing, f)
		}
	}
	p.track(first)
	p.fresh = append(p.fresh, first)
	p.stats.Started++
	if len(missing) > 0 {
		return nil, errors.Join(&MissingError{Asked: cfg.Isolation, Missing: missing}, p.Close())
	}
	p.wg.Go(p.sweep)
	return p, nil
}

// Findings returns what the jail of a worker holds on this machine.
func (p *Pool) Findings() []Finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []Finding
	for _, m := range p.members {
		found = m.found
	}
	for _, f := range p.fresh {
		found = f.found
	}
	out := append([]Finding{}, found...)
	for _, f := range p.spawn.findings() {
		replaced := false
		for i := range out {
			if out[i].Name == f.Name { // what the worker saw counts; how it came, the spawner knows
				replaced = true
				if f.Detail != "" {
					out[i].Detail = f.Detail
				}
				out[i].OK = out[i].OK && f.OK
			}
		}
		if !replaced {
			out = append(out, f)
		}
	}
	return out
}

// Stats returns the counts at this moment.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Fresh = len(p.fresh)
	for _, m := range p.members {
		if m.using > 0 {
			s.Busy++
		} else {
			s.Idle++
		}
	}
	return s
}

// Forget takes back every decision that workers keep. It is to be called when
// the policy has changed, or when something stops all.
func (p *Pool) Forget() {
	epoch := p.epoch.Add(1)
	p.mu.Lock()
	all := append([]*process{}, p.fresh...)
	for _, m := range p.members {
		all = append(all, m.process)
	}
	p.mu.Unlock()
	for _, w := range all {
		w.forget(epoch)
	}
}

// Inspect completes c in a worker: the server reads no hostile text.
func (p *Pool) Inspect(ctx context.Context, c policy.Command) (policy.Command, error) {
	began := time.Now()
	for {
		m, err := p.take(ctx)
		if err != nil {
			return c, err
		}
		heard := m.heard.Load()
		got, err := m.inspect(ctx, 0, c)
		p.give(m)
		if m.alive() || !errors.As(err, new(*LostError)) || !m.stale(began, heard) {
			return got, err
		}
	}
}

// Run runs c in a worker. A worker that dies ends the run with a [*LostError]
// and status 137, after saying so on errw.
func (p *Pool) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	began := time.Now()
	for {
		m, err := p.take(ctx)
		if err != nil {
			return statusLost, err
		}
		status, err := p.run(ctx, m, began, 0, c, in, out, errw)
		p.give(m)
		if err != errStale {
			return status, err
		}
	}
}

// run runs c in a worker and counts its death.
func (p *Pool) run(ctx context.Context, m *member, began time.Time, shell uint32, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	status, err := m.run(ctx, began, shell, c, in, out, errw)
	var lost *LostError
	if errors.As(err, &lost) {
		p.mu.Lock()
		p.stats.Lost++
		p.mu.Unlock()
		switch {
		case lost.Detail != "":
			m.log(fmt.Sprintf("%v: %.1000s", lost, lost.Detail))
		case p.cfg.Setup.Served: // who typed the line is told already
			m.log(lost.Error())
		}
	}
	return status, err
}

// take gives the caller a worker of its own, or shares one of the same
// principal when there are as many workers as there may be.
func (p *Pool) take(ctx context.Context) (*member, error) {
	who := ownerOf(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	defer func() { p.waiting-- }()
	for first := true; ; first = false {
		if p.closed {
			return nil, ErrClosed
		}
		m, room := p.choose(who)
		switch {
		case m != nil:
			if err := p.settle(m); err != nil {
				m.end()
				p.remove(m.process)
				return nil, err
			}
			m.using++
			return m, nil
		case p.failed != nil && !first && p.starting == 0:
			return nil, p.failed
		case room && p.starting < min(p.waiting, maxStarts()):
			// Not for this caller alone: when it gives up, the next has it.
			p.launch()
		}
		freed := p.freed
		p.mu.Unlock()
		var err error
		select {
		case <-freed:
		case <-ctx.Done():
			err = fmt.Errorf("no worker became free: %w", context.Cause(ctx))
		}
		p.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
}

// settle gives a worker that has become somebody's the files of its owner.
func (p *Pool) settle(m *member) error {
	if m.settled || p.cfg.Home == nil {
		return nil
	}
	home, err := p.cfg.Home(policy.Principal{Sub: m.owner.sub, Tenant: m.owner.tenant, Auth: m.owner.auth})
	if err != nil {
		return err
	}
	m.settled, m.session = true, home.Session
	return m.files.bind(home.Mounts)
}

// choose finds a worker for who, or says that one may be made. The lock is
// held.
func (p *Pool) choose(who owner) (found *member, room bool) {
	var idleOther, shared *member
	for _, m := range p.members {
		switch {
		case !m.alive():
		case m.owner != who:
			if m.using == 0 && (idleOther == nil || m.since.Before(idleOther.since)) {
				idleOther = m
			}
		case m.using == 0:
			return m, false
		case shared == nil || m.using < shared.using:
			shared = m
		}
	}
	if shared != nil && p.cfg.Isolation == PerSession {
		return shared, false
	}
	for len(p.fresh) > 0 {
		w := p.fresh[len(p.fresh)-1]
		p.fresh = p.fresh[:len(p.fresh)-1]
		if w.alive() {
			m := &member{process: w, owner: who}
			p.members = append(p.members, m)
			p.refill() // which counts members
			return m, false
		}
	}
	switch {
	case len(p.members)+p.starting < p.limits.Max:
		return nil, true
	case p.starting >= min(p.waiting, maxStarts()): // one is about to be ready
		return nil, false
	case idleOther != nil: // it makes room, and is gone before the new one is there
		idleOther.end()
		p.remove(idleOther.process)
		return nil, true
	}
	return shared, false
}

// give takes a worker back. One that has seen much work is not kept: what its
// lines have left in it, and the time it has used, end with it.
func (p *Pool) give(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.using--
	m.since = time.Now()
	if m.using == 0 && (p.closed || m.worn()) {
		m.end()
		p.remove(m.process)
	}
	p.signal()
}

// signal wakes who waits for a worker. The lock is held.
func (p *Pool) signal() {
	close(p.freed)
	p.freed = make(chan struct{})
}

// remove forgets a worker. The lock is held.
func (p *Pool) remove(w *process) {
	for i, m := range p.members {
		if m.process == w {
			p.members = append(p.members[:i:i], p.members[i+1:]...)
			break
		}
	}
	for i, f := range p.fresh {
		if f == w {
			p.fresh = append(p.fresh[:i:i], p.fresh[i+1:]...)
			break
		}
	}
}

// track forgets a worker when it dies.
func (p *Pool) track(w *process) {
	p.wg.Go(func() {
		<-w.gone
		p.mu.Lock()
		defer p.mu.Unlock()
		p.remove(w)
		p.signal()
		p.refill()
	})
}

// refill starts what is missing of fresh workers, in the background. The lock
// is held.
func (p *Pool) refill() {
	if p.closed || p.failed != nil {
		return
	}
	for len(p.fresh)+p.starting < p.limits.Warm && len(p.members)+len(p.fresh)+p.starting < p.limits.Max {
		p.launch()
	}
}

// maxStarts is how many workers start at a time: more would only be ready
// later, all of them.
func maxStarts() int { return max(2, runtime.NumCPU()) }

// launch starts a worker in the background. The lock is held.
func (p *Pool) launch() {
	p.starting++
	p.wg.Go(func() {
		w, err := start(p.life, &p.cfg, p.limits, p.spawn, p.epoch.Load)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.starting--
		defer p.signal()
		if err != nil {
			if !p.closed {
				p.failed = err // until the next sweep: a machine in trouble is not to be pressed
			}
			return
		}
		p.failed = nil
		p.stats.Started++
		p.track(w)
		if p.closed {
			w.end()
			return
		}
		w.forget(p.epoch.Load()) // it has nothing to forget, and learns where it stands
		p.fresh = append(p.fresh, w)
	})
}

// keepIdle is how many workers of all principals may wait for more work.
const keepIdle = 4

// sweep retires workers that wait in vain.
func (p *Pool) sweep() {
	tick := time.NewTicker(max(p.limits.Idle/8, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-p.life.Done():
			return
		case now := <-tick.C:
			p.mu.Lock()
			p.failed = nil
			p.retire(now)
			p.refill()
			p.mu.Unlock()
		}
	}
}

// retire ends idle workers that are old, or too many. The lock is held.
func (p *Pool) retire(now time.Time) {
	idle := 0
	for i := len(p.members) - 1; i >= 0; i-- { // the newest are kept
		m := p.members[i]
		if m.using > 0 {
			continue
		}
		if idle++; idle > keepIdle || now.Sub(m.since) >= p.limits.Idle {
			m.end()
			p.remove(m.process)
		}
	}
}

// Close kills all workers and waits until they are gone.
func (p *Pool) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.end()
	for _, w := range p.fresh {
		w.end()
	}
	for _, m := range p.members {
		m.end()
	}
	p.signal()
	p.mu.Unlock()
	p.wg.Wait()
	p.spawn.close()
	return nil
}
