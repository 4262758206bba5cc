package policy

import (
	"context"
	"errors"
	"strings"
)

// Stack returns an engine that asks every layer and gives the most
// restrictive answer: any Deny denies, any Ask asks, reasons are those of the
// deciding effect, obligations are those of all. A failure in any layer is a
// failure of the stack. A stack without layers, or with a nil one, denies.
func Stack(layers ...Engine) Engine {
	if len(layers) == 1 && layers[0] != nil {
		return layers[0]
	}
	return stack(layers)
}

type stack []Engine

// Layers returns what the stack is made of, for tools that explain it.
func (s stack) Layers() []Engine { return s }

func (s stack) Decide(ctx context.Context, a Action) (Decision, error) {
	if len(s) == 0 {
		return Decision{}, &Failure{Class: FailNone, Err: errors.New("stack without layers")}
	}
	d := Decision{Effect: Allow}
	for _, e := range s {
		if e == nil {
			return Decision{}, &Failure{Class: FailNone, Err: errors.New("nil layer in stack")}
		}
		next, err := e.Decide(ctx, a)
		if err != nil {
			return Decision{ID: next.ID}, err
		}
		d = merge(d, next)
		if d.Effect == Deny { // nothing below can turn it
			return d, nil
		}
	}
	return d, nil
}

// Constant answers when every layer has a constant answer.
func (s stack) Constant(k Kind) (Decision, bool) {
	if len(s) == 0 {
		return Decision{}, true
	}
	d := Decision{Effect: Allow}
	for _, e := range s {
		c, ok := e.(Constanter)
		if !ok {
			return Decision{}, false
		}
		next, ok := c.Constant(k)
		if !ok {
			return Decision{}, false
		}
		d = merge(d, next)
	}
	return d, true
}

// Repeats implements [Repeater]: when it holds for every layer.
func (s stack) Repeats(a Action) bool {
	for _, e := range s {
		if c, ok := e.(Constanter); ok {
			if _, ok := c.Constant(a.Kind); ok {
				continue
			}
		}
		if r, ok := e.(Repeater); !ok || !r.Repeats(a) {
			return false
		}
	}
	return len(s) > 0
}

func merge(d, next Decision) Decision {
	out := d
	if next.Effect > Allow { // no effect that is known: it must not pass for one that is
		next.Effect = Deny
	}
	switch {
	case next.Effect < d.Effect: // smaller is more restrictive
		out.ID, out.Effect, out.Reasons = next.ID, next.Effect, next.Reasons
	case next.Effect == d.Effect:
		if out.ID == "" {
			out.ID = next.ID
		}
		out.Reasons = append(d.Reasons[:len(d.Reasons):len(d.Reasons)], next.Reasons...)
	}
	if out.Unenforced == nil {
		out.Unenforced = next.Unenforced
	}
	out.Warnings = append(d.Warnings[:len(d.Warnings):len(d.Warnings)], next.Warnings...)
	out.Limits = d.Limits.Least(next.Limits)
	out.Redact = union(d.Redact, next.Redact, Redaction.compare)
	out.UnsetEnv = union(d.UnsetEnv, next.UnsetEnv, strings.Compare)
	out.Mounts = StrictestMounts(union(d.Mounts, next.Mounts, MountRule.compare))
	return out
}
