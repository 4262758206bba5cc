package wasm_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/wasi"
)

// tool returns the path of the first of names that is there. A test that
// needs one skips without, but not where DONAX_REQUIRE_TOOLS is set.
func tool(t testing.TB, names ...string) string {
	t.Helper()
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			return p
		}
	}
	if os.Getenv("DONAX_REQUIRE_TOOLS") != "" {
		t.Fatalf("none of %q is installed", names)
	}
	t.Skipf("none of %q is installed", names)
	return ""
}

// compileC compiles a C program of testdata for wasm32-wasi.
func compileC(t testing.TB, name string) []byte {
	t.Helper()
	cc := tool(t, "clang-16", "clang-19", "clang-14", "clang")
	const sysroot = "/usr/include/wasm32-wasi" // of Debian's wasi-libc
	if _, err := os.Stat(sysroot); err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	res, err := exec.Command(cc, "-print-resource-dir").Output()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), name+".wasm")
	// The host's own headers must not be found, and neither must a wasm-opt that
	// clang would run.
	cmd := exec.Command(cc, "--target=wasm32-wasi", "-O1", "-Wall", "-Wno-unused", "-nostdinc",
		"-isystem", filepath.Join(strings.TrimSpace(string(res)), "include"), "-isystem", sysroot,
		"-o", out, name+".c")
	cmd.Dir, cmd.Env = filepath.Join("testdata", "c"), []string{"PATH=/usr/bin:/bin"}
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, msg)
	}
	bin, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// loader loads modules of users.
func loader(t testing.TB, dir string) func(name string, bin []byte, pre []wasi.Preopen) sandbox.Program {
	t.Helper()
	r, err := wasm.New(wasm.Config{CacheDir: dir, Box: []wasm.Tier{}, Compile: func(ctx context.Context, module []byte) error {
		return wasm.CompileInto(ctx, dir, module)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return func(name string, bin []byte, pre []wasi.Preopen) sandbox.Program {
		t.Helper()
		p, err := r.Load(t.Context(), wasm.UserModule{
			Usage: sandbox.Usage{Name: name}, SHA256: hexSum(bin), Preopens: pre,
			Read:  func() ([]byte, error) { return bin, nil },
			Admit: func(context.Context, policy.Module) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// mounts returns one namespace of each kind, by name: an empty folder at /.
func mounts(t testing.TB) map[string]vfs.FS {
	t.Helper()
	all := map[string]vfs.FS{}
	add := func(p vfs.MountPoint) {
		m, err := vfs.NewMount(p)
		if err != nil {
			t.Fatal(err)
		}
		all[string(p.Mode)] = m
	}
	for _, mode := range []vfs.MountMode{vfs.ReadWrite, vfs.CopyOnWrite} {
		p, root, err := vfs.HostMount(vfs.HostConfig{Source: t.TempDir(), Path: "/", Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		add(p)
	}
	m, err := vfs.NewMount(vfs.MountPoint{Path: "/", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.CopyOnWrite})
	if err != nil {
		t.Fatal(err)
	}
	all["mem"] = m
	return all
}

// The C programs check each function of preview 1 from the guest's side, over
// each kind of file system.
func TestCPrograms(t *testing.T) {
	load := loader(t, t.TempDir())
	for _, name := range strings.Fields("files folders names times rights") {
		t.Run(name, func(t *testing.T) {
			bin := compileC(t, name)
			for _, pre := range [][]wasi.Preopen{nil, {{Name: "/", Path: "/"}}} {
				p := load(name, bin, pre)
				for kind, fsys := range mounts(t) {
					var out bytes.Buffer
					err := p.Run(t.Context(), &sandbox.Proc{Args: []string{name}, Dir: "/", FS: fsys, Stdout: &out, Stderr: &out})
					if err != nil {
						t.Errorf("%s, preopens %v: %v\n%s", kind, pre, err, out.String())
					}
				}
			}
		})
	}
}

// A program without files has no preopens, its arguments and environment are
// what it was given, and its status is its own.
func TestCBare(t *testing.T) {
	bin := compileC(t, "bare")
	load := loader(t, t.TempDir())
	for what, c := range map[string]struct {
		fs  vfs.FS
		pre []wasi.Preopen
	}{
		"no files":    {nil, nil},
		"no preopens": {vfs.NewMem(vfs.MemConfig{}), []wasi.Preopen{}},
	} {
		var out, errw bytes.Buffer
		err := load("bare", bin, c.pre).Run(t.Context(), &sandbox.Proc{
			Args: []string{"bare", "first", "the \"second\" arg", "", "4\n"},
			Env:  []string{"a=text", "b=escap \" ing", "c=new\nline"},
			Dir:  "/", FS: c.fs, Stdout: &out, Stderr: &errw,
		})
		if err != sandbox.ExitCode(33) || out.String() != "hello\n" || errw.Len() > 0 {
			t.Errorf("%s: %v %q\n%s", what, err, out.String(), errw.String())
		}
	}
}

// allow is a policy that allows everything.
var allow = policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) {
	return policy.Decision{Effect: policy.Allow}, nil
})

// The streams of a session can be waited for, read without waiting, and are
// no terminals: the standard input of a line and a pipe.
func TestCStreams(t *testing.T) {
	bin := compileC(t, "streams")
	p := loader(t, t.TempDir())("streams", bin, nil)
	s, err := sandbox.New(sandbox.Config{FS: vfs.NewMem(vfs.MemConfig{}), Programs: []sandbox.Program{p}, Policy: allow})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"streams", `while read -r l; do echo "$l"; done | streams`} {
		c, err := s.Inspect(t.Context(), policy.Command{Text: line})
		if err != nil {
			t.Fatal(err)
		}
		in, toIn := io.Pipe()
		fromOut, out := io.Pipe()
		go func() {
			defer toIn.Close()
			for sc := bufio.NewScanner(fromOut); sc.Scan() && sc.Text() != "end"; {
				io.WriteString(toIn, sc.Text()+"\n")
			}
			go io.Copy(io.Discard, fromOut)
		}()
		var errw bytes.Buffer
		status, err := s.Run(t.Context(), c, in, out, &errw)
		out.Close()
		if status != 0 || err != nil {
			t.Errorf("%s: %d %v\n%s", line, status, err, errw.String())
		}
	}
}

// closedPipe is an output that nobody reads.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Each error reaches the program under its own number.
func TestCErrors(t *testing.T) {
	p := loader(t, t.TempDir())("errors", compileC(t, "errors"), nil)
	ro, err := vfs.NewStatic(map[string]string{"file": ""}, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := vfs.NewMount(
		vfs.MountPoint{Path: "/a", Mode: vfs.CopyOnWrite, FS: vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{MaxBytes: 1 << 20})})},
		vfs.MountPoint{Path: "/b", Mode: vfs.CopyOnWrite, FS: vfs.NewMem(vfs.MemConfig{})},
		vfs.MountPoint{Path: "/ro", Mode: vfs.ReadOnlyMount, FS: ro},
		vfs.MountPoint{Path: "/dev", Mode: vfs.ReadWrite, FS: dev},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.New(sandbox.Config{FS: fsys, Programs: []sandbox.Program{p}, Policy: allow, Dir: "/b"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Inspect(t.Context(), policy.Command{Text: "errors"})
	if err != nil {
		t.Fatal(err)
	}
	var errw bytes.Buffer
	if status, err := s.Run(t.Context(), c, nil, closedPipe{}, &errw); status != 0 || err != nil {
		t.Errorf("%d %v\n%s", status, err, errw.String())
	}
}

// readyWriter closes ready at the first write.
type readyWriter struct {
	once  sync.Once
	ready chan struct{}
	said  syncBuffer
}

func (w *readyWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.ready) })
	return w.said.Write(p)
}

// Whatever a program waits for, or does without end, it ends soon after a kill:
// within 50 ms, but a machine that is busy may take longer each time.
// Threats: WA-7.
func TestCBlocked(t *testing.T) {
	const bound, tries = time.Second, 8
	p := loader(t, t.TempDir())("block", compileC(t, "block"), nil)
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := vfs.NewMount(vfs.MountPoint{Path: "/dev", Mode: vfs.ReadWrite, FS: dev})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.New(sandbox.Config{FS: fsys, Programs: []sandbox.Program{p}, Policy: allow})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"block read", "block fgets", "block poll", "block clock", "block sleep", "block yield", "block spin", "block vector",
		"block sleep | block read", "block sleep | block poll", "block write | block sleep 2>/dev/null",
	} {
		best := time.Hour
		for range tries {
			c, err := s.Inspect(t.Context(), policy.Command{Text: text})
			if err != nil {
				t.Fatal(err)
			}
			killed := errors.New("killed")
			ctx, kill := context.WithCancelCause(t.Context())
			in, never := io.Pipe()
			errw := &readyWriter{ready: make(chan struct{})}
			var at time.Time
			go func() {
				<-errw.ready
				time.Sleep(10 * time.Millisecond) // by now it waits
				at = time.Now()
				kill(killed)
			}()
			_, err = s.Run(ctx, c, in, io.Discard, errw)
			took := time.Since(at)
			never.Close()
			if !errors.Is(err, killed) {
				t.Fatalf("%s: %v\n%s", text, err, errw.said.String())
			}
			if best = min(best, took); best < bound {
				break
			}
		}
		if best >= bound {
			t.Errorf("%s: ended %v after the kill at best", text, best)
		}
	}
}

// Relative and absolute names lead where they say, although they are one to
// the C library, and also where a folder of the working directory is named
// like one below the root.
func TestCWorkingDirectory(t *testing.T) {
	p := loader(t, t.TempDir())("show", compileC(t, "show"), nil)
	session(t, p, map[string]string{
		"/w/a.txt":    "a\n",
		"/w/tmp/mine": "the project's\n",
		"/tmp/theirs": "the machine's\n",
	}, "/w", []line{
		{text: "show a.txt /w/a.txt ./a.txt ../w/a.txt", out: "a\na\na\na\n"},
		{text: "show tmp/mine /w/tmp/mine /tmp/theirs", out: "the project's\nthe project's\nthe machine's\n"},
		{text: "cd sub; show ../a.txt ../tmp/mine /w/a.txt", out: "a\nthe project's\na\n"},
		{text: "cd /; show w/a.txt /w/a.txt tmp/theirs", out: "a\na\nthe machine's\n"},
		{text: "show +new +/tmp/new; show new /w/new /tmp/new", out: "made\nmade\nmade\n"},
		{text: "show none /tmp/none", out: "none: errno 44\n/tmp/none: errno 44\n"},
		{text: "cd sub; show +f; cd ..; show sub/f f", out: "made\nf: errno 44\n"},
	})
}
