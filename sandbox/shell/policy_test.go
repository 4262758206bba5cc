package shell

import (
	"os"
	"path"
	"strings"
	"testing"
)

// denyRm is a host that refuses the program rm, by whatever name it is
// reached: a copy or link of it has its content.
func denyRm(t *testing.T) *testHost {
	h := newTestHost(t)
	h.denyPath = func(p string) bool {
		b, err := h.fs.Open(p, os.O_RDONLY, 0)
		if err != nil {
			return false
		}
		defer b.Close()
		buf := make([]byte, 64)
		n, _ := b.Read(buf)
		return path.Base(p) == "rm" || strings.HasPrefix(string(buf[:n]), "program rm\n")
	}
	f, err := h.fs.Open("/job/x", os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	return h
}

// TestDeniedSpellings is security cases 092 and 093: every way to spell or
// wrap a denied program reaches the host's admission.
func TestDeniedSpellings(t *testing.T) {
	for _, src := range []string{
		`rm x`, `'r'm x`, `r\m x`, `$'\x72m' x`, `a=r;b=m;$a$b x`, `${x:-rm} x`, `$(echo rm) x`, "`echo rm` x",
		`IFS=_;c=rm_x;$c`, `set -- rm x;"$@"`, "rm\\\n x", `while read l;do $l x;done<<<rm`, `echo rm x|sh`,
		`base64 -d<<<cm0geA==|sh`, `eval "$(rev <<<'x mr')"`, `. <(echo rm x)`, "sh<<E\nrm x\nE", `/bin/rm x`, `/bin/../bin/rm x`,
		`command rm x`, `exec rm x`, `builtin command rm x`, `env rm x`, `xargs rm <<<x`, `timeout 1 rm x`, `time rm x`,
		`cp /bin/rm y; ./y x`, `ln -s /bin/rm z; ./z x`, `PATH=.:$PATH; cp /bin/rm q; q x`, `trap 'rm x' EXIT`, `f(){ rm x; }; f`,
		`(rm x)`, `rm x & wait`, `echo | rm x`, `echo <(rm x) >/dev/null; wait`, `alias k=rm; shopt -s expand_aliases
k x`, `bash -c 'rm x'`, `sh -c 'sh -c "rm x"'`, `coproc rm x; wait`, `hash -p /bin/rm safe; safe x`, `mapfile -C 'rm x;:' -c 1 <<< a`,
		`PROMPT_COMMAND='rm x'; :`, `BASH_ENV=<(echo rm x) bash -c :`, `exec -a ls rm x`, `printf 'rm x' > s; . ./s`, `printf '#!/bin/sh\nrm x\n' > s; chmod +x s; ./s`,
		`export -f rm; rm x`, `function ls { rm "$@"; }; ls x`, `ls() { command rm "$@"; }; ls x`, `{r,}m x`, `rm$IFS''x`, `[[ $(rm x) ]]`, `((a[$(rm x)]))`, `${a[$(rm x)]}`,
	} {
		h := denyRm(t)
		runScript(t, h, src)
		if _, err := h.fs.Stat("/job/x"); err != nil {
			t.Errorf("%s: the file is gone", src)
		}
	}
}

// TestDeniedStatus tells what a denial looks like, and that the script goes on.
func TestDeniedStatus(t *testing.T) {
	r := runScript(t, denyRm(t), `rm x; echo "after $?"`)
	if r.out != "after 126\n" || !strings.Contains(r.err, "rm: denied by policy") {
		t.Errorf("%q %q", r.out, r.err)
	}
	h := newTestHost(t)
	h.deny = func(args []string) bool { return args[0] == "eval" }
	if r := runScript(t, h, `eval 'echo no'; echo $?; source /dev/null; echo $?`); r.out != "126\n0\n" {
		t.Errorf("%q %q", r.out, r.err)
	}
}

// TestValuesAreNotCode is security case 096: a command substitution inside a
// value never runs.
func TestValuesAreNotCode(t *testing.T) {
	for _, src := range []string{
		`x='a[$(touch FLAG)]'; echo $((x))`, `[[ 'a[$(touch FLAG)]' -eq 0 ]]`,
		`declare -A a; x='$(touch FLAG)'; echo ${a[$x]}; a[$x]=1; ((a[$x]++))`, `printf '%d' 'a[$(touch FLAG)]'`, `test -v 'a[$(touch FLAG)]'`,
		`[[ -v 'a[$(touch FLAG)]' ]]`, `unset 'a[$(touch FLAG)]'`, `read 'a[$(touch FLAG)]' <<< 1`, `x='$(touch FLAG)'; echo "${x@P}"`,
		"PS4='$(touch FLAG)'; set -x; :", "PS4='`touch FLAG`'; set -x; :", `declare -n r='a[$(touch FLAG)]'; echo $r; r=1`, `x='a[$(touch FLAG)]'; echo ${!x}`,
		`printf -v 'a[$(touch FLAG)]' 1`, `x='a[$(touch FLAG)]'; let x; ((x++)); ((x)); echo ${b:x} ${b[x]}; for ((x;x<1;)); do break; done`,
		`x='x=$(touch FLAG)'; declare "$x"; export "$x"; local "$x"; readonly "$x"`, `declare -a 'q=($(touch FLAG))'; declare -A 'w=([$(touch FLAG)]=1)'`,
		`declare -i n='a[$(touch FLAG)]'; n+='a[$(touch FLAG)]'`, `compgen -W '$(touch FLAG)'`, `x='${y:=$(touch FLAG)}'; echo "${x@P}" $((a[$x]))`,
		`mapfile -O 'a[$(touch FLAG)]' <<< 1`, `getopts a 'a[$(touch FLAG)]' -a`, `wait -p 'a[$(touch FLAG)]' -n`, `RANDOM='a[$(touch FLAG)]'; SECONDS='a[$(touch FLAG)]'; OPTIND='a[$(touch FLAG)]'; shift 'a[$(touch FLAG)]'`,
	} {
		h := newTestHost(t)
		runScript(t, h, src)
		if _, err := h.fs.Stat("/job/FLAG"); err == nil {
			t.Errorf("%s: ran the substitution", src)
		}
	}
}

// TestForeignTilde is security case 020: there is no user database to ask.
func TestForeignTilde(t *testing.T) {
	r := runScript(t, nil, `echo ~root ~svc ~nobody; cd ~root 2>/dev/null || echo no; echo ~`)
	if r.out != "~root ~svc ~nobody\nno\n/home/user\n" {
		t.Errorf("%q", r.out)
	}
}

// TestEnvironment is security case 017: nothing but Config.Env gets in.
func TestEnvironment(t *testing.T) {
	t.Setenv("CANARY_ENV", "canary-value")
	r := runScript(t, nil, `env; printenv; set; declare -p; export -p; echo $CANARY_ENV ${!C*}`)
	if strings.Contains(r.out+r.err, "canary-value") {
		t.Error("the environment of the process shows")
	}
}
