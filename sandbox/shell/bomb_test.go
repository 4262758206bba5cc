package shell

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestBombs runs scripts that would take all memory or time. Each must end by
// itself with a limit, or at the deadline, soon and without much memory.
func TestBombs(t *testing.T) {
	bombs := []struct {
		name, src string
		want      string // part of the limit's text; "deadline"; "" for a plain end
	}{
		{"doubling", `x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done; echo ${#x}`, "of 2 MiB"},
		{"doubling append", `x=aaaaaaaaaaaaaaaa; while true; do x+=$x; done`, "of 2 MiB"},
		{"replace", `x=aaaa; for i in {1..30}; do x=${x//a/aaaa}; done; echo ${#x}`, "of 2 MiB"},
		{"array", `a=(1 2 3 4); while true; do a=("${a[@]}" "${a[@]}"); done`, "limit"},
		{"array append", `while true; do a+=(xxxxxxxxxxxxxxxxxxxxxxxx xxxxxxxxxxxxxxxxxxxxxxxx); done`, "any"},
		{"many variables", `i=0; while :; do printf -v "v$i" %01000d 0; ((i++)); done`, "any"},
		{"brace 1e8", `echo {1..100000000} | cat >/dev/null`, "expansion"},
		{"brace product", `echo {a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h} >/dev/null`, "any"},
		{"brace for", `for i in {1..1000000000}; do break; done; echo ok`, "expansion"},
		{"brace 1e18", `echo {1..1000000000000000000}`, "brace expansion"},
		{"brace sum", `echo {{1..3000000},{1..3000000}}`, "brace expansion"},
		{"brace powers", "echo " + strings.Repeat("{1..100}", 30), "brace expansion"},
		{"brace ends", `echo {-9223372036854775808..9223372036854775807}`, "brace expansion"},
		{"recursion", `f(){ f; }; f`, "nested"},
		{"recursion in substitution", `f(){ x=$(f); }; f`, "nested"},
		{"mutual recursion", `a(){ b; }; b(){ a; }; a`, "nested"},
		{"source itself", `echo '. ./self.sh' > self.sh; . ./self.sh`, "nested"},
		{"eval recursion", `e='eval "$e"'; eval "$e"`, "nested"},
		{"eval in function", `g(){ eval g; }; g`, "nested"},
		{"sh -c recursion", `export s='bash -c "$s"'; bash -c "$s"`, "any"},
		{"trap recursion", `trap 'kill -USR1 $$' USR1; kill -USR1 $$; echo done`, ""},
		{"fork bomb", `:(){ :|:& };:`, "any"},
		{"fork bomb 2", `f(){ f & f & }; f`, "any"},
		{"background bomb", `while :; do sleep 100 & done`, "jobs"},
		{"pipe bomb", `f(){ f | f; }; f`, "any"},
		{"process substitution bomb", `while :; do : <(sleep 100); done`, "any"},
		{"exec fd bomb", `for i in {3..5000}; do exec {x}<<<y; done; echo ok`, "open files"},
		{"case stars", `x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; case $x in *a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b) echo m;; *) echo n;; esac`, ""},
		{"extglob nested", `shopt -s extglob; x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab; [[ $x == +(+(+(a)))c ]]; echo $?`, ""},
		{"regex nested", `[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab =~ ^(a+)+$ ]]; echo $?`, ""},
		{"regex huge", `r='(((a{1,1000}){1,1000}){1,1000})'; [[ a =~ $r ]]; echo $?`, ""},
		{"loop", `while :; do :; done`, "deadline"},
		{"arith loop", `for ((;;)); do :; done`, "deadline"},
		{"until", `i=0; until (( i++ < 0 )); do :; done`, "deadline"},
		{"arith pow", `echo $((2**62**62))`, ""},
		{"arith recursion", `a=b; b=a; echo $((a))`, ""},
		{"alias loop", "shopt -s expand_aliases\nalias a=b\nalias b=a\na; echo rc=$?", ""},
		{"read zero", `x=$(</dev/zero)`, "of 2 MiB"},
		{"read line of zeros", `read x </dev/zero`, "any"},
		{"yes line", `x=$(yes)`, "of 2 MiB"},
		{"expansion", `a=$(printf '%01000000d' 0); b=${a//0/00000000000000000000}; c=${b//0/$a}; echo ${#c}`, "of 2 MiB"},
		{"pattern", `x=$(printf '%0200000d' 0); echo "${x//*1/}"`, "deadline"},
		{"words", `x=$(printf '%01000000d' 0); for i in ${x//0/a }; do :; done; echo ok`, ""},
		{"here-doc", "a=$(printf '%01000000d' 0)\ncat <<X >/dev/null\n" + strings.Repeat("$a", 100) + "\nX\n", "of 2 MiB"},
		{"wide printf", `printf '%1000000000d' 1`, "of 2 MiB"},
		{"globstar", `d=g; mkdir -p $d; for i in {1..60}; do d=$d/x; mkdir -p $d; done; shopt -s globstar; cd g; echo **/**/**/**/**/x >/dev/null`, "any"},
		{"debug trap", `trap 'x=$x$x$x' DEBUG; x=aaaaaaaaaa; while :; do :; done`, "of 2 MiB"},
		{"parens", strings.Repeat("(", 100000), "nesting"},
		{"closed parens", strings.Repeat("(", 20000) + ":" + strings.Repeat(")", 20000), "nesting"},
		{"braces", strings.Repeat("{ ", 50000), "nesting"},
		{"substitutions", "echo " + strings.Repeat("$(", 20000) + strings.Repeat(")", 20000), "nesting"},
		{"parameters", `echo "` + strings.Repeat("${a:-", 20000), "nesting"},
		{"arithmetic", "echo $((" + strings.Repeat("(", 50000) + "1" + strings.Repeat(")", 50000) + "))", "nesting"},
		{"ifs", strings.Repeat("if ", 50000), "nesting"},
		{"nots", strings.Repeat("! ", 50000) + ":", "any"},
		{"arith minus", "echo $((" + strings.Repeat("- ", 50000) + "1))", "any"},
		{"arith plus", "echo $((" + strings.Repeat("1+", 100000) + "1))", "any"},
		{"and chain", strings.Repeat(": && ", 100000) + ":", "any"},
		{"pipe chain", strings.Repeat(": | ", 10000) + ":", "stages"},
		{"elif chain", "if false; then :; " + strings.Repeat("elif false; then :; ", 15000) + "fi", "any"},
		{"eval parens", "eval '" + strings.Repeat("(", 100000) + "'", "nesting"},
		{"trap parens", "trap '" + strings.Repeat("(", 100000) + "' EXIT", "nesting"},
		{"test parens", "[[ " + strings.Repeat("( ", 50000) + "a " + strings.Repeat(") ", 50000) + " ]]", "any"},
		{"long source", strings.Repeat("a", 2<<20), "source text"},
		{"nested braces", "echo " + strings.Repeat("{a,", 50000) + strings.Repeat("}", 50000), "any"},
		{"extglob parens", "echo " + strings.Repeat("+(", 50000) + strings.Repeat(")", 50000), "any"},
		{"value arithmetic", `x=$(printf '%010000d' 0); x=${x//0/(}; echo $((x))`, ""},
		{"value subscript", `x=$(printf '%010000d' 0); x=${x//0/a[}; echo $((x))`, ""},
		{"value pattern", `shopt -s extglob; x=$(printf '%010000d' 0); x=${x//0/+(}; [[ a == $x ]]; echo $?`, "any"},
		{"function text", `f='f(){ :; }'; while :; do eval "g$((i++))(){ : aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; }"; done`, "any"},
	}
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			h := newTestHost(t)
			h.limit = 16 << 20
			limit := 20 * time.Second
			if b.want == "deadline" {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Run(ctx, Config{Host: h, Dir: "/job", Env: []string{"PATH=/bin"}, Stdout: io.Discard, Stderr: io.Discard, Limits: Limits{Expansion: 2 << 20}}, b.src)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var f *Fault
			if errors.As(err, &f) {
				t.Fatalf("fault: %s\n%s", f.Cause, f.Detail)
			}
			if took > limit+2*time.Second {
				t.Errorf("took %v", took)
			}
			if sys := int64(after.HeapSys) - int64(before.HeapSys); sys > 900<<20 {
				t.Errorf("heap grew by %d MiB", sys>>20)
			}
			var le *LimitError
			switch {
			case b.want == "any" || b.want == "deadline" && errors.Is(err, context.DeadlineExceeded):
			case b.want == "" && err == nil:
			case b.want != "" && errors.As(err, &le) && (b.want == "limit" || strings.Contains(le.What, b.want)):
			default:
				t.Errorf("ended with %v, want %q", err, b.want)
			}
			if took > 1200*time.Millisecond {
				t.Logf("took %v: %v", took, err)
			}
			if n := h.jobs.Load(); n != 0 {
				t.Errorf("%d jobs left", n)
			}
			runtime.GC()
		})
	}
}
