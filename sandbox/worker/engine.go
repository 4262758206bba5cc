package worker

import (
	"context"
	"fmt"
	"sync"

	"github.com/donax-sh/donax/policy"
)

// runKey finds the number of the run in a context.
type runKey struct{}

func runOf(ctx context.Context) uint32 {
	r, _ := ctx.Value(runKey{}).(*insideRun)
	if r == nil {
		return 0
	}
	return r.id
}

// An engine is the policy as a worker sees it: every action is a question to
// the server, unless the server has said that its answer to the same facts
// cannot change. Such answers are kept until the server takes them back.
type engine struct {
	conn *conn

	mu    sync.RWMutex
	epoch uint64
	kept  map[uint32]map[string]policy.Decision // by run, which stands for who asks, and facts as they go over the wire
	held  int                                   // in kept
}

// maxKept is how many decisions are kept; then it starts afresh.
const maxKept = 4096

var _ policy.Engine = (*engine)(nil)

// constantFacts stand for all facts of a kind. No facts begin with a zero.
func constantFacts(k policy.Kind) string { return "\x00" + string(k) }

// How long an answer holds.
const (
	holdOnce     byte = 0 // for this action
	holdFacts    byte = 1 // for the same facts in the same run
	holdConstant byte = 2 // for every action of this kind in the same run
)

// Decide implements [policy.Engine].
func (e *engine) Decide(ctx context.Context, a policy.Action) (policy.Decision, error) {
	if a.Kind == policy.KindExec { // a program that ends the worker must not take with it what was written before
		_ = e.conn.sendPosted(true) // shows at the next send
	}
	e.mu.RLock()
	d, ok := e.kept[runOf(ctx)][constantFacts(a.Kind)]
	e.mu.RUnlock()
	if ok {
		return d, nil
	}
	m := newEncoder(256)
	m.uint(uint64(runOf(ctx)))
	from := len(m.b)
	if !m.action(&a) {
		return policy.Decision{}, &policy.Failure{Class: policy.FailAction, Err: fmt.Errorf("a worker cannot ask about %q", a.Kind)}
	}
	run, facts := runOf(ctx), m.b[from:]
	e.mu.RLock()
	d, ok = e.kept[run][string(facts)]
	e.mu.RUnlock()
	if ok {
		return d, nil
	}
	key := string(facts)
	m.usage(a.Usage)
	body, err := e.conn.call(ctx, kindDecide, m)
	if err != nil {
		return policy.Decision{}, &policy.Failure{Class: policy.FailCancelled, Err: err}
	}
	r := decoder{b: body}
	if class := r.string(); class != "" || r.err != nil {
		return policy.Decision{ID: r.string()}, &policy.Failure{Class: class}
	}
	d = r.decision()
	hold, epoch := r.byte(), r.uint()
	if err := r.end(); err != nil {
		return policy.Decision{}, err
	}
	e.keep(a.Kind, run, key, d, hold, epoch)
	return d, nil
}

// keep remembers a decision, unless it was taken back while it was under way.
func (e *engine) keep(k policy.Kind, run uint32, facts string, d policy.Decision, hold byte, epoch uint64) {
	if hold == holdOnce {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if epoch != e.epoch {
		return
	}
	if hold == holdConstant {
		facts = constantFacts(k)
	}
	if e.kept == nil || e.held >= maxKept {
		e.kept, e.held = map[uint32]map[string]policy.Decision{}, 0
	}
	if e.kept[run] == nil {
		e.kept[run] = map[string]policy.Decision{}
	}
	e.kept[run][facts] = d
	e.held++
}

// forget drops all that is kept: the policy has changed.
func (e *engine) forget(epoch uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.epoch, e.kept, e.held = epoch, nil, 0
}

// ended drops what was kept for a run.
func (e *engine) ended(run uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held -= len(e.kept[run])
	delete(e.kept, run)
}
