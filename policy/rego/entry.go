package rego

import (
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// An entry point is one rule that answers everything, for people who have
// such a policy already.

// checkEntry refuses an entry point that no file defines.
func (s *snapshot) checkEntry() problems {
	rule := s.contract[0]
	if len(s.rules(rule)) > 0 {
		return nil
	}
	name := strings.TrimPrefix(s.pkg.String(), "data.") + "." + rule
	return problems{{Code: "policy_lint", Msg: "no file defines the entry point " + name}}
}

// interpretEntry reads the value of the entry point.
func (s *snapshot) interpretEntry(_ policy.Kind, got topdown.QueryResult) (answer, error) {
	rule := s.contract[0]
	undefined := &policy.Failure{Class: policy.FailUndefined}
	list, ok := binding(rule, got).(*ast.Array)
	if !ok || list.Len() == 0 {
		return answer{}, undefined
	}
	if list.Len() > 1 {
		return answer{}, wrongType("%s has several values", rule)
	}
	a := answer{by: rule}
	switch v := list.Elem(0).Value.(type) {
	case ast.Boolean:
		a.Effect = effectOf(bool(v))
		return a, nil
	case ast.Object:
		return a, s.readEntry(rule, v, &a.Decision)
	}
	return answer{}, wrongType("%s is %s, neither a boolean nor an object", rule, list.Elem(0))
}

func effectOf(allow bool) policy.Effect {
	if allow {
		return policy.Allow
	}
	return policy.Deny
}

// readEntry reads a decision object. Exactly one key gives the effect; a key
// that is not known makes the whole object unrecognised, because it may be the
// one that restricts.
func (s *snapshot) readEntry(rule string, obj ast.Object, d *policy.Decision) error {
	effects := 0
	effect := policy.Deny
	err := obj.Iter(func(k, v *ast.Term) error {
		key, _ := k.Value.(ast.String)
		switch string(key) {
		case "allow", "allowed":
			b, ok := v.Value.(ast.Boolean)
			if !ok {
				return wrongType("%s.%s is not a boolean", rule, string(key))
			}
			effects++
			effect = effectOf(bool(b))
		case "effect", "decision":
			effects++
			switch text, _ := v.Value.(ast.String); string(text) {
			case "allow":
				effect = policy.Allow
			case "ask":
				effect = policy.Ask
			case "deny":
				effect = policy.Deny
			default:
				return wrongType("%s.%s is %s, none of allow, ask, deny", rule, string(key), v)
			}
		case "reason", "message", "msg":
			text, ok := v.Value.(ast.String)
			if !ok {
				return wrongType("%s.%s is not text", rule, string(key))
			}
			if text != "" {
				d.Reasons = append(d.Reasons, policy.Reason{Msg: string(text)})
			}
		case "reasons":
			return eachMember(rule, k, v, func(t *ast.Term) error {
				r, err := message1(rule, t)
				d.Reasons = append(d.Reasons, r)
				return err
			})
		case "warnings":
			return eachMember(rule, k, v, func(t *ast.Term) error {
				r, err := message1(rule, t)
				d.Warnings = append(d.Warnings, r)
				return err
			})
		case "limits":
			l, err := limitOf(v)
			if err != nil {
				return wrongType("%s.limits: %w", rule, err)
			}
			d.Limits = d.Limits.Least(l)
		default:
			return wrongType("%s has the key %s", rule, k)
		}
		return nil
	})
	if err == nil && effects != 1 {
		err = wrongType("%s has %d keys that give the effect", rule, effects)
	}
	d.Effect = effect
	if err != nil {
		*d = policy.Decision{}
	}
	return err
}

func eachMember(rule string, k, v *ast.Term, f func(*ast.Term) error) error {
	switch list := v.Value.(type) {
	case *ast.Array:
		return list.Iter(f)
	case ast.Set:
		return list.Iter(f)
	}
	return wrongType("%s.%s is not a list", rule, k)
}
