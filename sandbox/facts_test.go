package sandbox_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// show writes calls compactly: NAME args, with ? for what is computed.
func show(calls []policy.Call) string {
	var list []string
	for _, c := range calls {
		s := c.Name
		if s == "" {
			s = "?"
		}
		dynamic := map[int]bool{}
		for _, d := range c.Dynamic {
			dynamic[d] = true
		}
		for i, a := range c.Args {
			if dynamic[i] {
				a = "?"
			}
			s += " " + a
		}
		for _, a := range c.Assigns {
			s = a + "= " + s
		}
		for _, r := range c.Redirects {
			s += " " + r.Op + r.Target
		}
		list = append(list, s)
	}
	return strings.Join(list, "; ")
}

func TestFacts(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, c := range []struct {
		line, calls, features string
		static                bool
	}{
		{"ls -l", "ls -l", "", true},
		{`$'\x72m' x`, "rm x", "", true},
		{`r\m 'x y' "z"`, "rm x y z", "", true},
		{"/bin/rm x", "/bin/rm x", "", true},
		{"$a x", "? x", "", false},
		{"rm $x *.go", "rm ? ?", "glob", false},
		{"{r,}m x", "? x", "", false},
		{"rm ~/x", "rm ?", "", false},
		{"A=1 B=$x ls", "B= A= ls", "", true},
		{"a | b |& c", "a; b; c", "pipe", true},
		{"a > f 2>&1 < $x", "a >f >&1 <", "redirect", false},
		{"> f", "? >f", "redirect", true},
		{"cat <<E\n$(rm x)\nE", "cat <<; rm x", "cmdsubst heredoc", true},
		{"f() { rm x; }; f", "rm x; f", "function", true},
		{"(rm x) & wait", "rm x; wait", "background subshell", true},
		{"for i in a b; do rm $i; done", "rm ?", "loop", false},
		{"while a; do b; done; until c; do d; done", "a; b; c; d", "loop", true},
		{"if a; then b; elif c; then d; else e; fi; case $(f) in x) g;; esac", "a; b; c; d; e; f; g", "cmdsubst", true},
		{"x=$(rm x); export y=`rm y`", "x= ?; rm x; y= export y; rm y", "cmdsubst", true},
		{"((a[$(rm x)])); [[ -v b[$(rm y)] ]]; echo $(($(rm z)))", "rm x; rm y; echo ?; rm z", "arithmetic cmdsubst glob", false},
		{"diff <(rm x) y", "diff ? y; rm x", "procsubst", false},
		{"command rm x; builtin eval 'rm y'", "command rm x; rm x; builtin eval rm y; eval rm y; rm y", "eval", true},
		{"exec env -i A=1 nice -n 3 timeout 5 rm x", "exec env -i A=1 nice -n 3 timeout 5 rm x; env -i A=1 nice -n 3 timeout 5 rm x; nice -n 3 timeout 5 rm x; timeout 5 rm x; rm x", "", true},
		{"xargs -n 1 rm -f", "xargs -n 1 rm -f; rm -f", "", true},
		{`find . -name x -exec rm {} \; -exec ls {} +`, "find . -name x -exec rm {} ; -exec ls {} +; rm {}; ls {}", "", true},
		{"find . $x", "find . ?", "", false},
		{"sh -c 'rm x' a", "sh -c rm x a; rm x", "", true},
		{"bash -ec \"rm $x\"", "bash -ec ?", "", false},
		{"sh f; echo rm | sh", "sh f; echo rm; sh", "pipe", false},
		{"eval rm x; trap 'rm y' EXIT; . f", "eval rm x; rm x; trap rm y EXIT; rm y; . f", "eval source", false},
		{"eval \"$x\"", "eval ?", "eval", false},
		{"eval 'eval \"eval rm x\"'", `eval eval "eval rm x"; eval eval rm x; eval rm x; rm x`, "eval", true},
		{"env -S 'rm x'", "env -S rm x", "", false},
		{"time rm x; ! rm y", "rm x; rm y", "", true},
		{"rm x\nif", "rm x", "unparsed", false},
		{"rm x; if", "rm x", "unparsed", false},
		{"(rm x", "", "unparsed", false},
		{"eval 'rm x\n('", "eval rm x\n(; rm x", "eval unparsed", false},
		{"alias ls=rm\nls x", "alias ls=rm; ls x", "", false},
		{"hash -p /bin/rm ls; ls x", "hash -p /bin/rm ls; ls x", "", false},
		{"mapfile -C 'rm x' a", "mapfile -C rm x a", "", false},
		{"coproc rm x", "rm x", "background", true},
		{"{ a; b; } > f", "? >f; a; b", "redirect", true},
	} {
		got, err := s.Inspect(t.Context(), policy.Command{Text: c.line})
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if calls := show(got.Calls); calls != c.calls || strings.Join(got.Features, " ") != c.features || got.Static != c.static {
			t.Errorf("%s\n got %s | %s | %v\nwant %s | %s | %v", c.line, calls, strings.Join(got.Features, " "), got.Static, c.calls, c.features, c.static)
		}
	}
}

func TestInspectFillsIn(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	got, err := s.Inspect(t.Context(), policy.Command{Args: []string{"echo", "a b", "it's", "if", "A=1", "~", "*"}, Environ: []string{"K=secret"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != `echo 'a b' 'it'\''s' 'if' 'A=1' '~' '*'` || !got.Static || !reflect.DeepEqual(got.Calls[0].Args, got.Args[1:]) {
		t.Errorf("text %s, calls %+v", got.Text, got.Calls)
	}
	if !reflect.DeepEqual(got.Env, []string{"K"}) || got.Cwd != "/workspace" || got.Params == nil || got.Limits.TimeoutMS != 30_000 || got.Limits.OutputBytes != 1<<30 {
		t.Errorf("%+v", got)
	}
	if strings.Contains(fmt.Sprintf("%+v", got.Calls)+got.Text, "secret") {
		t.Error("the value of a variable is in the facts")
	}
	var out strings.Builder
	if _, err := s.Run(t.Context(), got, nil, &out, nil); err != nil || out.String() != "a b it's if A=1 ~ *\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if got, err := s.Inspect(t.Context(), policy.Command{Text: "ls"}); err != nil || got.Args == nil || len(got.Args) > 0 {
		t.Errorf("a line has the argv %#v, %v", got.Args, err)
	}
	for text, want := range map[string]string{
		"a \x00": "line 1: a NUL byte in the text", "a\nb \x00": "line 2: a NUL byte in the text",
	} {
		_, err := s.Inspect(t.Context(), policy.Command{Text: text})
		var pe *sandbox.ParseError
		if !errors.As(err, &pe) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	// An argv whose words look like keywords or assignments stays an argv.
	for _, args := range [][]string{{"if"}, {"A=1"}, {"!"}, {"{"}, {"-c"}, {""}, {"a\nb"}, {"#"}, {"export", "A=$(x)"}, {"[[", "a", "]]"}} {
		got, err := s.Inspect(t.Context(), policy.Command{Args: args})
		if err != nil || len(got.Calls) != 1 || got.Calls[0].Name != args[0] && args[0] != "" || !reflect.DeepEqual(got.Calls[0].Args, append([]string{}, args[1:]...)) {
			t.Errorf("%q: %s: %+v, %v", args, got.Text, got.Calls, err)
		}
	}
}
