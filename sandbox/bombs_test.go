package sandbox_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Scripts that want all there is end at a limit, with one message, or are
// no trouble at all ("").
//
// Threats: SH-4, SH-5.
func TestBombs(t *testing.T) {
	for _, c := range []struct{ name, line, what string }{
		{"doubling", "x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done", "expansion of 2 MiB (raise with --memory)"},
		{"doubling 40", "x=a; for i in {1..40}; do x=$x$x; done", "expansion of 2 MiB"},
		{"replacing", "x=aaaa; for i in {1..30}; do x=${x//a/aaaa}; done", "expansion of 2 MiB"},
		{"many variables", `x=$(printf '%1000000d' 0); i=0; while :; do declare "v$((i++))=$x"; done`, "memory of the shell 16 MiB (raise with --memory)"},
		{"array", `a=(1 2 3 4); while true; do a=("${a[@]}" "${a[@]}"); done`, ""},
		{"braces", "echo {1..100000000} | wc -c", ""},
		{"braces in for", "for i in {1..1000000000}; do break; done; echo ok", ""},
		{"recursion", "f(){ f; }; f", "depth 200"},
		{"recursion in substitutions", "f(){ x=$(f); }; f", "depth 200"},
		{"shells", `export s='bash -c "$s"'; bash -c "$s"`, "depth 200"},
		{"a file that sources itself", "echo '. ./self.sh' > self.sh; . ./self.sh", "depth 200"},
		{"eval", `e='eval "$e"'; eval "$e"`, "depth 200"},
		{"fork bomb", ":(){ :|:& };:\nsleep", ""},
		{"jobs", "while :; do sleep & done", "256 background jobs"},
		{"pipes", "f(){ f | f; }; f", ""},
		{"endless file", "x=$(</dev/zero)", "expansion of 2 MiB"},
		{"endless input", "yes | { read -d '' x; }", ""},
		{"endless lines", "yes | mapfile x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSession(t, policy.AllowAll{}, func(cfg *sandbox.Config) {
				cfg.Limits = sandbox.Limits{Timeout: 2 * time.Minute, Memory: 8 << 20, Session: 16 << 20, Depth: 200}
			})
			before := runtime.NumGoroutine()
			_, errw, status, err := do2(t, s, c.line)
			var le *sandbox.LimitError
			if !errors.As(err, &le) || errors.Is(err, sandbox.ErrAbandoned) {
				t.Fatalf("%d, error %v, %.200q", status, err, errw)
			}
			if strings.Count(errw, "donax:") != 1 || !strings.HasPrefix(errw, "donax: limit: "+c.what) || status != sandbox.StatusKilled {
				t.Errorf("%d %q", status, errw)
			}
			settle(t, c.name, before)
		})
	}
	s := newSession(t, policy.AllowAll{}, func(cfg *sandbox.Config) { cfg.Limits.Timeout = 2 * time.Minute })
	for line, want := range map[string]string{
		"[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab =~ ^(a+)+$ ]]; echo $?":                                            "1\n",
		"x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; case $x in *a*a*a*a*a*a*a*a*a*a*b) echo m;; esac": "",
		"shopt -s extglob; x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab; [[ $x == +(+(+(a)))c ]]; echo $?":                      "1\n",
		"touch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; echo *a*a*a*a*a*a*a*a*a*a*a*a*a*a*b":                                "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n",
		"a=b; b=a; echo $((a)); echo on": "", "echo $((2**62**62))": "0\n", "yes | head1": "y\n", "a=b; b=a; (echo $((a))); echo on": "on\n",
	} {
		if out, errw, _, err := do2(t, s, line); err != nil || out != want {
			t.Errorf("%s: %q %q %v, want %q", line, out, errw, err, want)
		}
	}
}
