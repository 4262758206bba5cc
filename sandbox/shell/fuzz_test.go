package shell

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A scriptGen writes random scripts out of pieces in which bash and this
// evaluator must agree.
type scriptGen struct {
	r *rand.Rand
	b strings.Builder
}

func (g *scriptGen) pick(l ...string) string { return l[g.r.Intn(len(l))] }

func (g *scriptGen) name() string { return g.pick("a", "b", "c", "v") }

func (g *scriptGen) value() string {
	return g.pick("''", "x", "'a b'", "'  lead trail  '", "'*'", "'a:b::c'", "foo.tar.gz", "/usr/local/lib", "'[x]'", `'a\b'`, "'$v'", "42", "-7", "007", "0x1f", "'été'", `$'tab\there\nnl'`, `"q\"q"`, "'{a,b}'", "'~'", "~nobodyhere", "a{1,2}b", "'a?c'", "ABC", "'Hello World'", "'!'", "'-n'", "'a=b'")
}

func (g *scriptGen) arith(d int) string {
	if d <= 0 {
		return g.pick("1", "2", "3", "7", "i", "n", "-1", "0", "10", "0x10", "010", "2#101", "$n", "${n}", "arr[1]", "${#v}")
	}
	switch g.r.Intn(6) {
	case 0:
		return "(" + g.arith(d-1) + ")"
	case 1:
		return g.pick("-", "!", "~", "+") + " " + g.arith(d-1)
	case 2:
		return g.arith(d-1) + "?" + g.arith(d-1) + ":" + g.arith(d-1)
	case 3:
		return g.pick("i++", "++i", "i--", "n+=2", "i=n*2", "arr[i%3]=5", "n<<=1")
	}
	return g.arith(d-1) + g.pick("+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", "==", "!=", "&", "|", "^", "&&", "||", "**", ",") + g.arith(d-1)
}

func (g *scriptGen) pattern() string {
	return g.pick("*", "?", "a*", "*b", "[a-c]*", "*.*", "*.", ".*", "/*", "*/", "o", "[!a]", "?*?", "'*'", `\*`, "[[:upper:]]", "*[0-9]", "$c", `"$c"`, "@(a|b)*", "+([a-z])", "!(x)", "*(o)", "a?(b)")
}

func (g *scriptGen) param() string {
	n := g.name()
	switch g.r.Intn(18) {
	case 0:
		return "$" + n
	case 1:
		return "${#" + n + "}"
	case 2:
		return "${" + n + g.pick(":-", "-", ":+", "+", ":=", "=") + g.pick("def", "'d q'", "$v", `"$b"`, "") + "}"
	case 3, 4:
		return "${" + n + g.pick("#", "##", "%", "%%") + g.pattern() + "}"
	case 5, 6:
		return "${" + n + g.pick("/", "//", "/#", "/%") + g.pattern() + "/" + g.pick("", "R", "$v", "[&]", `\&`) + "}"
	case 7:
		return "${" + n + g.pick("^", "^^", ",", ",,") + "}"
	case 8:
		return "${" + n + ":" + g.pick("0", "1", "2", " -2", " -3:2", "1:2", "0:-1", "n:1", "9") + "}"
	case 9:
		return "${arr[" + g.pick("@", "*", "0", "1", "-1", "i", "n%2") + "]}"
	case 10:
		return "${" + g.pick("#arr[@]", "!arr[@]", "arr[@]:1", "arr[@]:1:1", "arr[@]/a/Z", "arr[@]#?", "arr[*]^") + "}"
	case 11:
		return "${" + n + "@" + g.pick("Q", "U", "L", "u") + "}"
	case 12:
		return "$((" + g.arith(2) + "))"
	case 13:
		return "$(echo " + g.word() + ")"
	case 14:
		return g.pick("$@", "$*", "$#", "$1", "$2", "$?", "${@:2}", "${*:1:1}", "${@/o/0}")
	case 15:
		return "${m[" + g.pick("k", "x y", "$v", "none") + "]}"
	case 16:
		return "${!ref}"
	}
	return "$" + n + "$" + g.name()
}

func (g *scriptGen) word() string {
	switch g.r.Intn(6) {
	case 0:
		return g.value()
	case 1:
		return `"` + g.param() + `"`
	case 2:
		return g.param()
	case 3:
		return `"x` + g.param() + `y ` + g.param() + `"`
	case 4:
		return "pre" + g.param() + g.pick("", "post", `"q"`)
	}
	return g.pick("{x,y}", "{1..3}", `"a b"`, `\$v`, "a\\ b", "$'n\\tt'", `""`)
}

func (g *scriptGen) test() string {
	switch g.r.Intn(5) {
	case 0:
		return "[[ " + g.word1() + " " + g.pick("==", "!=") + " " + g.pattern() + " ]]"
	case 1:
		return "[ " + `"$` + g.name() + `"` + " " + g.pick("=", "!=", "\\<") + " " + `"$` + g.name() + `"` + " ]"
	case 2:
		return "(( " + g.arith(2) + " ))"
	case 3:
		return "[[ " + g.pick("-n", "-z", "-v") + " " + g.pick("v", `"$v"`, "arr[1]", "nope") + " " + g.pick("", "&& a", "|| -n $b") + " ]]"
	}
	return "[[ " + g.word1() + " =~ " + g.pick("^[a-z]+", "o", "(a)(b)?", "[0-9]+$", `\.`, "^$") + " ]]"
}

func (g *scriptGen) word1() string { return g.pick("$a", `"$b"`, "$v", "abc", `"$1"`, "${c%x}") }

func (g *scriptGen) stmt(d int) {
	show := func(s string) { fmt.Fprintf(&g.b, "printf '<%%s>' %s; echo \" $?\"\n", s) }
	switch g.r.Intn(16) {
	case 0, 1:
		fmt.Fprintf(&g.b, "%s=%s\n", g.name(), g.pick(g.value(), g.param(), `"`+g.param()+`"`))
	case 2:
		fmt.Fprintf(&g.b, "arr=(%s %s %s)\n", g.word(), g.value(), g.word())
	case 3:
		fmt.Fprintf(&g.b, "arr%s\n", g.pick("[3]=x", "+=(z)", "[i]="+g.value(), "[n+1]+=t"))
	case 4:
		fmt.Fprintf(&g.b, "m[%s]=%s\n", g.pick("k", `"x y"`, "$v", "j"), g.value())
	case 5:
		fmt.Fprintf(&g.b, "set -- %s %s\n", g.word(), g.word())
	case 6:
		fmt.Fprintf(&g.b, "IFS=%s\n", g.pick("' '", ":", "''", "$' \\t\\n'", "o", "', '"))
	case 7:
		fmt.Fprintf(&g.b, "%s && echo yes || echo no\n", g.test())
	case 8:
		if d > 0 {
			fmt.Fprintf(&g.b, "for x in %s %s; do\n", g.word(), g.word())
			g.stmt(d - 1)
			show(`"$x"`)
			g.b.WriteString("done\n")
			return
		}
		show(g.word())
	case 9:
		if d > 0 {
			fmt.Fprintf(&g.b, "if %s; then\n", g.test())
			g.stmt(d - 1)
			g.b.WriteString("else\n")
			g.stmt(d - 1)
			g.b.WriteString("fi\n")
			return
		}
		show(g.word())
	case 10:
		fmt.Fprintf(&g.b, "case %s in %s) echo m1;%s %s|x) echo m2;; *) echo m3;; esac\n", g.word1(), g.pattern(), g.pick(";", "&", ";&"), g.pattern())
	case 11:
		if d > 0 {
			g.b.WriteString("f() {\nlocal v=" + g.value() + "\n")
			g.stmt(d - 1)
			g.b.WriteString("return " + g.pick("0", "3", "$?") + "\n}\nf " + g.word() + "; echo \"rc $?\"\n")
			return
		}
		show(g.word())
	case 12:
		fmt.Fprintf(&g.b, "cat <<E\n%s and %s\nE\n", g.param(), g.param())
	case 13:
		fmt.Fprintf(&g.b, "( %s; ", g.pick("v=sub", "exit 3", "false", "set -- s"))
		g.b.WriteString("printf '<%s>' \"$v\" $#; echo ); echo $?\n")
	case 14:
		fmt.Fprintf(&g.b, "read -r %s <<< %s; printf '<%%s>' \"$a\" \"$b\" \"$c\"; echo\n", g.pick("a", "a b", "a b c"), g.word())
	default:
		show(g.word() + " " + g.word())
	}
}

func genScript(seed int64) string {
	g := &scriptGen{r: rand.New(rand.NewSource(seed))}
	g.b.WriteString("shopt -s extglob\na='a b' b=foo.bar c='*' v=Hello i=1 n=3 ref=v\ndeclare -A m=([k]=val)\narr=(one 'two 2' three)\nset -- p1 'p 2'\n")
	for range 12 {
		g.stmt(2)
	}
	return g.b.String()
}

// TestRandomScripts compares random scripts with bash.
func TestRandomScripts(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("bash is not installed")
	}
	n, from := 40, 1
	if s := os.Getenv("DONAX_SHELL_SEEDS"); s != "" {
		a, b, _ := strings.Cut(s, ":")
		from, _ = strconv.Atoi(a)
		n, _ = strconv.Atoi(b)
	}
	for seed := from; seed < from+n; seed++ {
		src := genScript(int64(seed))
		want, wantSt := runBash(t, src)
		got, gotSt := runHere(t, src)
		if got != want || gotSt != wantSt {
			t.Errorf("seed %d\n%s\n--- got %d\n%s--- want %d\n%s", seed, src, gotSt, got, wantSt, want)
		}
	}
}

// FuzzScript looks for panics, hangs and lost jobs in whatever text comes.
func FuzzScript(f *testing.F) {
	for seed := range int64(20) {
		f.Add(genScript(seed))
	}
	for _, s := range []string{"((a[0]++))", "a=([x]=1 [y z]=2)", "${a[@]:1:2}", "f() { f; }; f | f &", "[[ a =~ ( ]]", "echo ${x@Q} $'\\x", "cat <<E\n$(\nE", "shift -1; unset ''; [[ -v '' ]]", "declare -A m=(1 2); ((m[k]++))", "trap 'echo $?' EXIT ERR DEBUG; false", "exec 3<>x 4>&3-; read -u 3 -t 0.01 x", "printf '%*d %b %q' 5 a b", "set -euo pipefail; : ${x:?y}", "coproc x { read; }; wait -n", "alias a='b c'; a", "${!x*} ${!a[@]} ${#a[@]} ${x//[/}", "echo {a..z..2} {1..9..0} {,} {a,{b,c}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		h := newTestHost(t)
		h.limit = 32 << 20
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		// A run that does not end must not hang the fuzzer silently.
		hung := time.AfterFunc(20*time.Second, func() {
			buf := make([]byte, 1<<20)
			panic(fmt.Sprintf("does not end: %q\n%s", src, buf[:runtime.Stack(buf, true)]))
		})
		defer hung.Stop()
		_, err := Run(ctx, Config{Host: h, Dir: "/job", Env: []string{"PATH=/bin"}, Stdout: io.Discard, Stderr: io.Discard, Limits: Limits{Expansion: 1 << 20, Depth: 50}}, src)
		if fl, ok := err.(*Fault); ok {
			t.Fatalf("%s\n%s", fl.Cause, fl.Detail)
		}
		if d := time.Since(start); d > 8*time.Second {
			t.Errorf("took %v", d)
		}
		if n := h.jobs.Load(); n != 0 {
			t.Errorf("%d jobs left", n)
		}
	})
}
