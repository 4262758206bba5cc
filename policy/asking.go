package policy

import (
	"context"
	"errors"
)

// An Approval is what a person says to an action that a policy wants
// confirmed. The zero value is a no.
type Approval uint8

// What a person may say.
const (
	Refused            Approval = iota
	ApprovedOnce                // this time
	ApprovedForSession          // and exactly the same again, for the same principal in the same session
	ApprovedAlways              // and exactly the same again, for the same principal in any session
)

// An Approver asks a person whether an action that a policy wants confirmed
// may go on. An error says that there is no answer, which is a no. What was
// approved is remembered by whoever wraps an Approver (see policy/approve),
// never by the Approver.
type Approver func(context.Context, Action, Decision) (Approval, error)

// ErrNobody says that there is no person to ask.
var ErrNobody = errors.New("nobody can be asked")

// Approve puts d, the answer to a, to approve if it is an Ask, and returns d
// with the effect that follows: Allow for a yes, Deny for a no; it stays an
// Ask, which denies, when there is no answer, and the error is approve's then.
// A nil approve has no answer.
func Approve(ctx context.Context, a Action, d Decision, approve Approver) (Decision, error) {
	if d.Effect != Ask {
		return d, nil
	}
	if approve == nil {
		return d, ErrNobody
	}
	said, err := approve(ctx, a, d)
	switch {
	case err != nil:
		return d, err
	case ctx.Err() != nil: // a yes to a command that has ended is void
		return d, ctx.Err()
	case said == ApprovedOnce || said == ApprovedForSession || said == ApprovedAlways:
		d.Effect = Allow
	default:
		d.Effect = Deny
		no := Reason{Msg: "the person who was asked said no"}
		if len(d.Reasons) > 0 {
			no.Rule = d.Reasons[0].Rule
		}
		d.Reasons = append([]Reason{no}, d.Reasons...)
	}
	return d, nil
}

// Asking returns an engine that puts each Ask of e to approve, as [Approve]
// does. Denials never reach the person. Where the context carries an Approver
// of its own ([WithApprover]), that one is asked instead. A nil approve
// approves nothing.
func Asking(e Engine, approve Approver) Engine { return asking{e, approve} }

type asking struct {
	Engine
	approve Approver
}

func (s asking) Decide(ctx context.Context, a Action) (Decision, error) {
	d, err := s.Engine.Decide(ctx, a)
	if err != nil || d.Effect != Ask {
		return d, err
	}
	d, _ = Approve(ctx, a, d, ApproverFrom(ctx, s.approve)) // without an answer it is still an Ask, which denies
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

type approverKey struct{}

// WithApprover returns a context whose actions are put to approve.
func WithApprover(ctx context.Context, approve Approver) context.Context {
	return context.WithValue(ctx, approverKey{}, approve)
}

// ApproverFrom returns the Approver that ctx carries, or otherwise.
func ApproverFrom(ctx context.Context, otherwise Approver) Approver {
	if own, ok := ctx.Value(approverKey{}).(Approver); ok {
		return own
	}
	return otherwise
}

type personKey struct{}

// WithPerson returns a context in which person is who can be asked, for what
// keeps its own account of what was approved. An Approver of the context
// ([WithApprover]) may answer from another account.
func WithPerson(ctx context.Context, person Approver) context.Context {
	return context.WithValue(ctx, personKey{}, person)
}

// PersonFrom returns the person that ctx carries, or otherwise.
func PersonFrom(ctx context.Context, otherwise Approver) Approver {
	if own, ok := ctx.Value(personKey{}).(Approver); ok {
		return own
	}
	return otherwise
}
