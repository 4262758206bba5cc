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
	yes := func(context.Context, policy.Action, policy.Decision) error { return nil }
	no := func(context.Context, policy.Action, policy.Decision) error { return errors.New("no") }
	if d, err := policy.Check(ctx, policy.Asking(asks, yes), exec()); err != nil || d.Limits.Commands != 3 {
		t.Errorf("%+v %v", d, err)
	}
	for name, approve := range map[string]policy.Approver{"no": no, "nobody": nil, "panic": func(context.Context, policy.Action, policy.Decision) error { panic("x") }} {
		if _, err := policy.Check(ctx, policy.Asking(asks, approve), exec()); !errors.Is(err, policy.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	asked := false
	watch := func(context.Context, policy.Action, policy.Decision) error { asked = true; return nil }
	for _, e := range []policy.Engine{answer(policy.Decision{}, nil), answer(policy.Decision{Effect: policy.Ask}, errors.New("broken"))} {
		if _, err := policy.Check(ctx, policy.Asking(e, watch), exec()); err == nil || asked {
			t.Errorf("a denial was put to a person: %v", err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	late := func(context.Context, policy.Action, policy.Decision) error { cancel(); return nil }
	if _, err := policy.Check(gone, policy.Asking(asks, late), exec()); err == nil {
		t.Error("a yes after the end counts")
	}
	if d, ok := policy.Asking(policy.Default{}, yes).(policy.Constanter).Constant(policy.KindExec); !ok || d.Effect != policy.Allow {
		t.Error("constants pass through")
	}
}

func TestOnceIsExact(t *testing.T) {
	n := 0
	once := policy.Once(func(_ context.Context, a policy.Action, _ policy.Decision) error {
		n++
		if a.Exec.Name == "no" {
			return errors.New("no")
		}
		return nil
	}, 100)
	ask := func(change func(*policy.Action)) int {
		a := exec()
		a.Exec.Args = []string{"x"}
		a.Session.ID, a.Principal.Sub = "s", "p"
		change(&a)
		before := n
		_ = once(context.Background(), a, policy.Decision{})
		return n - before
	}
	if ask(func(*policy.Action) {}) != 1 || ask(func(*policy.Action) {}) != 0 {
		t.Error("the same action is asked again")
	}
	if ask(func(a *policy.Action) { a.Usage.Execs = 9; a.Terminal.ID = "t2" }) != 0 {
		t.Error("counters or the terminal matter")
	}
	for name, change := range map[string]func(*policy.Action){
		"args": func(a *policy.Action) { a.Exec.Args = []string{"x", "y"} }, "split": func(a *policy.Action) { a.Exec.Args = []string{"x "} },
		"byte": func(a *policy.Action) { a.Exec.Args = []string{"\xff"} }, "other byte": func(a *policy.Action) { a.Exec.Args = []string{"\xfe"} },
		"cwd": func(a *policy.Action) { a.Exec.Cwd = "/y" }, "hash": func(a *policy.Action) { a.Exec.SHA256 = "y" },
		"session": func(a *policy.Action) { a.Session.ID = "s2" }, "principal": func(a *policy.Action) { a.Principal.Sub = "p2" },
		"kind": func(a *policy.Action) { a.Kind = policy.KindFile },
	} {
		if ask(change) != 1 {
			t.Errorf("another %s is not asked", name)
		}
	}
	no := func(a *policy.Action) { a.Exec.Name = "no" }
	if ask(no) != 1 || ask(no) != 1 {
		t.Error("a no is remembered")
	}
}
