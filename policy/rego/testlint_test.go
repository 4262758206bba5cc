package rego

import (
	"context"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func runTests(t *testing.T, test string) (*TestReport, error) {
	t.Helper()
	dir := writeFiles(t, map[string]string{
		"p.rego":      head + "allow if input.exec.name == \"ls\"\n",
		"p_test.rego": "package donax_test\n\nimport data.donax\n\n" + test + "\n",
	})
	return Test(context.Background(), TestConfig{Config: Config{Paths: []string{dir}}})
}

// TestMadeUpInputs: a test whose input cannot happen proves nothing.
func TestMadeUpInputs(t *testing.T) {
	for test, want := range map[string]string{
		`test_a if donax.allow with input as {"action": "exec", "exec": {"nam": "ls"}}`:                                                    "did you mean name?",
		`test_a if donax.allow with input as {"action": "exec", "exec": {"name": "ls", "kind": "builtin"}}`:                                `input.exec.kind is never "builtin"`,
		`test_a if donax.allow with input as {"action": "exec", "exec": {"name": "ls", "args": "x"}}`:                                      "input.exec.args is array, not string",
		`test_a if donax.allow with input as {"action": "exec", "exek": {}}`:                                                               "did you mean exec?",
		`test_a if donax.allow with input.exec.nam as "ls"`:                                                                                "did you mean name?",
		`test_a if donax.allow with input.exec.depth as "1"`:                                                                               "input.exec.depth is integer, not string",
		`in(n) := {"action": "exec", "exec": {"nme": n}}` + "\n\n" + `test_a if donax.allow with input as in2("")` + "\n\nin2(n) := in(n)": "did you mean name?",
		`test_a if donax.allow with input as {"action": "command", "command": {"calls": [{"nam": ""}]}}`:                                   "input.command.calls[_] has no field",
	} {
		test = strings.ReplaceAll(strings.ReplaceAll(test, "in(", "make("), "in2(", "make2(")
		if _, err := runTests(t, test); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", test, err)
		}
	}
	for _, test := range []string{
		`test_a if donax.allow with input as {"action": "exec", "exec": {"name": "ls"}, "principal": {"claims": {"x": [1]}}}`,
		`test_a if donax.allow with input.exec.name as "ls"`,
		`test_a if count({"action": "jump", "x": 1}) == 2`,
	} {
		if r, err := runTests(t, test); err != nil || !r.OK() {
			t.Errorf("%s: %v %v", test, r, err)
		}
	}
}

func TestJUnit(t *testing.T) {
	r, err := runTests(t, "test_ok if true\n\ntest_bad if {\n\tprint(\"a<b\\u0001\")\n\tfalse\n}\n\ntest_error if to_number(\"x\") == 1\n\ntodo_test_later if true\n")
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.JUnit()
	if err != nil {
		t.Fatal(err)
	}
	var any struct {
		Cases []struct{} `xml:"testcase"`
	}
	if err := xml.Unmarshal(out, &any); err != nil || len(any.Cases) != 4 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{`tests="4" failures="1" errors="1" skipped="1"`, `classname="donax_test" name="test_ok"`, "<system-out>a&lt;b", "line 9 does not hold: false"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

func TestScaffold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "policies")
	files, err := Scaffold(dir, map[string]string{
		"policy.rego":      head + "allow if input.exec.name in data.names\n",
		"policy_test.rego": "package donax_test\n\nimport data.donax\n\ntest_ls if donax.allow with input.exec.name as \"ls\"\n",
		"data.json":        `{"names": ["ls"]}`,
	})
	if err != nil || len(files) != 7 {
		t.Fatalf("%v %v", files, err)
	}
	r, err := Test(context.Background(), TestConfig{Config: Config{Paths: []string{dir}}})
	if err != nil || !r.OK() || r.Coverage != 100 && len(r.Uncovered) > 1 {
		t.Errorf("%v %v", r, err)
	}
	if _, err := Scaffold(dir, nil); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("%v", err)
	}
	if _, err := Scaffold(t.TempDir(), map[string]string{"../x.rego": ""}); err == nil {
		t.Error("a file outside is written")
	}
	caps, err := os.ReadFile(filepath.Join(dir, ".regal/capabilities.json"))
	if err != nil || strings.Contains(string(caps), "http.send") || !strings.Contains(string(caps), `"allow_net": []`) {
		t.Errorf("capabilities: %v", err)
	}
}
