package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// TestDeadline ends every kind of long work soon after its context.
func TestDeadline(t *testing.T) {
	for _, src := range []string{
		`while :; do :; done`, `for ((;;)); do ((i++)); done`, `cat | cat`, `sleep 100`, `sleep 100 & wait`, `wait; read x < <(sleep 100)`,
		`x=$(sleep 100)`, `f() { while :; do :; done; }; f | cat`, `x=$(printf '%0300000d' 0); y=${x//*1/}`, `shopt -s extglob; x=$(printf '%050000d' 0); [[ $x == !(*1*)!(*1*)x ]]`,
		`read x < /dev/zero`, `mapfile < /dev/zero`, `coproc cat; wait`, `while :; do echo y; done | sleep 100`, `trap 'while :; do :; done' EXIT`,
		`until false; do x=$(echo); done`, `a=({1..1000000}); for x in "${a[@]}"; do for y in "${a[@]}"; do :; done; done`, `eval 'while :; do :; done'`,
		`(while :; do :; done) & (while :; do :; done)`, `select x in a; do :; done < <(while :; do echo 1; done)`, `exec 3<>/dev/zero; read -u 3 x`,
	} {
		h := newTestHost(t)
		pr, pw := io.Pipe()
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Millisecond)
		context.AfterFunc(ctx, func() { pr.Close() }) // what a session does with its input
		start := time.Now()
		_, err := Run(ctx, Config{Host: h, Dir: "/job", Env: []string{"PATH=/bin"}, Stdin: pr}, src)
		took := time.Since(start)
		cancel()
		pw.Close()
		var le *LimitError
		if !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &le) {
			t.Errorf("%s: ended with %v", src, err)
		}
		if took > 20*time.Second { // generous: the machine may be busy
			t.Errorf("%s: took %v", src, took)
		}
		if n := h.jobs.Load(); n != 0 {
			t.Errorf("%s: %d jobs left", src, n)
		}
	}
}

// TestJobsAtExit: jobs are waited for, or killed, and never outlive Run.
func TestJobsAtExit(t *testing.T) {
	r := runScript(t, nil, `(sleep 0.05; echo late) & echo now`)
	if r.out != "now\nlate\n" {
		t.Errorf("waited: %q", r.out)
	}
	r = runScript(t, nil, `(sleep 5; echo late) & echo now; exit 4`, func(c *Config) { c.KillJobs = true })
	if r.out != "now\n" || r.status != 4 || r.fault != nil {
		t.Errorf("killed: %q %d %v", r.out, r.status, r.fault)
	}
}

// TestLimitEndsScript: a limit ends everything wherever it is reached.
func TestLimitEndsScript(t *testing.T) {
	for _, src := range []string{
		`x=$(yes); echo after`, `yes | { x=$(cat); echo in; } ; echo after`, `(f() { f; }; f); echo after`, `{ x=$(yes); } & wait; echo after`,
		`if x=$(yes); then echo after; fi`, `trap 'echo after' EXIT; x=$(yes)`, `sh -c 'x=$(yes)'; echo after`, `x=$(yes) || echo after`,
	} {
		r := runScript(t, nil, src, func(c *Config) { c.Limits.Expansion = 1 << 20 })
		var le *LimitError
		if !errors.As(r.fault, &le) && !strings.Contains(src, "sh -c") || r.out != "" && !strings.Contains(src, "sh -c") {
			t.Errorf("%s: %v, printed %q", src, r.fault, r.out)
		}
	}
}

// TestFault: a panic anywhere ends the script with a Fault, not the process.
func TestFault(t *testing.T) {
	for _, src := range []string{`boom`, `boom | cat`, `boom & wait`, `x=$(boom)`, `cat <(boom)`, `trap boom EXIT`, `coproc boom; wait`} {
		h := newTestHost(t)
		h.denyPath = func(p string) bool {
			if strings.HasSuffix(p, "boom") {
				panic("boom")
			}
			return false
		}
		runScript(t, h, `echo > /job/boom; chmod +x /job/boom`)
		r := runScript(t, h, "PATH=$PATH:/job; "+src)
		var f *Fault
		if !errors.As(r.fault, &f) || f.Cause != "boom" || strings.Contains(r.err, "goroutine") {
			t.Errorf("%s: %v %q", src, r.fault, r.err)
		}
		if n := h.jobs.Load(); n != 0 {
			t.Errorf("%s: %d jobs left", src, n)
		}
	}
}

// TestMemoryIsGivenBack: what subshells and functions used does not add up.
func TestMemoryIsGivenBack(t *testing.T) {
	h := newTestHost(t)
	r := runScript(t, h, `f() { local x=$1 y=$1$1; local -a a=($1 $1); }
v=$(printf '%05000d' 0)
for i in {1..3000}; do f $v; x=$(y=$v$v; z=($v $v $v); echo); (w=$v; w+=$v); done; unset v; echo ok`)
	if r.out != "ok\n" || r.fault != nil {
		t.Fatalf("%q %v", r.out, r.fault)
	}
	if p := h.peak.Load(); p > 8<<20 {
		t.Errorf("peak of %d bytes charged", p)
	}
	if m := h.mem.Load(); m < -memBatch || m > 1<<20 {
		t.Errorf("%d bytes still charged", m)
	}
}

// TestMainArguments is the command line of sh and bash.
func TestMainArguments(t *testing.T) {
	h := newTestHost(t)
	runScript(t, h, `echo 'echo script $0 $1; exit 5' > s.sh; mkdir d`)
	for _, c := range []struct {
		args   []string
		stdin  string
		out    string
		status int
	}{
		{[]string{"bash", "-c", "echo $0 $1 $#", "n", "a", "b"}, "", "n a 2\n", 0},
		{[]string{"bash", "s.sh", "x"}, "", "script s.sh x\n", 5},
		{[]string{"bash"}, "read x\nline\necho got $x", "got line\n", 0},
		{[]string{"bash", "-s", "p"}, "echo $1", "p\n", 0},
		{[]string{"bash", "-ec", "false; echo no"}, "", "", 1},
		{[]string{"bash", "-o", "pipefail", "-c", "false | true"}, "", "", 1},
		{[]string{"bash", "-O", "nullglob", "-c", "echo x*z"}, "", "\n", 0},
		{[]string{"sh", "-c", "set -o | grep posix"}, "", "posix          \ton\n", 0},
		{[]string{"bash", "nofile"}, "", "", 127},
		{[]string{"bash", "d"}, "", "", 126},
		{[]string{"bash", "-Z"}, "", "", 2},
		{[]string{"bash", "--nope"}, "", "", 2},
		{[]string{"bash", "-c"}, "", "", 2},
		{[]string{"bash", "-c", "echo 'unclosed"}, "", "", 2},
	} {
		var out, errb bytes.Buffer
		st, err := Main(context.Background(), Config{Host: h, Dir: "/job", Env: []string{"PATH=/bin"}, Stdin: strings.NewReader(c.stdin), Stdout: &out, Stderr: &errb}, c.args)
		if err != nil || out.String() != c.out || st != c.status {
			t.Errorf("%q: %d %q %v (%s)", c.args, st, out.String(), err, errb.String())
		}
		if st > 1 && c.status != 5 && errb.Len() == 0 {
			t.Errorf("%q: no message", c.args)
		}
	}
}
