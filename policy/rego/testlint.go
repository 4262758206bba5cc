package rego

import (
	"maps"
	"slices"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
)

// The type checker never looks at the inputs that tests make up, so a test may
// prove a rule with a field that no action has. This finds what is written out.

// checkTestInputs compares made-up inputs with the schema: objects that have
// a known "action", and the targets of `with input...`.
func (t texts) checkTestInputs(modules map[string]*ast.Module) (ps problems) {
	_, schema := parsedSchema()
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		ast.WalkTerms(modules[name], func(term *ast.Term) bool {
			if obj, ok := term.Value.(ast.Object); ok && isInput(obj) {
				ps = append(ps, t.checkValue("input", term, schema)...)
			}
			return false
		})
		ast.WalkWiths(modules[name], func(w *ast.With) bool {
			ref, ok := w.Target.Value.(ast.Ref)
			if !ok || !ref[0].Equal(ast.InputRootDocument) {
				return false
			}
			ps = append(ps, t.checkTarget(ref, w, schema)...)
			return false
		})
	}
	ps.sort()
	return ps
}

// isInput reports whether obj looks like an input document.
func isInput(obj ast.Object) bool {
	action := obj.Get(ast.InternedTerm("action"))
	if action == nil {
		return false
	}
	v, ok := action.Value.(ast.String)
	return ok && slices.Contains(policy.Kinds(), policy.Kind(v))
}

func (t texts) checkValue(at string, term *ast.Term, n *schemaNode) (ps problems) {
	switch v := term.Value.(type) {
	case ast.Object:
		if n.Properties == nil {
			return nil // free-form
		}
		v.Foreach(func(k, val *ast.Term) {
			key, ok := k.Value.(ast.String)
			if !ok {
				return
			}
			next := n.Properties[string(key)]
			if next == nil {
				p := t.lint(k.Loc(), "%s has no field %q", at, string(key))
				p.Details = suggestion(string(key), slices.Sorted(maps.Keys(n.Properties)))
				ps = append(ps, p)
				return
			}
			ps = append(ps, t.checkValue(at+"."+string(key), val, next)...)
		})
	case *ast.Array:
		if n.Items != nil {
			v.Foreach(func(e *ast.Term) { ps = append(ps, t.checkValue(at+"[_]", e, n.Items)...) })
		}
	case ast.String:
		if len(n.Enum) > 0 && !slices.Contains(n.Enum, string(v)) {
			p := t.lint(term.Loc(), "%s is never %q", at, string(v))
			p.Details = suggestion(string(v), n.Enum)
			ps = append(ps, p)
		}
	}
	if want := n.Type; want != "" && ast.IsConstant(term.Value) && !fits(term.Value, want) {
		ps = append(ps, t.lint(term.Loc(), "%s is %s, not %s", at, want, ast.ValueName(term.Value)))
	}
	return ps
}

func fits(v ast.Value, want string) bool {
	switch v := v.(type) {
	case ast.String:
		return want == "string"
	case ast.Boolean:
		return want == "boolean"
	case ast.Number:
		_, whole := v.Int64()
		return want == "integer" && whole
	case *ast.Array:
		return want == "array"
	case ast.Object:
		return want == "object"
	}
	return false
}

func (t texts) checkTarget(ref ast.Ref, w *ast.With, n *schemaNode) (ps problems) {
	at := "input"
	for _, term := range ref[1:] {
		key, ok := term.Value.(ast.String)
		if !ok || n.Properties == nil {
			return nil
		}
		next := n.Properties[string(key)]
		if next == nil {
			p := t.lint(w.Target.Loc(), "%s has no field %q", at, string(key))
			p.Details = suggestion(string(key), slices.Sorted(maps.Keys(n.Properties)))
			return problems{p}
		}
		at, n = at+"."+string(key), next
	}
	if at == "input" {
		return nil // objects are found by their action
	}
	return t.checkValue(at, w.Value, n)
}
