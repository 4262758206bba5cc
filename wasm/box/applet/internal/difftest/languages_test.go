package difftest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

// fuzz compares what a grammar of testdata/grammar makes of a command.
func fuzz(t *testing.T, grammar, command string, f difftest.Fuzz) {
	text, err := os.ReadFile("testdata/grammar/" + grammar + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	f.Grammar = difftest.ParseGrammar(string(text))
	for _, c := range append(core.Commands(), heavy.Commands()...) {
		if c.Name == command {
			f.Commands = append([]*applet.Command{c}, f.Commands...)
		}
	}
	f.Run(t)
}

// warnings are gawk's, of which ours has some: they are not compared.
var warnings = regexp.MustCompile(`(?m)^gawk: (cmd\. line:\d+: )?(\(FILENAME=.*\) )?warning: .*\n`)

func noWarnings(_, text string) string { return warnings.ReplaceAllString(text, "") }

func TestAwk(t *testing.T) {
	fuzz(t, "awk", "gawk", difftest.Fuzz{Same: noWarnings, Batch: func(pieces []string) []string {
		return []string{"gawk", `function f(a, b) { if (a > 2) return a b; b = b 1; return b }
function g(n) { return n <= 0 ? 1 : n * g(n - 1) }
{ x = 0; y = ""
` + strings.Join(pieces, "\n") + "\n}"}
	}})
}

func TestAwkPrograms(t *testing.T) { fuzz(t, "awkprog", "gawk", difftest.Fuzz{Same: noWarnings}) }

func TestSed(t *testing.T) { fuzz(t, "sed", "sed", difftest.Fuzz{Stderr: true}) }

func TestGrep(t *testing.T) { fuzz(t, "grep", "grep", difftest.Fuzz{Stderr: true}) }
