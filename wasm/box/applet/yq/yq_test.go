package yq

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
)

func yq(t *testing.T, stdin string, args ...string) (string, string, int) {
	t.Helper()
	var buf, errs bytes.Buffer
	out := bufio.NewWriter(&buf)
	status := Command.Run(&applet.Ctx{Cmd: Command, Args: args, Stdin: strings.NewReader(stdin), Stdout: out, Stderr: &errs})
	out.Flush()
	return buf.String(), errs.String(), status
}

const doc = "z: 1\na:\n  b: [x, 'y', 2.5]\n  c: \"10\"\n  d: null\n"

func TestYq(t *testing.T) {
	for _, c := range []struct {
		in   string
		args []string
		want string
	}{
		{doc, []string{".a.c"}, "10\n"},
		{doc, []string{".a.b[0]"}, "x\n"},
		{doc, []string{"."}, "z: 1\na:\n  b:\n    - x\n    - y\n    - 2.5\n  c: \"10\"\n  d: null\n"},
		{doc, []string{"-o", "json", "."}, "{\n  \"z\": 1,\n  \"a\": {\n    \"b\": [\n      \"x\",\n      \"y\",\n      2.5\n    ],\n    \"c\": \"10\",\n    \"d\": null\n  }\n}\n"},
		{doc, []string{"-c", ".a"}, `{"b":["x","y",2.5],"c":"10","d":null}` + "\n"},
		{doc, []string{"eval", ".z = 5 | .n = \"v\" | del(.a)"}, "z: 5\nn: v\n"},
		{doc, []string{".a.b[]"}, "x\ny\n2.5\n"},
		{"a: 1\n---\na: 2\n", []string{".a"}, "1\n2\n"},
		{"a: 1\n---\na: 2\n", []string{"."}, "a: 1\n---\na: 2\n"},
		{"a: 1\n---\na: 2\n", []string{"-s", "-c", "map(.a)"}, "[1,2]\n"},
		{"b: &x {k: 1}\nc: *x\nd:\n  <<: *x\n  m: 2\n", []string{"-c", "."}, `{"b":{"k":1},"c":{"k":1},"d":{"m":2,"k":1}}` + "\n"},
		{`{"a":[1,{"b":true}]}`, []string{"-P", "."}, "a:\n  - 1\n  - b: true\n"},
		{"a: 0x1F\nb: 12345678901234567890\nc: .5\nd: yes\n", []string{"-c", "."}, `{"a":31,"b":12345678901234567890,"c":0.5,"d":"yes"}` + "\n"},
		{"", []string{"-n", "{}"}, "{}\n"},
		{doc, []string{"--arg", "v", "q", ".x = $v | .x"}, "q\n"},
		{"a: |\n  l1\n  l2\n", []string{".a"}, "l1\nl2\n\n"},
	} {
		got, errs, status := yq(t, c.in, c.args...)
		if got != c.want || status != 0 {
			t.Errorf("yq %q: %q (status %d, %s), want %q", c.args, got, status, errs, c.want)
		}
	}
}

func TestYqRefuses(t *testing.T) {
	if _, _, s := yq(t, doc, "-e", ".nope"); s != 1 {
		t.Errorf("-e: %d", s)
	}
	for _, args := range [][]string{{".a["}, {"-o", "xml", "."}, {"--nope", "."}, {".", "no-such-file"}} {
		if _, errs, s := yq(t, doc, args...); s == 0 || errs == "" {
			t.Errorf("%q: status %d, %q", args, s, errs)
		}
	}
	if _, errs, s := yq(t, "a: [\n", "."); s == 0 || errs == "" {
		t.Error("bad YAML passed")
	}
	bomb := "a0: &a0 [x]\n"
	for i := 1; i < 30; i++ {
		p, n := string(rune('a'+i-1)), string(rune('a'+i))
		if i == 1 {
			p = "a0"
		}
		bomb += n + ": &" + n + " [*" + p + ",*" + p + "]\n"
	}
	if _, errs, s := yq(t, strings.ReplaceAll(bomb, "{", ""), "."); s == 0 || errs == "" {
		t.Error("an alias bomb passed")
	}
}

func TestInPlace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f.yaml")
	os.WriteFile(name, []byte(doc), 0o600)
	if _, errs, s := yq(t, "", "-i", ".z = 2", name); s != 0 {
		t.Fatal(errs)
	}
	if got, _ := os.ReadFile(name); !strings.HasPrefix(string(got), "z: 2\na:\n") {
		t.Errorf("%q", got)
	}
	os.WriteFile(name, []byte("# why\nz: 1\n"), 0o600)
	if _, _, s := yq(t, "", "-i", ".z = 2", name); s == 0 {
		t.Error("comments were lost")
	}
	if got, _ := os.ReadFile(name); string(got) != "# why\nz: 1\n" {
		t.Errorf("%q", got)
	}
}
