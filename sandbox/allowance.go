package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
)

// An allowance is what the decision about one program leaves to it and to what it
// starts. What is met ends that program with a message and a status of its own,
// and the script goes on.
type allowance struct {
	outer  *allowance
	limits policy.Limits
	end    context.CancelCauseFunc

	output, commands atomic.Int64
	reached          atomic.Pointer[LimitError]
}

// stop ends the program. The first limit wins.
func (a *allowance) stop(le *LimitError) error {
	le.How = "set by policy"
	a.reached.CompareAndSwap(nil, le)
	err := ending{a.reached.Load()}
	a.end(err)
	return err
}

// bounded runs a program within the limits of its own decision.
func (h *host) bounded(ctx context.Context, c *command, t target, lower policy.Limits) error {
	if l, ok := t.program.(Loader); ok && lower.TimeoutMS > 0 {
		_ = l.Load(ctx) // Run says what is wrong
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	a := &allowance{outer: h.allowance, limits: lower, end: end}
	h.allowance = a
	if d := time.Duration(lower.TimeoutMS) * time.Millisecond; d > 0 {
		timer := time.AfterFunc(d, func() { _ = a.stop(&LimitError{What: fmt.Sprintf("time %v", d), Time: true}) })
		defer timer.Stop()
	}
	inner := *c
	if lower.OutputBytes > 0 {
		inner.stdout, inner.stderr = allowanceWriter{a, boundWriter(ctx, c.stdout)}, allowanceWriter{a, boundWriter(ctx, c.stderr)}
	}
	err := h.start(ctx, &inner, t)
	le := a.reached.Load()
	if le == nil || h.cause() != nil {
		return err
	}
	status := ExitCode(StatusKilled)
	if le.Time {
		status = StatusTimeout
	}
	return say(c, t.name+": "+le.Error(), status)
}

// starts counts a program that one within a starts.
func (a *allowance) starts() error {
	for ; a != nil; a = a.outer {
		if n := a.limits.Commands; n > 0 && a.commands.Add(1) > n {
			return a.stop(&LimitError{What: fmt.Sprintf("%d commands", n)})
		}
	}
	return nil
}

// lowered returns l with what a and those around it leave.
func (a *allowance) lowered(l Limits) Limits {
	for ; a != nil; a = a.outer {
		l = l.lowered(a.limits)
	}
	return l
}

// tooBig reports whether err says that a program has met the memory that a
// policy left to it, less than what the whole line has.
func (h *host) tooBig(err error) (*LimitError, bool) {
	var le *LimitError
	if !errors.As(err, &le) || le.Flag != "--memory" || h.cause() != nil || h.allowance.lowered(h.limits).Memory >= h.limits.Memory {
		return nil, false
	}
	own := *le
	own.How = "set by policy"
	return &own, true
}

type allowanceWriter struct {
	a *allowance
	w io.Writer
}

func (w allowanceWriter) Write(p []byte) (int, error) {
	if n := w.a.limits.OutputBytes; w.a.output.Add(int64(len(p))) > n {
		return 0, w.a.stop(&LimitError{What: "output of " + bytesText(n)})
	}
	return w.w.Write(p)
}
