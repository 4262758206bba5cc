package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/donax-sh/donax/examples/policies"
	"github.com/donax-sh/donax/policy/rego"
)

// BenchmarkPolicy runs thousands of commands, each with an argument of its own,
// without and with a policy: the one that `donax policy init` prints, and one
// of 200 rules about forty programs that read the arguments, so that no answer
// can be kept.
func BenchmarkPolicy(b *testing.B) {
	starter, err := policies.Get(policies.Starter)
	if err != nil {
		b.Fatal(err)
	}
	var big strings.Builder
	big.WriteString("package donax\n\nallow if input.action in {\"command\", \"exec\"}\n\n")
	for i := range 200 {
		program := fmt.Sprint("tool", i%40)
		if i%40 == 0 {
			program = "basename"
		}
		fmt.Fprintf(&big, "deny contains \"no %d\" if {\n\tinput.exec.name == %q\n\tsome a in input.exec.args\n\tstartswith(a, \"/b/%d\")\n}\n\n", i, program, i)
	}
	const n, times = 1000, 10 // in turns, so that both meet the same machine
	text := fmt.Sprintf("for ((i = 0; i < %d; i++)); do basename /a/$i; done >/dev/null", n)
	free := newSession(b)
	for _, p := range []struct{ name, text string }{{"the starting policy", starter.Policy}, {"200 rules", big.String()}} {
		b.Run(p.name, func(b *testing.B) {
			e, err := rego.Load(b.Context(), rego.Config{Sources: map[string]string{"p.rego": p.text}, Enforce: rego.Obligations()})
			if err != nil {
				b.Fatal(err)
			}
			bound := free.under(b, e)
			var with, without least
			for b.Loop() {
				for range times {
					without.run(b, free.discard(b, text))
					with.run(b, bound.discard(b, text))
				}
			}
			compare(b, "Policy", fmt.Sprintf("%d × basename, %s", n, p.name), with, without, "without a policy", 1.2)
		})
	}
}
