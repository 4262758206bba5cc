package rego

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
)

func decide(t testing.TB, e *Engine, a policy.Action) policy.Decision {
	t.Helper()
	d, err := e.Decide(context.Background(), a)
	if err != nil {
		t.Fatalf("%s: %v", a.Kind, err)
	}
	return d
}

func TestDecideOrder(t *testing.T) {
	src := head + `
allow if input.exec.name in {"ls", "cat", "rm", "curl"}

ask contains {"msg": "sure?", "rule": "r1"} if input.exec.name in {"curl", "rm", "wget"}

deny contains sprintf("%s is off", [input.exec.name]) if input.exec.name == "rm"

deny contains {"msg": "always off", "rule": "a-rule", "hint": "use trash"} if input.exec.name == "rm"

warn contains "careful" if input.exec.name == "cat"

limit contains {"timeout_ms": 5000} if input.command

limit contains {"timeout_ms": 3000, "commands": 7} if input.principal.sub == "agent-7"
`
	e := mustLoad(t, src)
	for name, want := range map[string]policy.Effect{"ls": policy.Allow, "cat": policy.Allow, "curl": policy.Ask, "wget": policy.Ask, "rm": policy.Deny, "dd": policy.Deny} {
		if d := decide(t, e, execAction(name)); d.Effect != want {
			t.Errorf("%s: %v, want %v", name, d.Effect, want)
		}
	}
	d := decide(t, e, execAction("rm"))
	want := []policy.Reason{
		{Msg: "rm is off", Location: "p.rego:10"},
		{Msg: "always off", Rule: "a-rule", Hint: "use trash", Location: "p.rego:12"},
	}
	if diff := cmp.Diff(want, d.Reasons); diff != "" {
		t.Error(diff)
	}
	if d.ID == "" {
		t.Error("a denial has no id")
	}
	if d := decide(t, e, execAction("cat")); len(d.Warnings) != 1 || d.Warnings[0].Msg != "careful" {
		t.Errorf("warnings %v", d.Warnings)
	}
	if d := decide(t, e, commandAction("ls")); d.Limits != (policy.Limits{TimeoutMS: 3000, Commands: 7}) {
		t.Errorf("limits %+v", d.Limits)
	}
	if d := decide(t, e, execAction("ls")); d.Limits.TimeoutMS != 3000 {
		t.Errorf("limits of a program %+v", d.Limits)
	}
	if d := decide(t, e, execAction("dd")); len(d.Reasons) != 0 {
		t.Errorf("default denial gives reasons %v", d.Reasons)
	}
}

func TestFilesNeedNoAllowUnlessGoverned(t *testing.T) {
	free := mustLoad(t, head)
	if d := decide(t, free, fileAction("read", "/workspace/a")); d.Effect != policy.Allow {
		t.Error("a file needs no allow")
	}
	if _, ok := free.Constant(policy.KindFile); !ok {
		t.Error("an action that no rule reads is constant")
	}
	if d, ok := free.Constant(policy.KindExec); !ok || d.Effect != policy.Deny {
		t.Error("exec is constantly denied")
	}
	governed := mustLoad(t, head+`
governs contains "file"

allow if input.file.op == "read"
`)
	if d := decide(t, governed, fileAction("read", "/workspace/a")); d.Effect != policy.Allow {
		t.Error("read is allowed")
	}
	if d := decide(t, governed, fileAction("write", "/workspace/a")); d.Effect != policy.Deny {
		t.Error("write is not allowed")
	}
	if d := decide(t, governed, actions()[6]); d.Effect != policy.Allow {
		t.Error("output is not governed")
	}
	if _, ok := governed.Constant(policy.KindFile); ok {
		t.Error("a governed file is not constant")
	}
}

// TestInputIsTheDocument compares the terms with what JSON gives.
func TestInputIsTheDocument(t *testing.T) {
	e := mustLoad(t, head+"deny contains \"x\" if count(input) == 0\n") // reads the whole input
	all := actions()
	full := commandAction("a\nb", policy.Call{Name: "", Args: []string{"a", ""}, Dynamic: []int{1}, Assigns: []string{"A"}, Redirects: []policy.Redirect{{Op: ">", Target: "/x"}}, Line: 2})
	full.Command.Limits = policy.Limits{TimeoutMS: 1, MemoryBytes: 1 << 40}
	full.Command.Environ, full.Command.Env, full.Command.Name = []string{"SECRET=1"}, []string{"SECRET"}, "zero"
	full.Usage = policy.Usage{Execs: 1 << 33, NetBytes: -1}
	for _, a := range append(all, full) {
		got, err := e.cur.Load().input(&a)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := util.UnmarshalJSON(text, &doc); err != nil {
			t.Fatal(err)
		}
		want, err := ast.InterfaceToValue(doc)
		if err != nil {
			t.Fatal(err)
		}
		gotJSON, err := ast.JSON(got.Value)
		if err != nil {
			t.Fatal(err)
		}
		wantJSON, _ := ast.JSON(want)
		if !reflect.DeepEqual(withoutNull(wantJSON), gotJSON) {
			t.Errorf("%s: %s", a.Kind, cmp.Diff(withoutNull(wantJSON), gotJSON))
		}
		if strings.Contains(got.String(), "SECRET=1") {
			t.Error("the value of a variable is in the input")
		}
	}
}

// withoutNull replaces nil lists and maps as the engine does: rules may count
// on them being there.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil && k == "claims" || e == nil && k == "arguments" {
				v[k] = map[string]any{}
			} else if e == nil {
				v[k] = []any{}
			} else {
				v[k] = withoutNull(e)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	}
	return v
}

func TestSubjectChangesAreSeen(t *testing.T) {
	e := mustLoad(t, head+"allow if \"admin\" in input.principal.roles\n")
	a := execAction("ls")
	if d := decide(t, e, a); d.Effect != policy.Deny {
		t.Fatal("not an admin")
	}
	roles := []string{"admin"}
	a.Principal.Roles = roles
	if d := decide(t, e, a); d.Effect != policy.Allow {
		t.Error("an admin now, same terminal")
	}
	roles[0] = "ci"
	if d := decide(t, e, a); d.Effect != policy.Deny {
		t.Error("no admin any more, same slice")
	}
}

func TestMalformedActionsDeny(t *testing.T) {
	e := mustLoad(t, "package donax\n\nallow := true\n")
	for name, a := range map[string]policy.Action{
		"zero": {}, "no facts": {Kind: policy.KindExec}, "unknown": {Kind: "reboot"},
		"other facts": {Kind: policy.KindExec, File: &policy.File{}},
		"two":         {Kind: policy.KindExec, Exec: &policy.Exec{}, File: &policy.File{}},
	} {
		d, err := e.Decide(context.Background(), a)
		if class(err) != policy.FailAction || d.Effect != policy.Deny {
			t.Errorf("%s: %v %v", name, d.Effect, err)
		}
	}
}

// TestCachedDecisionsCostNoMemory: a loop of a million commands must not feed
// the garbage collector.
func TestCachedDecisionsCostNoMemory(t *testing.T) {
	e := mustLoad(t, simplePolicy)
	for _, a := range []policy.Action{execAction("true"), fileAction("read", "/workspace/a")} {
		if n := testing.AllocsPerRun(100, func() { decide(t, e, a) }); n > 0 {
			t.Errorf("%s: %v allocations", a.Kind, n)
		}
	}
}
