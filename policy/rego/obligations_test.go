package rego

import (
	"context"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/google/go-cmp/cmp"
)

func loadObligations(src string) (*Engine, error) {
	return Load(context.Background(), Config{Sources: map[string]string{"p.rego": head + src}, Enforce: Obligations()})
}

func TestObligations(t *testing.T) {
	e, err := loadObligations(`
redact contains {"name": "aws", "pattern": "\\b(AKIA|ASIA)[0-9A-Z]{16}\\b"} if input.command

redact contains {"name": "key", "pattern": "-----BEGIN", "until": "-----END", "replace": "***"} if input.command

unset_env contains name if {
	some name in input.command.env
	endswith(name, "_TOKEN")
}

mount contains {"path": "/workspace", "mode": "rw"} if input.command

mount contains {"path": "/workspace", "mode": "ro"} if input.principal.sub == "agent-7"

mount contains {"path": "/data", "mode": "cow"} if input.command
`)
	if err != nil {
		t.Fatal(err)
	}
	a := commandAction("x")
	a.Command.Env = []string{"PATH", "GH_TOKEN", "A_TOKEN"}
	d := decide(t, e, a)
	want := policy.Decision{
		Effect: policy.Allow,
		Redact: []policy.Redaction{
			{Name: "aws", Pattern: `\b(AKIA|ASIA)[0-9A-Z]{16}\b`},
			{Name: "key", Pattern: "-----BEGIN", Until: "-----END", Replace: "***"},
		},
		UnsetEnv: []string{"A_TOKEN", "GH_TOKEN"},
		Mounts:   []policy.MountRule{{Path: "/data", Mode: policy.MountCOW}, {Path: "/workspace", Mode: policy.MountRO}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if d := decide(t, e, execAction("ls")); len(d.Redact)+len(d.UnsetEnv) > 0 || len(d.Mounts) != 1 { // the rule about the principal
		t.Errorf("an exec has obligations of the command: %+v", d)
	}
	if e, err = loadObligations(`
unset_env contains "TOKEN" if input.exec.name != "curl"

mount contains {"path": "/workspace", "mode": "ro"} if input.exec.name == "awk"
`); err != nil {
		t.Fatal(err)
	}
	if d := decide(t, e, execAction("awk")); len(d.UnsetEnv) != 1 || len(d.Mounts) != 1 {
		t.Errorf("an exec has no obligations: %+v", d)
	}
}

func TestObligationsThatAreRefused(t *testing.T) {
	for src, want := range map[string]string{
		`redact contains {"name": "x", "pattern": "("}`:                "missing closing )",
		`redact contains {"name": "x", "pattern": "a*"}`:               "matches the empty text",
		`redact contains {"name": "x", "pattern": "a", "until": "b?"}`: "matches the empty text",
		`redact contains {"name": "x"}`:                                "needs name and pattern",
		`redact contains {"name": "x", "patern": "a"}`:                 "did you mean pattern?",
		`redact contains "secret"`:                                     "it contains objects",
		`mount contains {"path": "workspace", "mode": "ro"}`:           "not absolute",
		`mount contains {"path": "/workspace/../etc", "mode": "ro"}`:   "not absolute and clean",
		`mount contains {"path": "/workspace", "mode": "r"}`:           "none of ro, cow, rw",
		`unset_env contains "A=B"`:                                     "not the name of a variable",
		`unset_env contains {"name": "A"}`:                             "names of variables",
		`unset_env contains "A" if input.file.op == "read"`:            "can never apply",
		`redact contains {"name": "x", "pattern": "a"} if input.exec`:  "can never apply",
		`redact if input.command`:                                      "must be a set",
		`limit contains {"timeout_ms": 2.5} if input.command`:          "above 0",
		`mounts contains {"path": "/workspace", "mode": "ro"}`:         `did you mean "mount"?`,
		`unsetenv contains "A"`:                                        `did you mean "unset_env"?`,
	} {
		if _, err := loadObligations(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ... %s ...", src, err, want)
		}
	}
	if _, err := Load(context.Background(), Config{Sources: map[string]string{"p": head}, Enforce: []string{"mout"}}); err == nil {
		t.Error("an unknown obligation is accepted")
	}
}

func TestComputedObligationsAreChecked(t *testing.T) {
	for src, want := range map[string]string{
		"redact contains x if x := json.unmarshal(input.command.text)":    `{"name": "x", "pattern": "("}`,
		"redact contains x if x := json.unmarshal(input.command.text) ":   `{"name": "x", "pattern": ["a"]}`,
		"mount contains x if x := json.unmarshal(input.command.text)":     `{"path": "/w", "mode": "exec"}`,
		"mount contains x if x := json.unmarshal(input.command.text) ":    `{"path": "/w", "mode": "ro", "force": "no"}`,
		"unset_env contains x if x := json.unmarshal(input.command.text)": `7`,
		"limit contains x if x := json.unmarshal(input.command.text)":     `{"commands": -1}`,
		"limit contains x if x := json.unmarshal(input.command.text) ":    `{"comands": 1}`,
	} {
		e, err := loadObligations(src)
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.Decide(context.Background(), commandAction(want))
		if class(err) != policy.FailType || d.Effect != policy.Deny {
			t.Errorf("%s of %s: %v %v", src, want, d.Effect, err)
		}
	}
}

func TestLayersMergeObligations(t *testing.T) {
	a, err := loadObligations("mount contains {\"path\": \"/w\", \"mode\": \"cow\"}\n\nunset_env contains \"A\"\n\nredact contains {\"name\": \"x\", \"pattern\": \"x\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	b, err := loadObligations("mount contains {\"path\": \"/w\", \"mode\": \"ro\"}\n\nunset_env contains \"B\"\n\nredact contains {\"name\": \"x\", \"pattern\": \"x\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	d := decide2(t, policy.Stack(a, b), commandAction("x"))
	want := policy.Decision{Effect: policy.Allow, UnsetEnv: []string{"A", "B"}, Redact: []policy.Redaction{{Name: "x", Pattern: "x"}}, Mounts: []policy.MountRule{{Path: "/w", Mode: policy.MountRO}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func decide2(t *testing.T, e policy.Engine, a policy.Action) policy.Decision {
	t.Helper()
	d, err := e.Decide(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
