package rego

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Keys of obligations.
var (
	redactKeys = []string{"name", "pattern", "until", "replace"}
	mountKeys  = []string{"path", "mode"}
)

func checkMount(m policy.MountRule) error {
	if !path.IsAbs(m.Path) || path.Clean(m.Path) != m.Path {
		return fmt.Errorf("mount path %q is not absolute and clean", m.Path)
	}
	if !slices.Contains(policy.MountModes(), m.Mode) {
		return fmt.Errorf("mount mode %q is none of ro, cow, rw", m.Mode)
	}
	return nil
}

func checkVariable(name string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return fmt.Errorf("%q is not the name of a variable", name)
	}
	return nil
}

// obligations reads the sets of obligations into d.
func obligations(got topdown.QueryResult, d *policy.Decision) error {
	err := members(ruleLimit, got, func(t *ast.Term) error {
		l, err := limitOf(t)
		d.Limits = d.Limits.Least(l)
		return err
	})
	if err != nil {
		return err
	}
	err = members(ruleRedact, got, func(t *ast.Term) error {
		m, err := stringsOf(t, redactKeys)
		if err != nil {
			return err
		}
		r := policy.Redaction{Name: m["name"], Pattern: m["pattern"], Until: m["until"], Replace: m["replace"]}
		d.Redact = append(d.Redact, r)
		return r.Check()
	})
	if err != nil {
		return err
	}
	err = members(ruleUnsetEnv, got, func(t *ast.Term) error {
		name, ok := t.Value.(ast.String)
		if !ok {
			return fmt.Errorf("%s is not text", t)
		}
		d.UnsetEnv = append(d.UnsetEnv, string(name))
		return checkVariable(string(name))
	})
	if err != nil {
		return err
	}
	err = members(ruleMount, got, func(t *ast.Term) error {
		m, err := stringsOf(t, mountKeys)
		if err != nil {
			return err
		}
		r := policy.MountRule{Path: m["path"], Mode: policy.MountMode(m["mode"])}
		d.Mounts = append(d.Mounts, r)
		return checkMount(r)
	})
	d.Mounts = policy.StrictestMounts(d.Mounts)
	return err
}

// members calls f with each member of a set rule, in a fixed order; an error
// of f is a wrong type.
func members(rule string, got topdown.QueryResult, f func(*ast.Term) error) error {
	v := binding(rule, got)
	if v == nil {
		return nil
	}
	set, ok := v.(ast.Set)
	if !ok {
		return wrongType("%s is not a set", rule)
	}
	for _, t := range set.Slice() {
		if err := f(t); err != nil {
			return wrongType("%s contains %s: %w", rule, t, err)
		}
	}
	return nil
}

// stringsOf reads an object of strings with known keys.
func stringsOf(t *ast.Term, known []string) (map[string]string, error) {
	obj, ok := t.Value.(ast.Object)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	out := map[string]string{}
	return out, obj.Iter(func(k, v *ast.Term) error {
		key, _ := k.Value.(ast.String)
		text, ok := v.Value.(ast.String)
		if !ok || !slices.Contains(known, string(key)) {
			return fmt.Errorf("key %s is unknown or not text", k)
		}
		out[string(key)] = string(text)
		return nil
	})
}

// limitOf reads one member of the limit rule.
func limitOf(t *ast.Term) (out policy.Limits, err error) {
	obj, ok := t.Value.(ast.Object)
	if !ok {
		return out, errors.New("it is not an object")
	}
	err = obj.Iter(func(k, val *ast.Term) error {
		num, ok := val.Value.(ast.Number)
		n, whole := num.Int64()
		if !ok || !whole || n <= 0 {
			return fmt.Errorf("%s is not a whole number above 0", val)
		}
		var one policy.Limits
		key, _ := k.Value.(ast.String)
		switch string(key) {
		case "timeout_ms":
			one.TimeoutMS = n
		case "output_bytes":
			one.OutputBytes = n
		case "memory_bytes":
			one.MemoryBytes = n
		case "commands":
			one.Commands = n
		default:
			return fmt.Errorf("there is no limit %s", k)
		}
		out = out.Least(one)
		return nil
	})
	return out, err
}

// checkObligation looks at a member of an obligation as far as it is written
// out.
func (s *snapshot) checkObligation(name string, r *ast.Rule) (ps problems) {
	key := r.Head.Key
	wrong := func(t *ast.Term, err error) {
		if err != nil {
			ps = append(ps, s.texts.lint(t.Loc(), "rule %q: %v", name, err))
		}
	}
	text := func(obj ast.Object, k string) (string, bool) {
		t := obj.Get(ast.StringTerm(k))
		if t == nil {
			return "", true
		}
		v, ok := t.Value.(ast.String)
		return string(v), ok
	}
	obj, isObject := key.Value.(ast.Object)
	switch {
	case name == ruleUnsetEnv:
		if v, ok := key.Value.(ast.String); ok {
			wrong(key, checkVariable(string(v)))
		} else if isObject {
			wrong(key, errors.New("it contains names of variables"))
		}
	case ast.IsConstant(key.Value) && !isObject:
		wrong(key, errors.New("it contains objects"))
	case isObject && name == ruleRedact:
		ps = append(ps, s.checkKeys(name, obj, redactKeys)...)
		n, ok1 := text(obj, "name")
		p, ok2 := text(obj, "pattern")
		u, ok3 := text(obj, "until")
		if ok1 && ok2 && ok3 {
			wrong(key, policy.Redaction{Name: n, Pattern: p, Until: u}.Check())
		}
	case isObject && name == ruleMount:
		ps = append(ps, s.checkKeys(name, obj, mountKeys)...)
		p, ok1 := text(obj, "path")
		m, ok2 := text(obj, "mode")
		if ok1 && ok2 {
			wrong(key, checkMount(policy.MountRule{Path: p, Mode: policy.MountMode(m)}))
		}
	case isObject && name == ruleLimit:
		ps = append(ps, s.checkKeys(name, obj, limitKeys)...)
		obj.Foreach(func(_, val *ast.Term) {
			if n, ok := val.Value.(ast.Number); ok {
				if i, whole := n.Int64(); !whole || i <= 0 {
					ps = append(ps, s.texts.lint(val.Loc(), "a limit must be a whole number above 0, not %s", n))
				}
			}
		})
	}
	return ps
}

// checkKeys refuses keys that are not known.
func (s *snapshot) checkKeys(name string, obj ast.Object, known []string) (ps problems) {
	obj.Foreach(func(k, _ *ast.Term) {
		if key, ok := k.Value.(ast.String); ok && !slices.Contains(known, string(key)) {
			p := s.texts.lint(k.Loc(), "rule %q knows no key %q", name, string(key))
			p.Details = suggestion(string(key), known)
			ps = append(ps, p)
		}
	})
	return ps
}
