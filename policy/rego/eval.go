package rego

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// A query asks the contract's rules about one kind of action.
type query struct {
	names []string // rules it evaluates
	qc    ast.QueryCompiler
	body  ast.Body
}

// prepare compiles the query for kind k. Rules that cannot hold for it stay
// out; each rest binds a variable: `r_deny = data.donax.deny`.
func (s *snapshot) prepare(k policy.Kind) (*query, error) {
	q := &query{names: s.asked(k), qc: s.compiler.QueryCompiler()}
	parts := []string{"true"}
	for _, n := range q.names {
		ref := s.pkg.Append(ast.StringTerm(n)).String()
		if n == ruleAllow || s.entry { // may be undefined, which must not make the query fail
			ref = fmt.Sprintf("[x | x := %s]", ref)
		}
		parts = append(parts, fmt.Sprintf("r_%s = %s", n, ref))
	}
	body, err := q.qc.Compile(ast.MustParseBody(strings.Join(parts, "; ")))
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	q.body = body
	return q, nil
}

// asked returns the rules that matter for kind k.
func (s *snapshot) asked(k policy.Kind) (names []string) {
	deniedOnly := k == policy.KindFile || k == policy.KindOutput
	for _, n := range s.contract {
		switch {
		case s.entry:
		case n != ruleRedact && slices.Contains(obligationRules, n) && k == policy.KindExec:
		case slices.Contains(obligationRules, n) && k != policy.KindCommand,
			n == ruleGoverns && !deniedOnly:
			continue
		}
		for _, r := range s.rules(n) {
			if !kindIs(k).contradicts(r) {
				names = append(names, n)
				break
			}
		}
	}
	return names
}

// Decide implements [policy.Engine]. It denies, with a [*policy.Failure],
// whenever the rules do not give a clear answer in time.
func (e *Engine) Decide(ctx context.Context, a policy.Action) (policy.Decision, error) {
	s := e.cur.Load()
	if c := s.constant[a.Kind]; c != nil && wellFormed(&a) {
		return stamped(*c), nil
	}
	var buf [512]byte
	key := s.key(buf[:0], &a)
	if key != nil {
		if d := s.cache.get(key); d != nil {
			return stamped(*d), nil
		}
	}
	d, err := s.fresh(ctx, e, &a)
	if err != nil {
		return policy.Decision{ID: newID()}, err
	}
	if key != nil {
		s.cache.put(key, d)
	}
	return stamped(d), nil
}

// fresh evaluates, whatever is cached.
func (s *snapshot) fresh(ctx context.Context, e *Engine, a *policy.Action) (policy.Decision, error) {
	in, err := s.input(a)
	if err != nil {
		return policy.Decision{}, err
	}
	return s.decide(ctx, e, a.Kind, in)
}

// stamped gives a decision that somebody will read an id.
func stamped(d policy.Decision) policy.Decision {
	if d.Effect != policy.Allow {
		d.ID = newID()
	}
	return d
}

// newID names a decision: short, because people and models quote it; random,
// so that nobody can name one before it is made.
func newID() string { return strings.ToLower(rand.Text()[:10]) }

func (s *snapshot) decide(ctx context.Context, e *Engine, k policy.Kind, in *ast.Term) (policy.Decision, error) {
	now := time.Now()
	got, err := s.ask(ctx, e, evaluation{kind: k, input: in, now: now})
	if err != nil {
		return policy.Decision{}, err
	}
	interpret := s.interpret
	if s.entry {
		interpret = s.interpretEntry
	}
	ans, err := interpret(k, got)
	if err != nil {
		return policy.Decision{}, err
	}
	d := ans.Decision
	if d.Effect != policy.Allow && len(d.Reasons) > 0 {
		// Tracing costs more than deciding, so only what somebody will read is attributed, by asking again.
		w := &whereTracer{s: s, rule: ans.by}
		if _, err := s.ask(ctx, e, evaluation{kind: k, input: in, now: now, tracer: w}); err == nil {
			w.place(d.Reasons, ans.members)
		}
	}
	return d, nil
}

// An evaluation is one run of a query.
type evaluation struct {
	kind   policy.Kind
	input  *ast.Term
	now    time.Time // what time.now_ns returns, the same when asked again
	tracer topdown.QueryTracer
	full   bool // without indexing and early exit, so that every rule is traced
}

type result struct {
	bindings topdown.QueryResult
	err      error
}

// ask evaluates in a goroutine of its own: some builtins never look whether
// they were cancelled, and the deadline must hold for them too. Those that run
// on are counted, and too many of them stop the engine, so that a hostile
// input cannot take all processors.
func (s *snapshot) ask(ctx context.Context, e *Engine, ev evaluation) (topdown.QueryResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, &policy.Failure{Class: policy.FailCancelled, Err: err}
	}
	if n := e.stuck.Load(); n >= int64(s.cfg.MaxStuck) {
		return nil, &policy.Failure{Class: policy.FailStopped, Err: fmt.Errorf("%d evaluations have not ended %v after their start", n, s.cfg.Timeout)}
	}
	cancel := topdown.NewCancel()
	done := make(chan result, 1)
	var settled atomic.Bool // by whoever comes first: the end of the evaluation, or its deadline
	e.workers.do(func() {
		done <- s.run(ctx, cancel, ev)
		if !settled.CompareAndSwap(false, true) {
			e.stuck.Add(-1)
		}
	})
	timer := time.NewTimer(s.cfg.Timeout)
	defer timer.Stop()
	var why error
	select {
	case r := <-done:
		return r.bindings, r.err
	case <-timer.C:
		why = &policy.Failure{Class: policy.FailTimeout, Err: fmt.Errorf("no answer within %v", s.cfg.Timeout)}
	case <-ctx.Done():
		why = &policy.Failure{Class: policy.FailCancelled, Err: ctx.Err()}
	}
	cancel.Cancel()
	e.stuck.Add(1)
	if !settled.CompareAndSwap(false, true) {
		e.stuck.Add(-1) // it ended in this very moment
	}
	return nil, why
}

// run evaluates and turns panics into failures.
func (s *snapshot) run(ctx context.Context, cancel topdown.Cancel, ev evaluation) (r result) {
	defer func() {
		if p := recover(); p != nil { // a bug in a builtin must not take the server down, nor allow
			r = result{err: &policy.Failure{Class: policy.FailPanic, Err: fmt.Errorf("%v", p)}}
		}
	}()
	q := s.queries[ev.kind]
	tq := topdown.NewQuery(q.body).
		WithCompiler(s.compiler).WithQueryCompiler(q.qc).
		WithStore(s.store).WithTransaction(s.txn).
		WithInput(ev.input).WithTime(ev.now).
		WithMetrics(metrics.NoOp()).WithCancel(cancel).
		WithStrictBuiltinErrors(true). // else a deny rule whose builtin fails would silently not deny
		WithInterQueryBuiltinValueCache(s.values)
	if ev.tracer != nil {
		tq = tq.WithQueryTracer(ev.tracer)
	}
	if ev.full {
		tq = tq.WithIndexing(false).WithEarlyExit(false)
	}
	answers := 0
	err := tq.Iter(ctx, func(qr topdown.QueryResult) error {
		answers++
		r.bindings = qr
		return nil
	})
	switch {
	case topdown.IsCancel(err):
		return result{err: &policy.Failure{Class: policy.FailTimeout, Err: err}}
	case err != nil:
		return result{err: &policy.Failure{Class: policy.FailEval, Err: err}}
	case answers == 0:
		return result{err: &policy.Failure{Class: policy.FailUndefined, Err: errors.New("the rules gave no answer")}}
	case answers > 1:
		return result{err: &policy.Failure{Class: policy.FailEval, Err: errors.New("the rules gave several answers")}}
	}
	return r
}

// findConstants answers once what no facts can change.
func (s *snapshot) findConstants(ctx context.Context) {
	s.constant = map[policy.Kind]*policy.Decision{}
	e := newEngine()
	for _, k := range policy.Kinds() {
		if d := s.depends(kindIs(k), s.queries[k].names); d.any || len(d.refs) > 0 {
			continue
		}
		in := object(kv("action", ast.InternedTerm(string(k))), kv(string(k), object()))
		if d, err := s.decide(ctx, e, k, in); err == nil {
			s.constant[k] = &d
		}
	}
}
