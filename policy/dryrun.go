package policy

import (
	"context"
	"errors"
)

// DryRun returns an engine that asks e, tells report what it would have
// decided, and allows everything, without obligations. It is for trying out a
// policy on real work; the limits of the sandbox itself still hold. What the
// rules said is in [Decision].Unenforced, for the record.
func DryRun(e Engine, report func(Action, Decision, error)) Engine { return dryRun{e, report} }

type dryRun struct {
	Engine
	report func(Action, Decision, error)
}

func (s dryRun) Decide(ctx context.Context, a Action) (Decision, error) {
	d, err := Check(ctx, s.Engine, a)
	s.report(a, d, err)
	var denied *DeniedError
	if errors.As(err, &denied) && denied.Err != nil {
		d = Decision{ID: d.ID, Reasons: []Reason{{Msg: "policy could not decide: " + failureClass(denied.Err)}}}
	}
	return Decision{ID: d.ID, Effect: Allow, Warnings: d.Warnings, Unenforced: &d}, nil
}

// Constant implements [Constanter]: only what is allowed without a word needs
// no report.
func (s dryRun) Constant(k Kind) (Decision, bool) {
	c, ok := s.Engine.(Constanter)
	if !ok {
		return Decision{}, false
	}
	d, ok := c.Constant(k)
	return Decision{Effect: Allow}, ok && d.Effect == Allow && len(d.Warnings) == 0 && !d.Obliges()
}

// Layers returns the engine within, for tools that explain it.
func (s dryRun) Layers() []Engine { return []Engine{s.Engine} }
