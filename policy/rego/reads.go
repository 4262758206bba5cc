package rego

import (
	"slices"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
)

// Static analysis of what rules read. It errs on the side of reading more:
// what it misses would be a stale or wrong answer.

// inputReads says which top-level fields of the input any rule reads.
type inputReads struct {
	all    bool // the whole input, or a field computed at run time
	fields map[string]bool
}

func (r inputReads) has(field string) bool { return r.all || r.fields[field] }

// inputReads looks at every loaded module, whether its rules are used or not.
func (s *snapshot) inputReads() inputReads {
	out := inputReads{fields: map[string]bool{}}
	for _, m := range s.compiler.Modules {
		for _, ref := range inputRefs(m) {
			if field, ok := inputField(ref); ok {
				out.fields[field] = true
			} else {
				out.all = true
			}
		}
	}
	return out
}

// inputField returns the constant first key of a reference into the input.
func inputField(ref ast.Ref) (string, bool) {
	if len(ref) < 2 {
		return "", false
	}
	s, ok := ref[1].Value.(ast.String)
	return string(s), ok
}

// inputRefs returns every reference into the input in x, nested ones too; a
// bare `input` is a reference of length one.
func inputRefs(x any) (refs []ast.Ref) {
	var visit func(t *ast.Term) bool
	visit = func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Ref:
			if v[0].Equal(ast.InputRootDocument) {
				refs = append(refs, v)
			} else {
				ast.WalkTerms(v[0], visit)
			}
			for _, e := range v[1:] {
				ast.WalkTerms(e, visit)
			}
			return true
		case ast.Var:
			if v.Equal(ast.InputRootDocument.Value) {
				refs = append(refs, ast.InputRootRef)
			}
		}
		return false
	}
	ast.WalkTerms(x, visit)
	return refs
}

// reachable returns the rules that can take part in answering action k: those
// of the given names and, in turn, what they refer to, without rules that
// cannot hold for such an action.
func (s *snapshot) reachable(k policy.Kind, names []string) []*ast.Rule {
	seen := map[*ast.Rule]bool{}
	var queue []*ast.Rule
	push := func(r *ast.Rule) {
		for ; r != nil; r = r.Else {
			if !seen[r] {
				seen[r] = true
				queue = append(queue, r)
			}
		}
	}
	for _, n := range names {
		for _, r := range s.rules(n) {
			push(r)
		}
	}
	var out []*ast.Rule
	for len(queue) > 0 {
		r := queue[0]
		queue = queue[1:]
		if r.Else == nil && contradicts(r, k) {
			continue
		}
		out = append(out, r)
		for d := range s.compiler.Graph.Dependencies(r) {
			push(d.(*ast.Rule))
		}
	}
	return out
}

// contradicts reports that r cannot hold for actions of kind k, because one
// of its conditions needs another kind, or facts of another kind.
func contradicts(r *ast.Rule, k policy.Kind) bool {
	if r.Default {
		return false
	}
	for _, e := range r.Body {
		if e.Negated || len(e.With) > 0 {
			continue // absent facts make a negation true, and `with` changes the input
		}
		switch terms := e.Terms.(type) {
		case *ast.Term:
			if otherKind(terms, k) {
				return true
			}
		case []*ast.Term:
			args := terms[1:]
			if slices.ContainsFunc(args, func(t *ast.Term) bool { return otherKind(t, k) }) {
				return true
			}
			if len(args) == 2 && otherAction(terms[0].String(), args[0], args[1], k) {
				return true
			}
		}
	}
	return false
}

// otherKind reports whether t is a reference to facts that actions of kind k
// do not carry, so that it is undefined.
func otherKind(t *ast.Term, k policy.Kind) bool {
	ref, ok := t.Value.(ast.Ref)
	if !ok || !ref[0].Equal(ast.InputRootDocument) {
		return false
	}
	field, ok := inputField(ref)
	return ok && field != string(k) && slices.Contains(policy.Kinds(), policy.Kind(field))
}

var actionRef = ast.MustParseRef("input.action")

// otherAction reports whether op(a, b) compares input.action with constants
// none of which is k.
func otherAction(op string, a, b *ast.Term, k policy.Kind) bool {
	want := ast.String(k)
	switch op {
	case ast.Equality.Name, ast.Equal.Name:
		if b.Value.Compare(actionRef) == 0 {
			a, b = b, a
		}
		c, ok := b.Value.(ast.String)
		return ok && a.Value.Compare(actionRef) == 0 && c != want
	case ast.Member.Name:
		if a.Value.Compare(actionRef) != 0 || !b.IsGround() {
			return false
		}
		set, ok := b.Value.(ast.Set)
		return ok && !set.Contains(ast.NewTerm(want))
	}
	return false
}

// constant reports whether answers to actions of kind k depend on nothing but
// the kind.
func (s *snapshot) isConstant(k policy.Kind, names []string) bool {
	for _, r := range s.reachable(k, names) {
		plain := true
		ast.WalkExprs(r, func(e *ast.Expr) bool {
			// `with` may put facts where the analysis knows there are none.
			plain = plain && len(e.With) == 0
			return !plain
		})
		if !plain || s.nondeterministic(r) {
			return false
		}
		for _, ref := range inputRefs(r) {
			field, ok := inputField(ref)
			switch {
			case !ok:
				return false
			case field == "action", field != string(k) && slices.Contains(policy.Kinds(), policy.Kind(field)):
				// known, or known to be absent
			default:
				return false
			}
		}
	}
	return true
}

// nondeterministic reports whether r calls a builtin whose answer changes.
func (s *snapshot) nondeterministic(r *ast.Rule) (yes bool) {
	ast.WalkTerms(r, func(t *ast.Term) bool {
		if ref, ok := t.Value.(ast.Ref); ok {
			if b := s.builtin(ref.String()); b != nil && b.Nondeterministic {
				yes = true
			}
		}
		return yes
	})
	return yes
}

func (s *snapshot) builtin(name string) *ast.Builtin {
	for _, b := range s.compiler.Capabilities().Builtins {
		if b.Name == name {
			return b
		}
	}
	return nil
}
