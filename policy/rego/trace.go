package rego

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// trace tells how each rule of the contract that could match a fares, those
// that matched first. It evaluates without the shortcuts of Decide.
func (e *Engine) trace(ctx context.Context, a policy.Action) []RuleTrace {
	s := e.cur.Load()
	in, err := s.input(&a)
	if err != nil {
		return nil
	}
	t := &ruleTracer{s: s, by: map[uint64]*ast.Rule{}, state: map[*ast.Rule]*ruleState{}}
	if _, err := s.ask(ctx, e, evaluation{kind: a.Kind, input: in, now: time.Now(), tracer: t, full: true}); abandoned(err) {
		return nil // the tracer may still be written to
	}
	var out []RuleTrace
	for _, name := range s.queries[a.Kind].names {
		for _, r := range s.rules(name) {
			if r.Default || kindIs(a.Kind).contradicts(r) {
				continue
			}
			rt := RuleTrace{Rule: name, Location: place(r.Loc())}
			if st := t.state[r]; st != nil {
				rt.Matched = st.matched
				if !st.matched && st.failed != nil {
					p := s.texts.at(st.failed.Loc())
					rt.FailedAt, rt.Failed = p.Line, strings.TrimSpace(p.Source)
					if text, _, _ := strings.Cut(string(st.failed.Loc().Text), "\n"); text != "" {
						rt.Failed = strings.TrimSpace(text) // the condition alone, of a line that holds more
					}
				}
			}
			out = append(out, rt)
		}
	}
	slices.SortStableFunc(out, func(a, b RuleTrace) int {
		if a.Matched != b.Matched && a.Matched {
			return -1
		}
		if a.Matched != b.Matched {
			return 1
		}
		return 0
	})
	return out
}

// abandoned reports whether err means that the evaluation may run on.
func abandoned(err error) bool {
	var f *policy.Failure
	return errors.As(err, &f) && (f.Class == policy.FailTimeout || f.Class == policy.FailCancelled)
}

// WriteTrace writes OPA's own trace of asking e about a: every expression that
// was tried, for those who look for a fault in their rules. Engines other than
// those of this package have none.
func WriteTrace(ctx context.Context, w io.Writer, e policy.Engine, a policy.Action) error {
	for _, one := range engines(e) {
		s := one.cur.Load()
		in, err := s.input(&a)
		if err != nil {
			return err
		}
		buf := topdown.NewBufferTracer()
		if _, err := s.ask(ctx, one, evaluation{kind: a.Kind, input: in, now: time.Now(), tracer: buf, full: true}); abandoned(err) {
			return err
		}
		topdown.PrettyTraceWithLocation(w, *buf)
	}
	return nil
}

type ruleState struct {
	matched bool
	failed  *ast.Expr // the furthest condition that did not hold
}

// ruleTracer follows the rules of the contract.
type ruleTracer struct {
	s     *snapshot
	by    map[uint64]*ast.Rule
	state map[*ast.Rule]*ruleState
}

func (*ruleTracer) Enabled() bool { return true }

func (*ruleTracer) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

func (t *ruleTracer) TraceEvent(e topdown.Event) {
	if r, ok := e.Node.(*ast.Rule); ok && r.Module != nil && t.s.inPackage(r.Module) && slices.Contains(t.s.contract, headName(r)) {
		switch e.Op {
		case topdown.EnterOp:
			t.by[e.QueryID] = r
			if t.state[r] == nil {
				t.state[r] = &ruleState{}
			}
		case topdown.ExitOp:
			if st := t.state[r]; st != nil {
				st.matched = true
			}
		}
		return
	}
	if x, ok := e.Node.(*ast.Expr); ok && e.Op == topdown.FailOp {
		if st := t.state[t.by[e.QueryID]]; st != nil && (st.failed == nil || x.Index > st.failed.Index) {
			st.failed = x
		}
	}
}
