package rego

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/google/go-cmp/cmp"
)

var decisions = flag.Int("decisions", 10000, "decisions that the differential test compares")

// TestCacheEqualsEvaluation asks random policies about random actions of all
// kinds, through the cache and constants and by evaluation, and compares. The
// bar is a million without a mismatch: -decisions 1000000.
// Threats: PO-5.
func TestCacheEqualsEvaluation(t *testing.T) {
	ctx := context.Background()
	const perPolicy = 250
	seed := uint64(1)
	var total, fails, hits, loaded int
	for total < *decisions {
		seed++
		g := &generator{rand.New(rand.NewPCG(seed, 7))}
		src := g.policy()
		e, err := Load(ctx, Config{Sources: map[string]string{"p.rego": src}, Timeout: time.Minute, Enforce: Obligations()})
		if err != nil {
			if strings.Contains(err.Error(), "can never apply") {
				continue
			}
			t.Fatalf("seed %d: %v\n%s", seed, err, src)
		}
		if loaded++; loaded%200 == 0 {
			t.Logf("%d decisions so far", total)
		}
		s := e.cur.Load()
		for range perPolicy {
			a := g.action()
			total++
			if key := s.key(nil, &a); key != nil && s.cache.get(key) != nil || s.constant[a.Kind] != nil {
				hits++
			}
			got, gotErr := e.Decide(ctx, a)
			want, wantErr := s.fresh(ctx, e, &a)
			got.ID, want.ID = "", ""
			if wantErr != nil {
				fails++
			}
			if diff := cmp.Diff(want, got); diff != "" || class(gotErr) != class(wantErr) {
				t.Fatalf("seed %d: %s\nerrors: evaluated %v, decided %v\n%+v\n%s", seed, diff, wantErr, gotErr, a, src)
			}
		}
	}
	t.Logf("%d policies, %d decisions, %d from cache or constant, %d failures", loaded, total, hits, fails)
	if hits < total/10 {
		t.Errorf("only %d of %d decisions came from the cache: the test proves little", hits, total)
	}
}

// generator makes policies and actions from a small alphabet, so that rules
// match often.
type generator struct{ *rand.Rand }

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) some(list ...string) (out []string) {
	for range g.IntN(3) {
		out = append(out, g.pick(list...))
	}
	return out
}

func (g *generator) action() policy.Action {
	a := policy.Action{Subject: policy.Subject{
		Principal: policy.Principal{Sub: g.pick("p1", "p2"), Roles: g.some("ci", "dev")},
		Session:   policy.Session{ID: "s", Transport: g.pick("cli", "http")},
		Terminal:  policy.Terminal{ID: g.pick("t1", "t2"), Grants: g.some("g")},
	}, Usage: policy.Usage{Execs: g.Int64N(3), NetBytes: g.Int64N(2), TerminalsOpen: g.Int64N(2)}}
	switch a.Kind = policy.Kinds()[g.IntN(7)]; a.Kind {
	case policy.KindCommand:
		a.Command = &policy.Command{Text: g.pick("x", "y"), Cwd: g.pick("/w", "/q"), Calls: []policy.Call{{Name: g.pick("a", "b")}}}
	case policy.KindExec:
		a.Exec = &policy.Exec{Name: g.pick("a", "b", "c", "7"), Args: g.some("x", "y", "9"), Kind: g.pick("box", "wasm"), Cwd: g.pick("/w", "/q"), Depth: g.IntN(3), Background: g.IntN(2) == 0}
	case policy.KindFile:
		a.File = &policy.File{Op: g.pick("read", "write", "rename"), Path: g.pick("/w/a", "/q", "9"), Requested: g.pick("/w/a", "/w/b"), By: g.pick("a", "b")}
	case policy.KindNet:
		a.Net = &policy.Net{Host: g.pick("a", "h"), Port: 80 + g.IntN(2), Method: g.pick("GET", "PUT"), IP: g.pick("", "1.2.3.4")}
	case policy.KindTool:
		a.Tool = &policy.Tool{Server: g.pick("a", "s"), Name: g.pick("a", "t"), Arguments: map[string]any{"k": g.pick("x", "y")}}
	case policy.KindModule:
		a.Module = &policy.Module{Name: g.pick("a", "m"), Size: g.Int64N(3), Imports: g.some("e.f")}
	case policy.KindOutput:
		a.Output = &policy.Output{Stream: g.pick("stdout", "stderr", "terminal"), Bytes: g.Int64N(3), ExitCode: g.IntN(2)}
	}
	return a
}

// expr makes one condition; v makes names of variables unique.
func (g *generator) expr(v int, helpers bool) string {
	list := []string{
		`input.action == "` + g.pick("exec", "file", "net") + `"`, `input.action in {"exec", "output", "file"}`, `not input.action == "exec"`, `input.action != "net"`,
		`input.exec`, `input.file`, `not input.file`, `not input.net`, `input.net`, `input.command`, `input.output`,
		`input.exec.name == "` + g.pick("a", "b", "c") + `"`, `"` + g.pick("a", "b") + `" == input.exec.name`, `input.exec.name in {"a", "` + g.pick("b", "c") + `"}`,
		`input.exec.name != "a"`, `not input.exec.name == "b"`, `not input.exec.name in {"a", "c"}`, `input.exec.name in {"a", input.exec.cwd}`,
		`input.exec.args[0] == "x"`, `"x" in input.exec.args`, `not "y" in input.exec.args`, `count(input.exec.args) > 1`,
		`some v# in input.exec.args; startswith(v#, "x")`, `every v# in input.exec.args { v# != "y" }`, `count([1 | some v# in input.exec.args; v# == "x"]) == 1`,
		`input.exec.depth < 2`, `input.exec.background`, `not input.exec.background`, `startswith(input.exec.cwd, "/w")`, `object.get(input.exec, "kind", "") == "box"`,
		`to_number(input.exec.name) > 5`, `to_number(input.exec.args[0]) > 5`, `1 / input.exec.depth > 0`, `to_number(input.file.path) > 1`,
		`v# := input.exec; v#.name == "b"`, `v# := input; v#.exec.kind == "wasm"`, `v# := "cwd"; input.exec[v#] == "/w"`, `some v#, w# in input.exec; v# == "cwd"; w# == "/q"`,
		`input.file.op == "` + g.pick("read", "write") + `"`, `input.file.op in {"write", "rename"}`, `startswith(input.file.path, "/w/")`, `input.file.path != input.file.requested`, `input.file.by == "a"`,
		`input.net.host == "h"`, `input.net.port in {80, 443}`, `input.net.method == "GET"`, `input.tool.name == "t"`, `input.module.size > 1`, `input.output.bytes > 1`, `input.output.stream == "stderr"`,
		`some v# in input.command.calls; v#.name == "a"`, `input.command.text == "x"`,
		`"ci" in input.principal.roles`, `input.principal.sub == "p1"`, `input.session.transport == "cli"`, `"g" in input.terminal.grants`, `input.usage.execs > 1`, `input.usage.net_bytes > 0`, `input.usage.terminals_open == 0`, `input.output.exit_code != 0`, `input.tool.arguments.k == "x"`, `count(input.module.imports) > 0`, `input.net.ip == "1.2.3.4"`,
		`regex.match("^[ab]$", input.exec.name)`, `glob.match("/w/*", ["/"], input.file.path)`, `time.now_ns() > 0`, `walk(input.exec.args, [_, "y"])`, `sprintf("%v", [input.exec.args]) == "[\"x\"]"`, `object.get(input, ["exec", "name"], "") == "c"`,
		`input.exec.name == "b" with input.exec.name as "b"`, `$"{input.exec.cwd}" == "/w"`,
	}
	if helpers {
		list = append(list, `aux1`, `aux2`, `not aux1`, `not aux2`, `f(input.exec.name)`, `f2(input.exec)`, `lists[_] == input.exec.name`, `input.exec.name == chosen`, `aux1 with input.exec.name as "a"`,
			`count(objs) > 0`, `val == 2`, `hit`, `some v# in names; v# == input.file.by`, `data.donax.aux1`, `v# := "aux2"; data.donax[v#]`, `g1 == "/w"`, `count(parts) > 1`)
	}
	return strings.ReplaceAll(list[g.IntN(len(list))], "#", fmt.Sprint(v))
}

func (g *generator) body(helpers bool) string {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 1 + g.IntN(3) {
		b.WriteString("\t" + strings.ReplaceAll(g.expr(i, helpers), "; ", "\n\t") + "\n")
	}
	return b.String() + "}"
}

func (g *generator) policy() string {
	var b strings.Builder
	b.WriteString("package donax\n\n")
	if g.IntN(2) == 0 {
		b.WriteString("default allow := false\n\n")
	}
	for range 1 + g.IntN(4) {
		b.WriteString("allow if " + g.body(true) + "\n\n")
	}
	if g.IntN(4) == 0 {
		fmt.Fprintf(&b, "allow := %s if %s else := false if %s\n\n", g.pick("true", "false"), g.body(true), g.body(true))
	}
	for i := range g.IntN(4) {
		fmt.Fprintf(&b, "deny contains {\"msg\": \"d%d\", \"rule\": \"r\"} if %s\n\n", i, g.body(true))
	}
	for i := range g.IntN(2) {
		fmt.Fprintf(&b, "ask contains sprintf(\"q%d %%v\", [input.exec.%s]) if %s\n\n", i, g.pick("name", "args", "cwd"), g.body(true))
	}
	for i := range g.IntN(2) {
		fmt.Fprintf(&b, "warn contains \"w%d\" if %s\n\n", i, g.body(true))
	}
	if g.IntN(3) == 0 {
		fmt.Fprintf(&b, "limit contains {\"commands\": %d} if %s\n\n", 1+g.IntN(9), g.body(true))
	}
	if g.IntN(3) == 0 {
		fmt.Fprintf(&b, "governs contains %q if %s\n\n", g.pick("file", "output"), g.body(true))
	}
	if g.IntN(3) == 0 {
		fmt.Fprintf(&b, "redact contains {\"name\": %s, \"pattern\": \"a+\"} if %s\n\n", g.pick(`"n"`, "input.command.cwd", "input.principal.sub"), g.body(true))
	}
	if g.IntN(3) == 0 {
		fmt.Fprintf(&b, "unset_env contains %s if %s\n\n", g.pick(`"A"`, "input.exec.name", "input.principal.sub"), g.body(true))
	}
	if g.IntN(3) == 0 {
		fmt.Fprintf(&b, "mount contains {\"path\": %s, \"mode\": %q} if %s\n\n", g.pick(`"/w"`, "input.exec.cwd", "input.command.cwd"), g.pick("ro", "cow", "rw"), g.body(true))
	}
	// Every helper is used once here, for an unused rule does not load; the rule that uses them never holds.
	b.WriteString("warn contains \"never\" if {\n\tinput.action == \"exec\"\n\tinput.action == \"file\"\n\taux1\n\taux2\n\tf(\"\")\n\tf2({})\n\tlists\n\tchosen\n\tobjs\n\tval\n\thit\n\tnames\n\tg1\n\tparts\n}\n\n")
	fmt.Fprintf(&b, "aux1 if %s\n\naux1 if %s\n\n", g.body(false), g.body(false))
	fmt.Fprintf(&b, "aux2 if %s else := true if %s\n\n", g.body(false), g.body(false))
	fmt.Fprintf(&b, "f(n) if n == \"a\"\n\nf(n) if {\n\tn == \"b\"\n\tinput.exec.depth > 1\n}\n\nf2(e) if e.cwd == \"/q\"\n\n")
	b.WriteString("lists := [\"a\", \"zz\"]\n\nchosen := \"b\" if \"x\" in input.exec.args\n\nchosen := \"c\" if not \"x\" in input.exec.args\n\n")
	fmt.Fprintf(&b, "objs[k] := v if {\n\tsome k, v in input.principal\n\tv == %q\n}\n\n", g.pick("p1", "p2"))
	b.WriteString("val := 1 if {\n\tinput.exec.kind == \"wasm\"\n} else := 2 if {\n\tinput.exec.depth == 1\n} else := 3\n\nhit if walk(input.exec.args, [_, \"y\"])\n\n")
	fmt.Fprintf(&b, "names contains n if {\n\tsome n in [\"a\", \"b\"]\n\tstartswith(input.file.path, %q)\n}\n\n", g.pick("/w", "/q"))
	b.WriteString("g1 := input.exec.cwd\n\nparts[p] := i if some i, p in input.exec.args\n")
	return b.String()
}
