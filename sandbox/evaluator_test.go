package sandbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Odd scripts. A panic in the goroutine of a pipeline or job would end the
// whole process.
//
// Threats: SH-6.
func TestOddScripts(t *testing.T) {
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
			var le *sandbox.LimitError
			if err != nil && !errors.As(err, &le) {
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

// What a program or a shell is handed beyond its three streams.
func TestDescriptors(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, c := range []struct{ line, out string }{
		{"cat <(echo a) <(echo b)", "a\nb\n"},
		{"env cat <(echo a)", "a\n"},
		{"echo b | sh -c 'cat \"$1\" -; cat' x <(echo a) 2>/dev/null", "a\nb\n"},
		{"bash <(echo 'echo $0 | wc -c >/dev/null; echo ran $1') 1", "ran 1\n"},
		{". <(echo 'echo sourced')", "sourced\n"},
		{"exec 3>f; echo x >&3; sh -c 'echo y >&3'; exec 3>&-; cat f", "x\ny\n"},
		{"exec 4< <(echo q); cat /dev/fd/4", "q\n"},
		{"echo hi > >(upper); wait", "HI\n"},
		{"while read a; do echo [$a]; done < <(echo 1; echo 2)", "[1]\n[2]\n"},
		{"[ -x /bin/cat ] && echo prog", "prog\n"},
		{"printf 'read x\\nline two\\necho \"got $x\"\\n' | bash", "got line two\n"},
		{"printf 'cat\\nrest\\n' | sh -s", "rest\n"},
		{"echo 'echo $PPID $$' | sh | { read p s; [ $p != $s ] && echo ids; }", "ids\n"},
	} {
		out, errw, status, err := do2(t, s, c.line)
		if out != c.out || status != 0 || err != nil {
			t.Errorf("%s: %q %q %d %v, want %q", c.line, out, errw, status, err, c.out)
		}
	}
}
