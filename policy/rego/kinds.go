package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// The rules of the contract.
const (
	ruleAllow   = "allow"
	ruleDeny    = "deny"
	ruleAsk     = "ask"
	ruleWarn    = "warn"
	ruleLimit   = "limit"
	ruleGoverns = "governs"

	ruleRedact   = "redact"
	ruleUnsetEnv = "unset_env"
	ruleMount    = "mount"
)

var (
	// optional are obligations that somebody outside must carry out: loading
	// them without that would promise a protection that is not there.
	optional = []string{ruleRedact, ruleUnsetEnv, ruleMount}
	// obligationRules hold while a command runs and are asked when it is admitted; limit also of one program.
	obligationRules = append([]string{ruleLimit}, optional...)
	setRules        = append([]string{ruleDeny, ruleAsk, ruleWarn, ruleGoverns}, obligationRules...)
	// allRules are those that Decide evaluates.
	allRules = append([]string{ruleAllow}, setRules...)
	// messageKeys are the keys of a message object, limitKeys those of a limit.
	messageKeys = []string{"msg", "rule", "hint", "line", "severity", "details"}
	limitKeys   = []string{"timeout_ms", "output_bytes", "memory_bytes", "commands"}
	// governable are the kinds that need no allow unless governs names them.
	governable = []string{"file", "output"}
)

// synonyms are names that people coming from other tools use.
var synonyms = map[string]string{
	"violation": ruleDeny, "violations": ruleDeny, "denied": ruleDeny, "forbid": ruleDeny, "block": ruleDeny, "reject": ruleDeny,
	"allowed": ruleAllow, "permit": ruleAllow, "permitted": ruleAllow, "allow_all": ruleAllow,
	"warning": ruleWarn, "warnings": ruleWarn, "approve": ruleAsk, "confirm": ruleAsk, "limits": ruleLimit,
}

// meant returns the contract rule that name probably stands for, or "".
func meant(name string) string {
	if m := synonyms[name]; m != "" {
		return m
	}
	for _, r := range allRules {
		if strings.HasPrefix(name, r+"_") { // deny_network: a convention of conftest, not of ours
			return r
		}
	}
	return nearest(name, allRules)
}

// nearest returns the candidate within two edits of name, or "".
func nearest(name string, candidates []string) string {
	best, at := 3, ""
	for _, c := range candidates {
		if d := distance(name, c); d > 0 && d < best && d < len(c) {
			best, at = d, c
		}
	}
	return at
}

// distance is the edit distance, a swap of neighbours counting one.
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			change := prev[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			cur[j] = min(change, prev[j]+1, cur[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// checkKinds refuses contract rules of the wrong kind: `deny if ...` would be
// a boolean that nobody reads as a denial.
func (s *snapshot) checkKinds(modules map[string]*ast.Module) (ps problems) {
	for _, m := range modules {
		if !s.inPackage(m) {
			continue
		}
		for _, r := range m.Rules {
			name := headName(r)
			switch {
			case slices.Contains(optional, name) && !slices.Contains(s.cfg.Enforce, name):
				p := s.texts.lint(r.Loc(), "rule %q is not enforced here", name)
				p.Details = []string{"it would promise a protection that is not there: remove it"}
				ps = append(ps, p)
			case len(r.Head.Args) > 0 && slices.Contains(allRules, name):
				ps = append(ps, s.texts.lint(r.Loc(), "rule %q must not be a function", name))
			case slices.Contains(setRules, name):
				if r.Head.RuleKind() != ast.MultiValue || len(r.Head.Ref()) != 1 {
					ps = append(ps, s.texts.lint(r.Loc(), "rule %q must be a set: write `%s contains ... if { ... }`", name, name))
					continue
				}
				ps = append(ps, s.checkMember(name, r)...)
			case name == ruleAllow:
				if p, ok := s.checkAllow(r); !ok {
					ps = append(ps, p)
				}
			}
		}
	}
	return ps
}

func headName(r *ast.Rule) string {
	if ref := r.Head.Ref(); len(ref) > 0 {
		switch v := ref[0].Value.(type) {
		case ast.Var:
			return string(v)
		case ast.String:
			return string(v)
		}
	}
	return r.Head.Name.String()
}

func (s *snapshot) checkAllow(r *ast.Rule) (Problem, bool) {
	if r.Head.RuleKind() == ast.MultiValue || len(r.Head.Ref()) != 1 {
		return s.texts.lint(r.Loc(), "rule \"allow\" must be a boolean: write `allow if { ... }`"), false
	}
	for e := r; e != nil; e = e.Else {
		if v := e.Head.Value; v != nil && ast.IsConstant(v.Value) {
			if _, ok := v.Value.(ast.Boolean); !ok {
				return s.texts.lint(e.Loc(), "rule \"allow\" must be true or false, not %s", v), false
			}
		}
	}
	return Problem{}, true
}

// checkMember looks at what a set rule contains, as far as it is written out.
func (s *snapshot) checkMember(name string, r *ast.Rule) (ps problems) {
	if slices.Contains(obligationRules, name) {
		return s.checkObligation(name, r)
	}
	switch v := r.Head.Key.Value.(type) {
	case ast.Object:
		if name == ruleGoverns {
			return problems{s.texts.lint(r.Loc(), "rule \"governs\" contains names of actions: %s", strings.Join(governable, ", "))}
		}
		ps = s.checkKeys(name, v, messageKeys)
		if v.Get(ast.InternedTerm("msg")) == nil {
			ps = append(ps, s.texts.lint(r.Loc(), "a message of %q needs the key \"msg\"", name))
		}
	case ast.String:
		switch {
		case name == ruleGoverns && !slices.Contains(governable, string(v)):
			p := s.texts.lint(r.Loc(), "rule \"governs\" does not know %q", string(v))
			p.Details = suggestion(string(v), governable)
			ps = append(ps, p)
		case v == "":
			ps = append(ps, s.texts.lint(r.Loc(), "a message must not be empty"))
		}
	case ast.Number, ast.Boolean, ast.Null, *ast.Array, ast.Set:
		ps = append(ps, s.texts.lint(r.Loc(), "rule %q must contain strings or objects, not %s", name, r.Head.Key))
	}
	return ps
}

func suggestion(name string, known []string) []string {
	if n := nearest(name, known); n != "" {
		return []string{"did you mean " + n + "?"}
	}
	return []string{"known: " + strings.Join(known, ", ")}
}

// checkAllowType refuses an allow that the type checker knows not to be a
// boolean.
func (s *snapshot) checkAllowType() (ps problems) {
	rules := s.rules(ruleAllow)
	if len(rules) == 0 {
		return nil
	}
	switch t := s.compiler.TypeEnv.GetByRef(rules[0].Ref()).(type) {
	case nil, types.Boolean, types.Any:
	default:
		ps = append(ps, s.texts.lint(rules[0].Loc(), "rule \"allow\" must be true or false, but is %s", types.Sprint(t)))
	}
	return ps
}
