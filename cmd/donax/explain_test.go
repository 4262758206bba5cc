package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
)

// TestExplainAgrees makes lines and policies, explains each line, runs it, and
// compares: what explain has said of an action for certain is what happened to
// it, and nothing happened that explain has neither shown nor announced.
// DONAX_EXPLAIN_LINES says how many lines; the default takes some two seconds.
//
// Threats: PO-14.
func TestExplainAgrees(t *testing.T) {
	lines := 80
	if n, err := strconv.Atoi(os.Getenv("DONAX_EXPLAIN_LINES")); err == nil {
		lines = n
	}
	const perPolicy = 20
	compared, certain := 0, 0
	for round := range (lines + perPolicy - 1) / perPolicy {
		r := rand.New(rand.NewPCG(5, uint64(round)))
		s := newScene(t, r)
		for range perPolicy {
			s.try(t, s.line(r))
		}
		n, sure := s.compare(t)
		compared, certain = compared+n, certain+sure
	}
	t.Logf("%d actions of %d lines compared, %d of them known beforehand", compared, lines, certain)
	if certain < lines {
		t.Errorf("only %d actions of %d lines were known beforehand: the lines show nothing", certain, lines)
	}
}

// A scene is a policy and mounts of each mode, in which lines run.
type scene struct {
	box   *opened
	rules string
	root  string
	log   string
	told  []told
}

var ruleTexts = []string{
	`deny contains "no rm" if input.exec.name == "rm"`,
	`deny contains "no flags" if { input.exec.name in {"rm", "cp", "cat"}; some a in input.exec.args; startswith(a, "-") }`,
	`deny contains "not from xargs" if "xargs" in input.exec.ancestors`,
	`deny contains "not deep" if input.exec.depth > 1`,
	`deny contains "no eval" if { input.exec.kind == "shell"; input.exec.name == "eval" }`,
	`deny contains "no secrets" if endswith(input.file.path, "/.env")`,
	`deny contains "docs stay" if { input.file.op in {"write", "create", "remove", "rename", "link", "chmod"}; some p in [input.file.path, input.file.to]; contains(p, "/docs/") }`,
	`deny contains "shell writes nothing" if { input.file.by == "shell"; input.file.op in {"write", "create"} }`,
	`deny contains "nothing new" if { input.file.op == "create"; input.file.mount == "/rw" }`,
	`deny contains "host" if { input.net.host != "127.0.0.1" }`,
	`deny contains "not in src" if endswith(input.exec.cwd, "/src")`,
	`deny contains "background" if input.exec.background`,
	`deny contains "assigned" if count(input.exec.assigns) > 0`,
	`deny contains "only GET" if input.net.method != "GET"`,
	`mount contains {"path": "/workspace/src", "mode": "ro"} if input.exec.name == "cp"`,
	`mount contains {"path": "/rw", "mode": "ro"} if input.command`,
	`warn contains "careful" if input.exec.name == "mv"`,
	`deny contains "links" if input.file.requested != input.file.path`,
}

func newScene(t *testing.T, r *rand.Rand) *scene {
	s := &scene{root: t.TempDir()}
	s.rules = "package donax\n\nallow if input.action in {\"command\", \"exec\", \"net\"}\n\n"
	for _, i := range r.Perm(len(ruleTexts))[:r.IntN(5)+1] {
		s.rules += ruleTexts[i] + "\n\n"
	}
	file := filepath.Join(t.TempDir(), "p.rego")
	if err := os.WriteFile(file, []byte(s.rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s.restore(t, "ro", "rw", "cow")
	f := sandboxFlags{quiet: true, policies: []string{file}}
	f.defaults()
	for _, m := range []string{"ro", "rw", "cow"} {
		f.mounts = append(f.mounts, filepath.Join(s.root, m)+":"+map[string]string{"ro": "/ro", "rw": "/rw", "cow": "/workspace"}[m]+":"+m)
	}
	if r.IntN(2) == 0 {
		f.net.allow = []string{"127.0.0.1:9"}
	}
	s.log = filepath.Join(t.TempDir(), "log")
	f.waist.audit, f.waist.files = s.log, true
	box, err := f.open(t.Context(), io.Discard, policy.Session{ID: "c_agrees", Transport: "cli"})
	if err != nil {
		t.Fatalf("%v\n%s", err, s.rules)
	}
	s.box = box
	return s
}

// restore puts the files of mounts back as they were.
func (s *scene) restore(t *testing.T, mounts ...string) {
	for _, m := range mounts {
		dir := filepath.Join(s.root, m)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{"a": "a\n", "b": "b\n", ".env": "x\n", "src/m": "m\n", "docs/d": "d\n", ".git/hooks/h": "h\n", "s.sh": "cat a\n"} {
			p := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("a", filepath.Join(dir, "l")); err != nil {
			t.Fatal(err)
		}
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// file names a file of any mount, in one of its spellings.
func (s *scene) file(r *rand.Rand) string {
	name := pick(r, "a", "b", ".env", "src/m", "docs/d", "l", "new", "docs/new", "src/../b", ".git/hooks/h", ".git/hooks/new", ".envrc", "./a", "docs")
	return pick(r, "", "", "", "/workspace/", "/ro/", "/rw/", "/rw/") + name
}

func (s *scene) command(r *rand.Rand, depth int) string {
	f := func() string { return s.file(r) }
	switch n := r.IntN(34); n {
	case 0, 1:
		return "cat " + f()
	case 2:
		return "cat -n " + f() + " " + f()
	case 3:
		return "rm " + pick(r, "", "-f ", "-r ") + f()
	case 4:
		return "cp " + f() + " " + f()
	case 5:
		return "mv " + f() + " " + f()
	case 6:
		return "touch " + f()
	case 7:
		return "mkdir " + pick(r, "", "-p ") + f()
	case 8:
		return "ls " + f()
	case 9:
		return "ls"
	case 10:
		return "ln -s " + f() + " " + f()
	case 11:
		return "ln " + f() + " " + f()
	case 12:
		return "chmod 600 " + f()
	case 13:
		return "tee " + f() + " < " + f()
	case 14:
		return "grep " + pick(r, "", "-r ", "-n ") + "a " + f()
	case 15:
		return "sed " + pick(r, "", "-i ") + "s/a/b/ " + f()
	case 16:
		return "echo x " + pick(r, ">", ">>", ">|", "<>", "&>") + " " + f()
	case 17:
		return "true < " + f()
	case 18:
		return "curl -s " + pick(r, "", "-X POST ", "-d x ", "-I ") + pick(r, "http://127.0.0.1:9/x", "http://Example.INVALID/a/b", "127.0.0.1:9", "http://127.0.0.1:9/%61")
	case 19:
		return "find " + f() + " -name a -exec cat {} \\;"
	case 20:
		return "echo " + f() + " | xargs " + s.command(r, 9)
	case 21:
		return "X=1 cat " + f()
	case 22:
		return "wc -l " + f()
	case 23:
		return "x=" + f() + "; cat $x"
	case 24:
		return "rm(){ cat a; }; rm b"
	case 25:
		return "sort " + f() + " -o " + f()
	case 26:
		return pick(r, "sh s.sh", "source ./s.sh", ". ./s.sh", "sh < s.sh")
	}
	if depth > 2 {
		return "cat " + f()
	}
	inner := s.command(r, depth+1)
	switch head := pick(r, "env ", "timeout 9 ", "nice ", "nohup ", "sh -c ", "X=2 sh -c ", "eval ", "command ", "(", "{", "cd src; ", "cd /rw && ", "! "); head {
	case "sh -c ", "X=2 sh -c ", "eval ":
		return head + "'" + strings.ReplaceAll(inner, "'", `'\''`) + "'"
	case "(":
		return "( " + inner + " )"
	case "{":
		return "{ " + inner + "; }"
	default:
		return head + inner
	}
}

// line makes a line of one to three commands.
func (s *scene) line(r *rand.Rand) string {
	var parts []string
	for range r.IntN(3) + 1 {
		parts = append(parts, s.command(r, 0))
	}
	line := strings.Join(parts, pick(r, "; ", " && ", " || ", "\n"))
	if r.IntN(12) == 0 {
		line += " & wait"
	}
	return line
}

// key names an action by its facts, but for those that are a guess.
func key(a policy.Action, guess []string) string {
	var facts map[string]json.RawMessage
	text, err := json.Marshal(map[policy.Kind]any{policy.KindExec: a.Exec, policy.KindFile: a.File, policy.KindNet: a.Net}[a.Kind])
	if err != nil || json.Unmarshal(text, &facts) != nil {
		return string(a.Kind)
	}
	for _, g := range guess {
		delete(facts, g)
	}
	return fmt.Sprintf("%s %s", a.Kind, facts)
}

// told is what explain has said of a line.
type told struct {
	line    string
	answers []answer
	later   []string
}

// try explains a line and runs it; the session's id tells the two apart in the log.
func (s *scene) try(t *testing.T, line string) {
	s.restore(t, "rw") // the others cannot change
	home, err := s.box.homes.make()
	if err != nil {
		t.Fatal(err)
	}
	defer home.close()
	s.box.homes.of = map[whose]*ownHome{{"local", "", "process"}: home}
	s.box.subject.Session.ID = "explain"
	answers, later, err := s.box.explain(t.Context(), line, nil)
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	s.box.subject.Session.ID = fmt.Sprint("run-", len(s.told))
	s.told = append(s.told, told{line, answers, later})
	_, _ = s.box.run(t.Context(), policy.Command{Text: line, Cwd: "/workspace"}, nil, io.Discard, io.Discard) // what came of it is in the log
}

// compare reads the log of the lines that ran.
func (s *scene) compare(t *testing.T) (compared, certain int) {
	delete(s.box.homes.of, whose{"local", "", "process"}) // it is closed
	if err := s.box.Close(); err != nil {
		t.Fatal(err)
	}
	for l, err := range audit.Read(s.log) {
		if err != nil {
			t.Fatal(err)
		}
		var a policy.Action
		var n int
		if l.Result == nil || json.Unmarshal(l.Input, &a) != nil {
			continue
		}
		if _, err := fmt.Sscanf(a.Session.ID, "run-%d", &n); err != nil {
			continue
		}
		compared++
		known, wrong := s.told[n].judge(a, l.Result.Effect)
		if known {
			certain++
		}
		if wrong != "" {
			t.Errorf("%q: %s %s, %s; and has said %v and later %q", s.told[n].line, l.Result.Effect, key(a, nil), wrong, s.told[n].shown(a.Kind), s.told[n].later)
		}
	}
	return compared, certain
}

func (d told) shown(k policy.Kind) (out []string) {
	for _, x := range d.answers {
		if x.action.Kind == k {
			out = append(out, fmt.Sprintf("%s %s open %v", x.Effect, key(x.action, nil), x.Open))
		}
	}
	return out
}

// judge says whether explain knew what became of an action, and what was wrong.
func (d told) judge(a policy.Action, effect string) (known bool, wrong string) {
	shown, program := false, false
	for _, x := range d.answers {
		if key(x.action, x.guess) == key(a, x.guess) {
			shown = true
			if said := x.Effect; len(x.Open) == 0 {
				if said != effect && !(x.refused && effect == policy.Allow.String()) {
					return true, "of which explain has said " + said
				}
				known = true
			}
		}
		program = program || a.File != nil && x.action.Exec != nil && x.action.Exec.Name == a.File.By
	}
	if shown {
		return known, ""
	}
	announced := len(d.later) > 0
	if program { // it was foreseen, and what it opens should have been
		announced = slices.ContainsFunc(d.later, func(l string) bool { return strings.HasPrefix(l, a.File.By) || strings.Contains(l, "the commands") })
	}
	if !announced {
		return false, "which explain has neither shown nor announced"
	}
	return false, ""
}
