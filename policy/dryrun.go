package policy

import "context"

// DryRun returns an engine that asks e, tells report what it would have
// decided, and allows everything, without obligations. It is for trying out a
// policy on real work; the limits of the sandbox itself still hold.
func DryRun(e Engine, report func(Action, Decision, error)) Engine {
	return EngineFunc(func(ctx context.Context, a Action) (Decision, error) {
		d, err := Check(ctx, e, a)
		report(a, d, err)
		return Decision{ID: d.ID, Effect: Allow, Warnings: d.Warnings}, nil
	})
}
