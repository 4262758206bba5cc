package rego

import (
	"context"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

func TestEntryPointIsABoolean(t *testing.T) {
	src := "package docker.authz\n\nallow if input.exec.name == \"ls\"\n\nallow := false if input.exec.name == \"rm\"\n"
	for _, name := range []string{"docker/authz/allow", "data.docker.authz.allow", "docker.authz.allow", "/docker/authz/allow"} {
		e := mustLoadConfig(t, Config{Sources: map[string]string{"p.rego": src}, Entrypoint: name})
		if d := decide(t, e, execAction("ls")); d.Effect != policy.Allow {
			t.Error("ls is allowed")
		}
		if d := decide(t, e, execAction("rm")); d.Effect != policy.Deny {
			t.Error("rm is denied")
		}
		for _, a := range []policy.Action{execAction("dd"), fileAction("read", "/x"), commandAction("ls")} {
			if d, err := e.Decide(context.Background(), a); class(err) != policy.FailUndefined || d.Effect != policy.Deny {
				t.Errorf("undefined: %v %v", d.Effect, err)
			}
		}
	}
}

func TestEntryPointIsAnObject(t *testing.T) {
	e := mustLoadConfig(t, Config{Entrypoint: "acme/decision", Sources: map[string]string{"p.rego": `package acme

decision := json.unmarshal(input.command.text) if input.action == "command"

decision := {"effect": "deny", "reasons": {{"msg": "no", "rule": "r", "hint": "h"}}} if input.action == "exec"
`}})
	for text, want := range map[string]policy.Effect{
		`{"effect": "allow"}`: policy.Allow, `{"effect": "ask", "reason": "sure?"}`: policy.Ask, `{"decision": "deny"}`: policy.Deny,
		`{"allow": true}`: policy.Allow, `{"allowed": false, "message": "no"}`: policy.Deny, `{"allow": true, "limits": {"commands": 3}, "warnings": ["w"]}`: policy.Allow,
		`true`: policy.Allow, `false`: policy.Deny,
	} {
		if d := decide(t, e, commandAction(text)); d.Effect != want {
			t.Errorf("%s: %v", text, d.Effect)
		}
	}
	for _, text := range []string{
		`{}`, `[]`, `"allow"`, `1`, `null`, `{"effect": "Allow"}`, `{"effect": true}`, `{"allow": "true"}`, `{"allow": true, "effect": "allow"}`, `{"allow": true, "allowed": true}`,
		`{"allow": true, "except": ["rm"]}`, `{"allow": true, "reasons": [1]}`, `{"allow": true, "limits": {"commands": -1}}`, `{"allow": true, "limits": []}`, `{"allow": true, "reasons": "x"}`, `{"decision": "not-applicable"}`,
	} {
		if d, err := e.Decide(context.Background(), commandAction(text)); class(err) != policy.FailType || d.Effect != policy.Deny {
			t.Errorf("%s: %v %v", text, d.Effect, err)
		}
	}
	d := decide(t, e, execAction("ls"))
	if len(d.Reasons) != 1 || d.Reasons[0] != (policy.Reason{Msg: "no", Rule: "r", Hint: "h", Location: "p.rego:5"}) {
		t.Errorf("%+v", d.Reasons)
	}
	x := explainAll(context.Background(), e, execAction("ls"), commandAction("true"))
	if got := x[0].String() + x[1].String(); !strings.Contains(got, "rule    r at p.rego:5") || !strings.Contains(got, "rule    decision at p.rego:3") {
		t.Error(got)
	}
}

func TestEntryPointsThatAreRefused(t *testing.T) {
	for name, want := range map[string]string{"allow": "not PACKAGE/RULE", "": "no file is in package donax", "acme/missing": "no file defines the entry point acme.missing", "a b/c": "not PACKAGE/RULE"} {
		_, err := Load(context.Background(), Config{Entrypoint: name, Sources: map[string]string{"p.rego": "package acme\n\nallow if input.exec.name == \"ls\"\n"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// An else answers for kinds of action that its rule cannot hold for.
func TestElse(t *testing.T) {
	for name, src := range map[string]string{
		"acme/decision": "package acme\n\ndecision := {\"allow\": false} if input.exec.name == \"ls\"\n\nelse := {\"allow\": true} if input.action != \"net\"\n",
		"":              "package donax\n\nallow := false if input.exec.name == \"ls\"\n\nelse if input.action != \"net\"\n",
	} {
		e := mustLoadConfig(t, Config{Sources: map[string]string{"p.rego": src}, Entrypoint: name})
		for _, c := range []struct {
			a    policy.Action
			want policy.Effect
		}{{execAction("ls"), policy.Deny}, {execAction("cat"), policy.Allow}, {commandAction("x"), policy.Allow}} {
			if d := decide(t, e, c.a); d.Effect != c.want {
				t.Errorf("%q: %s is %v, want %v", name, c.a.Kind, d.Effect, c.want)
			}
		}
	}
}
