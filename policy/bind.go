package policy

import "context"

type boundKey struct{}

// Bind returns a context under which every [Check] and every [Enter] also
// needs the consent of e: whatever e does not allow is denied, and nobody is
// asked. Bindings add up, and nothing below can take one away. An e that is
// also a [Gate] stands before the calls of tools too.
//
// It is for what holds for one client, or for one run of a program that embeds
// donax: a grant, a brake. What holds for all belongs into the engine itself.
func Bind(ctx context.Context, e Engine) context.Context {
	have := bound(ctx)
	return context.WithValue(ctx, boundKey{}, append(have[:len(have):len(have)], e))
}

// Bound returns what is bound to ctx, outermost first.
func Bound(ctx context.Context) []Engine { return bound(ctx) }

func bound(ctx context.Context) stack {
	s, _ := ctx.Value(boundKey{}).(stack)
	return s
}

// ConstantOf returns the answer that [Check] gives under ctx to every action
// of kind k, if there is one, as a [Constanter] does. It is what callers use:
// asking the engine itself would leave out what is bound to ctx.
func ConstantOf(ctx context.Context, e Engine, k Kind) (Decision, bool) {
	have := bound(ctx)
	if len(have) == 0 {
		if c, ok := e.(Constanter); ok {
			return c.Constant(k)
		}
		return Decision{}, false
	}
	return append(have[:len(have):len(have)], e).Constant(k)
}

// A Witness is an Engine that is told of the denials that it was not asked
// about, because something bound to the context denied first. It returns an id
// for the decision and can change nothing.
type Witness interface {
	Denied(ctx context.Context, a Action, d Decision, err error) (id string)
}

// decide asks what is bound to ctx, and e when all of that allows.
func decide(ctx context.Context, e Engine, a Action) (Decision, error) {
	have := bound(ctx)
	if len(have) == 0 {
		return e.Decide(ctx, a)
	}
	d, err := have.Decide(ctx, a)
	if err == nil && d.Effect == Allow {
		next, err := e.Decide(ctx, a)
		if err != nil {
			return Decision{ID: next.ID}, err
		}
		return merge(d, next), nil
	}
	d.Effect = Deny
	if w, ok := e.(Witness); ok {
		if id := w.Denied(ctx, a, d, err); id != "" {
			d.ID = id
		}
	}
	return d, err
}
