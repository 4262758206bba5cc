package shell

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A keptShell runs lines one after another in one kept state.
type keptShell struct {
	host  *testHost
	state *State
}

func (k *keptShell) run(t *testing.T, src string, opt ...func(*Config)) result {
	t.Helper()
	var out, errb bytes.Buffer
	c := Config{Host: k.host, KillJobs: true, Stdout: &out, Stderr: &errb}
	if k.state == nil {
		c.Dir, c.Env = "/job", []string{"PATH=/usr/bin:/bin", "HOME=/home/user", "TMP=/tmp"}
	}
	for _, o := range opt {
		o(&c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	st, next, err := k.state.RunFrom(ctx, c, src)
	if (next == nil) != (err != nil || strings.Contains(src, "kill")) {
		t.Errorf("%s: state %v, error %v", src, next != nil, err)
	}
	if next != nil {
		k.state = next
	}
	return result{out.String(), errb.String(), st, err}
}

// sessions are lines that follow each other in one session. A line must print
// what it prints where bash runs all of them in one process.
var sessions = [][]string{
	{"x=1 y='a b'; export z=3", "echo $x $y; env | grep -c '^z='", "x=$x$x; unset y", "echo $x${y-unset}"},
	{"f() { echo f $1 $x; }; x=7", "f a", "f() { echo g $((x+=1)); }", "f; f; echo $x", "unset -f f; f 2>/dev/null; echo $?"},
	{"mkdir -p d/e; cd d/e", "pwd | sed 's|.*/d/e|d/e|'; cd ..", "basename $PWD; basename $OLDPWD; cd - >/dev/null", "basename $PWD"},
	{"set -o pipefail; shopt -s nullglob extglob", "false | true; echo $?; echo z*z; [[ abc == +([a-c]) ]] && echo ext", "set +o pipefail; shopt -u nullglob", "false | true; echo $?; echo z*z"},
	{"shopt -s expand_aliases", "alias hi='echo hello'", "hi you", "unalias hi", "hi 2>/dev/null; echo $?"},
	{"a=(1 2 3); declare -A m=([k]=v [l]=w)", "a+=(4); m[n]=x; unset 'm[k]'", "echo ${a[@]} ${#m[@]} ${m[l]}", "a[1]=q; declare -p a; declare -i n=3", "n+=4; echo $n"},
	{"false", "echo $?", "(exit 7)", "echo $?; echo ${PIPESTATUS[0]}"},
	{"set -- a b c", "echo $# $2; shift", "echo $1"},
	{"readonly r=1", "r=2; echo no", "echo $r"},
	{"trap 'echo err' ERR", "false", "trap - ERR; false", "echo done"},
	{"umask 027", "umask", "declare -n ref=tgt; tgt=5", "ref=6; echo $tgt"},
	{"IFS=:", "x=a:b; set -- $x; echo $#", "unset IFS; x='a b c'; set -- $x; echo $#"},
	{"f() { local x=in; g; echo $x; }; g() { x=changed; }; x=out", "f; echo $x"},
	{"echo a b c", "echo $_", "pushd / >/dev/null; popd >/dev/null", "dirs -v | wc -l"},
	{"f() { return 3; }", "f || echo $?", "declare -f f; export -f f", "bash -c 'f; echo $?'"},
	{"getopts ab: o -a -b x; echo $o", "getopts ab: o -a -b x; echo $o $OPTARG"},
	{"x=$(printf %01000d 0); y=${x:0:3}", "echo $y ${#x}", "x=; echo $y"},
}

func TestSessions(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil && os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
		t.Fatal(err)
	}
	for _, lines := range sessions {
		k := &keptShell{host: newTestHost(t)}
		var got strings.Builder
		for _, l := range lines {
			r := k.run(t, l)
			if r.fault != nil {
				t.Fatalf("%s: %v", l, r.fault)
			}
			got.WriteString(r.out)
		}
		if err != nil {
			continue
		}
		cmd := exec.Command(bash, "-s")
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + cmd.Dir, "LC_ALL=C.UTF-8"}
		cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
		want, _ := cmd.Output()
		if got.String() != string(want) {
			t.Errorf("%q\nprints %q\nbash   %q", lines, got.String(), want)
		}
	}
}

// TestSessionEndings: what ends a line does not end the session, and a line
// that was ended from outside has changed nothing in it.
func TestSessionEndings(t *testing.T) {
	k := &keptShell{host: newTestHost(t)}
	k.run(t, `x=1; f() { echo f; }; cd /tmp`)
	for _, c := range []struct {
		line, out, then string
		status          int
	}{
		{"x=2; exit 3; echo no", "", "2", 3},
		{"x=3; set -e; false; echo no", "", "3", 1},
		{"set +e; f() { x=4; exit 5; }; f", "", "4", 5},
		{"trap 'echo bye' EXIT; x=5", "bye\n", "5", 0},
		{"x=6; exec env true", "", "6", 0},
		{"x=7; echo ${nope?gone}; echo no", "", "7", 127},
		{"x=8; sleep 100 & :", "", "8", 0},
		{"x=9; (", "", "8", 2},
		{"x=10; kill -9 $$; echo no", "", "8", 137},
		{"x=(1 2); cd /; f() { :; }; shopt -s nullglob; while :; do y+=$y$y.; done", "", "8", 137},
		{"set -n", "", "8", 0},
	} {
		r := k.run(t, c.line)
		if r.out != c.out || r.fault == nil && r.status != c.status {
			t.Errorf("%s: %q %d %v", c.line, r.out, r.status, r.fault)
		}
		if got := k.run(t, "echo $x; shopt -q nullglob || pwd"); got.out != c.then+"\n/tmp\n" {
			t.Errorf("after %s: %q", c.line, got.out)
		}
	}
	if r := k.run(t, "declare -f f; trap -p"); strings.Contains(r.out, ":;") || strings.Contains(r.out, "EXIT") {
		t.Errorf("%q", r.out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(30*time.Millisecond, cancel)
	if _, next, err := k.state.RunFrom(ctx, Config{Host: k.host}, "x=11; while :; do a[0]=$x; done"); next != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("killed: %v, %v", next, err)
	}
	if r := k.run(t, "echo $x ${a-none}"); r.out != "8 none\n" {
		t.Errorf("after a kill: %q", r.out)
	}
}

// TestSessionConfig: what the caller gives a line of a session.
func TestSessionConfig(t *testing.T) {
	k := &keptShell{host: newTestHost(t)}
	rc := func(c *Config) { c.RC, c.RCFile = "rc=read; hi() { echo hi $1; }\nfalse", "my.rc" }
	if r := k.run(t, "echo $? $rc; hi a; rc=changed", rc); r.out != "0 read\nhi a\n" {
		t.Errorf("%q %q", r.out, r.err)
	}
	if r := k.run(t, "echo $rc", rc); r.out != "changed\n" {
		t.Errorf("it is read again: %q", r.out)
	}
	if r := k.run(t, "echo $E $1 $PWD $OLDPWD; env | grep -c ^E=", func(c *Config) { c.Env, c.Params, c.Dir = []string{"E=e"}, []string{"p"}, "/tmp" }); r.out != "e p /tmp /job\n1\n" {
		t.Errorf("%q %q", r.out, r.err)
	}
	if r := k.run(t, "echo $E $1 $PWD"); r.out != "e p /tmp\n" {
		t.Errorf("%q %q", r.out, r.err)
	}
	if r := k.run(t, "echo no", func(c *Config) { c.Dir = "/nowhere" }); r.out != "" || r.status != 1 || !strings.Contains(r.err, "/nowhere: No such file") {
		t.Errorf("%q %q %d", r.out, r.err, r.status)
	}
	if r := k.run(t, "readonly E; echo ok"); r.out != "ok\n" {
		t.Errorf("%q", r.out)
	}
	if r := k.run(t, "echo no", func(c *Config) { c.Env = []string{"E=f"} }); r.out != "" || r.status != 1 || !strings.Contains(r.err, "readonly") {
		t.Errorf("%q %q %d", r.out, r.err, r.status)
	}
	denied := &keptShell{host: newTestHost(t)}
	denied.host.deny = func(args []string) bool { return args[0] == "source" }
	if r := denied.run(t, "echo line ${rc-unread}", rc); r.out != "line unread\n" {
		t.Errorf("a denied rc: %q %q", r.out, r.err)
	}
}

// TestSessionMemory: what a session holds is counted once, bounded, and
// given back to the host after each line.
func TestSessionMemory(t *testing.T) {
	k := &keptShell{host: newTestHost(t)}
	k.run(t, "v=$(printf '%0100000d' 0); a=($v $v); f() { echo $v; }")
	first := k.state.bytes
	if first < 300000 || first > 400000 {
		t.Errorf("weighs %d", first)
	}
	for range 200 {
		k.run(t, "v=$v; a[0]=$v; i=$((i+1)); f() { echo $v; }; g() { :; }; unset -f g")
	}
	if n := k.state.bytes; n > first+1000 {
		t.Errorf("grew from %d to %d", first, n)
	}
	if m := k.host.mem.Load(); m < -memBatch || m > memBatch {
		t.Errorf("%d bytes still charged", m)
	}
	var le *LimitError
	if r := k.run(t, "i=x; v=$(printf '%0100000d' 0); b=($v $v $v $v $v $v $v $v $v $v $v $v)", func(c *Config) { c.Limits.State = 1 << 20 }); !errors.As(r.fault, &le) {
		t.Errorf("over the limit: %v", r.fault)
	}
	if r := k.run(t, "echo $i ${#b[@]}"); r.out != "200 0\n" {
		t.Errorf("after the limit: %q", r.out)
	}
	k.host.limit = 200000
	if r := k.run(t, "echo ${#v}"); !errors.As(r.fault, &le) {
		t.Errorf("what is held does not count in the next line: %v %q", r.fault, r.out)
	}
}
