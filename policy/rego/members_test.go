package rego

import (
	"context"
	"strings"
	"testing"
)

func TestMembersOfWrongShape(t *testing.T) {
	for src, want := range map[string]string{
		`deny contains input.exec.args`:                                                        "array",
		"deny contains n if {\n\tn := count(input.exec.args)\n\tn > 3\n}":                      "number",
		"deny contains x if some x in [input.exec.args]":                                       "array",
		"ask contains x if {\n\tx := {\"mgs\": input.exec.name}\n}":                            "did you mean msg?",
		"warn contains x if x := {\"rule\": input.exec.name}":                                  "without msg",
		"deny contains {\"msg\": \"m\", \"rul\": \"r\"} if input.exec":                         "did you mean rule?",
		"limit contains x if {\n\tinput.command\n\tx := {\"timeout\": 5}\n}":                   `key "timeout"`,
		"redact contains x if {\n\tinput.command\n\tx := input.command.text\n}":                "a string",
		"unset_env contains x if {\n\tinput.command\n\tx := {\"name\": input.command.text}\n}": "an object",
		"governs contains \"files\"":                                                           "did you mean file?",
		"deny contains true if input.exec":                                                     "not true",
		"mount contains m if {\n\tsome m in [input.command.env]\n}":                            "array",
	} {
		_, err := Load(context.Background(), Config{Sources: map[string]string{"p.rego": head + src + "\n"}, Enforce: Obligations()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ... %s ...", src, err, want)
		}
	}
	for _, src := range []string{
		"deny contains input.exec.name if input.exec.name == \"rm\"", "deny contains m if some m in data.donax.messages\n\nmessages := [\"a\", {\"msg\": \"b\"}]",
		"deny contains m if m := sprintf(\"%s\", [input.exec.name])", "deny contains m if m := {\"msg\": input.exec.name, \"details\": {\"n\": 1}}",
		"unset_env contains n if some n in input.command.env", "deny contains object.union({\"msg\": \"m\"}, {\"rule\": \"r\"}) if input.exec",
	} {
		if _, err := Load(context.Background(), Config{Sources: map[string]string{"p.rego": head + src + "\n"}, Enforce: Obligations()}); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}
