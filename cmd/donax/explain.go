package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/rego"
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
their arguments name and the files it redirects to are asked about, by the same engine
that decides. What is only known at run time is listed as such; it is decided when it
runs. Exit status 0: nothing is denied; 1: something is.`,
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
	f.addPolicy(cmd)
	cmd.Flags().BoolVar(&trace, "trace", false, "write OPA's trace of each decision, every expression that was tried, to stderr")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// explain shows the demo's explanation of a line.
func explain(ctx context.Context, policyPath, line string, say func(string)) error {
	list, dynamic, err := explainLine(ctx, &sandboxFlags{policies: []string{policyPath}, quiet: true}, line, nil)
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
		fmt.Fprintf(w, "later         %s: decided when it runs\n", d)
	}
}

// explainLine asks the policies about all that the text of a line shows.
func explainLine(ctx context.Context, f *sandboxFlags, line string, trace io.Writer) (list []rego.Explanation, dynamic []string, err error) {
	f.defaults()
	box, err := f.open(ctx, io.Discard, policy.Session{ID: "explain", Transport: "cli"})
	if err != nil {
		return nil, nil, err
	}
	defer box.Close()
	c, err := box.Inspect(ctx, policy.Command{Text: line, Cwd: "/workspace"})
	if err != nil {
		return nil, nil, &exitError{exitNo, err}
	}
	subject := box.subject
	subject.Terminal = policy.Terminal{ID: "explain", Cwd: c.Cwd, Grants: []string{}}
	actions := []policy.Action{{Kind: policy.KindCommand, Subject: subject, Command: &c}}
	programs := map[string]string{} // canonical name to digest
	for _, p := range box.runtime.Programs() {
		programs[p.Usage().Name] = p.Usage().SHA256
	}
	if slices.Contains(c.Features, "unparsed") {
		dynamic = append(dynamic, "the rest of the text, which is no shell syntax")
	}
	for _, call := range c.Calls {
		name := path.Base(call.Name)
		kind := "shell"
		sum, inBox := programs[name]
		switch {
		case call.Name == "":
			dynamic = append(dynamic, fmt.Sprintf("a command whose name is computed, line %d", call.Line))
			continue
		case inBox:
			kind = "box"
		case !slices.Contains(askedBuiltins, name):
			actions = append(actions, foreseen(subject, c.Cwd, "", call)...) // its redirections
			continue
		}
		actions = append(actions, policy.Action{Kind: policy.KindExec, Subject: subject, Exec: &policy.Exec{
			Name: name, Args: call.Args, Kind: kind, SHA256: sum, Cwd: c.Cwd, Ancestors: []string{}, Assigns: call.Assigns,
		}})
		actions = append(actions, foreseen(subject, c.Cwd, name, call)...)
	}
	if trace != nil {
		for _, a := range actions {
			fmt.Fprintf(trace, "# %s %s\n", a.Kind, policy.Describe(a))
			if err := rego.WriteTrace(ctx, trace, box.engine, a); err != nil {
				return nil, nil, &exitError{exitNo, err}
			}
		}
	}
	return rego.Explain(ctx, box.engine, actions), dynamic, nil
}

// askedBuiltins are the shell's own commands that a policy is asked about:
// those that run text or other commands.
var askedBuiltins = []string{"sh", "bash", "eval", "source", ".", "exec"}
