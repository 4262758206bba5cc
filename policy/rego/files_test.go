package rego

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

func loadPaths(t *testing.T, paths ...string) (*Engine, error) {
	t.Helper()
	return Load(context.Background(), Config{Paths: paths})
}

func TestFolderWithDataAndTests(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"main.rego":       head + "allow if input.exec.name in data.names\n\ndeny contains \"x\" if input.exec.name in data.sub.blocked\n\ndeny contains \"lib\" if data.lib.bad(input.exec.name)\n",
		"lib.rego":        "package lib\n\nbad(name) if name == \"worse\"\n",
		"data.json":       `{"names": ["ls", "rm", "worse"]}`,
		"sub/list.yaml":   "blocked:\n- rm\n",
		"main_test.rego":  "package donax\n\nallow := true\n",
		"data_test.json":  `{"names": ["dd"]}`,
		".hidden/x.rego":  "package donax\n\nallow := true\n",
		".git/x.rego":     "not rego at all",
		"README.md":       "text",
		"sub/deeper.rego": "package donax\n\ndeny contains \"deep\" if input.exec.name == \"deep\"\n",
	})
	e, err := loadPaths(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]policy.Effect{"ls": policy.Allow, "rm": policy.Deny, "dd": policy.Deny, "worse": policy.Deny, "deep": policy.Deny} {
		if d := decide(t, e, execAction(name)); d.Effect != want {
			t.Errorf("%s: %v", name, d.Effect)
		}
	}
}

func TestPathsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		path  string
		want  string
	}{
		"missing":           {nil, "nope.rego", "no such file"},
		"empty folder":      {nil, "", "holds no .rego"},
		"test file":         {map[string]string{"p_test.rego": head}, "p_test.rego", "is a test"},
		"other file":        {map[string]string{"p.txt": head}, "p.txt", "neither .rego"},
		"data as rules":     {map[string]string{"p.rego": head, "d.json": `{"donax": {"allow": true}}`}, "", "d.json defines data.donax, which belongs to the rules"},
		"folder as rules":   {map[string]string{"p.rego": head, "donax/d.yaml": "allow: true"}, "", "belongs to the rules"},
		"data conflict":     {map[string]string{"p.rego": head, "a.json": `{"x": {"y": 1}}`, "b.json": `{"x": {"y": 2}}`}, "", "both define data.x.y"},
		"data against rule": {map[string]string{"p.rego": head + "allow if data.lib.ok\n", "l.rego": "package lib\n\nok if input.exec\n", "a.json": `{"lib": {"ok": true}}`}, "", "conflict"},
		"not an object":     {map[string]string{"p.rego": head, "a.json": `[1]`}, "", "must be an object"},
		"bad json":          {map[string]string{"p.rego": head, "a.json": `{"x": `}, "", "a.json"},
		"two documents":     {map[string]string{"p.rego": head, "a.yaml": "a: 1\n---\nb: 2\n"}, "", "only one YAML document"},
		"json twice":        {map[string]string{"p.rego": head, "a.json": `{"l": [{"x": "x", "y": {"x": 1}, "x": 2}]}`}, "", `key "x" is there twice`},
		"json trailing":     {map[string]string{"p.rego": head, "a.json": `{"a": 1} {"b": 2}`}, "", "a.json"},
		"package over rule": {map[string]string{"p.rego": head, "d.rego": "package donax.deny\n\nx if input.exec\n"}, "", "takes the place of the rule \"deny\""},
		"octal":             {map[string]string{"p.rego": head, "a.yaml": "port: 010"}, "", "octal"},
		"twice":             {map[string]string{"p.rego": head, "a.yaml": "a: 1\na: 2"}, "", "twice"},
		"merge key":         {map[string]string{"p.rego": head, "a.yaml": "a: &a {x: 1}\nb:\n  <<: *a"}, "", "keys must be plain text"},
		"alias bomb":        {map[string]string{"p.rego": head, "a.yaml": aliasBomb()}, "", "too many"},
		"alias of itself":   {map[string]string{"p.rego": head, "a.yaml": "a: &a [*a]"}, "", "a.yaml"},
		"not a number":      {map[string]string{"p.rego": head, "a.yaml": "a: .inf"}, "", "not a number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadPaths(t, filepath.Join(writeFiles(t, c.files), c.path))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ... %s ...", err, c.want)
			}
		})
	}
}

func aliasBomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i, c := range "123456789" {
		prev := string("012345678"[i])
		b.WriteString("a" + string(c) + ": &a" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*a"+prev+", ", 10), ", ") + "]\n")
	}
	return b.String()
}

func TestYAMLMeansWhatItSays(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"p.rego": head + "allow if {\n\tdata.no == \"no\"\n\tdata.date == \"2001-01-01\"\n\tdata.n == 0.5\n\tdata.port == 8\n\tdata.on == true\n\tdata.nothing == null\n\tdata.list == [\"010\", 8]\n\tinput.exec\n}\n",
		"e.yaml": "", "f.json": `{"j": {"a": "b", "b": ["a", {"a": 1}], "c": {"a": 2}}}`, "d.yaml": "no: no\ndate: 2001-01-01\nn: 0.5\nport: 0o10\n\"on\": true\nnothing:\nlist: ['010', &p 8]\n",
	})
	e, err := loadPaths(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(t, e, execAction("x")); d.Effect != policy.Allow {
		t.Error("some value is not what it says")
	}
}

// TestSymlinksAreFollowed: mounted configuration in Kubernetes consists of
// links into a hidden folder; a rule must not be lost there.
func TestSymlinksAreFollowed(t *testing.T) {
	dir := writeFiles(t, map[string]string{"..data/p.rego": head + "allow if input.exec\n", "..data/more/d.rego": "package donax\n\ndeny contains \"x\" if input.exec.name == \"rm\"\n"})
	for _, n := range []string{"p.rego", "more"} {
		if err := os.Symlink(filepath.Join("..data", n), filepath.Join(dir, n)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := loadPaths(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(t, e, execAction("rm")); d.Effect != policy.Deny {
		t.Error("the deny rule behind the link is lost")
	}
	if err := os.Symlink(".", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if _, err := loadPaths(t, dir); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("loop: %v", err)
	}
}

// TestOnlyRegularFiles: opening a pipe would wait for ever.
func TestOnlyRegularFiles(t *testing.T) {
	dir := writeFiles(t, map[string]string{"p.rego": head})
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "x.rego")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "x.rego")} {
		if _, err := loadPaths(t, path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestPackageCanBeChosen(t *testing.T) {
	c := Config{Package: "acme.agents", Sources: map[string]string{"p.rego": "package acme.agents\n\nallow if input.exec.name == \"ls\"\n\ndeny contains \"x\" if input.exec.name == \"rm\"\n"}}
	e := mustLoadConfig(t, c)
	if d := decide(t, e, execAction("ls")); d.Effect != policy.Allow {
		t.Error("ls is allowed")
	}
	if d := decide(t, e, execAction("rm")); d.Effect != policy.Deny || d.Reasons[0].Location != "p.rego:5" {
		t.Errorf("rm: %+v", d)
	}
	for _, bad := range []string{"a b", "x[1]", "..", "a[_]"} {
		c.Package = bad
		if _, err := Load(context.Background(), c); err == nil {
			t.Errorf("package %q is accepted", bad)
		}
	}
}

func TestHashFollowsEveryByte(t *testing.T) {
	a := mustLoad(t, head)
	b := mustLoad(t, head+"\n")
	if a.Hash() == b.Hash() || len(a.Hash()) != 16 {
		t.Errorf("%s %s", a.Hash(), b.Hash())
	}
}
