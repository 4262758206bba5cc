package rego

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
)

// An Explanation is the answer to one action and how it came about. It shows
// rules and their places: it is for whoever wrote the policy, not for the
// model.
type Explanation struct {
	Action   policy.Kind     `json:"action"`
	What     string          `json:"what"`   // the action in words
	Effect   string          `json:"effect"` // allow, ask or deny
	Failure  string          `json:"failure,omitempty"`
	Reasons  []policy.Reason `json:"reasons,omitempty"`
	Warnings []policy.Reason `json:"warnings,omitempty"`
	Limits   policy.Limits   `json:"limits"`
	Rules    []RuleTrace     `json:"rules,omitempty"` // rules that could match this kind of action
}

// A RuleTrace says how one rule fared.
type RuleTrace struct {
	Rule     string `json:"rule"`
	Location string `json:"location"`
	Matched  bool   `json:"matched"`
	FailedAt int    `json:"failed_at,omitempty"` // line of the condition that did not hold
	Failed   string `json:"failed,omitempty"`    // the condition, or its line
}

// layered is an engine made of others; see [policy.Stack].
type layered interface{ Layers() []policy.Engine }

// engines returns the engines of this package in e.
func engines(e policy.Engine) (out []*Engine) {
	switch e := e.(type) {
	case *Engine:
		return []*Engine{e}
	case layered:
		for _, l := range e.Layers() {
			out = append(out, engines(l)...)
		}
	}
	return out
}

// Explain asks e about each action, in order, and tells how the answers come
// about. Effects come from e.Decide itself, so that they are those of
// enforcement.
func Explain(ctx context.Context, e policy.Engine, actions []policy.Action) []Explanation {
	out := make([]Explanation, 0, len(actions))
	for _, a := range actions {
		x := Explanation{Action: a.Kind, What: policy.Describe(a)}
		d, err := policy.Check(ctx, e, a)
		var denied *policy.DeniedError
		if errors.As(err, &denied) && denied.Err != nil {
			x.Failure = denied.Err.Error()
		}
		x.Effect, x.Reasons, x.Warnings, x.Limits = d.Effect.String(), d.Reasons, d.Warnings, d.Limits
		for _, one := range engines(e) {
			x.Rules = append(x.Rules, one.trace(ctx, a)...)
		}
		out = append(out, x)
	}
	return out
}

// maxShown bounds the rules that String lists for one action.
const maxShown = 8

// String returns the explanation for people: effect and action, then reason,
// rule, hint, and for what no rule allowed, where each allow rule gave up.
func (x Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-5s %-7s %s\n", x.Effect, x.Action, x.What)
	line := func(label, format string, args ...any) {
		// Messages may quote names that a command chose.
		fmt.Fprintf(&b, "      %-7s %s\n", label, policy.Plain(fmt.Sprintf(format, args...)))
	}
	for text := range strings.Lines(x.Failure) {
		line("failed", "%s", strings.TrimSuffix(text, "\n"))
	}
	for _, r := range x.Reasons {
		line("because", "%s", r.Msg)
		switch {
		case r.Rule != "" && r.Location != "":
			line("rule", "%s at %s", r.Rule, r.Location)
		case r.Rule != "" || r.Location != "":
			line("rule", "%s%s", r.Rule, r.Location)
		}
		if r.Hint != "" {
			line("try", "%s", r.Hint)
		}
	}
	for _, r := range x.Warnings {
		line("warning", "%s (%s)", r.Msg, r.Location)
	}
	if x.Limits != (policy.Limits{}) {
		line("limits", "%s", limitText(x.Limits))
	}
	decided := len(x.Reasons) > 0
	shown, left := 0, 0
	for _, r := range x.Rules {
		if slices.Contains(setRules, r.Rule) || decided {
			continue
		}
		if x.Effect == policy.Allow.String() {
			if r.Matched {
				line("rule", "%s at %s", r.Rule, r.Location)
				decided = true
			}
			continue
		}
		if shown == maxShown {
			left++
			continue
		}
		shown++
		if r.Failed != "" {
			line("no", "%s at %s: line %d does not hold: %s", r.Rule, r.Location, r.FailedAt, r.Failed)
		} else {
			line("no", "%s at %s", r.Rule, r.Location)
		}
	}
	if left > 0 {
		line("no", "and %d more rules", left)
	}
	if !decided && shown == 0 && x.Failure == "" {
		if x.Effect == policy.Allow.String() {
			line("because", "nothing denies it, and it needs no allow")
		} else {
			line("because", "no allow rule can match a %s action", x.Action)
		}
	}
	return b.String()
}

func limitText(l policy.Limits) string {
	var parts []string
	for i, n := range []int64{l.TimeoutMS, l.OutputBytes, l.MemoryBytes, l.Commands} {
		if n != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", limitKeys[i], n))
		}
	}
	return strings.Join(parts, ", ")
}
