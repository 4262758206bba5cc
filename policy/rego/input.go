package rego

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
)

// The input document is built as Rego terms: going through JSON would cost
// more than most policies. A test compares it with what JSON would give.

// facts builds terms and counts what they weigh.
type facts struct {
	size int
	err  error
}

// weight is what every value counts beside its text.
const weight = 16

func (f *facts) str(s string) *ast.Term {
	f.size += len(s) + weight
	return ast.StringTerm(s)
}

func (f *facts) num(n int64) *ast.Term {
	f.size += weight
	if int64(int(n)) != n { // on 32-bit machines
		return ast.NumberTerm(json.Number(strconv.FormatInt(n, 10)))
	}
	return ast.InternedTerm(int(n))
}

func (f *facts) strs(list []string) *ast.Term {
	f.size += weight
	terms := make([]*ast.Term, len(list))
	for i, s := range list {
		terms[i] = f.str(s)
	}
	return ast.ArrayTerm(terms...)
}

func (f *facts) ints(list []int) *ast.Term {
	terms := make([]*ast.Term, len(list))
	for i, n := range list {
		terms[i] = f.num(int64(n))
	}
	return ast.ArrayTerm(terms...)
}

// free converts a free-form map: claims, tool arguments.
func (f *facts) free(m map[string]any) *ast.Term {
	if len(m) == 0 {
		return object()
	}
	f.size += weighFree(m, 0)
	v, err := ast.InterfaceToValue(m)
	if err != nil {
		f.err = err
		return object()
	}
	return ast.NewTerm(v)
}

// maxFreeDepth bounds the nesting of free-form values.
const maxFreeDepth = 100

// weighFree weighs what clients can make large. Too deep counts as too large.
func weighFree(v any, depth int) int {
	if depth > maxFreeDepth {
		return 1 << 30
	}
	n := weight
	switch v := v.(type) {
	case string:
		n += len(v)
	case map[string]any:
		for k, e := range v {
			n += len(k) + weighFree(e, depth+1)
		}
	case []any:
		for _, e := range v {
			n += weighFree(e, depth+1)
		}
	}
	return n
}

func object(fields ...[2]*ast.Term) *ast.Term { return ast.NewTerm(ast.NewObject(fields...)) }

// kv pairs a key with a value; keys are interned.
func kv(key string, v *ast.Term) [2]*ast.Term { return [2]*ast.Term{ast.InternedTerm(key), v} }

func boolean(b bool) *ast.Term { return ast.InternedTerm(b) }

var (
	errFacts = errors.New("the facts do not fit the action's kind")
	errLarge = errors.New("the facts are larger than rules are given")
)

// input builds the document for a, leaving out fields that no rule reads.
func (s *snapshot) input(a *policy.Action) (*ast.Term, error) {
	if !wellFormed(a) {
		return nil, &policy.Failure{Class: policy.FailAction, Err: fmt.Errorf("%w: %q", errFacts, a.Kind)}
	}
	var f facts
	fields := make([][2]*ast.Term, 0, 6)
	fields = append(fields, kv("action", ast.InternedTerm(string(a.Kind))))
	if s.reads.has("principal") || s.reads.has("session") || s.reads.has("terminal") {
		sub, err := s.subjects.get(&a.Subject)
		if err != nil {
			return nil, &policy.Failure{Class: policy.FailAction, Err: err}
		}
		f.size += sub.size
		fields = append(fields, kv("principal", sub.principal), kv("session", sub.session), kv("terminal", sub.terminal))
	}
	if s.reads.has("usage") {
		fields = append(fields, kv("usage", f.usage(&a.Usage)))
	}
	if s.reads.has(string(a.Kind)) {
		fields = append(fields, kv(string(a.Kind), f.object(a)))
	}
	if f.err != nil {
		return nil, &policy.Failure{Class: policy.FailAction, Err: f.err}
	}
	if f.size > s.cfg.MaxInput {
		return nil, &policy.Failure{Class: policy.FailTooLarge, Err: fmt.Errorf("%w: %d bytes, limit %d", errLarge, f.size, s.cfg.MaxInput)}
	}
	return object(fields...), nil
}

// wellFormed reports whether a carries the facts of its kind and no others:
// analysis relies on facts of other kinds being undefined.
func wellFormed(a *policy.Action) bool {
	set := [...]bool{a.Command != nil, a.Exec != nil, a.File != nil, a.Net != nil, a.Tool != nil, a.Module != nil, a.Output != nil}
	i := slices.Index(policy.Kinds(), a.Kind)
	if i < 0 {
		return false
	}
	for j, has := range set {
		if has != (i == j) {
			return false
		}
	}
	return true
}

func (f *facts) object(a *policy.Action) *ast.Term {
	switch {
	case a.Command != nil:
		return f.command(a.Command)
	case a.Exec != nil:
		return f.exec(a.Exec)
	case a.File != nil:
		return f.file(a.File)
	case a.Net != nil:
		return f.net(a.Net)
	case a.Tool != nil:
		return f.tool(a.Tool)
	case a.Module != nil:
		return f.module(a.Module)
	}
	return f.output(a.Output)
}

func (f *facts) exec(x *policy.Exec) *ast.Term {
	return object(
		kv("name", f.str(x.Name)), kv("args", f.strs(x.Args)), kv("kind", f.str(x.Kind)), kv("sha256", f.str(x.SHA256)),
		kv("cwd", f.str(x.Cwd)), kv("depth", f.num(int64(x.Depth))), kv("ancestors", f.strs(x.Ancestors)),
		kv("assigns", f.strs(x.Assigns)), kv("background", boolean(x.Background)))
}

func (f *facts) file(x *policy.File) *ast.Term {
	return object(
		kv("op", f.str(x.Op)), kv("path", f.str(x.Path)), kv("requested", f.str(x.Requested)), kv("to", f.str(x.To)),
		kv("mount", f.str(x.Mount)), kv("by", f.str(x.By)))
}

func (f *facts) command(x *policy.Command) *ast.Term {
	calls := make([]*ast.Term, len(x.Calls))
	for i := range x.Calls {
		calls[i] = f.call(&x.Calls[i])
	}
	return object(
		kv("text", f.str(x.Text)), kv("args", f.strs(x.Args)), kv("params", f.strs(x.Params)), kv("cwd", f.str(x.Cwd)),
		kv("env", f.strs(x.Env)), kv("static", boolean(x.Static)), kv("calls", ast.ArrayTerm(calls...)),
		kv("features", f.strs(x.Features)), kv("limits", f.limits(x.Limits)))
}

func (f *facts) call(c *policy.Call) *ast.Term {
	redirects := make([]*ast.Term, len(c.Redirects))
	for i, r := range c.Redirects {
		redirects[i] = object(kv("op", f.str(r.Op)), kv("target", f.str(r.Target)))
	}
	return object(
		kv("name", f.str(c.Name)), kv("args", f.strs(c.Args)), kv("dynamic", f.ints(c.Dynamic)), kv("assigns", f.strs(c.Assigns)),
		kv("redirects", ast.ArrayTerm(redirects...)), kv("line", f.num(int64(c.Line))))
}

func (f *facts) limits(l policy.Limits) *ast.Term {
	var fields [][2]*ast.Term
	for _, e := range []struct {
		key string
		n   int64
	}{{"timeout_ms", l.TimeoutMS}, {"output_bytes", l.OutputBytes}, {"memory_bytes", l.MemoryBytes}, {"commands", l.Commands}} {
		if e.n != 0 {
			fields = append(fields, kv(e.key, f.num(e.n)))
		}
	}
	return object(fields...)
}

func (f *facts) net(x *policy.Net) *ast.Term {
	return object(
		kv("scheme", f.str(x.Scheme)), kv("host", f.str(x.Host)), kv("port", f.num(int64(x.Port))), kv("method", f.str(x.Method)),
		kv("path", f.str(x.Path)), kv("ip", f.str(x.IP)), kv("by", f.str(x.By)), kv("bytes", f.num(x.Bytes)))
}

func (f *facts) tool(x *policy.Tool) *ast.Term {
	n := x.Annotations
	return object(
		kv("server", f.str(x.Server)), kv("name", f.str(x.Name)), kv("sha256", f.str(x.SHA256)), kv("arguments", f.free(x.Arguments)), kv("confirm", f.str(x.Confirm)),
		kv("annotations", object(
			kv("readOnlyHint", boolean(n.ReadOnlyHint)), kv("destructiveHint", boolean(n.DestructiveHint)),
			kv("idempotentHint", boolean(n.IdempotentHint)), kv("openWorldHint", boolean(n.OpenWorldHint)))))
}

func (f *facts) module(x *policy.Module) *ast.Term {
	return object(
		kv("name", f.str(x.Name)), kv("sha256", f.str(x.SHA256)), kv("size", f.num(x.Size)), kv("source", f.str(x.Source)),
		kv("imports", f.strs(x.Imports)))
}

func (f *facts) output(x *policy.Output) *ast.Term {
	return object(kv("stream", f.str(x.Stream)), kv("bytes", f.num(x.Bytes)), kv("exit_code", f.num(int64(x.ExitCode))))
}

func (f *facts) usage(u *policy.Usage) *ast.Term {
	return object(
		kv("terminals_open", f.num(u.TerminalsOpen)), kv("execs", f.num(u.Execs)), kv("cpu_ms", f.num(u.CPUMS)),
		kv("output_bytes", f.num(u.OutputBytes)), kv("net_bytes", f.num(u.NetBytes)), kv("tool_calls", f.num(u.ToolCalls)))
}

// subjectTerms are the parts of the input that are the same for every action
// of a terminal.
type subjectTerms struct {
	id                           uint64 // unique in this cache
	of                           policy.Subject
	principal, session, terminal *ast.Term
	size                         int
}

// maxSubjects bounds the cache; it is emptied when full.
const maxSubjects = 1024

// subjectCache keeps the terms of terminals by their id.
type subjectCache struct {
	mu   sync.RWMutex
	m    map[string]*subjectTerms // guarded by mu
	last uint64                   // guarded by mu
}

func (c *subjectCache) get(s *policy.Subject) (*subjectTerms, error) {
	c.mu.RLock()
	t := c.m[s.Terminal.ID]
	c.mu.RUnlock()
	if t != nil && sameSubject(&t.of, s) {
		return t, nil
	}
	var f facts
	p, n := &s.Principal, &s.Session
	t = &subjectTerms{
		of: *s,
		principal: object(
			kv("sub", f.str(p.Sub)), kv("tenant", f.str(p.Tenant)), kv("auth", f.str(p.Auth)), kv("roles", f.strs(p.Roles)),
			kv("scopes", f.strs(p.Scopes)), kv("claims", f.free(p.Claims))),
		session: object(
			kv("id", f.str(n.ID)), kv("transport", f.str(n.Transport)), kv("protocol", f.str(n.Protocol)),
			kv("client", object(kv("name", f.str(n.Client.Name)), kv("version", f.str(n.Client.Version))))),
		terminal: object(kv("id", f.str(s.Terminal.ID)), kv("cwd", f.str(s.Terminal.Cwd)), kv("grants", f.strs(s.Terminal.Grants))),
	}
	if f.err != nil {
		return nil, f.err
	}
	t.size = f.size
	// Lists are compared by content later, so a copy must not change with its owner.
	t.of.Principal.Roles, t.of.Principal.Scopes = slices.Clone(p.Roles), slices.Clone(p.Scopes)
	t.of.Terminal.Grants = slices.Clone(s.Terminal.Grants)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxSubjects {
		c.m = map[string]*subjectTerms{}
	}
	c.last++
	t.id = c.last
	c.m[s.Terminal.ID] = t
	return t, nil
}

// sameSubject compares claims by identity: whoever authenticated a principal
// must not change its claims afterwards.
func sameSubject(a, b *policy.Subject) bool {
	p, q := &a.Principal, &b.Principal
	return p.Sub == q.Sub && p.Tenant == q.Tenant && p.Auth == q.Auth &&
		slices.Equal(p.Roles, q.Roles) && slices.Equal(p.Scopes, q.Scopes) && sameMap(p.Claims, q.Claims) &&
		a.Session == b.Session &&
		a.Terminal.ID == b.Terminal.ID && a.Terminal.Cwd == b.Terminal.Cwd && slices.Equal(a.Terminal.Grants, b.Terminal.Grants)
}

func sameMap(a, b map[string]any) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer())
}
