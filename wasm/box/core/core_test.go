package core_test

import (
	"bufio"
	"go/build"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/applettest"
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

func TestMain(m *testing.M) { applettest.Main(m, append(core.Commands(), heavy.Commands()...)) }

func TestNative(t *testing.T) {
	applettest.Run(t, "../applet", applettest.Native(append(core.Commands(), heavy.Commands()...)))
}

func TestGNU(t *testing.T) { applettest.Run(t, "../applet", applettest.GNU(t)) }

func TestSorted(t *testing.T) {
	byName := func(a, b *applet.Command) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(core.Commands(), byName) {
		t.Error("the commands are not sorted by name")
	}
}

// TestVersions holds what --version tells: scripts look there for whose
// behaviour they can count on.
func TestVersions(t *testing.T) {
	want := map[string]string{
		"ls": "GNU coreutils) 9.1", "grep": "GNU grep) 3.8", "sed": "GNU sed) 4.9", "find": "GNU findutils) 4.9.0", "diff": "GNU diffutils) 3.8",
		"tar": "GNU tar) 1.34", "gzip": "GNU gzip) 1.12", "rg": "ripgrep) 13.0.0", "xz": "XZ Utils) 5.4.1", "column": "util-linux) 2.38.1",
	}
	for _, cmd := range append(core.Commands(), heavy.Commands()...) {
		switch cmd.Name {
		case "[", "test", "curl", "jq": // an expression; and what says it in its own words
			continue
		}
		var out strings.Builder
		status := applet.Run(&applet.Ctx{Cmd: cmd, Args: []string{"--version"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard})
		first, _, _ := strings.Cut(out.String(), "\n")
		if (status == 0) == (cmd.Name == "false") || !strings.HasPrefix(first, cmd.Name+" (donax; behaves as ") || !strings.HasSuffix(first, want[cmd.Name]) {
			t.Errorf("%s --version: %q, status %d", cmd.Name, first, status)
		}
	}
}

// TestImports keeps what makes programs big out of this tier.
func TestImports(t *testing.T) {
	cfg := &importer{seen: map[string]bool{}}
	cfg.walk(t, "github.com/donax-sh/donax/wasm/box/core", nil)
	if len(cfg.seen) < 50 {
		t.Fatalf("only %d packages were seen", len(cfg.seen))
	}
}

// importer walks the imports of packages by their sources.
type importer struct{ seen map[string]bool }

func (im *importer) walk(t *testing.T, path string, by []string) {
	if im.seen[path] || path == "C" || path == "unsafe" {
		return
	}
	im.seen[path] = true
	switch path {
	case "fmt", "regexp", "encoding/json", "text/template", "reflect", "math/big", "os/exec", "net", "plugin":
		t.Errorf("%s is imported: %s", path, strings.Join(by, " imports "))
		return
	}
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "wasip1", "wasm", false
	dir := filepath.Join(runtime.GOROOT(), "src", path)
	if rest, ok := strings.CutPrefix(path, "github.com/donax-sh/donax/"); ok {
		dir = filepath.Join("..", "..", "..", rest)
	}
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join(runtime.GOROOT(), "src", "vendor", path)
	}
	pkg, err := ctx.ImportDir(dir, 0)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, imp := range pkg.Imports {
		im.walk(t, imp, append(by, path))
	}
}

// run starts a command in this process, with the ends of its streams.
func run(t *testing.T, stdin io.Reader, name string, args ...string) (out *io.PipeReader, done chan int) {
	t.Helper()
	i := slices.IndexFunc(core.Commands(), func(c *applet.Command) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no command %s", name)
	}
	out, w := io.Pipe()
	done = make(chan int, 1)
	go func() {
		c := &applet.Ctx{Cmd: core.Commands()[i], Args: args, Stdin: stdin,
			Stdout: bufio.NewWriterSize(broken{w}, applet.BufSize), Stderr: io.Discard}
		status := applet.Run(c)
		w.Close()
		done <- status
	}()
	return out, done
}

// broken turns the error of a closed pipe into what the sandbox gives.
type broken struct{ io.Writer }

func (b broken) Write(p []byte) (int, error) {
	n, err := b.Writer.Write(p)
	if err != nil {
		err = syscall.EPIPE
	}
	return n, err
}

func TestEndlessInputEnds(t *testing.T) {
	for _, line := range [][]string{{"cat"}, {"head", "-n", "3"}, {"tr", "y", "n"}, {"cut", "-c1"}, {"tee"}, {"nl"}, {"uniq", "-D"},
		{"fold", "-w1"}, {"paste"}, {"od", "-v"}, {"base64"}, {"expand"}, {"tail", "-n", "+2"}, {"xxd"}, {"hexdump", "-Cv"}, {"rev"}, {"strings", "-n1"}} {
		yes, yesDone := run(t, nil, "yes")
		out, done := run(t, yes, line[0], line[1:]...)
		if _, err := io.ReadFull(out, make([]byte, 6)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		out.Close()
		if status := <-done; status != 141 && line[0] != "head" {
			t.Errorf("%s: status %d", line, status)
		}
		yes.Close()
		if status := <-yesDone; status != 141 {
			t.Errorf("%s: yes: status %d", line, status)
		}
	}
}

func TestCatFlushesWhatItHas(t *testing.T) {
	for _, name := range []string{"cat", "tee"} {
		in, w := io.Pipe()
		out, done := run(t, in, name)
		io.WriteString(w, "first\n")
		got := make([]byte, 6)
		if _, err := io.ReadFull(out, got); err != nil || string(got) != "first\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		w.Close()
		if status := <-done; status != 0 {
			t.Errorf("%s: status %d", name, status)
		}
	}
}

func TestTailFollows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	write := func(flag int, text string) {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flag, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(0, "one\ntwo\n")
	out, done := run(t, nil, "tail", "-n1", "-f", "-s", "0.001", name)
	expect := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	expect("two\n")
	write(os.O_APPEND, "three\n")
	expect("three\n")
	write(os.O_TRUNC, "new\n")
	expect("new\n")
	out.Close()
	write(os.O_APPEND, "unread\n")
	if status := <-done; status != 141 {
		t.Errorf("status %d", status)
	}
}
