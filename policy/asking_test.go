package policy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/donax-sh/donax/policy"
)

func TestAsking(t *testing.T) {
	ctx := context.Background()
	asks := answer(policy.Decision{ID: "q", Effect: policy.Ask, Reasons: []policy.Reason{{Msg: "sure?"}}, Limits: policy.Limits{Commands: 3}}, nil)
	says := func(said policy.Approval, err error) policy.Approver {
		return func(context.Context, policy.Action, policy.Decision) (policy.Approval, error) { return said, err }
	}
	yes := says(policy.ApprovedOnce, nil)
	if d, err := policy.Check(ctx, policy.Asking(asks, yes), exec()); err != nil || d.Limits.Commands != 3 {
		t.Errorf("%+v %v", d, err)
	}
	for name, approve := range map[string]policy.Approver{
		"no": says(policy.Refused, nil), "nobody": nil, "unknown": says(9, nil), "yes with error": says(policy.ApprovedOnce, errors.New("lost")),
		"panic": func(context.Context, policy.Action, policy.Decision) (policy.Approval, error) { panic("x") },
	} {
		if _, err := policy.Check(ctx, policy.Asking(asks, approve), exec()); !errors.Is(err, policy.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := policy.Check(ctx, policy.Asking(asks, says(policy.Refused, nil)), exec()); err == nil || err.Error() != "denied by policy: the person who was asked said no; sure? [decision q]" {
		t.Error(err)
	}
	if _, err := policy.Check(policy.WithApprover(ctx, yes), policy.Asking(asks, nil), exec()); err != nil {
		t.Errorf("the context's approver is not asked: %v", err)
	}
	asked := false
	watch := func(context.Context, policy.Action, policy.Decision) (policy.Approval, error) {
		asked = true
		return policy.ApprovedOnce, nil
	}
	for _, e := range []policy.Engine{answer(policy.Decision{}, nil), answer(policy.Decision{Effect: policy.Ask}, errors.New("broken"))} {
		if _, err := policy.Check(ctx, policy.Asking(e, watch), exec()); err == nil || asked {
			t.Errorf("a denial was put to a person: %v", err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	late := func(context.Context, policy.Action, policy.Decision) (policy.Approval, error) {
		cancel()
		return policy.ApprovedOnce, nil
	}
	if _, err := policy.Check(gone, policy.Asking(asks, late), exec()); err == nil {
		t.Error("a yes after the end counts")
	}
	if d, ok := policy.Asking(policy.Default{}, yes).(policy.Constanter).Constant(policy.KindExec); !ok || d.Effect != policy.Allow {
		t.Error("constants pass through")
	}
}
