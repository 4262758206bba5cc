package worker

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// duplex is one end of a socket.
type duplex struct {
	io.ReadCloser
	io.WriteCloser
}

func (d duplex) Close() error { return errors.Join(d.ReadCloser.Close(), d.WriteCloser.Close()) }

// A takenOver is a worker that does what it likes: it speaks the protocol and
// has none of a worker's own checks.
type takenOver struct {
	*process
	conn *conn // the worker's end
	fs   []*remoteFS
}

// takeOver makes one, with as many runs under way as there are commands.
func takeOver(t *testing.T, cfg *Config, runs ...policy.Command) takenOver {
	t.Helper()
	toServer, fromWorker := io.Pipe()
	toWorker, fromServer := io.Pipe()
	p := &process{
		cfg: cfg, session: cfg.Session, limits: DefaultLimits, epoch: func() uint64 { return 0 },
		conn: newConn(duplex{toServer, fromServer}), asked: make(chan struct{}, maxAsked), gone: make(chan struct{}),
		runs: map[uint32]*serverRun{}, inspects: map[uint32]chan *decoder{}, calls: map[callKey]*toolCall{},
	}
	p.slay = p.conn.close
	var err error
	if p.files, err = newHostFiles(cfg.Mounts, p); err != nil {
		t.Fatal(err)
	}
	for i, c := range runs {
		id := uint32(i + 1)
		p.runs[id] = &serverRun{p: p, id: id, ctx: policy.WithSubject(t.Context(), policy.Subject{Principal: policy.Principal{Sub: "a"}}), command: c}
	}
	w := takenOver{process: p, conn: newConn(duplex{toWorker, fromWorker})}
	for i := range cfg.Mounts {
		w.fs = append(w.fs, &remoteFS{conn: w.conn, mount: i})
	}
	go func() { _ = p.read(); p.conn.close() }()
	go func() {
		for {
			f, err := readFrame(w.conn.in)
			if err != nil || !w.conn.answered(f) {
				w.conn.close()
				return
			}
		}
	}()
	t.Cleanup(func() { w.conn.close(); p.conn.close(); p.answers.Wait() })
	return w
}

// ask asks for a decision as a worker does, with what it claims.
func (w takenOver) ask(t *testing.T, a policy.Action) policy.Decision {
	t.Helper()
	ctx := newInsideRun(w.conn, 1)
	d, err := (&engine{conn: w.conn}).Decide(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// refuses wants an operation to fail with one of the errors that refuse.
func refuses(t *testing.T, what string, err error, want ...syscall.Errno) {
	t.Helper()
	for _, no := range want {
		if errors.Is(err, no) {
			return
		}
	}
	t.Errorf("%s: %v, want %v", what, err, want)
}

// hideSecret is a policy on files: nothing of /workspace/secret, and what is
// called locked is there to be read only.
func hideSecret(_ context.Context, a policy.Action) (policy.Decision, error) {
	no := policy.Decision{Reasons: []policy.Reason{{Msg: "no"}}}
	if f := a.File; f != nil {
		for _, p := range []string{f.Path, f.To} {
			if within(p, "/workspace/secret") || f.Mount == "/nowhere" || f.Op != "read" && within(p, "/workspace/locked") {
				return no, nil
			}
		}
	}
	if a.Exec != nil && a.Exec.Name != "good" || a.Tool != nil || a.Principal.Sub != "a" {
		return no, nil
	}
	return policy.Decision{Effect: policy.Allow}, nil
}

func fill(t *testing.T, fsys vfs.FS, files map[string]string) {
	t.Helper()
	for name, data := range files {
		dir, _ := filepath.Split(name)
		if dir = filepath.Clean(dir); dir != "/" {
			if err := fsys.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
		}
		f, err := fsys.Open(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

func read(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTakenOverFiles: a worker that asks nobody gets no file past the policy,
// by any operation.
//
// Threats: WO-11.
func TestTakenOverFiles(t *testing.T) {
	quota := vfs.NewQuota(vfs.QuotaConfig{MaxBytes: 1 << 20, MaxFiles: 100})
	mem := vfs.NewMem(vfs.MemConfig{Quota: quota})
	fill(t, mem, map[string]string{"/secret/key": "canary", "/locked": "fixed", "/open": "o", "/d/f": "f"})
	w := takeOver(t, &Config{Policy: policy.EngineFunc(hideSecret), Mounts: []vfs.MountPoint{{Path: "/workspace", FS: mem, Mode: vfs.ReadWrite}}}, policy.Command{})
	fsys := w.fs[0]
	open := func(name string, flag int) error {
		f, err := fsys.Open(name, flag, 0o644)
		if err == nil {
			f.Close()
		}
		return err
	}
	for what, err := range map[string]error{
		"read":                 open("/secret/key", os.O_RDONLY),
		"read and write":       open("/secret/key", os.O_RDWR),
		"create":               open("/secret/new", os.O_CREATE|os.O_WRONLY),
		"create exclusively":   open("/secret/new", os.O_CREATE|os.O_WRONLY|os.O_EXCL),
		"list":                 open("/secret", os.O_RDONLY),
		"write what is locked": open("/locked", os.O_WRONLY),
		"append":               open("/locked", os.O_WRONLY|os.O_APPEND),
		"truncate":             open("/locked", os.O_WRONLY|os.O_TRUNC|os.O_CREATE),
		"read to write":        open("/locked", os.O_RDWR),
		"mkdir":                fsys.Mkdir("/secret/d", 0o755),
		"remove":               fsys.Remove("/secret/key"),
		"remove a locked one":  fsys.Remove("/locked"),
		"rmdir":                fsys.Rmdir("/secret"),
		"rename out":           fsys.Rename("/secret/key", "/mine"),
		"rename over":          fsys.Rename("/open", "/locked"),
		"rename the folder":    fsys.Rename("/secret", "/mine"),
		"link out":             fsys.Link("/secret/key", "/mine"),
		"link the locked one":  fsys.Link("/locked", "/mine"),
		"link in":              fsys.Link("/open", "/secret/new"),
		"symlink in":           fsys.Symlink("/workspace/open", "/secret/new"),
		"symlink to":           fsys.Symlink("secret/key", "/mine"),
		"symlink round":        fsys.Symlink("d/../secret/key", "/mine"),
		"symlink absolute":     fsys.Symlink("/workspace/secret/key", "/d/mine"),
		"chmod":                fsys.Chmod("/locked", 0o777),
		"chtimes":              fsys.Chtimes("/locked", time.Now(), time.Now()),
	} {
		refuses(t, what, err, syscall.EACCES)
	}
	for what, err := range map[string]error{
		"dots":           open("/d/../secret/key", os.O_RDONLY),
		"two slashes":    open("//secret/key", os.O_RDONLY),
		"a slash behind": open("/secret/", os.O_RDONLY),
		"no slash":       open("secret/key", os.O_RDONLY),
		"nothing":        open("", os.O_RDONLY),
		"up":             open("/..", os.O_RDONLY),
		"a NUL":          open("/d\x00/../secret/key", os.O_RDONLY),
		"odd flags":      open("/open", 1<<40|os.O_RDONLY),
		"mkdir dots":     fsys.Mkdir("/d/../secret/x", 0o755),
		"rename dots":    fsys.Rename("/open", "/d/../secret/x"),
	} {
		refuses(t, what, err, syscall.EINVAL, syscall.EACCES)
	}
	// What is in a folder does not come along unasked.
	fill(t, mem, map[string]string{"/outer/f": "f"})
	refuses(t, "rename a folder", fsys.Rename("/outer", "/mine"), syscall.EXDEV)

	// A link that is there already is not followed by any name.
	if err := mem.Symlink("/workspace/secret", "/way"); err != nil {
		t.Fatal(err)
	}
	refuses(t, "through a link", open("/way/key", os.O_RDONLY), syscall.ELOOP)
	refuses(t, "through a last link", open("/way", os.O_RDONLY), syscall.ELOOP)

	// Leave is for what was asked, once, and where it is the server knows.
	ask := func(f policy.File) policy.Effect {
		return w.ask(t, policy.Action{Kind: policy.KindFile, File: &f}).Effect
	}
	if ask(policy.File{Op: "read", Path: "/workspace/d/../open", Mount: "/workspace"}) != policy.Allow || ask(policy.File{Op: "read", Path: "/workspace/open", Mount: "/nowhere"}) != policy.Allow {
		t.Error("the mount that a worker claims counts")
	}
	ask(policy.File{Op: "read", Path: "/workspace/locked", By: "cat"})
	refuses(t, "write with leave to read", open("/locked", os.O_WRONLY), syscall.EACCES)
	ask(policy.File{Op: "link", Path: "/workspace/open", To: "/workspace/mine"})
	refuses(t, "a link to something else", fsys.Link("/secret/key", "/mine"), syscall.EACCES)
	refuses(t, "a symlink to something else", fsys.Symlink("secret/key", "/mine"), syscall.EACCES)

	// What is allowed works, up to the quota and no further.
	f, err := fsys.Open("/new", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, "a huge file", f.Truncate(1<<62), syscall.EDQUOT, syscall.EFBIG)
	_, err = f.WriteAt([]byte("x"), 1<<61)
	refuses(t, "a write far out", err, syscall.EDQUOT, syscall.EFBIG)
	refuses(t, "a negative size", f.Truncate(-1), syscall.EINVAL)
	_, err = f.WriteAt([]byte("x"), -5)
	refuses(t, "a write before the start", err, syscall.EINVAL)
	for range 10 {
		if _, err = f.Write(make([]byte, maxChunk)); err != nil {
			break
		}
	}
	refuses(t, "more than the quota", err, syscall.EDQUOT)
	f.Close()
	_, err = f.Write([]byte("x"))
	refuses(t, "a handle after it was closed", err, syscall.EBADF)
	for _, h := range []int{0, 1 << 20, f.(*remoteFile).handle + 1} {
		_, err = (&remoteFile{conn: w.conn, handle: h}).Read(make([]byte, 1))
		refuses(t, "a handle of nobody", err, syscall.EBADF)
	}
	for i := range 200 {
		if err = open("/many"+strings.Repeat("x", i), os.O_CREATE|os.O_WRONLY); err != nil {
			break
		}
	}
	refuses(t, "more files than the quota", err, syscall.EDQUOT)
	if got := read(t, mem, "/secret/key") + read(t, mem, "/locked"); got != "canaryfixed" {
		t.Errorf("the files are %q", got)
	}
}

// TestTakenOverMounts: nor past what a mount grants, what one mount hides of
// another, or what the policy takes from a mount for a command.
//
// Threats: WO-11.
func TestTakenOverMounts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"ro/f": "kept", "a/b/f": "kept", "a/g": "g", ".git/config": "kept", "low/f": "kept"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	host := func(mode vfs.MountMode, at string) vfs.MountPoint {
		m, root, err := vfs.HostMount(vfs.HostConfig{Source: filepath.Join(dir, strings.TrimPrefix(at, "/workspace")), Path: at, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return m
	}
	bare := vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{})})
	fill(t, bare, map[string]string{"/f": "kept"})
	c := &Config{Policy: policy.AllowAll{}, Mounts: []vfs.MountPoint{
		host(vfs.ReadWrite, "/workspace"), host(vfs.ReadOnlyMount, "/workspace/ro"), host(vfs.ReadOnlyMount, "/workspace/a/b"),
		{Path: "/bare", FS: bare, Mode: vfs.ReadOnlyMount},
	}}
	w := takeOver(t, c, policy.Command{Mounts: []policy.MountRule{{Path: "/workspace/low", Mode: policy.MountRO}}})
	top := w.fs[0]
	open := func(fsys vfs.FS, name string, flag int) error {
		f, err := fsys.Open(name, flag, 0o644)
		if err == nil {
			f.Close()
		}
		return err
	}
	_, statted := top.Lstat("/ro/f")
	for what, err := range map[string]error{
		"write what is ro":             open(w.fs[1], "/f", os.O_WRONLY),
		"remove what is ro":            w.fs[1].Remove("/f"),
		"write where only a label is":  open(w.fs[3], "/f", os.O_WRONLY),
		"remove where only a label is": w.fs[3].Remove("/f"),
		"write below":                  open(top, "/ro/f", os.O_WRONLY),
		"read below":                   open(top, "/ro/f", os.O_RDONLY),
		"look below":                   statted,
		"create below":                 open(top, "/ro/new", os.O_CREATE|os.O_WRONLY),
		"link from below":              top.Link("/ro/f", "/mine"),
		"rename from below":            top.Rename("/ro/f", "/mine"),
		"write deep below":             open(top, "/a/b/f", os.O_WRONLY),
		"rename the mount point":       top.Rename("/ro", "/mine"),
		"rename what holds it up":      top.Rename("/a", "/mine"),
		"rename over it":               top.Rename("/low", "/a"),
		"rename the root":              top.Rename("/", "/mine"),
		"rmdir what holds it up":       top.Rmdir("/a"),
		"write a protected file":       open(top, "/.git/config", os.O_WRONLY),
		"plant a hook":                 top.Mkdir("/.git/hooks", 0o755),
		"write what is lowered":        open(top, "/low/f", os.O_WRONLY),
		"create what is lowered":       open(top, "/low/new", os.O_CREATE|os.O_WRONLY),
		"move out of what is lowered":  top.Rename("/low/f", "/mine"),
		"link out of what is lowered":  top.Link("/low/f", "/mine"),
		"chmod what is lowered":        top.Chmod("/low/f", 0o777),
		"setuid":                       top.Chmod("/a/g", fs.ModeSetuid|0o755),
	} {
		refuses(t, what, err, syscall.EACCES, syscall.EROFS, syscall.EBUSY, syscall.EPERM)
	}
	if err := open(top, "/a/g", os.O_RDWR); err != nil {
		t.Errorf("what is granted: %v", err)
	}
	if err := open(top, "/low/f", os.O_RDONLY); err != nil {
		t.Errorf("what is lowered is to be read: %v", err)
	}
	for _, name := range []string{"ro/f", "a/b/f", ".git/config", "low/f"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "kept" {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
	if err := (&remoteFS{conn: w.conn, mount: 7}).Remove("/f"); err == nil {
		t.Error("a mount that is not there is used")
	}
}

// TestTakenOverIdle: without a run nothing is opened or changed, also while a
// line is only being read, and under no policy nothing is.
//
// Threats: WO-11.
func TestTakenOverIdle(t *testing.T) {
	mem := vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{})})
	fill(t, mem, map[string]string{"/f": "kept"})
	mounts := []vfs.MountPoint{{Path: "/workspace", FS: mem, Mode: vfs.ReadWrite}}
	try := func(w takenOver, want syscall.Errno) {
		t.Helper()
		_, err := w.fs[0].Open("/f", os.O_RDONLY, 0)
		refuses(t, "open", err, want)
		refuses(t, "remove", w.fs[0].Remove("/f"), want)
	}
	w := takeOver(t, &Config{Policy: policy.AllowAll{}, Mounts: mounts})
	try(w, syscall.EIO)
	w.mu.Lock()
	w.inspects[1] = make(chan *decoder, 1)
	w.mu.Unlock()
	try(w, syscall.EIO)
	if _, err := w.fs[0].Stat("/f"); err != nil {
		t.Errorf("a line that is read may look: %v", err)
	}
	try(takeOver(t, &Config{Mounts: mounts}, policy.Command{}), syscall.EACCES)
}

// TestTakenOverRaces swaps files while the worker opens them: what is opened is
// what the policy allowed.
//
// Threats: WO-11.
func TestTakenOverRaces(t *testing.T) {
	mem := vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{})})
	engine := func(_ context.Context, a policy.Action) (policy.Decision, error) {
		d := policy.Decision{Effect: policy.Allow}
		if a.File.Path == "/workspace/f" && (a.File.Op == "read" || a.File.Op == "write") {
			d = policy.Decision{}
		}
		return d, nil
	}
	w := takeOver(t, &Config{Policy: policy.EngineFunc(engine), Mounts: []vfs.MountPoint{{Path: "/workspace", FS: mem, Mode: vfs.ReadWrite}}}, policy.Command{})
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			if f, err := mem.Open("/f", os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644); err == nil {
				_, _ = f.Write([]byte("others"))
				f.Close()
			}
			_ = mem.Remove("/f")
			_ = mem.Mkdir("/f", 0o755)
			_ = mem.Rmdir("/f")
		}
	}()
	for range 300 {
		if f, err := w.fs[0].Open("/f", os.O_CREATE|os.O_RDWR, 0o644); err == nil {
			if b, err := io.ReadAll(f); err == nil && len(b) > 0 {
				t.Errorf("%q of another's file was read", b)
			}
			f.Close()
			_ = mem.Remove("/f")
		}
	}
	stop.Store(true)
	<-done
}

// TestTakenOverCalls: a program of the server starts only when the policy has
// allowed that, or does now.
//
// Threats: WO-11.
func TestTakenOverCalls(t *testing.T) {
	mem := vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{})})
	c := &Config{Policy: policy.EngineFunc(hideSecret), Mounts: []vfs.MountPoint{{Path: "/workspace", FS: mem, Mode: vfs.ReadWrite}}}
	var ran atomic.Int64
	c.Lookup = func(name string) sandbox.Program { return countingProgram{name, &ran} }
	var err error
	if c.Session, err = sandbox.New(sandbox.Config{FS: mem, Policy: c.Policy, Dir: "/"}); err != nil {
		t.Fatal(err)
	}
	w := takeOver(t, c, policy.Command{})
	inside := &inside{conn: w.conn}
	for i, name := range []string{"bad", "good"} {
		ctx := newInsideRun(w.conn, 1)
		err := inside.lookup(name).Run(ctx, &sandbox.Proc{Args: []string{name, "x"}, Dir: "/"})
		var code sandbox.ExitCode
		if want := int64(i); ran.Load() != want || i == 0 && (!errors.As(err, &code) || code != sandbox.StatusDenied) || i == 1 && err != nil {
			t.Errorf("%s: ran %d times, %v", name, ran.Load(), err)
		}
	}
}

// countingProgram is a program that counts.
type countingProgram struct {
	name string
	ran  *atomic.Int64
}

func (s countingProgram) Run(context.Context, *sandbox.Proc) error { s.ran.Add(1); return nil }
func (s countingProgram) Usage() sandbox.Usage                     { return sandbox.Usage{Name: s.name, Kind: "tool"} }
