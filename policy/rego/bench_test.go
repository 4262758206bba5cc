package rego

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
)

// simplePolicy has six rules, bigPolicy two hundred: a mix of rules that
// OPA's index selects and of rules that must be tried.
const simplePolicy = head + `
allow if input.exec.name in {"ls", "cat", "grep", "sed", "awk", "head", "tail", "true"}

deny contains "not the root" if {
	input.exec.name == "rm"
	"/" in input.exec.args
}

deny contains {"msg": sprintf("%s is a secrets file", [input.file.path]), "rule": "secrets"} if endswith(input.file.path, ".env")

limit contains {"timeout_ms": 60000} if input.command

warn contains "deep" if input.exec.depth > 10
`

func bigPolicy() string {
	var b strings.Builder
	b.WriteString(head)
	tools := strings.Fields("ls cat grep sed awk head tail wc sort uniq find cut tr echo printf true false test mkdir touch cp mv tee xargs jq python node git make go tar gzip diff patch date env basename dirname stat du")
	flags := []string{"--exec", "-delete", "--checkpoint-action", "-c", "--upload-pack", "-o"}
	for _, t := range tools {
		fmt.Fprintf(&b, "allow if {\n\tinput.exec.name == %q\n\tcount(input.exec.args) <= 64\n}\n\n", t)
	}
	for i := range 60 {
		fmt.Fprintf(&b, "deny contains {\"msg\": msg, \"rule\": \"arg-%03d\"} if {\n\tinput.exec.name == %q\n\tsome a in input.exec.args\n\tstartswith(a, %q)\n\tmsg := sprintf(\"argument %%s is not allowed\", [a])\n}\n\n", i, tools[i%len(tools)], flags[i%len(flags)])
	}
	for i := range 40 {
		fmt.Fprintf(&b, "deny contains {\"msg\": \"protected\", \"rule\": \"path-%03d\"} if {\n\tinput.action == \"file\"\n\tglob.match(\"/mnt/p%d/**/secrets/**\", [\"/\"], input.file.path)\n}\n\n", i, i)
	}
	for i := range 40 {
		fmt.Fprintf(&b, "deny contains {\"msg\": \"redirect\", \"rule\": \"cmd-%03d\"} if {\n\tsome c in input.command.calls\n\tc.name == %q\n\tsome r in c.redirects\n\tstartswith(r.target, \"/protected/%d/\")\n}\n\n", i, tools[i], i)
	}
	for i := range 20 {
		fmt.Fprintf(&b, "warn contains \"w%d\" if {\n\tinput.exec.depth > %d\n\tinput.principal.tenant == \"t%d\"\n}\n\n", i, i+5, i)
	}
	return b.String()
}

// BenchmarkDecide measures one decision, through cache and constants as users
// get it, and by evaluation. The bars are 20 us for evaluating 200 rules and
// 0.3 us without allocations for cached ones, on a quiet machine; compare the cases of
// one run with each other, by their minimum when the machine is busy.
func BenchmarkDecide(b *testing.B) {
	ctx := context.Background()
	for name, src := range map[string]string{"6": simplePolicy, "200": bigPolicy()} {
		e := mustLoad(b, src)
		for _, c := range []struct {
			name string
			a    policy.Action
		}{
			{"exec", execAction("ls", "-l", "src")},
			{"deny", execAction("rm", "-rf", "/")},
			{"command", commandAction("grep -n x f | sort > out", policy.Call{Name: "grep", Args: []string{"-n", "x", "f"}, Line: 1}, policy.Call{Name: "sort", Redirects: []policy.Redirect{{Op: ">", Target: "out"}}, Line: 1})},
			{"file", fileAction("read", "/workspace/src/main.go")},
			{"constant", actions()[3]},
		} {
			for how, decide := range map[string]func() error{
				"decide":   func() error { _, err := e.Decide(ctx, c.a); return err },
				"evaluate": func() error { _, err := e.cur.Load().fresh(ctx, e, &c.a); return err },
			} {
				b.Run("rules="+name+"/"+c.name+"/"+how, func(b *testing.B) {
					b.ReportAllocs()
					least := time.Hour
					for b.Loop() {
						start := time.Now()
						if err := decide(); err != nil {
							b.Fatal(err)
						}
						least = min(least, time.Since(start))
					}
					b.ReportMetric(float64(least.Nanoseconds()), "min-ns")
				})
			}
		}
	}
}

// BenchmarkLoad measures reading, compiling and checking.
func BenchmarkLoad(b *testing.B) {
	for name, src := range map[string]string{"6": simplePolicy, "200": bigPolicy()} {
		b.Run("rules="+name, func(b *testing.B) {
			for b.Loop() {
				mustLoad(b, src)
			}
		})
	}
}
