package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/rego"
	"github.com/donax-sh/donax/sandbox"
	"github.com/spf13/cobra"
)

func newPolicyExplain(std stdio) *cobra.Command {
	var f sandboxFlags
	var asJSON, trace bool
	cmd := &cobra.Command{
		Use:   "explain --policy PATH 'LINE'",
		Short: "Say what a policy answers to each action of a line, and which rule decides",
		Long: `Say what a policy answers to each action of a line, and which rule decides. Nothing is
run: the line itself, the programs whose names stand in it, the files and hosts that
their arguments name and the files it redirects to are looked up as the line would, and
asked about by the same engine. Give it the flags that the line will have: --mount,
--allow-net and the like count. What is only known at run time is listed as later; facts
that rules read and that may be others then, as open. Exit status 0: nothing is denied;
1: something is.`,
		Args: needs("the line", "donax policy explain --policy rules.rego 'rm -rf src'"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usageError("put it in quotes: donax policy explain --policy rules.rego 'rm -rf src'", "the line is one argument, not %d", len(args))
			case len(f.policies) == 0:
				return usageError("donax policy explain --policy rules.rego 'rm -rf src'", "--policy is missing: there is nothing to explain")
			}
			var tracing io.Writer
			if trace {
				tracing = std.err
			}
			list, dynamic, err := explainLine(cmd.Context(), &f, args[0], tracing)
			if err != nil {
				return err
			}
			if asJSON {
				if err := json.NewEncoder(std.out).Encode(map[string]any{"actions": list, "atRunTime": dynamic}); err != nil {
					return err
				}
			} else {
				printExplanations(std.out, list, dynamic)
			}
			if slices.ContainsFunc(list, func(x rego.Explanation) bool { return x.Effect != policy.Allow.String() }) {
				return &exitError{code: exitNo}
			}
			return nil
		},
	}
	d := sandbox.DefaultLimits
	f.add(cmd, d.Timeout, d.Memory, d.Output)
	cmd.Flags().BoolVar(&trace, "trace", false, "write OPA's trace of each decision, every expression that was tried, to stderr")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// explain shows the demo's explanation of a line.
func explain(ctx context.Context, policyPath, line string, say func(string)) error {
	f := &sandboxFlags{policies: []string{policyPath}, quiet: true}
	f.defaults()
	list, dynamic, err := explainLine(ctx, f, line, nil)
	if err != nil {
		return err
	}
	var b strings.Builder
	printExplanations(&b, list, dynamic)
	say(b.String())
	return nil
}

func printExplanations(w io.Writer, list []rego.Explanation, dynamic []string) {
	for _, x := range list {
		fmt.Fprint(w, x)
	}
	for _, d := range dynamic {
		fmt.Fprintf(w, "later         %s\n", d)
	}
}

// explainLine asks the policies about all that the text of a line shows.
func explainLine(ctx context.Context, f *sandboxFlags, line string, trace io.Writer) (list []rego.Explanation, later []string, err error) {
	f.waist.audit, f.waist.breakers, f.waist.onError = "off", nil, "deny" // what is only imagined is neither recorded nor counted
	f.explain = true
	box, err := f.open(ctx, io.Discard, policy.Session{ID: "explain", Transport: "cli"})
	if err != nil {
		return nil, nil, err
	}
	defer box.Close()
	answers, later, err := box.explain(ctx, line, trace)
	if err != nil {
		return nil, nil, &exitError{exitNo, err}
	}
	for _, a := range answers {
		list = append(list, a.Explanation)
	}
	return list, later, nil
}

// An answer is what explain has found out about one action.
type answer struct {
	action policy.Action
	guess  []string // facts of it that may be others when it happens
	rego.Explanation
	refused bool // not by the policy: by a mount, or the list of hosts
}

// explain asks about a line as run would.
func (o *opened) explain(ctx context.Context, line string, trace io.Writer) (list []answer, later []string, err error) {
	o.subject.Terminal = policy.Terminal{ID: "cli", Cwd: "/workspace", Grants: []string{}}
	ctx = policy.WithSubject(ctx, o.subject)
	session, err := o.homes.session(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err := session.Inspect(ctx, policy.Command{Text: line, Cwd: "/workspace"})
	if err != nil {
		return nil, nil, err
	}
	ask := func(f sandbox.Foreseen) error {
		a := f.Action
		if trace != nil {
			fmt.Fprintf(trace, "# %s %s\n", a.Kind, policy.Describe(a))
			if err := rego.WriteTrace(ctx, trace, o.engine, a); err != nil {
				return err
			}
		}
		x := answer{action: a, guess: f.Open, Explanation: rego.Explain(ctx, o.engine, a, f.Open...)}
		if x.refused = f.Refused != "" && (a.Net != nil || x.Effect == policy.Allow.String()); x.refused {
			x.Effect, x.Reasons = policy.Deny.String(), []policy.Reason{{Msg: f.Refused}}
			if a.File != nil && len(x.Open) == 0 && slices.Contains(f.Open, "path") {
				x.Open = []string{"path"}
			}
		}
		if !slices.ContainsFunc(list, func(y answer) bool { return reflect.DeepEqual(x.action, y.action) && slices.Equal(x.guess, y.guess) }) {
			list = append(list, x)
		}
		return nil
	}
	whole := policy.Action{Kind: policy.KindCommand, Subject: o.subject, Command: &c}
	if err := ask(sandbox.Foreseen{Action: whole}); err != nil {
		return nil, nil, err
	}
	if d, err := policy.Check(ctx, o.engine, whole); err == nil {
		c.Oblige(d)
	}
	foreseen, err := session.Foresee(ctx, c, usesOf)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range foreseen {
		if f.Later == "" {
			f.Open = append(slices.Clone(f.Open), "usage")
			if err := ask(f); err != nil {
				return nil, nil, err
			}
		} else if !slices.Contains(later, f.Later) {
			later = append(later, f.Later)
		}
	}
	if _, constant := policy.ConstantOf(ctx, o.engine, policy.KindOutput); !constant {
		later = append(later, "output: decided when it is shown")
	}
	return list, later, nil
}
