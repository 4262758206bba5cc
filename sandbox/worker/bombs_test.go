package worker_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/worker"
)

// A bomb wants all there is. It ends with a clear error and a status that is
// not 0, or, when out is set, it is no bomb here: it prints out and nothing is
// missing.
type bomb struct{ name, line, out string }

// bombs are made of a few kinds, each in the places where it could go off.
func bombs() (all []bomb) {
	add := func(name, line string) { all = append(all, bomb{name: name, line: line}) }
	fine := func(name, line, out string) { all = append(all, bomb{name, line, out}) }

	grow := map[string]string{
		"doubling":      "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done",
		"appending":     "x=a; while :; do x+=$x; done",
		"replacing":     "x=aaaa; for i in {1..30}; do x=${x//a/aaaa}; done",
		"printf width":  "printf '%0999999999d' 1 | wc -c",
		"printf -v":     "while :; do printf -v x '%s%s' \"${x-a}\" \"${x-a}\"; done",
		"read":          "yes | tr -d '\\n' | { read x; echo ${#x}; }",
		"substitution":  "x=$(yes)",
		"zeros":         "x=$(cat /dev/zero | tr '\\0' a)",
		"here-doc":      "x=a; while :; do x=$(cat <<E\n$x$x\nE\n); done",
		"case":          "x=a; while :; do x=${x^^}$x; done",
		"array":         "a=(1 2 3 4); while :; do a=(\"${a[@]}\" \"${a[@]}\"); done",
		"array index":   "i=0; while :; do a[i++]=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$a; a=${a[*]}; done",
		"assoc":         "declare -A m; while :; do m[${#m[@]}]=$(printf '%100000d' 1); done",
		"variables":     "i=0; while :; do declare v$((i++))=$(printf '%100000d' 1); done",
		"positional":    "set -- a b; while :; do set -- \"$@\" \"$@\"; done",
		"mapfile":       "yes | mapfile a",
		"braces":        "echo {1..100000000} | wc -c",
		"braces nested": "echo " + strings.Repeat("{a,b}", 40) + " | wc -c",
		"braces in for": "for i in {1..1000000000}; do :; done",
	}
	for name, line := range grow {
		add("grow "+name, line)
	}
	for name, body := range map[string]string{
		"function": "f(){ f; }; f", "two functions": "a(){ b; }; b(){ a; }; a", "eval": "g(){ eval g; }; g", "substitution": "h(){ x=$(h); }; h",
		"subshell": "f(){ (f); }; f", "pipe": "f(){ f | f; }; f", "source": "echo '. ./self' > self; . ./self", "trap": "trap 'kill -USR1 $$' USR1; trap 'f' EXIT; f(){ f; }; f",
		"script": "echo './me' > me; chmod +x me; ./me", "sh": "export s='sh -c \"$s\"'; sh -c \"$s\"", "xargs": "echo 'echo a | xargs ./x' > x; chmod +x x; ./x",
		"alias": "shopt -s expand_aliases; f(){ eval \"$1\"; }; e='f \"$e\"'; f \"$e\"", "arith": "f(){ echo $(( $(f) )); }; f", "find": "echo 'find me -exec ./y \\;' > y; touch me; chmod +x y; ./y",
	} {
		add("recursion "+name, body)
	}
	for name, line := range map[string]string{
		"classic": ":(){ :|:& };:\nsleep 1000", "function": "f(){ f & f & }; f; sleep 1000", "sleepers": "while :; do sleep 1000 & done",
		"pipes": "f(){ yes | f | f; }; f", "coproc": "while :; do coproc sleep 100; done 2>/dev/null",
	} {
		add("fork "+name, line)
	}
	for name, line := range map[string]string{
		"parens": strings.Repeat("(", 100_000), "braces": strings.Repeat("{ ", 50_000), "substs": strings.Repeat("$(", 20_000) + strings.Repeat(")", 20_000),
		"defaults": strings.Repeat(`"${a:-`, 20_000), "arith": "$((" + strings.Repeat("(", 50_000), "ifs": strings.Repeat("if ", 50_000), "long": "echo " + strings.Repeat("a", 2<<20),
	} {
		add("parser "+name, line)
	}
	for name, line := range map[string]string{
		"yes": "yes", "zero": "cat /dev/zero", "stderr": "yes >&2", "loop": "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done", "seq": "seq 100000000000", "awk": "awk 'BEGIN{while(1) print 1}'",
	} {
		add("flood "+name, line)
	}
	for name, line := range map[string]string{
		"awk loop": "awk 'BEGIN{while(1){}}'", "awk string": "awk 'BEGIN{s=\"a\"; while(1) s=s s}'", "sed": "echo a | sed ':a;s/a/aa/;ta'", "jq repeat": "jq -n 'repeat(1)' >/dev/null",
		"jq range": "jq -n '[range(1e12)]'", "loop": "while :; do :; done", "sleep": "sleep infinity", "timeout": "timeout 1d sleep 1d", "read": "read -t 100000 x < /dev/zero; while :; do :; done",
		"arith": "((i=0)); until ((i++ < 0)); do :; done",
	} {
		add("time "+name, line)
	}
	for name, line := range map[string]string{
		"big": "yes > big", "many": "for i in {1..5000}; do : > f$i || exit 3; done", "sparse": "truncate -s 10T sparse", "deep": "mkdir -p " + strings.Repeat("d/", 3000),
		"copy": "mkdir l; cp -r . l", "split": "yes | head -c 100000 | split -b1 -", "tee": "yes | tee a b c > /dev/null", "fds": "i=3; while :; do eval \"exec $i>f\" || exit; i=$((i+1)); done",
	} {
		add("files "+name, line)
	}
	fine("regex", "[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! =~ ^(a+)+$ ]]; echo $?", "1\n")
	fine("grep", "printf '%0200d\\n' 0 | tr 0 x | grep -cE '(x+x+)+y'; echo on", "0\non\n")
	fine("glob", "touch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; echo *a*a*a*a*a*a*a*a*a*a*a*a*a*b", "*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n")
	fine("no input", "cat; read x; echo $?", "in\n1\n")
	fine("power", "echo $((2**62**62))", "0\n")
	return all
}

// lanes is how many bombs go off at a time.
const lanes = 3

// TestBombs sets every bomb off beside a line that must notice nothing. With
// DONAX_SOAK they have the time to reach whatever limit they can.
//
// Threats: WO-3.
func TestBombs(t *testing.T) {
	t.Parallel()
	all := bombs()
	if len(all) < 65 {
		t.Errorf("%d bombs", len(all))
	}
	if testing.Short() {
		all = all[:0:0]
		for i, b := range bombs() {
			if i%8 == 0 {
				all = append(all, b)
			}
		}
	}
	c := config(t)
	c.Log = nil
	quiet := c
	quiet.Setup.Limits.Timeout = -1
	q := pool(t, quiet)
	ctx := as(t.Context(), "a")
	w, bystander := begin(ctx, t, q, "echo begun; until [ -e /tmp/stop ]; do sleep 0.05; done; echo done")
	<-w.has
	t.Run("lane", func(t *testing.T) {
		for lane := range lanes {
			t.Run(strconv.Itoa(lane), func(t *testing.T) {
				t.Parallel()
				var mine []bomb
				for i := lane; i < len(all); i += lanes {
					mine = append(mine, all[i])
				}
				goOff(t, mine)
			})
		}
	})
	put(t, c.Mounts[0].FS, "/stop", "x")
	if r := within(t, bystander); r.status != 0 || r.out != "begun\ndone\n" {
		t.Errorf("the bystander: %+v", r)
	}
}

// goOff sets bombs off, one after the other, in workers of their own.
func goOff(t *testing.T, all []bomb) {
	c := config(t)
	c.Log = nil
	slow := pool(t, c) // for what is none: it may take as long as the machine needs
	c.Limits.Max = 8
	c.Setup.Limits = sandbox.Limits{Timeout: time.Second, Memory: 48 << 20, Session: 96 << 20, Output: 4 << 20}
	if os.Getenv("DONAX_SOAK") != "" {
		c.Setup.Limits.Timeout = 15 * time.Second
	}
	p := pool(t, c)
	ctx := as(t.Context(), "a")
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) {
			clear(t, c.Mounts[1].FS, "/")
			at := p
			if b.out != "" {
				at = slow
			}
			start := time.Now()
			r := do(ctx, at, b.line)
			took := time.Since(start)
			var lost *worker.LostError
			switch {
			case b.out != "":
				if r.out != b.out || r.fail != nil {
					t.Errorf("%.100q %.200q %d %v", r.out, r.err, r.status, r.fail)
				}
			case r.status == 0 && r.fail == nil:
				t.Errorf("it went well: %.100q %.200q", r.out, r.err)
			case r.err == "" && (r.fail == nil || r.fail.Error() == ""):
				t.Errorf("it says nothing: status %d", r.status)
			case errors.As(r.fail, &lost) && lost.Signal() != "":
				t.Errorf("no limit was told: %v", r.fail)
			}
			if took > 2*time.Minute {
				t.Errorf("it took %v", took)
			}
			if len(r.err) > 8<<20 || len(r.out) > 8<<20 {
				t.Errorf("it wrote %d and %d bytes", len(r.out), len(r.err))
			}
			t.Log(took.Round(time.Millisecond), r.status, r.fail, fmt.Sprintf("%.120q", r.err))
		})
	}
	clear(t, c.Mounts[1].FS, "/")
	if r := do(ctx, slow, "echo still"); r.out != "still\n" {
		t.Errorf("afterwards: %+v", r)
	}
}
