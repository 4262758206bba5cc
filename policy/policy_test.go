package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

func exec() policy.Action {
	return policy.Action{Kind: policy.KindExec, Exec: &policy.Exec{Name: "rm"}}
}

func answer(d policy.Decision, err error) policy.Engine {
	return policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) { return d, err })
}

// Threats: PO-1.
func TestCheckFailsClosed(t *testing.T) {
	secret := errors.New("p.rego:3: data.keys.secret")
	for name, c := range map[string]struct {
		e    policy.Engine
		want string
	}{
		"nil engine":    {nil, "denied by policy: policy could not decide: no policy engine"},
		"zero decision": {answer(policy.Decision{}, nil), "denied by policy: no rule allows it"},
		"error":         {answer(policy.Decision{Effect: policy.Allow, ID: "d1"}, secret), "denied by policy: policy could not decide: engine error [decision d1]"},
		"failure":       {answer(policy.Decision{}, &policy.Failure{Class: policy.FailTimeout, Err: secret}), "denied by policy: policy could not decide: timeout"},
		"ask":           {answer(policy.Decision{Effect: policy.Ask, Reasons: []policy.Reason{{Msg: "sure?"}}}, nil), "denied by policy: needs approval and nobody can be asked: sure?"},
		"empty stack":   {policy.Stack(), "denied by policy: policy could not decide: no policy engine"},
		"nil in stack":  {policy.Stack(policy.AllowAll{}, nil), "denied by policy: policy could not decide: no policy engine"},
		"only nil":      {policy.Stack(nil), "denied by policy: policy could not decide: no policy engine"},
		"panic": {policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) { panic("boom") }),
			"denied by policy: policy could not decide: engine panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.Check(context.Background(), c.e, exec())
			if !errors.Is(err, policy.ErrDenied) || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	if _, err := policy.Check(context.Background(), policy.AllowAll{}, exec()); err != nil {
		t.Error(err)
	}
}

// Threats: PO-4.
func TestDeniedText(t *testing.T) {
	err := &policy.DeniedError{Decision: policy.Decision{ID: "abc", Reasons: []policy.Reason{
		{Msg: "file \x1b[31mred\nforged: line\u202e is off", Rule: "r1", Hint: "use\rthis", Location: "secret.rego:7"},
		{Msg: "file \x1b[31mred\nforged: line\u202e is off", Rule: "r2"},
		{Msg: strings.Repeat("x", 5000)},
	}}}
	got := err.Error()
	want := "denied by policy: file \\x1b[31mred\\nforged: line\\u{202e} is off; " + strings.Repeat("x", 601) + "... [rule r1; decision abc]\n  try: use\\x0dthis"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if strings.Contains(got, "secret.rego") {
		t.Error("the place of the rule is shown")
	}
	many := &policy.DeniedError{}
	for i := range 9 {
		many.Decision.Reasons = append(many.Decision.Reasons, policy.Reason{Msg: string(rune('a' + i))})
	}
	if got := many.Error(); got != "denied by policy: a; b; c; d; e; and 4 more" {
		t.Error(got)
	}
}

func TestPlainKeepsText(t *testing.T) {
	for in, want := range map[string]string{"grün/日本 ok": "grün/日本 ok", "a\xffb": "a\ufffdb", "tab\there": "tab here", "": ""} {
		if got := policy.Plain(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestStackIsMostRestrictive(t *testing.T) {
	ctx := context.Background()
	allow := answer(policy.Decision{Effect: policy.Allow, Limits: policy.Limits{Commands: 9}, Warnings: []policy.Reason{{Msg: "w1"}}}, nil)
	ask := answer(policy.Decision{Effect: policy.Ask, ID: "q", Reasons: []policy.Reason{{Msg: "sure?"}}, Limits: policy.Limits{Commands: 3, TimeoutMS: 5}}, nil)
	deny := answer(policy.Decision{ID: "n", Reasons: []policy.Reason{{Msg: "no"}}}, nil)
	broken := answer(policy.Decision{Effect: policy.Allow}, errors.New("x"))
	for _, order := range [][]policy.Engine{{allow, ask}, {ask, allow}} {
		d, err := policy.Stack(order...).Decide(ctx, exec())
		if err != nil || d.Effect != policy.Ask || d.ID != "q" || d.Limits != (policy.Limits{Commands: 3, TimeoutMS: 5}) || len(d.Warnings) != 1 || len(d.Reasons) != 1 {
			t.Errorf("%+v %v", d, err)
		}
	}
	for _, order := range [][]policy.Engine{{deny, allow}, {allow, deny}, {ask, deny}} {
		if d, _ := policy.Stack(order...).Decide(ctx, exec()); d.Effect != policy.Deny || d.ID != "n" || d.Reasons[0].Msg != "no" {
			t.Errorf("%+v", d)
		}
	}
	if d, err := policy.Stack(allow, broken).Decide(ctx, exec()); err == nil || d.Effect != policy.Deny {
		t.Errorf("%+v %v", d, err)
	}
}

func TestDryRunAllowsAndReports(t *testing.T) {
	var errs []error
	e := policy.DryRun(answer(policy.Decision{ID: "d", Reasons: []policy.Reason{{Msg: "no"}}}, nil), func(_ policy.Action, d policy.Decision, err error) {
		errs = append(errs, err)
	})
	d, err := e.Decide(context.Background(), exec())
	if err != nil || d.Effect != policy.Allow || d.ID != "d" || len(errs) != 1 || !errors.Is(errs[0], policy.ErrDenied) {
		t.Errorf("%+v %v %v", d, err, errs)
	}
	if d.Unenforced == nil || d.Unenforced.Effect != policy.Deny {
		t.Errorf("the record lacks what was decided: %+v", d.Unenforced)
	}
	report := func(policy.Action, policy.Decision, error) {}
	if _, ok := policy.DryRun(policy.Default{}, report).(policy.Constanter).Constant(policy.KindNet); ok {
		t.Error("a constant denial would not be reported")
	}
	if _, ok := policy.DryRun(policy.Default{}, report).(policy.Constanter).Constant(policy.KindExec); !ok {
		t.Error("a constant allow needs no report")
	}
}

func TestDefaultStaysInside(t *testing.T) {
	for _, k := range policy.Kinds() {
		d, ok := policy.Default{}.Constant(k)
		inside := k != policy.KindNet && k != policy.KindTool && k != policy.KindModule
		if !ok || (d.Effect == policy.Allow) != inside {
			t.Errorf("%s: %v", k, d.Effect)
		}
	}
	if d, _ := (policy.Default{}).Decide(context.Background(), policy.Action{Kind: "reboot"}); d.Effect != policy.Deny {
		t.Error("unknown kinds are denied")
	}
}
