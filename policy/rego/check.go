package rego

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
)

// A Report is what [Check] found.
type Report struct {
	Hash     string         `json:"hash"`     // as [Engine.Hash]
	Files    []string       `json:"files"`    // modules, sorted
	Problems []Problem      `json:"problems"` // errors and warnings, in order of place
	Actions  []ActionReport `json:"actions"`  // empty when the policy does not load
}

// An ActionReport says how a policy treats one kind of action.
type ActionReport struct {
	Kind   policy.Kind `json:"action"`
	Rules  int         `json:"rules"`           // rules of the contract that can match
	Always string      `json:"always"`          // allow, ask or deny when no facts can change the answer; else ""
	Reads  []string    `json:"reads,omitempty"` // fields of the input that decide
	Asked  bool        `json:"asked"`           // whether this version of donax asks about it
}

// OK reports whether the policy loads.
func (r *Report) OK() bool { return len(problems(r.Problems).errors()) == 0 }

// String returns the report for people.
func (r *Report) String() string {
	var b strings.Builder
	for _, p := range r.Problems {
		b.WriteString(p.String() + "\n")
	}
	if !r.OK() {
		n := len(problems(r.Problems).errors())
		fmt.Fprintf(&b, "%d %s\n", n, plural(n, "error"))
		return b.String()
	}
	fmt.Fprintf(&b, "ok: %d %s, hash %s\n", len(r.Files), plural(len(r.Files), "file"), r.Hash)
	for _, a := range r.Actions {
		fmt.Fprintf(&b, "  %-8s ", a.Kind)
		switch {
		case a.Always != "":
			fmt.Fprintf(&b, "always %s", a.Always)
		default:
			fmt.Fprintf(&b, "%d %s, by %s", a.Rules, plural(a.Rules, "rule"), strings.Join(a.Reads, " "))
		}
		if !a.Asked {
			b.WriteString("  (not asked yet in this version)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

// Check does what [Load] does and reports everything it sees instead of an
// engine. The error is about reading files; findings about the texts are in
// the report.
func Check(ctx context.Context, c Config) (*Report, error) {
	s, err := load(ctx, c)
	if err != nil {
		return nil, err
	}
	r := &Report{Hash: s.hash, Files: slices.Sorted(maps.Keys(s.texts)), Problems: s.problems}
	if !r.OK() {
		return r, nil
	}
	for _, k := range policy.Kinds() {
		r.Actions = append(r.Actions, s.actionReport(k))
	}
	return r, nil
}

// askedNow are the actions that this version asks about.
var askedNow = []policy.Kind{policy.KindCommand, policy.KindExec, policy.KindFile, policy.KindNet, policy.KindTool, policy.KindOutput}

func (s *snapshot) actionReport(k policy.Kind) ActionReport {
	a := ActionReport{Kind: k, Asked: slices.Contains(askedNow, k)}
	if c := s.constant[k]; c != nil {
		a.Always = c.Effect.String()
	}
	reads := map[string]bool{}
	of := kindIs(k)
	for _, r := range s.reachable(of, s.queries[k].names) {
		if s.inPackage(r.Module) && slices.Contains(s.contract, headName(r)) && !r.Default {
			a.Rules++
		}
		for _, ref := range s.about(r).refs {
			if t := ast.NewTerm(ref); ref.HasPrefix(actionRef) || of.absent(t) {
				continue
			}
			reads[fieldName(ref)] = true
		}
	}
	a.Reads = slices.Sorted(maps.Keys(reads))
	return a
}

// fieldName writes a reference into the input as far as it names fields:
// exec.args for input.exec.args[0].
func fieldName(ref ast.Ref) string {
	var parts []string
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		parts = append(parts, string(s))
	}
	if len(parts) == 0 {
		return "the whole input"
	}
	return strings.Join(parts, ".")
}
