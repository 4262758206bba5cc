package policy_test

import (
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// Threats: PO-7.
func TestQuestionHidesNothing(t *testing.T) {
	d := policy.Decision{Reasons: []policy.Reason{{Msg: "rm \x1b]0;x\a"}}}
	for name, c := range map[string]struct {
		a    policy.Action
		want string
	}{
		"exec": {policy.Action{Exec: &policy.Exec{Name: "rm", Args: []string{"-rf", "a b", "c\x1b[2K", "é"}, Cwd: "/w", Ancestors: []string{"find"}}}, `rm -rf "a b" "c\x1b[2K" é` + "\n\nIn /w\nStarted by find"},
		"file": {policy.Action{File: &policy.File{Op: "rename", Path: "/a\r", To: "/b"}}, `rename "/a\r" to /b`},
		"net":  {policy.Action{Net: &policy.Net{Scheme: "https", Host: "h", Port: 1, Method: "PUT", Path: "/p"}}, "PUT https://h:1/p"},
		"tool": {policy.Action{Tool: &policy.Tool{Server: "s", Name: "t", Arguments: map[string]any{"b": "x\u202e", "a": 1}}}, "s t\n  a: 1\n  b: \"x\\u202e\""},
		"long": {policy.Action{Command: &policy.Command{Text: strings.Repeat("a", 5000)}}, "[... 3000 bytes are not shown here ...]"},
	} {
		got := policy.Question(c.a, d)
		if !strings.Contains(got, c.want) || !strings.HasSuffix(got, `Why this is asked: rm \x1b]0;x\x07`) || strings.ContainsAny(got, "\x1b\a\r") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
