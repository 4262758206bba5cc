package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Engine returns an engine that decides as e does, and records what it
// decided before it answers. It belongs outermost: round the brakes, the
// grants and the rules. What cannot be recorded is denied.
func (r *Recorder) Engine(e policy.Engine) policy.Engine { return &engine{r: r, inner: e} }

type engine struct {
	r     *Recorder
	inner policy.Engine
}

var (
	_ policy.Constanter = (*engine)(nil)
	_ policy.Witness    = (*engine)(nil)
)

// Layers returns the engine within, for tools that explain it.
func (e *engine) Layers() []policy.Engine { return []policy.Engine{e.inner} }

// Constant implements [policy.Constanter]. What has to be recorded is not
// constant.
func (e *engine) Constant(k policy.Kind) (policy.Decision, bool) {
	c, ok := e.inner.(policy.Constanter)
	if !ok || k != policy.KindOutput && (k != policy.KindFile || e.r.cfg.Files) {
		return policy.Decision{}, false
	}
	d, ok := c.Constant(k)
	return d, ok && d.Effect == policy.Allow
}

// Decide implements [policy.Engine].
func (e *engine) Decide(ctx context.Context, a policy.Action) (policy.Decision, error) {
	start := time.Now()
	d, err := e.decide(ctx, a)
	told, enforced := d, true
	if err == nil && d.Effect == policy.Allow && d.Unenforced != nil { // a dry run
		told, enforced = *d.Unenforced, false
	}
	if told.Effect == policy.Allow && err == nil && (a.Kind == policy.KindOutput || a.Kind == policy.KindFile && !e.r.cfg.Files) {
		return d, nil
	}
	if d.ID == "" {
		d.ID = newID()
	}
	told.ID = d.ID
	if writeErr := e.r.decision(ctx, a, told, err, time.Since(start), enforced); writeErr != nil && err == nil && d.Effect != policy.Deny {
		return policy.Decision{ID: d.ID}, &policy.Failure{Class: policy.FailAudit, Err: writeErr}
	}
	return d, err
}

// decide contains a panic, so that it is recorded like any other failure.
func (e *engine) decide(ctx context.Context, a policy.Action) (d policy.Decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = policy.Decision{}, &policy.Failure{Class: policy.FailPanic, Err: fmt.Errorf("%v", p)}
		}
	}()
	if e.inner == nil {
		return policy.Decision{}, &policy.Failure{Class: policy.FailNone}
	}
	return e.inner.Decide(ctx, a)
}

// Denied implements [policy.Witness].
func (e *engine) Denied(ctx context.Context, a policy.Action, d policy.Decision, err error) string {
	if d.ID == "" {
		d.ID = newID()
	}
	_ = e.r.decision(ctx, a, d, err, 0, true) // it is denied in any case, and the failure has been reported
	return d.ID
}

// decision records what was decided about a.
func (r *Recorder) decision(ctx context.Context, a policy.Action, d policy.Decision, err error, took time.Duration, enforced bool) error {
	rec := &record{
		Type: string(a.Kind), DecisionID: d.ID, Path: "donax/" + string(a.Kind), RequestedBy: requester(a.Principal),
		Metrics: map[string]int64{"timer_decide_ns": took.Nanoseconds()},
	}
	if !enforced {
		rec.Custom = map[string]any{"enforced": false}
	}
	if r.cfg.Revision != nil {
		var changed error
		if rec.Revision, changed = r.revised(ctx); changed != nil {
			return changed
		}
	}
	if a.Command != nil && err == nil && d.Effect != policy.Deny {
		r.mask.remember(a.Terminal.ID, a.Command, d)
	}
	k := r.mask.known(a.Terminal.ID)
	if k == nil && a.Command != nil { // a denied one: its variables are secrets all the same
		k = secretsOf(a.Command, d)
	}
	r.mask.project(rec, a, k)
	rec.Result = r.result(d, err, k)
	if err != nil {
		rec.Error = failureOf(err)
		rec.Error.Message, _ = r.mask.text(rec.Error.Message, k)
	}
	durable := d.Effect != policy.Allow || err != nil || a.Kind != policy.KindExec && a.Kind != policy.KindFile
	return r.write(ctx, rec, durable)
}

func (r *Recorder) result(d policy.Decision, err error, k *known) *Result {
	out := &Result{Effect: d.Effect.String()}
	if err != nil {
		out.Effect = policy.Deny.String()
	}
	plain := func(in []policy.Reason) (list []policy.Reason) {
		for _, x := range in[:min(len(in), maxItems)] {
			x.Msg, _ = r.mask.text(x.Msg, k)
			x.Hint, _ = r.mask.text(x.Hint, k)
			list = append(list, x)
		}
		return list
	}
	out.Reasons, out.Warnings, out.UnsetEnv = plain(d.Reasons), plain(d.Warnings), d.UnsetEnv
	if d.Limits != (policy.Limits{}) {
		out.Limits = &d.Limits
	}
	for _, x := range d.Redact {
		out.Redact = append(out.Redact, x.Name)
	}
	return out
}

func failureOf(err error) *Failure {
	var f *policy.Failure
	if errors.As(err, &f) {
		return &Failure{Code: f.Class, Message: f.Error()}
	}
	return &Failure{Code: policy.FailOther, Message: err.Error()}
}

// Revised records that the policy has changed, if it has. Without it the next
// decision does.
func (r *Recorder) Revised(ctx context.Context) error {
	if r.cfg.Revision == nil {
		return nil
	}
	_, err := r.revised(ctx)
	return err
}

// revised returns the policy in force. When it is another one than at the last
// decision, that is recorded first.
func (r *Recorder) revised(ctx context.Context) (string, error) {
	now := r.cfg.Revision()
	r.revision.Lock()
	defer r.revision.Unlock()
	if r.revision.set && r.revision.last == now {
		return now, nil
	}
	custom := map[string]any{"new": now}
	if r.revision.set {
		custom["old"] = r.revision.last
	}
	err := r.write(ctx, &record{Type: TypePolicy, Custom: custom, Revision: now}, false)
	if err == nil {
		r.revision.last, r.revision.set = now, true
	}
	return now, err
}
