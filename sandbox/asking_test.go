package sandbox_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// TestApproverOfTheContextIsAsked has a person say yes to one rm and no to
// another, also where the shell and a program start them.
func TestApproverOfTheContextIsAsked(t *testing.T) {
	engine := policy.Asking(policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Exec != nil && a.Exec.Name == "rm" {
			return policy.Decision{Effect: policy.Ask, Reasons: []policy.Reason{{Msg: "rm?"}}}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	}), nil)
	fsys := newFS(t)
	writeFile(t, fsys, "/workspace/yes", "x", 0o644)
	writeFile(t, fsys, "/workspace/no", "x", 0o644)
	s := newSessionFS(t, fsys, engine, nil)
	ctx := policy.WithApprover(context.Background(), func(_ context.Context, a policy.Action, _ policy.Decision) (policy.Approval, error) {
		if a.Exec.Args[0] == "yes" {
			return policy.ApprovedOnce, nil
		}
		return policy.Refused, nil
	})
	c, err := s.Inspect(ctx, policy.Command{Text: "echo yes | xargs rm; echo no | xargs rm; rm no"})
	if err != nil {
		t.Fatal(err)
	}
	var errw bytes.Buffer
	if status, err := s.Run(ctx, c, nil, nil, &errw); status != 126 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	if _, ok := readFile(t, fsys, "/workspace/yes"); ok {
		t.Error("the approved rm did not run")
	}
	if _, ok := readFile(t, fsys, "/workspace/no"); !ok {
		t.Error("the refused rm ran")
	}
	if n := bytes.Count(errw.Bytes(), []byte("the person who was asked said no")); n != 2 {
		t.Errorf("%d refusals: %s", n, errw.String())
	}
}
