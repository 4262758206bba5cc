package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// witness is an engine and a gate that are told what others refused.
type witness struct {
	policy.Engine
	denied  []policy.Decision
	refused []error
}

func (w *witness) Denied(_ context.Context, _ policy.Action, d policy.Decision, _ error) string {
	w.denied = append(w.denied, d)
	return "w1"
}

func (w *witness) Refused(_ context.Context, _ policy.ToolCall, err error) string {
	w.refused = append(w.refused, err)
	return "w2"
}

func (w *witness) Enter(context.Context, policy.ToolCall) (func(policy.Outcome), error) {
	return func(policy.Outcome) {}, nil
}

func TestBoundEnginesNarrow(t *testing.T) {
	allow := answer(policy.Decision{Effect: policy.Allow}, nil)
	for name, c := range map[string]struct {
		bound policy.Engine
		want  string // of the error; "" means allowed
	}{
		"allow":   {answer(policy.Decision{Effect: policy.Allow, Limits: policy.Limits{Commands: 2}}, nil), ""},
		"deny":    {answer(policy.Decision{Reasons: []policy.Reason{{Msg: "not granted"}}}, nil), "denied by policy: not granted [decision w1]"},
		"ask":     {answer(policy.Decision{Effect: policy.Ask}, nil), "denied by policy: no rule allows it [decision w1]"},
		"error":   {answer(policy.Decision{Effect: policy.Allow}, errors.New("x")), "denied by policy: policy could not decide: engine error [decision w1]"},
		"nil":     {nil, "denied by policy: policy could not decide: no policy engine [decision w1]"},
		"unknown": {answer(policy.Decision{Effect: policy.Allow + 1}, nil), "denied by policy: no rule allows it [decision w1]"},
	} {
		w := &witness{Engine: allow}
		ctx := policy.Bind(policy.Bind(context.Background(), policy.AllowAll{}), c.bound)
		d, err := policy.Check(ctx, w, exec())
		switch {
		case c.want == "" && (err != nil || d.Limits.Commands != 2 || len(w.denied) != 0):
			t.Errorf("%s: %+v %v", name, d, err)
		case c.want != "" && (err == nil || err.Error() != c.want || len(w.denied) != 1):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if _, err := policy.Check(context.Background(), w, exec()); err != nil {
			t.Errorf("%s holds without its context: %v", name, err)
		}
	}
	// What is below can be no looser than what is bound.
	if _, err := policy.Check(policy.Bind(context.Background(), allow), answer(policy.Decision{}, nil), exec()); err == nil {
		t.Error("a bound engine allows what the engine denies")
	}
}

func TestConstantsHeedWhatIsBound(t *testing.T) {
	ctx := context.Background()
	if d, ok := policy.ConstantOf(ctx, policy.AllowAll{}, policy.KindExec); !ok || d.Effect != policy.Allow {
		t.Error("nothing is bound")
	}
	if d, ok := policy.ConstantOf(policy.Bind(ctx, policy.Default{}), policy.AllowAll{}, policy.KindNet); !ok || d.Effect != policy.Deny {
		t.Error("the bound engine's constant denial is lost")
	}
	if _, ok := policy.ConstantOf(policy.Bind(ctx, answer(policy.Decision{}, nil)), policy.AllowAll{}, policy.KindExec); ok {
		t.Error("constant past an engine that is not")
	}
	if _, ok := policy.ConstantOf(ctx, answer(policy.Decision{}, nil), policy.KindExec); ok {
		t.Error("no Constanter, but constant")
	}
}

// gate is a Gate, and an Engine that allows.
type gate func(policy.ToolCall) (func(policy.Outcome), error)

func (g gate) Enter(_ context.Context, c policy.ToolCall) (func(policy.Outcome), error) { return g(c) }
func (gate) Decide(context.Context, policy.Action) (policy.Decision, error) {
	return policy.Decision{Effect: policy.Allow}, nil
}

func TestEnterPassesEveryGate(t *testing.T) {
	var left []string
	open := func(name string) gate {
		return func(policy.ToolCall) (func(policy.Outcome), error) {
			return func(o policy.Outcome) { left = append(left, name+" "+string(o)) }, nil
		}
	}
	ctx := policy.Bind(context.Background(), open("outer"))
	leave, err := policy.Enter(ctx, open("inner"), policy.ToolCall{})
	if err != nil {
		t.Fatal(err)
	}
	leave(policy.OutcomeOK)
	if got := strings.Join(left, ", "); got != "inner ok, outer ok" {
		t.Error(got)
	}
	for name, g := range map[string]gate{
		"refuses": func(policy.ToolCall) (func(policy.Outcome), error) {
			return nil, &policy.RefusedError{Msg: "the gate failed"}
		},
		"panics":    func(policy.ToolCall) (func(policy.Outcome), error) { panic("boom") },
		"no leaver": func(policy.ToolCall) (func(policy.Outcome), error) { return nil, nil },
	} {
		left = nil
		w := &witness{}
		if _, err := policy.Enter(policy.Bind(ctx, g), w, policy.ToolCall{}); !errors.Is(err, policy.ErrRefused) || err.Error() != "refused: the gate failed [decision w2]" || len(w.refused) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		if len(left) != 1 {
			t.Errorf("%s: the gate that was passed is not left", name)
		}
	}
	if leave, err := policy.Enter(context.Background(), nil, policy.ToolCall{}); err != nil || leave == nil {
		t.Errorf("no gate: %v", err)
	}
}

func TestOriginAddsUp(t *testing.T) {
	ctx := policy.WithOrigin(context.Background(), policy.Origin{Goal: "g", Isolation: policy.IsolationTerminal})
	ctx = policy.WithOrigin(ctx, policy.Origin{Scope: "s", Trace: policy.Trace{Parent: "p"}})
	if o := policy.OriginFrom(policy.WithOrigin(ctx, policy.Origin{})); o.Goal != "g" || o.Scope != "s" || o.Trace.Parent != "p" || o.Isolation != policy.IsolationTerminal {
		t.Errorf("%+v", o)
	}
	for have, wants := range map[policy.Isolation]string{"": "none", "none": "none", "session": "none session", "terminal": "none session terminal", "bogus": "none"} {
		for _, want := range []policy.Isolation{policy.IsolationNone, policy.IsolationSession, policy.IsolationTerminal, "bogus"} {
			if got := have.AtLeast(want); got != strings.Contains(" "+wants+" ", " "+string(want)+" ") {
				t.Errorf("%q at least %q: %v", have, want, got)
			}
		}
	}
}
