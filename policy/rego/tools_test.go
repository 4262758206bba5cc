package rego

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/donax-sh/donax/policy"
)

func TestCheckReport(t *testing.T) {
	r, err := Check(context.Background(), Config{Sources: map[string]string{"p.rego": head + "allow if input.exec.name in {\"ls\", \"cat\"}\n\ndeny contains \"x\" if {\n\tinput.principal.tenant == \"t\"\n\tinput.exec.args[0] == \"-R\"\n}\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || len(r.Problems) != 0 {
		t.Error(r)
	}
	got := r.String()
	for _, want := range []string{"ok: 1 file, hash ", "command  always allow", "exec     2 rules, by exec.args exec.name principal.tenant", "file     always allow", "net      always deny"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestCheckWarnsOfWhatIsAlwaysDenied(t *testing.T) {
	r, err := Check(context.Background(), Config{Sources: map[string]string{"p.rego": "package donax\n\nallow if input.exec.name == \"ls\"\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || len(r.Problems) != 1 || !strings.Contains(r.String(), "no rule can allow action \"command\": every one is denied, so nothing runs at all\n\tadd: allow if input.action == \"command\"") {
		t.Error(r)
	}
}

// Who refuses an operation on files and forgets what leads around it is told.
func TestCheckWarnsOfWaysAround(t *testing.T) {
	for body, warns := range map[string]string{
		`input.file.op == "write"`: "made anew", `input.file.op in {"write", "remove"}`: "made anew",
		`input.file.op in {"write", "create"}`: "", `input.exec.args[0] == "write"`: "",
		`input.file.op == "read"`: "renamed or linked", `input.file.op in {"read", "list"}`: "renamed or linked",
		`input.file.op in {"read", "rename"}`: "", `input.file.op != "read"`: "", `not input.file.op in {"read", "list"}`: "", `input.exec.args[0] == "read"`: "", `endswith(input.file.path, "/.env")`: "",
	} {
		r, err := Check(context.Background(), Config{Sources: map[string]string{"p.rego": head + "allow := true\n\ndeny contains \"x\" if " + body + "\n"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.String(); !r.OK() || warns == "" && strings.Contains(got, "no rule that refuses names") || !strings.Contains(got, warns) {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func TestExplain(t *testing.T) {
	e := mustLoad(t, head+`
allow if {
	input.exec.name in {"ls", "cat"}
	count(input.exec.args) < 2
}

deny contains {"msg": "rm is off", "rule": "no-rm", "hint": "use mv"} if input.exec.name == "rm"

limit contains {"commands": 9} if input.command
`)
	ctx := context.Background()
	out := explainAll(ctx, e, commandAction("ls; rm x"), execAction("ls", "-l"), execAction("ls", "a", "b"), execAction("rm", "x\x1b[31m"), fileAction("write", "/workspace/x"))
	var b strings.Builder
	for _, x := range out {
		b.WriteString(x.String())
	}
	want := `allow command ls; rm x
      limits  commands 9
      rule    allow at p.rego:3
allow exec    ls -l
      rule    allow at p.rego:6
deny  exec    ls a b
      no      allow at p.rego:6: line 8 does not hold: count(input.exec.args) < 2
deny  exec    rm x\x1b[31m
      because rm is off
      rule    no-rm at p.rego:11
      try     use mv
allow file    write /workspace/x
      because nothing denies it, and it needs no allow
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if text, err := json.Marshal(out[3]); err != nil || !strings.Contains(string(text), `"reasons":[{"msg":"rm is off","rule":"no-rm","hint":"use mv","location":"p.rego:11"}]`) {
		t.Errorf("%s %v", text, err)
	}
}

func explainAll(ctx context.Context, e policy.Engine, list ...policy.Action) (out []Explanation) {
	for _, a := range list {
		out = append(out, Explain(ctx, e, a))
	}
	return out
}

// TestExplainSaysWhatIsOpen: of what is not known yet, what rules read is told.
func TestExplainSaysWhatIsOpen(t *testing.T) {
	e := mustLoad(t, head+`
allow if input.action == "exec"

deny contains "no" if {
	input.exec.name == "rm"
	input.exec.args[0] == "-r"
}

deny contains "more" if {
	input.exec.name == "cp"
	input.usage.execs > 5
}
`)
	for name, want := range map[string]string{"rm": "args", "cp": "usage", "ls": ""} {
		x := Explain(context.Background(), e, execAction(name), "args", "cwd", "usage")
		if got := strings.Join(x.Open, " "); got != want {
			t.Errorf("%s: open %q, want %q", name, got, want)
		}
	}
	if x := Explain(context.Background(), e, execAction("ls"), "name", "args"); len(x.Open) != 2 {
		t.Errorf("a name that is not known leaves open %v", x.Open)
	}
}

func TestWriteTrace(t *testing.T) {
	e := policy.Stack(policy.Default{}, mustLoad(t, head+"allow if input.exec.name == \"ls\"\n"))
	var b strings.Builder
	if err := WriteTrace(context.Background(), &b, e, execAction("rm")); err != nil || !strings.Contains(b.String(), `Fail input.exec.name = "ls"`) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestExplainOfOtherEngines(t *testing.T) {
	ctx := context.Background()
	x := explainAll(ctx, policy.Default{}, actions()...)
	if x[0].Effect != "allow" || x[3].Effect != "deny" || x[3].Reasons[0].Hint == "" {
		t.Errorf("%+v", x)
	}
	a, b := mustLoad(t, head+"allow if input.exec\n"), mustLoad(t, head)
	x = explainAll(ctx, policy.Stack(a, b), actions()[1])
	if x[0].Effect != "deny" || len(x[0].Rules) != 1 {
		t.Errorf("%+v", x)
	}
	x = explainAll(ctx, mustLoad(t, head+"deny contains \"x\" if to_number(input.exec.name) == 1\n"), actions()[1])
	if x[0].Effect != "deny" || !strings.Contains(x[0].String(), "failed  evaluation error: p.rego:") {
		t.Errorf("%s", x[0])
	}
}

// TestLayers: each layer is compiled alone, the most restrictive answer wins.
func TestLayers(t *testing.T) {
	org := mustLoad(t, "package donax\n\nallow := true\n\ndeny contains {\"msg\": \"org says no\", \"rule\": \"org\"} if input.exec.name == \"rm\"\n\nlimit contains {\"commands\": 50} if input.command\n")
	team := mustLoad(t, head+"allow if input.exec.name in {\"rm\", \"ls\", \"curl\"}\n\nask contains \"sure?\" if input.exec.name == \"curl\"\n\nlimit contains {\"commands\": 90, \"timeout_ms\": 7} if input.command\n")
	e := policy.Stack(org, team)
	for name, want := range map[string]policy.Effect{"ls": policy.Allow, "rm": policy.Deny, "curl": policy.Ask, "dd": policy.Deny} {
		d, err := e.Decide(context.Background(), execAction(name))
		if err != nil || d.Effect != want {
			t.Errorf("%s: %v %v, want %v", name, d.Effect, err, want)
		}
	}
	d, _ := e.Decide(context.Background(), commandAction("ls"))
	if d.Limits != (policy.Limits{Commands: 50, TimeoutMS: 7}) {
		t.Errorf("limits %+v", d.Limits)
	}
	c := e.(policy.Constanter)
	if d, ok := c.Constant(policy.KindFile); !ok || d.Effect != policy.Allow {
		t.Error("files are constantly allowed")
	}
	if d, ok := c.Constant(policy.KindNet); !ok || d.Effect != policy.Deny {
		t.Error("net is allowed by one layer only")
	}
}

func TestTester(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"p.rego":      head + "allow if input.exec.name in data.names\n\ndeny contains \"never\" if input.exec.name == \"rm\"\n",
		"data.json":   `{"names": ["ls"]}`,
		"p_test.rego": "package donax_test\n\nimport data.donax\n\nx(n) := {\"action\": \"exec\", \"exec\": {\"name\": n}}\n\ntest_ls if donax.allow with input as x(\"ls\")\n\ntest_wrong if {\n\tprint(\"hello\")\n\tdonax.allow with input as x(\"dd\")\n}\n\ntodo_test_later if false\n",
	})
	r, err := Test(context.Background(), TestConfig{Config: Config{Paths: []string{dir}}})
	if err != nil {
		t.Fatal(err)
	}
	got := r.String()
	for _, want := range []string{"FAIL test_wrong  ", "line 11 does not hold: donax.allow with input as x(\"dd\")", "| hello", "1 of 2 passed, 1 skipped, coverage ", "not covered: "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if r.OK() {
		t.Error("a test failed")
	}
	r, err = Test(context.Background(), TestConfig{Config: Config{Paths: []string{dir}}, Run: "test_ls"})
	if err != nil || !r.OK() || len(r.Results) != 1 {
		t.Errorf("%v %v", r, err)
	}
	if _, err := Test(context.Background(), TestConfig{Config: Config{Sources: map[string]string{"p.rego": head}}}); err == nil || !strings.Contains(err.Error(), "no tests") {
		t.Errorf("no tests: %v", err)
	}
	bad := writeFiles(t, map[string]string{"p.rego": head + "denny contains \"x\" if input.exec\n", "p_test.rego": "package t\n\ntest_x if true\n"})
	var le *LoadError
	if _, err := Test(context.Background(), TestConfig{Config: Config{Paths: []string{bad}}}); !errors.As(err, &le) {
		t.Errorf("a policy that does not load: %v", err)
	}
}

func TestFormat(t *testing.T) {
	out, err := Format("p.rego", []byte("package donax\nallow   if   input.exec.name==\"ls\"\n"))
	if err != nil || string(out) != "package donax\n\nallow if input.exec.name == \"ls\"\n" {
		t.Errorf("%q %v", out, err)
	}
	if _, err := Format("p.rego", []byte("package donax\nallow if (\n")); err == nil || !strings.Contains(err.Error(), "p.rego:3") {
		t.Errorf("%v", err)
	}
}

// defaultText is policy.Default as Rego.
const defaultText = `package donax

allow if input.action in {"command", "exec"}
`

func TestDefaultEqualsItsText(t *testing.T) {
	e := mustLoad(t, defaultText)
	for _, a := range actions() {
		got, err := policy.Default{}.Decide(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		if want := decide(t, e, a); got.Effect != want.Effect {
			t.Errorf("%s: Go %v, Rego %v", a.Kind, got.Effect, want.Effect)
		}
	}
}

// TestConcurrentDecide is for the race detector.
func TestConcurrentDecide(t *testing.T) {
	e := mustLoad(t, bigPolicy())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 30 {
				a := actions()[(i+j)%7]
				if j%3 == 0 {
					a = execAction("rm", "-rf", "-delete")
				}
				a.Terminal.ID = string(rune('a' + j%3))
				if _, err := e.Decide(context.Background(), a); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
