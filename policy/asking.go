package policy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
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
		key, ok := approvalKey(a)
		mu.Lock()
		known := ok && yes[key]
		mu.Unlock()
		if known {
			return nil
		}
		if err := approve(ctx, a, d); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if ok && len(yes) < max {
			yes[key] = true
		}
		return nil
	}
}

// approvalKey names what was approved: who, in which session, and all facts
// but those that count or place an action.
func approvalKey(a Action) (key [sha256.Size]byte, ok bool) {
	a.Usage, a.Terminal = Usage{}, Terminal{}
	if a.Exec != nil {
		x := *a.Exec
		x.Background = false
		a.Exec = &x
	}
	text, err := json.Marshal(a)
	if err != nil {
		return key, false // unusual claims or arguments: ask each time
	}
	return sha256.Sum256(text), true
}
