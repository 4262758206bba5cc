package rego

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
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
	Redact   []string        `json:"redact,omitempty"`    // names of redactions
	UnsetEnv []string        `json:"unset_env,omitempty"` // variables taken away
	Mounts   []string        `json:"mount,omitempty"`     // PATH MODE
	Open     []string        `json:"open,omitempty"`      // facts that rules read and that are only known when it happens: Effect may be another then
	Rules    []RuleTrace     `json:"rules,omitempty"`     // rules that could match this kind of action
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

// Explain asks e about an action and tells how the answer comes about. It comes
// from [policy.Check], so that it is that of enforcement. open names the facts of
// a that are guesses: fields of its object, or usage.
func Explain(ctx context.Context, e policy.Engine, a policy.Action, open ...string) Explanation {
	x := Explanation{Action: a.Kind, What: policy.Describe(a)}
	d, err := policy.Check(ctx, e, a)
	var denied *policy.DeniedError
	if errors.As(err, &denied) && denied.Err != nil {
		x.Failure = denied.Err.Error()
	}
	x.Effect, x.Reasons, x.Warnings, x.Limits, x.UnsetEnv = d.Effect.String(), d.Reasons, d.Warnings, d.Limits, d.UnsetEnv
	for _, r := range d.Redact {
		x.Redact = append(x.Redact, r.Name)
	}
	for _, m := range d.Mounts {
		x.Mounts = append(x.Mounts, fmt.Sprintf("%s %s", m.Path, m.Mode))
	}
	for _, one := range engines(e) {
		x.Rules = append(x.Rules, one.trace(ctx, a)...)
	}
	x.Open = reads(e, a, open)
	slices.Sort(x.Open)
	x.Open = slices.Compact(x.Open)
	return x
}

// reader is an engine that knows what its answers depend on.
type reader interface {
	// Reads returns those of the named facts of a on which the answer may depend.
	Reads(a policy.Action, fields []string) []string
}

// reads asks all readers in e.
func reads(e policy.Engine, a policy.Action, fields []string) (out []string) {
	if r, ok := e.(reader); ok {
		out = r.Reads(a, fields)
	}
	if l, ok := e.(layered); ok {
		for _, inner := range l.Layers() {
			out = append(out, reads(inner, a, fields)...)
		}
	}
	return out
}

// Reads returns those of the named facts of a, fields of its object or of the
// input, on which the answer may depend. It may name more, never fewer.
func (e *Engine) Reads(a policy.Action, fields []string) []string {
	s := e.cur.Load()
	of := kindIs(a.Kind)
	if pivot, ok := pivots[a.Kind]; ok && !slices.Contains(fields, string(pivot[2].Value.(ast.String))) {
		of = of.and(pivot, pivotOf(&a))
	}
	d := s.depends(of, s.queries[a.Kind].names)
	return slices.DeleteFunc(slices.Clone(fields), func(field string) bool {
		return !d.any && !slices.ContainsFunc(d.refs, func(ref ast.Ref) bool {
			switch top, _ := inputField(ref); {
			case top != string(a.Kind):
				return top == field
			case len(ref) == 2:
				return true // the whole object
			}
			name, constant := ref[2].Value.(ast.String)
			return !constant || string(name) == field
		})
	})
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
	for _, o := range []struct {
		label string
		list  []string
	}{{"redact", x.Redact}, {"unset", x.UnsetEnv}, {"mount", x.Mounts}} {
		if len(o.list) > 0 {
			line(o.label, "%s", strings.Join(o.list, ", "))
		}
	}
	if len(x.Open) > 0 {
		line("open", "%s: known when it happens, and rules read it, so that the answer may be another", strings.Join(x.Open, ", "))
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
