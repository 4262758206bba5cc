package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost/filter"
)

// A releaser is what lies between a line and its two streams: the policy's
// redactions, its word on the output itself, and, where a person looks on, the
// removal of terminal sequences.
type releaser struct {
	engine  policy.Engine
	subject policy.Subject
	asked   bool // some rule may have an opinion on output
	errw    io.Writer
	said    sync.Once
	flush   []func() error
}

// release puts out and errw of a line behind the policy's decision d.
func (o *opened) release(d policy.Decision, out, errw io.Writer) (*releaser, io.Writer, io.Writer, error) {
	r := &releaser{engine: o.engine, subject: o.subject, asked: true, errw: errw}
	if e, ok := o.engine.(policy.Constanter); ok {
		c, ok := e.Constant(policy.KindOutput)
		r.asked = !ok || c.Effect != policy.Allow
	}
	behindOut, err := r.stream(o, "stdout", out, d.Redact)
	if err != nil {
		return nil, nil, nil, err
	}
	behindErr, err := r.stream(o, "stderr", errw, d.Redact)
	return r, behindOut, behindErr, err
}

func (r *releaser) stream(o *opened, name string, w io.Writer, list []policy.Redaction) (io.Writer, error) {
	if !o.raw && isTerminal(w) {
		w = &filter.Screen{W: w}
	}
	if r.asked {
		w = &admitted{r: r, w: w, stream: name}
	}
	if len(list) == 0 {
		return w, nil
	}
	red, err := filter.NewRedactor(w, list)
	if err != nil {
		return nil, fmt.Errorf("the output cannot be redacted as the policy wants: %w", err)
	}
	r.flush = append(r.flush, red.Flush)
	return red, nil
}

// end passes on what was held back.
func (r *releaser) end() {
	for _, f := range r.flush {
		_ = f() // as with any write of the line, a reader that is gone is its own business
	}
}

// admitted asks the policy about each piece of output. What is denied is
// dropped; the reason is said once.
type admitted struct {
	r      *releaser
	w      io.Writer
	stream string
	bytes  int64
}

func (a *admitted) Write(p []byte) (int, error) {
	a.bytes += int64(len(p)) // writes to one stream never overlap
	act := policy.Action{Kind: policy.KindOutput, Subject: a.r.subject, Output: &policy.Output{Stream: a.stream, Bytes: a.bytes}}
	act.Usage.OutputBytes = a.bytes
	if _, err := policy.Check(context.Background(), a.r.engine, act); err != nil {
		a.r.said.Do(func() { fmt.Fprintf(a.r.errw, "donax: output withheld: %v\n", err) })
		return len(p), nil
	}
	return a.w.Write(p)
}
