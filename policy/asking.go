package policy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
)

// An Approver asks a person whether an action that a policy wants confirmed
// may go on. It returns nil for yes; any error is a no.
type Approver func(context.Context, Action, Decision) error

// Asking returns an engine that turns an Ask of e into an Allow when approve
// says yes, and leaves it an Ask, which denies, when it does not. Denials never
// reach the person. A nil approve approves nothing.
func Asking(e Engine, approve Approver) Engine { return asking{e, approve} }

type asking struct {
	Engine
	approve Approver
}

func (s asking) Decide(ctx context.Context, a Action) (Decision, error) {
	d, err := s.Engine.Decide(ctx, a)
	if err != nil || d.Effect != Ask || s.approve == nil {
		return d, err
	}
	if s.approve(ctx, a, d) == nil && ctx.Err() == nil { // a yes to a command that has ended is void
		d.Effect = Allow
	}
	return d, nil
}

// Constant implements [Constanter]; what a person decides is not constant.
func (s asking) Constant(k Kind) (Decision, bool) {
	c, ok := s.Engine.(Constanter)
	if !ok {
		return Decision{}, false
	}
	d, ok := c.Constant(k)
	return d, ok && d.Effect != Ask
}

// Layers returns the engine within, for tools that explain it.
func (s asking) Layers() []Engine { return []Engine{s.Engine} }

// Once returns an Approver that remembers up to max approvals of approve and
// gives them again without asking. An approval holds for exactly the same
// facts of an action in the same session of the same principal, and for
// nothing else; a no is never remembered.
func Once(approve Approver, max int) Approver {
	var mu sync.Mutex
	yes := map[[sha256.Size]byte]bool{} // guarded by mu
	return func(ctx context.Context, a Action, d Decision) error {
		key := approvalKey(a)
		mu.Lock()
		known := yes[key]
		mu.Unlock()
		if known {
			return nil
		}
		if err := approve(ctx, a, d); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if len(yes) < max {
			yes[key] = true
		}
		return nil
	}
}

// approvalKey names what was approved: who, in which session, and all facts
// but those that count or place an action. It is made of Go syntax, not of
// JSON, which would make one of all bytes that are not UTF-8.
func approvalKey(a Action) [sha256.Size]byte {
	a.Terminal = Terminal{}
	var facts any
	switch {
	case a.Command != nil:
		facts = *a.Command
	case a.Exec != nil:
		x := *a.Exec
		x.Background = false
		facts = x
	case a.File != nil:
		facts = *a.File
	case a.Net != nil:
		facts = *a.Net
	case a.Tool != nil:
		facts = *a.Tool
	case a.Module != nil:
		facts = *a.Module
	case a.Output != nil:
		facts = *a.Output
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %#v %#v", a.Kind, a.Subject, facts))
}
