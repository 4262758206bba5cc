package shell

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A run is what all shells of one call of [Run] share.
type run struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	host   Host
	lim    Limits
	ids    IDs
	start  time.Time

	stop  atomic.Bool  // ctx ended: looked at in every loop
	mem   atomic.Int64 // bytes charged here and not yet told to the host
	jobs  atomic.Int64 // goroutines alive
	procs procTable
	wg    sync.WaitGroup // goroutines started

	builtins map[string]*builtin
	ignored  uint64 // signals that no shell of the script can trap

	mu   sync.Mutex
	last error // what ended the script; guarded by mu
}

// memBatch is how many bytes may go untold to the host.
const memBatch = 64 << 10

func newRun(ctx context.Context, c *Config) *run {
	r := &run{host: c.Host, lim: c.Limits.withDefaults(), ids: c.IDs, start: c.Host.Now(), builtins: allBuiltins(), ignored: c.Ignored}
	if r.ids.PID == 0 {
		r.ids.PID = 2
	}
	if r.ids.PPID == 0 {
		r.ids.PPID = 1
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	context.AfterFunc(r.ctx, func() { r.stop.Store(true) })
	r.procs.init(r.ids.PID)
	return r
}

// fatal ends the whole script with err. The first error wins.
func (r *run) fatal(err error) {
	r.mu.Lock()
	if r.last == nil {
		r.last = err
	}
	r.mu.Unlock()
	r.stop.Store(true)
	r.cancel(err)
}

// cause is why the script ends.
func (r *run) cause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		return r.last
	}
	return context.Cause(r.ctx)
}

// charge accounts for n live bytes.
func (r *run) charge(n int64) error {
	if t := r.mem.Add(n); t > memBatch || t < -memBatch {
		t = r.mem.Swap(0)
		return r.host.Spend(Memory, t)
	}
	return nil
}

// spawn runs f in a goroutine of its own. The caller has counted the job.
func (r *run) spawn(f func()) {
	r.wg.Add(1)
	go func() {
		defer r.wg.Done()
		defer r.guard()
		f()
	}()
}

// guard, deferred at the root of a goroutine, turns a panic into a Fault, so
// that a bug in the evaluator ends one script and not the process.
func (r *run) guard() {
	p := recover()
	if p == nil {
		return
	}
	if a, ok := p.(abort); ok {
		if isFatal(a.err) {
			r.fatal(a.err)
			return
		}
		p = a.err
	}
	f := &Fault{Cause: fmt.Sprint(p), Detail: string(debug.Stack())}
	r.fatal(f)
}

// isFatal tells whether err ends the whole script.
func isFatal(err error) bool {
	var le *LimitError
	var fe *Fault
	var he fatalErr
	return errors.As(err, &he) || errors.As(err, &le) || errors.As(err, &fe) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// addJob counts one more goroutine.
func (sh *shell) addJob() {
	sh.checkDepth() // a fork follows: it must not fail any more
	if n := sh.run.jobs.Add(1); n > int64(sh.run.lim.Jobs+sh.run.lim.Stages) {
		sh.run.jobs.Add(-1)
		throw(&LimitError{What: itoa(sh.run.lim.Jobs) + " background jobs"})
	}
	if err := sh.run.host.Spend(Jobs, 1); err != nil {
		sh.run.jobs.Add(-1)
		throw(err)
	}
}

func (r *run) endJob() {
	r.jobs.Add(-1)
	if err := r.host.Spend(Jobs, -1); err != nil {
		r.fatal(err)
	}
}
