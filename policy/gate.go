package policy

import (
	"context"
	"errors"
	"fmt"
)

// A ToolCall is one call of a tool by a client, before the tool knows of it.
// Who calls is the [Subject] of the context.
type ToolCall struct {
	Tool      string // name
	Arguments []byte // a JSON object, as it was sent
	Harmless  bool   // it can only look at, or end, what its caller has started
}

// Outcome says how a [ToolCall] ended.
type Outcome string

// The outcomes.
const (
	OutcomeOK    Outcome = "ok"
	OutcomeError Outcome = "error" // a result that the model reads as an error
	OutcomeAsked Outcome = "asked" // a person was asked; the call comes again with the answer
	OutcomeFault Outcome = "fault" // an error of the protocol, a panic, or a call that was cancelled
)

// A Gate stands before every call of a tool, as an [Engine] stands before
// every action. An error refuses the call; its text is for the model. After a
// nil error leave is called once, when the call has ended.
type Gate interface {
	Enter(ctx context.Context, c ToolCall) (leave func(Outcome), err error)
}

// ErrRefused is matched by every [*RefusedError].
var ErrRefused = errors.New("refused")

// A RefusedError is the answer of a [Gate] that does not let a call pass.
type RefusedError struct {
	Msg  string // why, for people and models
	Hint string // what to try instead; may be ""
	ID   string // names the refusal in the audit log; may be ""
}

// Error returns one line, and one more for the hint.
func (e *RefusedError) Error() string {
	s := "refused: " + Plain(e.Msg)
	if e.ID != "" {
		s += " [decision " + Plain(e.ID) + "]"
	}
	if e.Hint != "" {
		s += "\n  try: " + Plain(e.Hint)
	}
	return s
}

// Is reports whether target is [ErrRefused].
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// A GateWitness is a Gate that is told of the calls that it was not asked
// about, because something bound to the context refused first. It returns an
// id for the refusal and can change nothing.
type GateWitness interface {
	Refused(ctx context.Context, c ToolCall, err error) (id string)
}

// Gates returns a gate of several: all must let a call pass, and the first
// that refuses decides.
func Gates(g ...Gate) Gate { return gates(g) }

type gates []Gate

func (list gates) Enter(ctx context.Context, c ToolCall) (func(Outcome), error) {
	var left []func(Outcome)
	leave := func(o Outcome) {
		for i := len(left) - 1; i >= 0; i-- {
			left[i](o)
		}
	}
	for _, g := range list {
		l, err := enter(ctx, g, c)
		if err != nil {
			leave(OutcomeFault)
			return nil, err
		}
		left = append(left, l)
	}
	return leave, nil
}

// Enter passes the gates among what is bound to ctx, and then g, which may be
// nil. The first that refuses decides; a panic refuses.
func Enter(ctx context.Context, g Gate, c ToolCall) (leave func(Outcome), err error) {
	var outer gates
	for _, e := range bound(ctx) {
		if gate, ok := e.(Gate); ok {
			outer = append(outer, gate)
		}
	}
	leaveOuter, err := outer.Enter(ctx, c)
	if err != nil {
		if w, ok := g.(GateWitness); ok {
			err = withID(err, w.Refused(ctx, c, err))
		}
		return nil, err
	}
	if g == nil {
		return leaveOuter, nil
	}
	leaveInner, err := enter(ctx, g, c)
	if err != nil {
		leaveOuter(OutcomeFault)
		return nil, err
	}
	return func(o Outcome) { leaveInner(o); leaveOuter(o) }, nil
}

// enter contains a panic: a bug in a gate must never open it.
func enter(ctx context.Context, g Gate, c ToolCall) (leave func(Outcome), err error) {
	defer func() {
		if p := recover(); p != nil {
			leave, err = nil, &RefusedError{Msg: "the gate failed"}
		}
	}()
	leave, err = g.Enter(ctx, c)
	if err == nil && leave == nil {
		return nil, &RefusedError{Msg: "the gate failed"}
	}
	return leave, err
}

// withID gives a refusal its id.
func withID(err error, id string) error {
	var r *RefusedError
	if id == "" || errors.As(err, &r) && r.ID != "" {
		return err
	}
	if r == nil {
		return fmt.Errorf("%w [decision %s]", err, Plain(id))
	}
	named := *r
	named.ID = id
	return &named
}
