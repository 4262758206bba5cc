package sandbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Scripts on which interp panics. A panic in the goroutine of a pipeline or
// job ends the whole process, so nothing but a refusal will do.
func TestKnownPanics(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, line := range []string{
		"((m[k]++))", "((a[0]=1))", "i=1; ((a[i]+=1))", "((--a[1]))", "echo $((a[1]=2))", "let 'a[1]=2'", "for ((a[0]=1; a[0]<3; a[0]++)); do :; done",
		"declare -A m=(1 2)", `m=(["a"]=1 2)`, "f=-A; declare $f m=(1 2)", "declare -A m=([a-b]=1)", "declare -A m; m[x]=1; echo ${m[a/b]}", "echo ${m[a/b]}; declare -A m",
		`[[ -v "" ]]`, `x=; [[ -v $x ]]`, `test -v ""`, `x=; [ -v "$x" ]`, `[ -R "" ]`, `unset ""`, "shift -1", "break -1", "[ -O /workspace ]", "[[ -G /workspace ]]",
		"set -- -abc; getopts abc x; getopts abc x; set -- -a; getopts abc x; echo $x", "set -- -ab; getopts ab x; getopts ab x -z", "OPTIND=9; getopts a x -a", "OPTIND=-3; getopts a x -a",
		"case x in " + strings.Repeat("+(", 1100) + "x" + strings.Repeat(")", 1100) + ") :;; esac", "read ''", "printf -v '' x", "mapfile ''", "export ''", "declare ''", "local x", "declare -n r=''; echo $r",
		"x=''; echo ${!x}", "echo ${!nope}", "trap", "unset 'a[0' 'a[' '[0]'", "pushd; popd; dirs", "select x in; do :; done", "eval ''", "source", ".", "exec", "command", "builtin", "[", "test", "printf", "type", "getopts", "let", "wait g1 g0 x", "alias x", "return x", "exit x",
	} {
		for _, wrap := range []string{"%s", "{ %s\n} | cat", "{ %s\n} & wait", "x=$(%s\n)", "eval %q"} {
			line := fmt.Sprintf(wrap, line)
			if strings.HasPrefix(wrap, "eval") {
				line = strings.NewReplacer("$", `\$`).Replace(line)
			}
			_, _, status, err := do2(t, s, line)
			var pe *sandbox.ParseError
			if err != nil && !errors.As(err, &pe) {
				t.Errorf("%.80s: %d, %v", line, status, err)
			}
		}
	}
}

func do2(t *testing.T, s *sandbox.Session, line string) (string, string, int, error) {
	t.Helper()
	var out, errw strings.Builder
	status, err := s.Run(t.Context(), policy.Command{Text: line}, nil, &out, &errw)
	return out.String(), errw.String(), status, err
}

// What the evaluator cannot do says so, and is never done silently.
func TestRefusals(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for line, want := range map[string]string{
		"cat <(echo a)":                          "bash: line 1: process substitution is not supported yet",
		"echo a\ncoproc cat":                     "bash: line 2: coproc is not supported yet",
		"declare -A m; ((m[a]++))":               "bash: line 1: assigning to an array element inside (( )) is not supported yet",
		"eval 'cat <(echo)'; echo $?":            "bash: line 1: eval: line 1: process substitution is not supported yet",
		"set -C":                                 "bash: line 1: set: -C: not supported yet",
		"set -o noclobber":                       "bash: line 1: set: noclobber: not supported yet",
		"trap 'echo' DEBUG":                      "bash: line 1: trap: DEBUG: not supported yet",
		"kill $$":                                "bash: line 1: kill 2: not supported yet",
		"ulimit -n":                              "bash: line 1: ulimit -n: not supported yet",
		"umask 077":                              "bash: line 1: umask 077: not supported yet",
		"exec -a x cat":                          "bash: line 1: exec: -a: not supported yet",
		"eval() { :; }":                          "bash: line 1: a function named eval is not supported yet",
		"read -t 0":                              "bash: line 1: read: -t 0: not supported yet",
		"read -u 3 x":                            "bash: line 1: read: 3: invalid file descriptor: Bad file descriptor",
		"[ a -ef b ]":                            "bash: line 1: [: -ef: not supported yet",
		"a=(1); unset 'a[$(echo 0)]'; true":      "bash: line 1: unset: a[$(echo 0)]: a computed subscript is not supported yet",
		"command -p cat":                         "bash: line 1: command: -p: not supported yet",
		"printf '%y' a":                          "bash: line 1: printf: `y': invalid format character",
		"shopt -s expand_aliases; alias q=~root": "bash: line 1: alias: q: a value like this is not supported yet",
	} {
		_, errw, _, _ := do2(t, s, line)
		if !strings.HasPrefix(errw, want+"\n") {
			t.Errorf("%s: %q, want %q", line, errw, want)
		}
	}
}
