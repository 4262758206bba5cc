package sandbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Inspect takes any text: it returns facts, or an error of a known type.
func FuzzInspect(f *testing.F) {
	for _, s := range append(leaks, "a | b && c || d &", "cat <<E\n$(x)\nE", "x=(a [2]=b); ${x[@]:1:2}", "f() { g; }", "case $x in a|b) c;; esac", "sh -c 'eval \"rm x\"'", "find . -exec rm {} +", "a{1..3}{b,c}", "[[ a =~ (b) ]]", "((a[0]++))", "`a \\`b\\``", "00&0\xb9") {
		f.Add(s)
	}
	s, err := sandbox.New(sandbox.Config{FS: newFS(f), Programs: fakes()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := s.Inspect(context.Background(), policy.Command{Text: text})
		var pe *sandbox.ParseError
		var le *sandbox.LimitError
		if err != nil && !errors.As(err, &pe) && !errors.As(err, &le) {
			t.Fatalf("%T %v", err, err)
		}
		if err == nil && (c.Calls == nil || c.Features == nil || c.Env == nil) {
			t.Fatalf("%+v", c)
		}
		for _, call := range c.Calls {
			for _, d := range call.Dynamic {
				if c.Static || d < 0 || d >= len(call.Args) {
					t.Fatalf("%+v", call)
				}
			}
		}
		// No policy: nothing can take effect, and the text must still run.
		status, err := s.Run(context.Background(), policy.Command{Text: text, Limits: policy.Limits{TimeoutMS: 500}}, nil, nil, nil)
		var fe *sandbox.Fault
		if errors.As(err, &fe) || errors.Is(err, sandbox.ErrAbandoned) {
			t.Fatalf("%d %v", status, err)
		}
	})
}
