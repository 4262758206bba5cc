package rego

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// An answer is a decision and what attribution needs.
type answer struct {
	policy.Decision
	by      string      // the rule that decided: deny, ask or allow; "" for the default
	members []*ast.Term // what each of Reasons was made from
}

// interpret reads the bindings of a query. Shapes it does not know are
// failures, never "no opinion".
func (s *snapshot) interpret(k policy.Kind, got topdown.QueryResult) (answer, error) {
	var a answer
	var err error
	if a.Warnings, _, err = messages(ruleWarn, got); err != nil {
		return answer{}, err
	}
	denies, denyTerms, err := messages(ruleDeny, got)
	if err != nil {
		return answer{}, err
	}
	asks, askTerms, err := messages(ruleAsk, got)
	if err != nil {
		return answer{}, err
	}
	allowed, err := allows(got)
	if err != nil {
		return answer{}, err
	}
	needsAllow, err := governed(k, got)
	if err != nil {
		return answer{}, err
	}
	if err := obligations(got, &a.Decision); err != nil {
		return answer{}, err
	}
	switch {
	case len(denies) > 0:
		a.Effect, a.Reasons, a.members, a.by = policy.Deny, denies, denyTerms, ruleDeny
	case len(asks) > 0:
		a.Effect, a.Reasons, a.members, a.by = policy.Ask, asks, askTerms, ruleAsk
	case allowed:
		a.Effect, a.by = policy.Allow, ruleAllow
	case !needsAllow:
		a.Effect = policy.Allow
	default:
		a.Effect = policy.Deny
	}
	return a, nil
}

func wrongType(format string, args ...any) error {
	return &policy.Failure{Class: policy.FailType, Err: fmt.Errorf(format, args...)}
}

func binding(name string, got topdown.QueryResult) ast.Value {
	if t := got[ast.Var("r_"+name)]; t != nil {
		return t.Value
	}
	return nil
}

func allows(got topdown.QueryResult) (bool, error) {
	v := binding(ruleAllow, got)
	if v == nil {
		return false, nil
	}
	list, ok := v.(*ast.Array)
	if !ok || list.Len() > 1 {
		return false, wrongType("allow has several values")
	}
	if list.Len() == 0 {
		return false, nil
	}
	b, ok := list.Elem(0).Value.(ast.Boolean)
	if !ok {
		return false, wrongType("allow is %s, not a boolean", list.Elem(0))
	}
	return bool(b), nil
}

// governed reports whether kind k needs allow.
func governed(k policy.Kind, got topdown.QueryResult) (bool, error) {
	if !slices.Contains(governable, string(k)) {
		return true, nil
	}
	v := binding(ruleGoverns, got)
	if v == nil {
		return false, nil
	}
	set, ok := v.(ast.Set)
	if !ok {
		return false, wrongType("governs is not a set")
	}
	var bad *ast.Term
	yes := false
	set.Foreach(func(t *ast.Term) {
		name, ok := t.Value.(ast.String)
		if !ok || !slices.Contains(governable, string(name)) {
			bad = t
		}
		yes = yes || string(name) == string(k)
	})
	if bad != nil {
		return false, wrongType("governs contains %s", bad)
	}
	return yes, nil
}

// messages reads a set of messages, in the order of rule name and text.
func messages(rule string, got topdown.QueryResult) ([]policy.Reason, []*ast.Term, error) {
	v := binding(rule, got)
	if v == nil {
		return nil, nil, nil
	}
	set, ok := v.(ast.Set)
	if !ok {
		return nil, nil, wrongType("%s is not a set", rule)
	}
	if set.Len() == 0 {
		return nil, nil, nil
	}
	type message struct {
		policy.Reason
		term *ast.Term
	}
	list := make([]message, 0, set.Len())
	for _, t := range set.Slice() {
		r, err := message1(rule, t)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, message{r, t})
	}
	slices.SortStableFunc(list, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Msg, b.Msg), cmp.Compare(a.Hint, b.Hint))
	})
	reasons, terms := make([]policy.Reason, len(list)), make([]*ast.Term, len(list))
	for i, m := range list {
		reasons[i], terms[i] = m.Reason, m.term
	}
	return reasons, terms, nil
}

func message1(rule string, t *ast.Term) (policy.Reason, error) {
	switch v := t.Value.(type) {
	case ast.String:
		if v == "" {
			return policy.Reason{}, wrongType("%s contains an empty message", rule)
		}
		return policy.Reason{Msg: string(v)}, nil
	case ast.Object:
		var r policy.Reason
		err := v.Iter(func(k, val *ast.Term) error {
			key, _ := k.Value.(ast.String)
			var into *string
			switch string(key) {
			case "msg":
				into = &r.Msg
			case "rule":
				into = &r.Rule
			case "hint":
				into = &r.Hint
			case "line", "severity", "details": // for logs and tests
				return nil
			default:
				return wrongType("%s contains a message with the key %s", rule, k)
			}
			s, ok := val.Value.(ast.String)
			if !ok {
				return wrongType("%s: %s is not text", rule, k)
			}
			*into = string(s)
			return nil
		})
		if err == nil && r.Msg == "" {
			err = wrongType("%s contains a message without msg", rule)
		}
		return r, err
	}
	return policy.Reason{}, wrongType("%s contains %s, neither text nor an object", rule, t)
}
