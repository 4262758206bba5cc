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
		for _, ref := range inputRefs(m, nil) {
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

// inputRefs returns every reference into the input in x, nested ones too,
// except the terms in skip; a bare `input` is a reference of length one.
func inputRefs(x any, skip map[*ast.Term]bool) (refs []ast.Ref) {
	var visit func(t *ast.Term) bool
	visit = func(t *ast.Term) bool {
		if skip[t] {
			return true
		}
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

// A fact is a field whose value is known: input.action always is.
type fact struct {
	ref   ast.Ref
	value ast.String
}

// known is what the analysis may assume of an action: its kind, and perhaps
// the value of one more field.
type known struct {
	kind  policy.Kind
	facts []fact
}

var (
	actionRef = ast.MustParseRef("input.action")
	fileRef   = ast.MustParseRef("input.file")
)

func kindIs(k policy.Kind) known {
	return known{kind: k, facts: []fact{{actionRef, ast.String(k)}}}
}

func (k known) and(ref ast.Ref, value string) known {
	return known{kind: k.kind, facts: append(slices.Clip(k.facts), fact{ref, ast.String(value)})}
}

// reachable returns the rules that can take part in answering an action: those
// of the given names and, in turn, what they refer to, without rules that
// cannot hold for such an action.
func (s *snapshot) reachable(k known, names []string) []*ast.Rule {
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
		if r.Else == nil && k.neverRuns(r) {
			continue
		}
		out = append(out, r)
		for d := range s.compiler.Graph.Dependencies(r) {
			push(d.(*ast.Rule))
		}
	}
	return out
}

// contradicts reports that neither r nor an else of it can hold, because one of
// its conditions needs another kind, or facts of another kind, or another value
// of a known field.
func (k known) contradicts(r *ast.Rule) bool {
	for ; r != nil; r = r.Else {
		if r.Default || !slices.ContainsFunc(r.Body, k.excludes) {
			return false
		}
	}
	return true
}

// neverRuns is contradicts for analysis that must be exact: nothing that may
// fail comes before the condition that cannot hold. A builtin's error in front
// of it would deny, whatever the condition says.
func (k known) neverRuns(r *ast.Rule) bool {
	if r.Default {
		return false
	}
	for _, e := range r.Body {
		if k.excludes(e) {
			return true
		}
		if !harmless(e) {
			return false
		}
	}
	return false
}

// harmless reports whether e can neither fail nor ask other rules.
func harmless(e *ast.Expr) bool {
	if len(e.With) > 0 {
		return false
	}
	var args []*ast.Term
	switch terms := e.Terms.(type) {
	case *ast.Term:
		args = []*ast.Term{terms}
	case []*ast.Term:
		switch terms[0].String() {
		case ast.Equality.Name, ast.Equal.Name, ast.NotEqual.Name, ast.Member.Name:
		default:
			return false
		}
		args = terms[1:]
	default:
		return false
	}
	return !slices.ContainsFunc(args, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Ref:
			return !v[0].Equal(ast.InputRootDocument) || slices.ContainsFunc(v[1:], func(t *ast.Term) bool { return !ast.IsScalar(t.Value) })
		case ast.Var:
			return false
		}
		return !t.IsGround()
	})
}

// excludes reports whether e cannot hold.
func (k known) excludes(e *ast.Expr) bool {
	if e.Negated || len(e.With) > 0 {
		return false // absent facts make a negation true, and `with` changes the input
	}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		return k.absent(terms)
	case []*ast.Term:
		args := terms[1:]
		if slices.ContainsFunc(args, k.absent) {
			return true
		}
		return len(args) == 2 && k.differs(terms[0].String(), args[0], args[1])
	}
	return false
}

// absent reports whether t is a reference to facts that such actions do not
// carry, so that it is undefined.
func (k known) absent(t *ast.Term) bool {
	ref, ok := t.Value.(ast.Ref)
	if !ok || !ref[0].Equal(ast.InputRootDocument) {
		return false
	}
	field, ok := inputField(ref)
	return ok && field != string(k.kind) && slices.Contains(policy.Kinds(), policy.Kind(field))
}

// differs reports whether op(a, b) compares a known field with constants none
// of which is its value.
func (k known) differs(op string, a, b *ast.Term) bool {
	for _, f := range k.facts {
		x, y := a, b
		switch op {
		case ast.Equality.Name, ast.Equal.Name:
			if y.Value.Compare(f.ref) == 0 {
				x, y = y, x
			}
			if c, ok := y.Value.(ast.String); ok && x.Value.Compare(f.ref) == 0 && c != f.value {
				return true
			}
		case ast.Member.Name:
			if x.Value.Compare(f.ref) != 0 || !y.IsGround() {
				continue
			}
			if set, ok := y.Value.(ast.Set); ok && !set.Contains(ast.NewTerm(f.value)) {
				return true
			}
		}
	}
	return false
}

// dependence says on what the answers to a class of actions depend.
type dependence struct {
	any  bool      // on anything: the whole input, chance, the clock
	refs []ast.Ref // else on these fields, beside those that are known
}

// depends analyses what the answers to actions of which k is known depend on.
func (s *snapshot) depends(k known, names []string) (d dependence) {
	for _, r := range s.reachable(k, names) {
		about := s.about(r)
		if about.opaque {
			return dependence{any: true}
		}
		for _, ref := range about.refs {
			field, ok := inputField(ref)
			switch {
			case !ok:
				return dependence{any: true}
			case field == "action", field != string(k.kind) && slices.Contains(policy.Kinds(), policy.Kind(field)):
				// known, or known to be absent
			default:
				d.refs = append(d.refs, ref)
			}
		}
	}
	return d
}

// ruleReads is what one rule reads.
type ruleReads struct {
	opaque bool // uses `with`, which may put facts where there are none, or a builtin whose answer changes
	refs   []ast.Ref
}

// about analyses one rule, once.
func (s *snapshot) about(r *ast.Rule) ruleReads {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.ruleReads[r]; ok {
		return a
	}
	a := ruleReads{opaque: s.nondeterministic(r)}
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		a.opaque = a.opaque || len(e.With) > 0
		return a.opaque
	})
	present := map[*ast.Term]bool{}
	for _, e := range r.Body {
		if t, ok := e.Terms.(*ast.Term); ok && len(e.With) == 0 {
			// `input.exec` as a condition asks whether the object is there, which the kind says.
			if ref, ok := t.Value.(ast.Ref); ok && len(ref) == 2 && ref[0].Equal(ast.InputRootDocument) {
				if field, ok := inputField(ref); ok && slices.Contains(policy.Kinds(), policy.Kind(field)) {
					present[t] = true
				}
			}
		}
	}
	a.refs = inputRefs(r, present)
	if s.ruleReads == nil {
		s.ruleReads = map[*ast.Rule]ruleReads{}
	}
	s.ruleReads[r] = a
	return a
}

// nondeterministic reports whether r calls a builtin whose answer changes.
func (s *snapshot) nondeterministic(r *ast.Rule) (yes bool) {
	ast.WalkTerms(r, func(t *ast.Term) bool {
		if ref, ok := t.Value.(ast.Ref); ok && s.changing[ref.String()] {
			yes = true
		}
		return yes
	})
	return yes
}

// changingBuiltins returns the names of builtins whose answer changes.
func changingBuiltins() map[string]bool {
	out := map[string]bool{}
	for _, b := range newCapabilities().Builtins {
		if b.Nondeterministic {
			out[b.Name] = true
		}
	}
	return out
}
