package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// What set rules may contain, and the keys of the objects among it.
var memberKeys = map[string][]string{
	ruleDeny: messageKeys, ruleAsk: messageKeys, ruleWarn: messageKeys,
	ruleLimit: limitKeys, ruleRedact: redactKeys, ruleMount: mountKeys,
}

// checkMemberTypes refuses members that the type checker knows to have a shape
// which a decision would refuse: then every answer would be a denial, and only
// when it is too late.
func (s *snapshot) checkMemberTypes() (ps problems) {
	for _, name := range setRules {
		for _, r := range s.rules(name) {
			if r.Head.Key == nil || ast.IsConstant(r.Head.Key.Value) || r.Module == nil {
				continue // looked at where it is written, see checkMember
			}
			if _, written := r.Head.Key.Value.(ast.Object); written {
				continue
			}
			why := s.wrongMember(name, s.keyType(r))
			if why != "" {
				ps = append(ps, s.texts.lint(r.Head.Key.Loc(), "rule %q must contain %s, but contains %s", name, wantedMember(name), why))
			}
		}
	}
	return ps
}

// keyType is what is known of the members that one rule makes: the type of the
// expression that the key was computed by, as the compiler rewrote it.
func (s *snapshot) keyType(r *ast.Rule) types.Type {
	if ref, ok := r.Head.Key.Value.(ast.Ref); ok {
		return s.compiler.TypeEnv.GetByRef(ref)
	}
	if len(s.rules(headName(r))) > 1 {
		return nil // the checker knows only what all rules of the name make together
	}
	if set, ok := s.compiler.TypeEnv.GetByRef(r.Ref().GroundPrefix()).(*types.Set); ok {
		return set.Of()
	}
	return nil
}

func wantedMember(name string) string {
	switch name {
	case ruleDeny, ruleAsk, ruleWarn:
		return "strings or objects with msg"
	case ruleGoverns:
		return strings.Join(governable, " or ")
	case ruleUnsetEnv:
		return "names of variables"
	}
	return "objects with " + strings.Join(memberKeys[name], ", ")
}

// wrongMember says what is wrong with a member of type t, or "".
func (s *snapshot) wrongMember(name string, t types.Type) string {
	switch t := t.(type) {
	case nil:
		return ""
	case types.Any:
		for _, one := range t { // a union; without members it may be anything
			if why := s.wrongMember(name, one); why != "" {
				return why
			}
		}
		return ""
	case types.String:
		if memberKeys[name] != nil && name != ruleDeny && name != ruleAsk && name != ruleWarn {
			return "a string"
		}
		return ""
	case *types.Object:
		known := memberKeys[name]
		if known == nil {
			return "an object"
		}
		keys := map[string]types.Type{}
		for _, p := range t.StaticProperties() {
			k, ok := p.Key.(string)
			if !ok {
				return fmt.Sprintf("an object with the key %v", p.Key)
			}
			if keys[k] = p.Value; !slices.Contains(known, k) {
				why := fmt.Sprintf("an object with the key %q", k)
				if near := nearest(k, known); near != "" {
					why += "; did you mean " + near + "?"
				}
				return why
			}
		}
		if _, ok := keys["msg"]; !ok && slices.Contains(known, "msg") && t.DynamicProperties() == nil && len(keys) > 0 {
			return "an object without msg"
		}
		return ""
	}
	return "a value of type " + types.Sprint(t)
}
