package difftest_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

// fuzz compares what a grammar of testdata/grammar makes of commands.
func fuzz(t *testing.T, grammar, commands string, f difftest.Fuzz) {
	text, err := os.ReadFile("testdata/grammar/" + grammar + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	f.Grammar = difftest.ParseGrammar(string(text))
	for _, c := range append(core.Commands(), heavy.Commands()...) {
		if slices.ContainsFunc(strings.Fields(commands), func(name string) bool { return c.Called(name) != nil }) {
			f.Commands = append([]*applet.Command{c}, f.Commands...)
		}
	}
	f.Run(t)
}

// warnings are gawk's, of which ours has some: they are not compared.
var warnings = regexp.MustCompile(`(?m)^gawk: (cmd\. line:\d+: )?(\(FILENAME=.*\) )?warning: .*\n`)

func noWarnings(_, text string) string { return warnings.ReplaceAllString(text, "") }

func TestAwk(t *testing.T) {
	fuzz(t, "awk", "gawk", difftest.Fuzz{Odd: 3, Same: noWarnings, Batch: func(pieces []string) []string {
		return []string{"gawk", `function f(a, b) { if (a > 2) return a b; b = b 1; return b }
function g(n) { return n <= 0 ? 1 : n * g(n - 1) }
{ x = 0; y = ""
` + strings.Join(pieces, "\n") + "\n}"}
	}})
}

func TestAwkPrograms(t *testing.T) {
	fuzz(t, "awkprog", "gawk", difftest.Fuzz{Odd: 5, Same: noWarnings})
}

func TestSed(t *testing.T) { fuzz(t, "sed", "sed", difftest.Fuzz{Odd: 8, Stderr: true}) }

func TestGrep(t *testing.T) { fuzz(t, "grep", "grep", difftest.Fuzz{Odd: 8, Stderr: true}) }

// TestJq tries filters together: each as an element of one array.
func TestJq(t *testing.T) {
	fuzz(t, "jq", "jq", difftest.Fuzz{Odd: 12, Batch: func(pieces []string) []string {
		if len(pieces) == 1 {
			return []string{"jq", "-c", pieces[0]}
		}
		return []string{"jq", "-c", "(try (" + strings.Join(pieces, "\n) catch [., 0]), (try (") + "\n) catch [., 0])"}
	}})
}

func TestBc(t *testing.T) { fuzzBc(t, "-q") }

func TestBcMath(t *testing.T) { fuzzBc(t, "-lq") }

func fuzzBc(t *testing.T, option string) {
	fuzz(t, "bc", "bc", difftest.Fuzz{Odd: 3, Piped: true, Same: noAddress, Batch: func([]string) []string { return []string{"bc", option} }})
}

var address = regexp.MustCompile(`, adr=\d+`)

func noAddress(_, text string) string { return address.ReplaceAllString(text, "") }

func TestExpr(t *testing.T) { fuzz(t, "expr", "expr", difftest.Fuzz{Odd: 1, Stderr: true}) }

func TestPrintf(t *testing.T) { fuzz(t, "printf", "printf", difftest.Fuzz{Odd: 5, Stderr: true}) }

func TestTest(t *testing.T) {
	fuzz(t, "test", "test", difftest.Fuzz{Odd: 4, Stderr: true, Setup: `echo 1 > f; mkdir d; ln -s f l; ln -s no dangling; : > empty; mkfifo p; cp f x; chmod +x x`})
}

func TestFind(t *testing.T) {
	fuzz(t, "find", "find", difftest.Fuzz{Odd: 4, Stderr: true, Same: sorted, Setup: `mkdir -p t/a/b t/B t/empty t/a/.git; echo hi > t/f1.txt; printf '%2000s' > t/a/f2.md; : > t/a/b/zero
echo x > t/.hidden; echo x > t/é.txt; ln -s a t/link; ln -s nowhere t/bad; ln t/f1.txt t/hard; chmod 755 t/a/f2.md; chmod 600 t/.hidden
touch -d '2020-01-01 00:00:00' t/old t/a/f2.md; touch -d '2020-01-03 10:11:12' t/f1.txt t/.hidden t/a/b/zero t/é.txt t/a t/a/b t/B t/empty t t/a/.git`})
}

// sorted is for lists of files, whose order is that of the folder.
func sorted(_, text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func TestDiff(t *testing.T) { fuzz(t, "diff", "diff", difftest.Fuzz{Odd: 40, Stderr: true}) }
