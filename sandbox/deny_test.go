package sandbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Every way in which issue 2 and the cases security 092, 093 and 099 and
// peers 062 to 070 start a program that is denied. x must stay, the reason
// must be shown, and each attempt is one decision.
//
// Threats: SH-1, SH-2.
func TestDeniedProgram(t *testing.T) {
	for _, line := range []string{
		// issue 2
		"rm x", "eval rm x", "command rm x", "echo x | xargs rm", "env rm x", `sh -c "rm x"`, `$'\x72m' x`, "r=rm; $r x",
		"cp /bin/rm y; ./y x", "ln -s /bin/rm y; ./y x", "cp /bin/rm y; mv y z; ./z x", "cp /bin/rm y; ln y z; ./z x",
		// security 092
		"'r'm x", `r\m x`, "a=r;b=m;$a$b x", "${x:-rm} x", "$(echo rm) x", "`echo rm` x", "IFS=_;c=rm_x;$c", `set -- rm x;"$@"`,
		"rm\\\n x", "while read l;do $l x;done<<<rm", "echo rm x|sh", `eval "$(printf 'rm x')"`, "sh<<E\nrm x\nE", "echo rm x|bash -s",
		"echo 'rm x'>s; . ./s", "echo 'rm x'>s; source s", "echo 'rm x'>s; sh s", "echo 'rm x'>s; chmod +x s; ./s",
		"printf '#!/bin/sh\nrm x\n'>s; chmod +x s; ./s",
		// security 093
		"exec rm x", "builtin command rm x", "builtin eval rm x", "xargs rm <<<x", "env sh -c 'rm x'", "env env rm x", "time rm x", "! rm x",
		"echo rm x | xargs env", "trap 'rm x' EXIT", "trap 'rm x' ERR; false", "if rm x; then :; fi", "{ rm x; }", "(rm x)",
		// security 099
		"cp /bin/rm ./cat; ./cat x", "cp /bin/rm cat; PATH=.:$PATH; cat x", "ls(){ rm x; }; ls", "shopt -s expand_aliases; alias q=rm\neval 'q x'",
		// peers 062 to 068
		"echo ok; rm x", "true && rm x", "false || rm x", "echo x | rm x", "rm x & wait", "/bin/rm x", "/usr/bin/../bin/rm x", "/usr/bin/rm x",
		`"rm" x`, `r""m x`, `\rm x`, `$'r\x6d' x`, "/bin/r? x", "/bin/[r]m x", "a=(rm x); \"${a[@]}\"", `f() { "$@"; }; f rm x`,
		// places in the grammar where a command hides
		"echo $(rm x)", "echo ${y:-$(rm x)}", "a[$(rm x; echo 0)]=1", "echo $((1 + $(rm x; echo 1)))", "case $(rm x) in *) ;; esac",
		"for i in $(rm x); do :; done", "cat <<E\n$(rm x)\nE", "cat <<< $(rm x)", "[[ $(rm x) ]]", "a=(1); ((a[$(rm x; echo 0)] == 1))", ": > $(rm x; echo out)",
		"export y=$(rm x)", "declare y=`rm x`", "set -- $(rm x)", "echo {$(rm x),b}", "echo ${y/$(rm x)/}", "readonly z=$(rm x)",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			fsys := newFS(t)
			writeFile(t, fsys, "/workspace/x", "kept", 0o644)
			engine := denyProgram("rm")
			s := newSessionFS(t, fsys, engine, nil)
			out, errw, _, err := do(t, s, line, "")
			if err != nil {
				t.Fatalf("error %v", err)
			}
			if text, ok := readFile(t, fsys, "/workspace/x"); !ok || text != "kept" {
				t.Error("x was removed")
			}
			if n := len(engine.denied); n != 1 {
				t.Errorf("%d denials, want 1; stdout %q stderr %q", n, out, errw)
			}
			for _, want := range []string{"rm", "denied by policy: nothing is deleted here [rule keep; decision d1]", "try: move it to /tmp"} {
				if !strings.Contains(errw, want) {
					t.Errorf("stderr lacks %q: %q", want, errw)
				}
			}
			if strings.Contains(errw, "rules.rego") {
				t.Error("stderr names the rule's file")
			}
		})
	}
}

func TestDenialIs126AndTheScriptGoesOn(t *testing.T) {
	s := newSession(t, denyProgram("rm"), nil)
	for _, line := range []string{"rm x", "eval rm x", "command rm x", "sh -c 'rm x'", "env rm x", "exec rm x", "cp /bin/rm y; ./y x", `$'\x72m' x`} {
		if _, _, status, _ := do(t, s, line, ""); status != 126 {
			t.Errorf("%s: status %d, want 126", line, status)
		}
	}
	out, _, status, err := do(t, s, "rm x; echo $? on", "")
	if out != "126 on\n" || status != 0 || err != nil {
		t.Errorf("got %q, %d, %v", out, status, err)
	}
}

func TestHarmlessNeighboursRun(t *testing.T) {
	s := newSession(t, denyProgram("rm"), nil)
	for _, line := range []string{"echo rm", "echo rm > rm; cat 'rm'", "echo x > rm.txt", ": # rm x", "echo 'rm x'", "cat <<E\nrm x\nE"} {
		if _, errw, status, err := do(t, s, line, ""); status != 0 || err != nil || errw != "" {
			t.Errorf("%s: status %d, error %v, stderr %q", line, status, err, errw)
		}
	}
}

// A nil engine, and one that does not know what it is asked, deny.
func TestNoPolicyDeniesEverything(t *testing.T) {
	for _, engine := range []policy.Engine{nil, &rules{deny: func(policy.Action) string { panic("bug") }}} {
		s := newSession(t, engine, nil)
		out, errw, status, err := do(t, s, "cat /bin/cat; echo > f; eval :", "")
		if status != 126 || out != "" || err != nil || !strings.Contains(errw, "denied by policy") {
			t.Errorf("got %q %q %d %v", out, errw, status, err)
		}
	}
}

// The facts of an exec are those of what really runs.
func TestExecFacts(t *testing.T) {
	engine := denyProgram("nothing")
	s := newSession(t, engine, nil)
	_, errw, _, err := do(t, s, `cd /tmp; cp /bin/rm y; A=1 B=2 ./y -f q; sh -c 'env rm -f w'; rm -f e & wait; eval 'A=3 rm -f t'`, "")
	if err != nil {
		t.Fatal(err, errw)
	}
	got := engine.execs("rm")
	if len(got) != 4 {
		t.Fatalf("%d decisions: %+v", len(got), got)
	}
	first, inner, job, evald := got[0], got[1], got[2], got[3]
	if first.Cwd != "/tmp" || strings.Join(first.Assigns, " ") != "A B" || first.Kind != "box" || first.SHA256 != "sha256 of rm" || first.Depth != 0 || len(first.Ancestors) != 0 || first.Background {
		t.Errorf("first: %+v", first)
	}
	if inner.Depth != 2 || strings.Join(inner.Ancestors, " ") != "sh env" || strings.Join(inner.Args, " ") != "-f w" {
		t.Errorf("inner: %+v", inner)
	}
	if !job.Background || job.Depth != 0 {
		t.Errorf("job: %+v", job)
	}
	if strings.Join(evald.Assigns, " ") != "A" {
		t.Errorf("eval: %+v", evald)
	}
	if sh := engine.execs("sh"); len(sh) != 1 || sh[0].Kind != "shell" || len(sh[0].SHA256) != 64 || sh[0].Args[1] != "env rm -f w" {
		t.Errorf("sh: %+v", sh)
	}
	if ev := engine.execs("eval"); len(ev) != 1 || ev[0].Kind != "shell" {
		t.Errorf("eval: %+v", ev)
	}
}

type aliased struct{ fake }

func (a aliased) Usage() sandbox.Usage {
	u := a.fake.Usage()
	u.Aliases = []string{"delete", "unlink"}
	return u
}

// A program that has several names is one to the policy, and a name that
// another program has of its own stays that one's.
func TestAliasesAreOneProgram(t *testing.T) {
	run := func(context.Context, *sandbox.Proc) error { return nil }
	programs := []sandbox.Program{aliased{fake{"remove", run}}, fake{"unlink", run}}
	s := newSession(t, denyProgram("remove"), func(c *sandbox.Config) { c.Programs = append(c.Programs, programs...) })
	for line, want := range map[string]int{"remove x": 126, "delete x": 126, "/usr/bin/delete": 126, "env delete": 126, "unlink x": 0} {
		if _, errw, status, err := do(t, s, line, ""); status != want || err != nil {
			t.Errorf("%s: status %d, want %d: %s %v", line, status, want, errw, err)
		}
	}
	files := sandbox.BinFiles(programs)
	if files["delete"] != sandbox.BinFile("remove") || files["unlink"] != sandbox.BinFile("unlink") {
		t.Errorf("/bin: %q", files)
	}
}
