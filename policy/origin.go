package policy

import (
	"cmp"
	"context"
)

// Origin says on whose behalf and in what setting something is done. It is
// for the record and for grants; no rule sees it, and no client can set it but
// for the trace.
type Origin struct {
	Server    string    // name and version of the server
	Goal      string    // what the run is for
	Scope     string    // what it may touch, in the words of its operator
	Isolation Isolation // what separates the terminals of the server; "" is none
	Trace     Trace
}

// Trace is a W3C trace context, as the client sent it with a call.
type Trace struct {
	Parent string // traceparent: 00-TRACE-SPAN-FLAGS; "" when there is none or it is malformed
	State  string // tracestate
}

// Isolation says what separates what is running from the server.
type Isolation string

// The levels, the weakest first.
const (
	IsolationNone     Isolation = "none"     // one process for everything
	IsolationSession  Isolation = "session"  // a jailed process for each session
	IsolationTerminal Isolation = "terminal" // a jailed process for each terminal
)

// AtLeast reports whether l is as strong as want. Levels that are not known
// are as weak as none when they are in force, and cannot be had when they are
// wanted.
func (l Isolation) AtLeast(want Isolation) bool {
	rank := map[Isolation]int{"": 0, IsolationNone: 0, IsolationSession: 1, IsolationTerminal: 2}
	need, known := rank[want]
	return known && rank[l] >= need
}

type originKey struct{}

// WithOrigin returns a context that carries o. Fields of o that are empty keep
// what ctx carries already.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	have := OriginFrom(ctx)
	o.Server = cmp.Or(o.Server, have.Server)
	o.Goal = cmp.Or(o.Goal, have.Goal)
	o.Scope = cmp.Or(o.Scope, have.Scope)
	o.Isolation = cmp.Or(o.Isolation, have.Isolation)
	if o.Trace == (Trace{}) {
		o.Trace = have.Trace
	}
	return context.WithValue(ctx, originKey{}, o)
}

// OriginFrom returns what ctx carries, or the zero Origin.
func OriginFrom(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
