package mcp

import (
	"context"

	"github.com/donax-sh/donax/policy"
)

// admitted is the one point that every call of a tool passes, whatever way it
// came: grants and brakes are asked and the call is recorded before the tool
// knows of it.
func (s *Server) admitted(ctx context.Context, t Tool, c *Call) (r *Result, err error) {
	if s.grant != nil {
		ctx = policy.Bind(ctx, *s.grant)
	}
	leave, err := policy.Enter(ctx, s.gate, policy.ToolCall{Tool: t.Name, Arguments: c.Arguments, Harmless: t.harmless})
	if err != nil {
		s.metrics.refused.Add(1)
		return nil, err
	}
	outcome := policy.OutcomeFault // also when it panics
	defer func() { leave(outcome) }()
	r, err = t.Call(ctx, c)
	outcome = outcomeOf(ctx, r, err)
	return r, err
}

func outcomeOf(ctx context.Context, r *Result, err error) policy.Outcome {
	switch {
	case isQuestion(err):
		return policy.OutcomeAsked
	case err != nil && ctx.Err() != nil:
		return policy.OutcomeFault
	case err != nil || r != nil && r.IsError:
		return policy.OutcomeError
	}
	return policy.OutcomeOK
}

// withOrigin adds to ctx on whose behalf a call is: the server's own words,
// unless the program that embeds it has said so, and the trace that the client
// sent. Its baggage stays out: it may hold anything.
func (s *Server) withOrigin(ctx context.Context, meta map[string]any) context.Context {
	have, o := policy.OriginFrom(ctx), s.origin
	if have.Goal != "" {
		o.Goal = have.Goal
	}
	if have.Scope != "" {
		o.Scope = have.Scope
	}
	if have.Isolation != "" {
		o.Isolation = have.Isolation
	}
	parent, _ := meta["traceparent"].(string)
	state, _ := meta["tracestate"].(string)
	if len(parent) <= 64 { // its form is checked by whoever uses it
		o.Trace = policy.Trace{Parent: parent, State: state}
	}
	return policy.WithOrigin(ctx, o)
}
