// Package brake stops what a policy would let go on: a switch that an operator
// pulls, breakers that trip when a client does too much, and grants that say
// what a client may do at all.
//
// All three are a [policy.Engine] and a [policy.Gate], so that they stand
// before every action and every call of a tool. They are stacked before the
// rules, where they hold for everybody, or bound to a context with
// [policy.Bind], where they hold for what is done under it.
package brake

import (
	"context"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
)

// A State says whether a [Switch] is on, and why.
type State struct {
	On     bool      `json:"on"`
	Reason string    `json:"reason,omitempty"` // the first one
	Since  time.Time `json:"since,omitzero"`
}

// A Switch is a kill switch. While it is on, nothing is admitted and every
// call is refused but those that only look at, or end, what their caller has
// started. The zero Switch is off. It is safe for concurrent use.
//
// Nothing that a client sends reaches it. It ends nothing that runs: who turns
// it on does that, and then knows that nothing new has come.
type Switch struct {
	mu    sync.Mutex
	state State
}

var (
	_ policy.Constanter = (*Switch)(nil)
	_ policy.Gate       = (*Switch)(nil)
)

// On turns the switch on and returns its state. When it was on already the
// first reason stays, and first is false.
func (s *Switch) On(reason string) (state State, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.On {
		return s.state, false
	}
	s.state = State{On: true, Reason: reason, Since: time.Now()}
	return s.state, true
}

// Off turns the switch off and returns the state it was in.
func (s *Switch) Off() (was State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, s.state = s.state, State{}
	return was
}

// State returns the state at this moment.
func (s *Switch) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// rule names the switch in denials.
const ruleBrake = "brake"

const tellOperator = "wait until the operator of this server has released it"

func (s State) msg() string {
	if s.Reason == "" {
		return "the brake is on"
	}
	return "the brake is on: " + s.Reason
}

// Err returns why nothing may be done, or nil when the switch is off.
func (s State) Err() error {
	if !s.On {
		return nil
	}
	return &policy.RefusedError{Msg: s.msg(), Hint: tellOperator}
}

// Decide implements [policy.Engine]: it denies while the switch is on, but for
// what was written before, and otherwise allows, which leaves the decision to
// the other engines.
func (s *Switch) Decide(_ context.Context, a policy.Action) (policy.Decision, error) {
	if st := s.State(); st.On && a.Kind != policy.KindOutput {
		return policy.Decision{Reasons: []policy.Reason{{Msg: st.msg(), Rule: ruleBrake, Hint: tellOperator}}}, nil
	}
	return policy.Decision{Effect: policy.Allow}, nil
}

// Constant implements [policy.Constanter].
func (s *Switch) Constant(k policy.Kind) (policy.Decision, bool) {
	return policy.Decision{Effect: policy.Allow}, k == policy.KindOutput || !s.State().On
}

// Enter implements [policy.Gate].
func (s *Switch) Enter(_ context.Context, c policy.ToolCall) (func(policy.Outcome), error) {
	if err := s.State().Err(); err != nil && !c.Harmless {
		return nil, err
	}
	return leave, nil
}

func leave(policy.Outcome) {}
