package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/box"
	"github.com/donax-sh/donax/wasm/box/build"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
)

// guest is the box of these tests, and rt runs it; TestMain makes them.
var (
	guest []byte
	rt    *wasm.Runtime
)

func TestMain(m *testing.M) {
	if cache := os.Getenv(execVar); cache != "" {
		os.Exit(runModule(cache, os.Args[1:]))
	}
	code := 1
	func() {
		var err error
		guest, err = build.Wasm(context.Background(), "..", "./wasm/testdata/guest")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		if rt, err = wasm.New(wasm.Config{Box: []wasm.Tier{testTier(guest)}}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		defer rt.Close()
		code = m.Run()
	}()
	os.Exit(code)
}

func testTier(bin []byte) wasm.Tier {
	t := wasm.Tier{Name: "test", SHA256: strings.Repeat("0", 64), Module: func() ([]byte, error) { return bin, nil }}
	for _, n := range strings.Fields("args env exit osexit panic gopanic cat yes sleep linger alloc rand clock files errno stat spawn fds leak hunt fetch") {
		t.Commands = append(t.Commands, box.Command{Name: n})
	}
	return t
}

func program(t testing.TB, name string) sandbox.Program {
	t.Helper()
	for _, p := range rt.Programs() {
		if p.Usage().Name == name {
			return p
		}
	}
	t.Fatalf("no program %q", name)
	return nil
}

// job is one run in a test.
type job struct {
	proc     sandbox.Proc
	out, err syncBuffer
}

// syncBuffer is a buffer that a command and its children may write to.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newJob(t testing.TB, args ...string) *job {
	t.Helper()
	j := &job{}
	j.proc = sandbox.Proc{
		Args: args, Env: []string{"K=v"}, Dir: "/",
		Stdin: strings.NewReader(""), Stdout: &j.out, Stderr: &j.err,
		FS: wasmtest.Dir(t, t.TempDir()),
	}
	return j
}

// status runs the command named by the first argument.
func (j *job) status(t testing.TB) int {
	t.Helper()
	err := program(t, j.proc.Args[0]).Run(t.Context(), &j.proc)
	var code sandbox.ExitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	t.Fatalf("%q: %v; stderr: %s", j.proc.Args, err, j.err.String())
	return -1
}

func TestArgsAndEnvironment(t *testing.T) {
	j := newJob(t, "args", "a b", "", "é\n")
	j.proc.Dir = "/gone"
	if n := j.status(t); n != 0 {
		t.Fatal(n, j.err.String())
	}
	if got, want := j.out.String(), `["a b" "" "é\n"] "/gone" <nil>`+"\n"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	j = newJob(t, "env")
	j.proc.Env = []string{"K=v=w", "E=", "K=twice"}
	j.status(t)
	if got, want := j.out.String(), `["K=v=w" "E="] "v=w"`+"\n"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		args   string
		want   int
		stderr string
	}{
		{"exit 0", 0, ""},
		{"exit 7", 7, ""},
		{"exit 255", 255, ""},
		{"osexit 9", 9, ""},
		{"panic boo", 125, "panic: panic: boo"},
		{"gopanic", 125, "elsewhere"},
		{"cat nowhere", 1, "cat: nowhere: No such file or directory"},
	} {
		j := newJob(t, strings.Fields(c.args)...)
		if got := j.status(t); got != c.want || !strings.Contains(j.err.String(), c.stderr) {
			t.Errorf("%s: status %d, want %d; stderr %q", c.args, got, c.want, j.err.String())
		}
	}
}

func TestRenamedCommand(t *testing.T) {
	j := newJob(t, "other", "3")
	if err := program(t, "exit").Run(t.Context(), &j.proc); err != sandbox.ExitCode(3) {
		t.Errorf("got %v", err)
	}
}

func TestUsage(t *testing.T) {
	u, v := program(t, "cat").Usage(), program(t, "env").Usage()
	if u.Kind != "box" || len(u.SHA256) != 64 || u.SHA256 == v.SHA256 {
		t.Errorf("%+v %+v", u, v)
	}
}

func TestFiles(t *testing.T) {
	j := newJob(t, "files")
	j.status(t)
	want := `hello world
s -rw------- 3 1000000000
a
d drwxr-x---
d/a -rw-------
d/e drwxr-x---
d/e/f drwxr-x---
d/m -rw-------
d/s Lrwxrwxrwx
el
true
`
	if got := j.out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// An empty name names nothing, and a folder is not removed as its own ".".
func TestEmptyNames(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"read", ""}, "No such file or directory"},
		{[]string{"write", ""}, "No such file or directory"},
		{[]string{"mkdir", ""}, "No such file or directory"},
		{[]string{"rmdir", ""}, "No such file or directory"},
		{[]string{"unlink", ""}, "No such file or directory"},
		{[]string{"rename", "", "x"}, "No such file or directory"},
		{[]string{"link", "d", ""}, "No such file or directory"},
		{[]string{"symlink", "", "x"}, "No such file or directory"},
		{[]string{"rmdir", "d/."}, "Invalid argument"},
		{[]string{"rmdir", "d/"}, "ok"},
	} {
		j := newJob(t, append([]string{"errno"}, c.args...)...)
		if err := j.proc.FS.Mkdir("/d", 0o755); err != nil {
			t.Fatal(err)
		}
		j.status(t)
		if got := strings.TrimSpace(j.err.String()); got != c.want {
			t.Errorf("%q: got %q, want %q", c.args, got, c.want)
		}
	}
}

func TestStdio(t *testing.T) {
	j := newJob(t, "stat")
	j.status(t)
	if got, want := j.out.String(), "0 p--------- false\n1 p--------- false\n2 p--------- false\n"; got != want {
		t.Errorf("pipes: got %q", got)
	}
	j = newJob(t, "stat", "f")
	f, err := j.proc.FS.Open("/f", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j.proc.Stdin, j.proc.Stdout = f, f
	j.status(t)
	b := make([]byte, 100)
	n, _ := f.ReadAt(b, 0)
	if got := string(b[:n]); !strings.Contains(got, "0 ---------- true\n1 ---------- true\n2 p--------- false\n") {
		t.Errorf("files: got %q", got)
	}
	j = newJob(t, "cat", "/dev/stdin")
	j.proc.Stdin = strings.NewReader("through a name")
	j.status(t)
	if got := j.out.String(); got != "through a name" {
		t.Errorf("/dev/stdin: got %q, stderr %q", got, j.err.String())
	}
	j = newJob(t, "errno", "write", "/dev/fd/1")
	j.status(t)
	if got := j.out.String(); got != "x" {
		t.Errorf("/dev/fd/1: got %q, stderr %q", got, j.err.String())
	}
}

type failWriter struct{ err error }

func (w failWriter) Write([]byte) (int, error) { return 0, w.err }

func TestStreamErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.EPIPE, "Broken pipe"},
		{io.ErrClosedPipe, "Broken pipe"},
		{syscall.ENOSPC, "No space left on device"},
		{fmt.Errorf("w: %w", syscall.EDQUOT), "Disk quota exceeded"},
		{syscall.EROFS, "Read-only file system"},
	} {
		j := newJob(t, "errno", "stdout")
		j.proc.Stdout = failWriter{c.err}
		j.status(t)
		if got := strings.TrimSpace(j.err.String()); got != c.want {
			t.Errorf("%v: got %q want %q", c.err, got, c.want)
		}
	}
	for _, err := range []error{&sandbox.LimitError{What: "output"}, errors.New("out of the blue")} {
		j := newJob(t, "errno", "stdout")
		j.proc.Stdout = failWriter{err}
		if got := program(t, "errno").Run(t.Context(), &j.proc); got != err {
			t.Errorf("%v did not end the run: %v", err, got)
		}
	}
	j := newJob(t, "errno", "seek")
	j.status(t)
	if got := strings.TrimSpace(j.err.String()); got != "Illegal seek" {
		t.Errorf("seek on a pipe: %q", got)
	}
}

// Nobody reads any more: yes ends as SIGPIPE would end it.
func TestBrokenPipe(t *testing.T) {
	j := newJob(t, "yes")
	r, w := io.Pipe()
	j.proc.Stdout = w
	go func() {
		io.ReadFull(r, make([]byte, 10))
		r.Close()
	}()
	if got := j.status(t); got != 141 || j.err.String() != "" {
		t.Errorf("status %d, stderr %q", got, j.err.String())
	}
}

// blockReader blocks until its context ends.
type blockReader struct{ ctx context.Context }

func (r blockReader) Read([]byte) (int, error) {
	<-r.ctx.Done()
	return 0, r.ctx.Err()
}

func TestCancel(t *testing.T) {
	cause := errors.New("the brake")
	for _, args := range [][]string{{"sleep", "1h"}, {"linger", "1h"}, {"cat"}, {"yes"}, {"spawn", "run", "sleep", "1h"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		j := newJob(t, args...)
		j.proc.Stdin = blockReader{ctx}
		j.proc.Spawn = spawner(t, j)
		time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
		start := time.Now()
		err := program(t, args[0]).Run(ctx, &j.proc)
		if !errors.Is(err, cause) {
			t.Errorf("%q: %v", args, err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q: took %v", args, d)
		}
	}
}

// Threats: WA-3.
func TestMemoryLimit(t *testing.T) {
	j := newJob(t, "alloc", "100")
	j.proc.Memory = 40 << 20
	err := program(t, "alloc").Run(t.Context(), &j.proc)
	var limit *sandbox.LimitError
	if !errors.As(err, &limit) || limit.What != "memory 40 MiB" || limit.Flag != "--memory" {
		t.Errorf("got %v", err)
	}
	j.proc.Memory = 1 << 20 // less than it needs to start
	if err := program(t, "alloc").Run(t.Context(), &j.proc); !errors.As(err, &limit) {
		t.Errorf("got %v", err)
	}
	j = newJob(t, "alloc", "20")
	if n := j.status(t); n != 0 {
		t.Errorf("status %d: %s", n, j.err.String())
	}
}

func TestDescriptorLimit(t *testing.T) {
	j := newJob(t, "fds")
	j.status(t)
	if got := j.out.String(); got != "Too many open files\n" && got != "File descriptor value too large\n" {
		t.Errorf("got %q", got)
	}
}

func TestFreshRandomnessAndClock(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		j := newJob(t, "rand")
		j.status(t)
		for _, part := range strings.SplitN(j.out.String(), " ", 2) {
			if seen[part] {
				t.Errorf("twice: %s", part)
			}
			seen[part] = true
		}
	}
	j := newJob(t, "clock")
	before := time.Now().Unix()
	j.status(t)
	var ok bool
	var sec int64
	if fmt.Sscan(j.out.String(), &ok, &sec); !ok || sec < before || sec > time.Now().Unix() {
		t.Errorf("got %q", j.out.String())
	}
}

// spawner starts test commands as a session would.
func spawner(t testing.TB, j *job) func(context.Context, sandbox.Child) error {
	var spawn func(context.Context, sandbox.Child) error
	spawn = func(ctx context.Context, c sandbox.Child) error {
		switch c.Args[0] {
		case "denied":
			io.WriteString(c.Stderr, "denied: because\n")
			return syscall.EACCES
		case "limit":
			c.Started()
			return &sandbox.LimitError{What: "commands"}
		case "crash":
			panic("in the session")
		}
		for _, p := range rt.Programs() {
			if p.Usage().Name == c.Args[0] {
				c.Started()
				return p.Run(ctx, &sandbox.Proc{
					Args: c.Args, Env: c.Env, Dir: c.Dir, FS: j.proc.FS,
					Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, Spawn: spawn,
				})
			}
		}
		return syscall.ENOENT
	}
	return spawn
}

func TestSpawn(t *testing.T) {
	for _, c := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"run exit 5", 5, "", ""},
		{"run args x", 0, `["x"] "/" <nil>` + "\n", ""},
		{"run cat", 0, "input", ""},
		{"env args x", 0, `["x"] "/sub" <nil>` + "\n", ""},
		{"env env", 0, `["K=child"] "child"` + "\n", ""},
		{"run nothere", 127, "", "spawn: ‘nothere’: No such file or directory\n"},
		{"run denied", 126, "", "denied: because\n"},
		{"out exit 0", 0, "", ""},
		{"timeout sleep 1h", 0, "143 <nil>\nNo child processes\n", ""},
		{"leave sleep 1h", 0, "", ""},
		{"many exit 3", 15, "", ""},
	} {
		j := newJob(t, append([]string{"spawn"}, strings.Fields(c.args)...)...)
		j.proc.Stdin = strings.NewReader("input")
		j.proc.Spawn = spawner(t, j)
		if got := j.status(t); got != c.status || j.out.String() != c.stdout || j.err.String() != c.stderr {
			t.Errorf("%s: status %d, stdout %q, stderr %q", c.args, got, j.out.String(), j.err.String())
		}
	}
	j := newJob(t, "spawn", "out", "args", "x")
	j.proc.Spawn = spawner(t, j)
	j.status(t)
	f, err := j.proc.FS.Open("/out", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(f)
	f.Close()
	if string(b) != `["x"] "/" <nil>`+"\n" {
		t.Errorf("redirected child: %q", b)
	}
	var limit *sandbox.LimitError
	j = newJob(t, "spawn", "run", "limit")
	j.proc.Spawn = spawner(t, j)
	if err := program(t, "spawn").Run(t.Context(), &j.proc); !errors.As(err, &limit) {
		t.Errorf("a child's limit: %v", err)
	}
	j = newJob(t, "spawn", "run", "crash")
	j.proc.Spawn = spawner(t, j)
	if err := program(t, "spawn").Run(t.Context(), &j.proc); err == nil || !strings.Contains(err.Error(), "in the session") {
		t.Errorf("a panic in the session: %v", err)
	}
	j = newJob(t, "spawn", "run", "exit", "0")
	if got := j.status(t); got != 126 {
		t.Errorf("without a session: %d", got)
	}
}

// Security cases 001, 002: a symlink that climbs out resolves nowhere.
//
// Threats: FS-1.
func TestSymlinkEscape(t *testing.T) {
	top := t.TempDir()
	for _, d := range []string{"/ws", "/secret"} {
		if err := os.Mkdir(top+d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(top+"/secret/canary.txt", []byte("CANARY"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		j := newJob(t, append([]string{"errno"}, args...)...)
		j.proc.FS = wasmtest.Dir(t, top+"/ws")
		j.status(t)
		return strings.TrimSpace(j.err.String())
	}
	for _, target := range []string{"../secret/canary.txt", "/../secret/canary.txt", top + "/secret/canary.txt"} {
		run("unlink", "g")
		if got := run("symlink", target, "g"); got != "ok" {
			t.Errorf("symlink to %s: %s", target, got)
		}
		for _, op := range []string{"read", "write"} {
			if got := run(op, "g"); got == "ok" {
				t.Errorf("%s through %s: %s", op, target, got)
			}
		}
		run("link", "g", "h")
		run("rename", "g", "i")
	}
	for _, p := range []string{"../secret/canary.txt", "/../secret/canary.txt", "../../../../../etc/hostname"} {
		if got := run("read", p); got == "ok" {
			t.Errorf("read %s: %s", p, got)
		}
		if got := run("write", p); got == "ok" {
			t.Errorf("write %s: %s", p, got)
		}
	}
	if b, err := os.ReadFile(top + "/secret/canary.txt"); err != nil || string(b) != "CANARY" {
		t.Errorf("canary: %q %v", b, err)
	}
}

func TestConcurrentFirstUse(t *testing.T) {
	bin, _, err := build.Rewrite([]byte("\x00asm\x01\x00\x00\x00"))
	if err != nil {
		t.Fatal(err)
	}
	var reads atomic.Int32
	tier := wasm.Tier{Name: "x", SHA256: "x", Commands: []box.Command{{Name: "x"}}, Module: func() ([]byte, error) {
		reads.Add(1)
		return bin, nil
	}}
	r, err := wasm.New(wasm.Config{Box: []wasm.Tier{tier}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var stderr bytes.Buffer
			err := r.Programs()[0].Run(t.Context(), &sandbox.Proc{Args: []string{"x"}, Stderr: &stderr})
			if err != sandbox.ExitCode(125) || !strings.Contains(stderr.String(), "does not export") {
				t.Errorf("%v %s", err, stderr.String())
			}
		})
	}
	wg.Wait()
	if n := reads.Load(); n != 1 {
		t.Errorf("compiled %d times", n)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Programs()[0].Run(t.Context(), &sandbox.Proc{Args: []string{"x"}}); !errors.Is(err, wasm.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
