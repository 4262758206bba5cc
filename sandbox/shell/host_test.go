package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// testHost is a sandbox in small: a namespace in memory and a few programs
// written in Go.
type testHost struct {
	fs       *vfs.Mount
	mem      atomic.Int64
	peak     atomic.Int64
	limit    int64
	jobs     atomic.Int64
	execs    atomic.Int64
	deny     func(args []string) bool
	denyPath func(path string) bool
	passed   atomic.Int64 // when the limit was first passed, in nanoseconds
}

const testPerm = 0o755

func newTestHost(t testing.TB) *testHost {
	t.Helper()
	bin := map[string]string{}
	for n := range testPrograms() {
		bin[n] = "program " + n + "\n"
	}
	b, err := vfs.NewStatic(bin, testPerm)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := vfs.NewMount(
		vfs.MountPoint{Path: "/", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.ReadWrite},
		vfs.MountPoint{Path: "/bin", FS: b, Mode: vfs.ReadOnlyMount},
		vfs.MountPoint{Path: "/usr/bin", FS: b, Mode: vfs.ReadOnlyMount},
		vfs.MountPoint{Path: "/dev", FS: dev, Mode: vfs.ReadWrite},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"/tmp", "/home", "/home/user", "/job", "/etc"} {
		if err := m.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &testHost{fs: m, limit: 512 << 20}
}

var _ Host = (*testHost)(nil)

func (h *testHost) Open(_ context.Context, name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return h.fs.Open(name, flag, perm)
}
func (h *testHost) Stat(_ context.Context, n string) (fs.FileInfo, error)  { return h.fs.Stat(n) }
func (h *testHost) Lstat(_ context.Context, n string) (fs.FileInfo, error) { return h.fs.Lstat(n) }
func (h *testHost) Readlink(_ context.Context, n string) (string, error)   { return h.fs.Readlink(n) }

func (h *testHost) ReadDir(_ context.Context, n string) ([]fs.DirEntry, error) {
	f, err := h.fs.Open(n, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (h *testHost) Access(_ context.Context, n string, mode int) error {
	fi, err := h.fs.Stat(n)
	if err != nil {
		return err
	}
	if int(fi.Mode().Perm()>>6)&mode != mode {
		return &fs.PathError{Op: "access", Path: n, Err: syscall.EACCES}
	}
	return nil
}

func (h *testHost) Admit(_ context.Context, c *Command, _ string) error {
	if h.deny != nil && h.deny(c.Args) {
		return ErrDenied
	}
	return nil
}

func (h *testHost) Absent(name string) string {
	if name == "absent" {
		return "donax: absent: there is something else"
	}
	return ""
}

func (h *testHost) Spend(r Resource, n int64) error {
	switch r {
	case Memory:
		m := h.mem.Add(n)
		if m > h.peak.Load() {
			h.peak.Store(m)
		}
		if m > h.limit && n > 0 {
			h.passed.CompareAndSwap(0, time.Now().UnixNano())
			return &LimitError{What: "memory of " + size(h.limit), Flag: "--memory"}
		}
	case Jobs:
		h.jobs.Add(n)
	}
	return nil
}

func (h *testHost) Now() time.Time { return time.Now() }
func (h *testHost) Random() uint32 { return uint32(time.Now().UnixNano()) }

type testProc struct {
	*Command
	h   *testHost
	ctx context.Context
}

func (h *testHost) Exec(ctx context.Context, c *Command) error {
	h.execs.Add(1)
	if h.deny != nil && h.deny(c.Args) || h.denyPath != nil && h.denyPath(c.Path) {
		return ErrDenied
	}
	if c.Stdin == nil {
		c.Stdin = strings.NewReader("")
	}
	if c.Stdout == nil {
		c.Stdout = io.Discard
	}
	if c.Stderr == nil {
		c.Stderr = io.Discard
	}
	dir, base := path.Split(c.Path)
	p := &testProc{Command: c, h: h, ctx: ctx}
	if dir == "/bin/" || dir == "/usr/bin/" {
		return p.run(base)
	}
	b, err := p.read(c.Path)
	if err != nil {
		return err
	}
	if strings.HasPrefix(string(b), "program ") {
		return p.run(strings.TrimSpace(strings.TrimPrefix(string(b), "program ")))
	}
	return p.sh(func(cfg Config) (int, error) { return RunFile(ctx, cfg, c.Path, c.Args) })
}

func (p *testProc) run(name string) (err error) {
	f := testPrograms()[name]
	if f == nil {
		return ErrNotFound
	}
	defer func() { // the stand-ins do not check their arguments
		if r := recover(); r != nil {
			err = ExitStatus(1)
		}
	}()
	if st := f(p); st != 0 {
		if st == -1 {
			return context.Cause(p.ctx)
		}
		return ExitStatus(st)
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	return nil
}

func (p *testProc) sh(f func(Config) (int, error)) error {
	cfg := Config{Host: p.h, Env: p.Env, Dir: p.Dir, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr,
		Files: p.Files, Depth: p.Depth, Ignored: p.Ignored, IDs: IDs{PID: p.PID, PPID: 2}}
	st, err := f(cfg)
	if err != nil {
		return err
	}
	if st != 0 {
		return ExitStatus(st)
	}
	return nil
}

func (p *testProc) abs(n string) string {
	if strings.HasPrefix(n, "/") {
		return path.Clean(n)
	}
	return path.Join(p.Dir, n)
}

func (p *testProc) open(n string) (io.Reader, error) {
	if n == "-" || n == "/dev/stdin" {
		return p.Stdin, nil
	}
	if rest, ok := strings.CutPrefix(n, "/dev/fd/"); ok {
		k, _ := strconv.Atoi(rest)
		if f := p.Files[k]; f != nil {
			return f.Stream().(io.Reader), nil
		}
		return nil, syscall.ENOENT
	}
	return p.h.fs.Open(p.abs(n), os.O_RDONLY, 0)
}

func (p *testProc) read(n string) ([]byte, error) {
	r, err := p.open(n)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func (p *testProc) fail(format string, a ...any) int {
	fmt.Fprintf(p.Stderr, p.Args[0]+": "+format+"\n", a...)
	return 1
}

func (p *testProc) out(s string) int {
	if _, err := io.WriteString(p.Stdout, s); err != nil {
		if errors.Is(err, syscall.EPIPE) {
			return 141
		}
		return 1
	}
	return 0
}

// inputs reads the named files or standard input.
func (p *testProc) inputs(names []string) (string, int) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	var b bytes.Buffer
	st := 0
	for _, n := range names {
		x, err := p.read(n)
		if err != nil {
			p.fail("%s: %s", n, errText(err))
			st = 1
		}
		b.Write(x)
	}
	return b.String(), st
}

// pyRepr quotes as Python does.
func pyRepr(s string) string {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var b strings.Builder
	b.WriteByte(q)
	for i := 0; i < len(s); {
		r, n := decode(s, i)
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\\' || r == rune(q):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0:
			fmt.Fprintf(&b, `\udc%02x`, -r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte(q)
	return b.String()
}

func leftPad(s string, n int) string { return fmt.Sprintf("%*s", n, s) }

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// result is what a script did.
type result struct {
	out, err string
	status   int
	fault    error
}

// runScript runs src as bash -c would, in a fresh sandbox or in h.
func runScript(t testing.TB, h *testHost, src string, opt ...func(*Config)) result {
	t.Helper()
	if h == nil {
		h = newTestHost(t)
	}
	var out, errb bytes.Buffer
	c := Config{Host: h, Env: []string{"PATH=/usr/bin:/bin", "HOME=/home/user", "TMP=/tmp", "TMPDIR=/tmp"}, Dir: "/job", Stdout: &out, Stderr: &errb}
	for _, o := range opt {
		o(&c)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	st, err := Run(ctx, c, src)
	return result{out.String(), errb.String(), st, err}
}
