package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
)

// beforeCompile finds what can be said of text that does not compile.
func (s *snapshot) beforeCompile(modules map[string]*ast.Module) problems {
	if s.entry {
		return nil
	}
	return s.checkKinds(modules)
}

// lint finds what compiles and yet does not mean what its author thinks.
func (s *snapshot) lint(modules map[string]*ast.Module) {
	var ps problems
	if s.entry {
		ps = append(ps, s.checkEntry()...)
	} else {
		ps = append(ps, s.checkKinds(modules)...)
		ps = append(ps, s.checkPackage(modules)...)
		ps = append(ps, s.checkAllowType()...)
		ps = append(ps, s.checkMemberTypes()...)
		ps = append(ps, s.checkObligations()...)
		ps = append(ps, s.checkReach()...)
		ps = append(ps, s.checkAround()...)
	}
	ps = append(ps, s.checkUnused()...)
	ps = append(ps, s.checkConstants(modules)...)
	ps = append(ps, s.checkData()...)
	ps.sort()
	s.problems = ps
}

// checkPackage finds a policy whose rules nobody asks.
func (s *snapshot) checkPackage(modules map[string]*ast.Module) (ps problems) {
	found := false
	for _, m := range modules {
		if s.inPackage(m) {
			found = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := modules[name]
		if s.inPackage(m) {
			continue
		}
		if p := m.Package.Path; len(p) > len(s.pkg) && p.HasPrefix(s.pkg) {
			if n, ok := p[len(s.pkg)].Value.(ast.String); ok && slices.Contains(allRules, string(n)) {
				ps = append(ps, s.texts.lint(m.Package.Loc(), "package %s takes the place of the rule %q", strings.TrimPrefix(p.String(), "data."), string(n)))
			}
		}
		for _, r := range m.Rules {
			if n := headName(r); slices.Contains(allRules, n) && len(r.Head.Args) == 0 && found {
				p := s.texts.lint(r.Loc(), "rule %q is in %s, but only %s is asked", n, m.Package.Path, s.pkg)
				p.Details = []string{"put it into package " + s.packageName()}
				ps = append(ps, p)
			}
		}
		if !found {
			p := s.texts.lint(m.Package.Loc(), "no file is in package %s, which is the one that is asked", s.packageName())
			name := strings.TrimPrefix(m.Package.Path.String(), "data.")
			p.Details = []string{"this file is in " + name, "to ask one rule of it instead: --policy-entrypoint " + strings.ReplaceAll(name, ".", "/") + "/RULE"}
			ps = append(ps, p)
		}
	}
	return ps
}

// checkUnused finds rules that no decision can reach: a misspelt deny is one.
func (s *snapshot) checkUnused() (ps problems) {
	used := map[*ast.Rule]bool{}
	var mark func(r *ast.Rule)
	mark = func(r *ast.Rule) {
		if used[r] {
			return
		}
		used[r] = true
		for d := range s.compiler.Graph.Dependencies(r) {
			mark(d.(*ast.Rule))
		}
	}
	for _, n := range s.contract {
		for _, r := range s.rules(n) {
			mark(r)
		}
	}
	for _, m := range s.compiler.Modules {
		seen := map[string]bool{}
		for _, r := range m.Rules {
			name := headName(r)
			if used[r] || seen[name] || slices.Contains(s.contract, name) && s.inPackage(m) {
				continue
			}
			seen[name] = true
			p := s.texts.lint(r.Loc(), "rule %q is never used", name)
			if s.inPackage(m) && !s.entry {
				if like := meant(name); like != "" {
					p.Details = []string{fmt.Sprintf("did you mean %q?", like)}
				}
			} else {
				p.Warning = true // a library may offer more than one policy needs
			}
			ps = append(ps, p)
		}
	}
	return ps
}

// checkConstants finds comparisons with values that the input never has. The
// compiler knows the types of fields, not their values.
func (s *snapshot) checkConstants(modules map[string]*ast.Module) (ps problems) {
	closed := enums()
	check := func(a, b *ast.Term) {
		ref, ok := a.Value.(ast.Ref)
		if !ok {
			return
		}
		values, ok := closed[ref.String()]
		if !ok {
			return
		}
		eachString(b, func(t *ast.Term, v string) {
			if slices.Contains(values, v) {
				return
			}
			p := s.texts.lint(t.Loc(), "%s is never %q", ref, v)
			p.Details = suggestion(v, values)
			ps = append(ps, p)
		})
	}
	compare := map[string]bool{ast.Equality.Name: true, ast.Equal.Name: true, ast.NotEqual.Name: true, ast.Member.Name: true, ast.Assign.Name: true}
	call := func(terms []*ast.Term) {
		if len(terms) == 3 && terms[0].String() == ast.Member.Name {
			ps = append(ps, s.checkCollection(terms[2])...)
		}
		if len(terms) == 3 && compare[terms[0].String()] {
			check(terms[1], terms[2])
			check(terms[2], terms[1])
		}
	}
	for _, m := range modules {
		ast.WalkExprs(m, func(e *ast.Expr) bool {
			if terms, ok := e.Terms.([]*ast.Term); ok {
				call(terms)
			}
			return false
		})
		ast.WalkTerms(m, func(t *ast.Term) bool {
			if c, ok := t.Value.(ast.Call); ok {
				call(c)
			}
			return false
		})
	}
	return ps
}

// checkCollection finds `x in y` where y is no collection: it never holds, and
// nobody says so.
func (s *snapshot) checkCollection(y *ast.Term) problems {
	kind := ""
	switch v := y.Value.(type) {
	case ast.String:
		kind = "string"
	case ast.Ref:
		_, n := parsedSchema()
		for i := 1; i < len(v) && n != nil; i++ {
			key, _ := v[i].Value.(ast.String)
			n = n.Properties[string(key)]
		}
		if n != nil && v[0].Equal(ast.InputRootDocument) {
			kind = n.Type
		}
	}
	if kind != "string" && kind != "integer" && kind != "boolean" {
		return nil
	}
	p := s.texts.lint(y.Loc(), "`in` never finds anything here: this is %s %s", map[bool]string{true: "an", false: "a"}[kind == "integer"], kind)
	p.Details = []string{"compare with ==, write a set after it as in {\"a\", \"b\"}, or look for a part of a text with contains(text, part)"}
	return problems{p}
}

// eachString calls f with t, or with the members of t, that are strings.
func eachString(t *ast.Term, f func(*ast.Term, string)) {
	one := func(t *ast.Term) {
		if v, ok := t.Value.(ast.String); ok {
			f(t, string(v))
		}
	}
	switch v := t.Value.(type) {
	case ast.String:
		one(t)
	case ast.Set:
		v.Foreach(one)
	case *ast.Array:
		v.Foreach(one)
	}
}

// checkData finds references to data that no loaded file defines. They are
// undefined for ever, which silently turns a deny off.
func (s *snapshot) checkData() (ps problems) {
	seen := map[string]bool{}
	for _, m := range s.compiler.Modules {
		ast.WalkRefs(m, func(ref ast.Ref) bool {
			if len(ref) < 2 || !ref[0].Equal(ast.DefaultRootDocument) || len(s.compiler.GetRulesDynamic(ref)) > 0 || len(s.compiler.GetRules(ref)) > 0 {
				return false
			}
			if name, ok := missing(ref, s.data); ok && !seen[name] && !s.isPackage(ref.ConstantPrefix()) {
				seen[name] = true
				p := s.texts.lint(ref[0].Loc(), "%s is not defined by any loaded file", name)
				ps = append(ps, p)
			}
			return false
		})
	}
	return ps
}

// missing reports the shortest constant prefix of ref that data lacks.
func missing(ref ast.Ref, data map[string]any) (string, bool) {
	var at any = data
	for i, t := range ref[1:] {
		key, ok := t.Value.(ast.String)
		if !ok {
			return "", false
		}
		object, ok := at.(map[string]any)
		if !ok {
			return "", false
		}
		if at, ok = object[string(key)]; !ok {
			return ref[:i+2].String(), true
		}
	}
	return "", false
}

// isPackage reports whether some module lives at or below ref.
func (s *snapshot) isPackage(ref ast.Ref) bool {
	for _, m := range s.compiler.Modules {
		if m.Package.Path.HasPrefix(ref) {
			return true
		}
	}
	return false
}

// checkObligations finds obligations that can never apply: they are set when a
// command is admitted, all but redactions also when a program starts, and only
// then.
func (s *snapshot) checkObligations() (ps problems) {
	for _, name := range obligationRules {
		for _, r := range s.rules(name) {
			if !kindIs(policy.KindCommand).contradicts(r) {
				continue
			}
			when := `input.action == "command"`
			if name != ruleRedact {
				when += ` or "exec"`
			}
			if name == ruleRedact || kindIs(policy.KindExec).contradicts(r) {
				p := s.texts.lint(r.Loc(), "this %s can never apply", name)
				p.Details = []string{"its conditions must be able to hold for " + when}
				ps = append(ps, p)
			}
		}
	}
	return ps
}

// checkReach warns of actions that are always denied.
func (s *snapshot) checkReach() (ps problems) {
	for _, k := range []policy.Kind{policy.KindCommand, policy.KindExec} {
		if s.mayAllow(k) {
			continue
		}
		p := Problem{Warning: true, Code: "policy_lint", Msg: fmt.Sprintf("no rule can allow action %q: every one is denied", k)}
		if k == policy.KindCommand {
			p.Msg += ", so nothing runs at all"
		}
		p.Details = []string{fmt.Sprintf("add: allow if input.action == %q", k)}
		ps = append(ps, p)
	}
	return ps
}

// around are operations on files that lead around a refusal of another one.
var around = []struct {
	op, msg, advice string
	forgotten       []string // any of them named somewhere is enough
}{
	{"write", "a file that is made anew is created, not written: no rule that refuses names \"create\"",
		`what changes files: input.file.op in {"write", "create", "remove", "rename", "chmod", "link"}`, []string{"create"}},
	{"read", "a file that is renamed or linked is then read by another name: no rule that refuses names \"rename\" or \"link\"",
		`what makes a file readable: input.file.op in {"read", "rename", "link"}, of which input.file.path is the file that there is`, []string{"rename", "link"}},
}

// checkAround warns where the rules that refuse know of an operation on files,
// but not of those that lead around it.
func (s *snapshot) checkAround() (ps problems) {
	found, named := map[string]*ast.Term{}, map[string]bool{}
	for _, name := range []string{ruleDeny, ruleAsk} {
		for _, r := range s.rules(name) {
			words := map[string]*ast.Term{}
			files := false
			ast.WalkTerms(r, func(t *ast.Term) bool {
				switch v := t.Value.(type) {
				case ast.Ref:
					files = files || v.HasPrefix(fileRef)
				case ast.String:
					words[string(v)], named[string(v)] = t, true
				}
				return false
			})
			// What a rule spares it does not refuse: input.file.op != "read".
			ast.WalkExprs(r, func(e *ast.Expr) bool {
				if e.Negated || e.IsCall() && e.Operator().Equal(ast.NotEqual.Ref()) {
					ast.WalkTerms(e, func(t *ast.Term) bool {
						if v, ok := t.Value.(ast.String); ok {
							delete(words, string(v))
						}
						return false
					})
				}
				return false
			})
			if files {
				maps.Copy(found, words)
			}
		}
	}
	for _, a := range around {
		t := found[a.op]
		if t == nil || t.Loc() == nil || slices.ContainsFunc(a.forgotten, func(op string) bool { return named[op] }) {
			continue
		}
		p := s.texts.lint(t.Loc(), "%s", a.msg)
		p.Warning = true
		p.Details = []string{a.advice}
		ps = append(ps, p)
	}
	return ps
}

// mayAllow reports whether some allow or ask rule can hold for kind k.
func (s *snapshot) mayAllow(k policy.Kind) bool {
	for _, name := range []string{ruleAllow, ruleAsk} {
		for _, r := range s.rules(name) {
			if r.Default && r.Head.Value.Equal(ast.BooleanTerm(false)) {
				continue
			}
			if !kindIs(k).contradicts(r) {
				return true
			}
		}
	}
	return false
}
