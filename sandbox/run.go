package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
)

// ErrAbandoned is matched by an error of [Session.Run] when a program or a
// writer of the caller did not stop in time: Run returned without it.
var ErrAbandoned = errors.New("a step of the script could not be stopped and was abandoned")

// A Fault is a bug of the sandbox or of a program: a panic that was caught,
// or an error that no script can cause. Its text may be shown to anyone.
type Fault struct {
	Name   string // of the program, or "the shell"
	Detail string // for the operator's log only: names code and may quote data
	Err    error  // the cause, if it was an error
}

func (e *Fault) Error() string { return "internal error in " + e.Name }

// Unwrap returns the cause.
func (e *Fault) Unwrap() error { return e.Err }

// grace is how long what was started may take to end after the script did.
const grace = time.Second

// errEnded is what streams and files of a run say once it is over.
var errEnded = errors.New("the command has ended")

// A run is what all shells and programs of one [Session.Run] share.
type run struct {
	session *Session
	name    string // $0
	limits  Limits
	policy  policy.Engine
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	caller  context.Context // Run's own
	meter   *policy.Meter

	out, err *sink
	lock     chan struct{} // held while out or err is written

	ended    atomic.Bool // nothing may take effect any more
	fault    atomic.Pointer[error]
	output   atomic.Int64
	commands atomic.Int64
	looked   atomic.Int64 // memory when collect last looked
	memory   atomic.Int64
	jobs     atomic.Int64
	files    atomic.Int64
	net      atomic.Int64 // bytes of bodies

	said sync.Map // reasons of file denials, each shown once
}

func newRun(ctx context.Context, s *Session, c policy.Command, out, errw io.Writer) *run {
	r := &run{session: s, name: cmp.Or(c.Name, "bash"), limits: s.cfg.Limits.lowered(c.Limits), policy: s.cfg.Policy, caller: ctx, meter: policy.MeterFrom(ctx), lock: make(chan struct{}, 1)}
	if r.meter == nil {
		r.meter = new(policy.Meter) // what is used counts, also where nobody else keeps count
	}
	r.out, r.err = &sink{r: r, w: out}, &sink{r: r, w: errw}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	if d := r.limits.Timeout; d > 0 {
		r.timer = time.AfterFunc(d, func() {
			_ = r.stop(&LimitError{What: fmt.Sprintf("time %v", d), Flag: "--timeout", Time: true})
		})
	}
	return r
}

// stop ends the whole script because of err, wherever it is called from: in
// a substitution, left of a pipe, or inside a program. The first error wins.
func (r *run) stop(err error) error {
	var le *LimitError
	if errors.As(err, &le) && le.How == "" && le.Flag != "" {
		le.How = r.raise(le.Flag)
	}
	if r.fault.CompareAndSwap(nil, &err) {
		r.cancel(err)
	}
	return r.cause()
}

// usage is what a policy is told of what was used so far.
func (r *run) usage() policy.Usage {
	return r.meter.Usage(r.commands.Load(), r.output.Load())
}

// raise says how the limit behind a flag is raised.
func (r *run) raise(flag string) string {
	lowered := r.limits.lowers(r.session.cfg.Limits, flag)
	switch {
	case r.session.cfg.Raise != nil:
		return r.session.cfg.Raise(flag, lowered)
	case lowered:
		return "set by policy"
	}
	return "raise with " + flag
}

// cause is why the script is being ended, or nil.
func (r *run) cause() error {
	if p := r.fault.Load(); p != nil {
		return *p
	}
	return r.caller.Err()
}

// wait runs the main shell. It returns soon after the run's context ends,
// whatever a program or a writer of the caller does.
func (r *run) wait(f func() (int, error)) (status int, err error) {
	type result struct {
		status int
		err    error
	}
	done := make(chan result, 1)
	go func() {
		status, err := f()
		done <- result{status, err}
	}()
	var res result
	stuck := false
	select {
	case res = <-done:
	case <-r.ctx.Done():
		over := time.NewTimer(grace)
		defer over.Stop()
		select {
		case res = <-done:
		case <-over.C:
			stuck = true
		}
	}
	if err = r.cause(); err == nil {
		err = res.err
	}
	if stuck {
		err = fmt.Errorf("%w (%w)", err, ErrAbandoned)
	}
	return res.status, err
}

// close cuts the streams and files off from whatever still runs.
func (r *run) close() {
	r.ended.Store(true)
	if r.timer != nil {
		r.timer.Stop()
	}
	r.cancel(errEnded)
}

// guardedEval runs a shell on the calling goroutine and turns a panic of the
// evaluator into a Fault.
func (r *run) guardedEval(ctx context.Context, h *host, sc script) (status int, err error) {
	defer func() {
		if p := recover(); p != nil {
			status, err = StatusFault, r.stop(newFault("the shell", p))
		}
	}()
	return h.eval(ctx, sc)
}

func newFault(name string, p any) *Fault {
	f := &Fault{Name: name, Detail: fmt.Sprintf("%v\n%s", p, debug.Stack())}
	f.Err, _ = p.(error)
	return f
}

// explain says on stderr why the script was ended and returns its status.
func (r *run) explain(err error, status int) int {
	var le *LimitError
	var pe *ParseError
	var fe *Fault
	text := "donax: "
	switch {
	case errors.As(err, &le):
		text += le.Error()
		status = StatusKilled
		if le.Time {
			status = StatusTimeout
		}
	case errors.As(err, &pe):
		text = r.name + ": " + pe.Error()
		status = 2
	case errors.As(err, &fe):
		text += fe.Error()
		status = StatusFault
	case errors.Is(err, context.DeadlineExceeded):
		text += "limit: time (" + r.raise("--timeout") + ")"
		status = StatusTimeout
	case errors.Is(err, context.Canceled):
		text += "killed"
		status = StatusKilled
	default:
		text += err.Error()
		status = StatusFault
	}
	if errors.Is(err, ErrAbandoned) && err != ErrAbandoned {
		text += "\ndonax: " + ErrAbandoned.Error()
	}
	r.say(text)
	return status
}

// say writes a line to stderr past the limits, and gives up when nobody
// reads it: a stuck reader must not keep Run from returning.
func (r *run) say(line string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.lock <- struct{}{}
		defer func() { <-r.lock }()
		if r.err.w != nil {
			_, _ = io.WriteString(r.err.w, line+"\n")
		}
	}()
	select {
	case <-done:
	case <-time.After(grace):
	}
}
