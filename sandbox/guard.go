package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// files returns the files as the shell itself may use them.
func (h *host) files(ctx context.Context) vfs.FS { return h.filesOf(ctx, "shell", h.err) }

// filesOf returns the files as the program by may use them: each operation
// asks the policy first, counts, and fails once the run is over.
func (h *host) filesOf(ctx context.Context, by string, stderr io.Writer) vfs.FS {
	g := &guard{run: h.run, ctx: ctx, fs: h.session.cfg.FS, by: by, stderr: stderr}
	if e, ok := h.policy.(policy.Constanter); ok {
		d, ok := e.Constant(policy.KindFile)
		g.open = ok && d.Effect == policy.Allow
	}
	return g
}

// A guard is the session's file system as one program sees it. A denied
// operation fails with EACCES after the reason was shown once.
type guard struct {
	*run
	ctx    context.Context
	fs     vfs.FS
	by     string
	stderr io.Writer
	open   bool // no rule has an opinion on files
}

var _ vfs.FS = (*guard)(nil)

// alive fails once the run is over: what was left behind must not change
// files any more.
func (g *guard) alive(op, name string) error {
	if g.ended.Load() {
		return &fs.PathError{Op: op, Path: name, Err: syscall.EIO}
	}
	return nil
}

// ask asks the policy about an operation on f.Path, which is canonical.
func (g *guard) ask(f policy.File) error {
	if g.open {
		return nil
	}
	f.By = g.by
	a := policy.Action{Kind: policy.KindFile, Subject: policy.SubjectFrom(g.caller), File: &f}
	a.Usage.Execs, a.Usage.OutputBytes = g.commands.Load(), g.output.Load()
	_, err := policy.Check(g.ctx, g.policy, a)
	if err == nil {
		return nil
	}
	var de *policy.DeniedError
	if errors.As(err, &de) && g.cause() == nil {
		key := [4]string{g.by, f.Op, f.Path, f.To}
		if _, again := g.said.LoadOrStore(key, true); !again && g.stderr != nil {
			_, _ = fmt.Fprintf(g.stderr, "%s: cannot %s %s: %v\n", g.by, f.Op, f.Path, de)
		}
	}
	return &fs.PathError{Op: f.Op, Path: f.Requested, Err: syscall.EACCES}
}

// Open implements [vfs.FS].
func (g *guard) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if err := g.alive("open", name); err != nil {
		return nil, err
	}
	at := name
	if !g.open {
		var err error
		at, err = g.admitOpen(name, flag)
		if err != nil {
			return nil, err
		}
		// What was asked about is what is opened: a symlink put there in
		// between is refused rather than followed.
		flag |= vfs.NoFollow
	}
	if n := g.run.files.Add(1); n > int64(g.limits.Files) {
		g.run.files.Add(-1)
		return nil, g.stop(&LimitError{What: fmt.Sprintf("%d open files", g.limits.Files)})
	}
	f, err := g.fs.Open(at, flag, perm)
	if err != nil {
		g.run.files.Add(-1)
		return nil, err
	}
	return &openFile{File: f, run: g.run, name: name}, nil
}

// admitOpen asks for each way in which a file is about to be used.
func (g *guard) admitOpen(name string, flag int) (string, error) {
	at, err := g.canonical(name, flag&vfs.NoFollow == 0 && flag&(os.O_CREATE|os.O_EXCL) != os.O_CREATE|os.O_EXCL)
	if err != nil {
		return "", err
	}
	fi, err := g.fs.Lstat(at)
	var ops []string
	switch {
	case err == nil && fi.IsDir():
		ops = append(ops, "list")
	default:
		if acc := flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR); acc != os.O_WRONLY {
			ops = append(ops, "read")
		}
		if flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC|os.O_CREATE) != 0 {
			if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
				ops = append(ops[:0], "create")
			} else if flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC) != 0 {
				ops = append(ops, "write")
			}
		}
	}
	for _, op := range ops {
		if err := g.ask(policy.File{Op: op, Path: at, Requested: name, Mount: g.mountOf(at)}); err != nil {
			return "", err
		}
	}
	return at, nil
}

// one asks about an operation on a single name and returns its canonical
// form.
func (g *guard) one(op, name string, follow bool) (string, error) {
	if err := g.alive(op, name); err != nil {
		return "", err
	}
	if g.open {
		return name, nil
	}
	at, err := g.canonical(name, follow)
	if err != nil {
		return "", err
	}
	return at, g.ask(policy.File{Op: op, Path: at, Requested: name, Mount: g.mountOf(at)})
}

// two asks about an operation that makes to from from.
func (g *guard) two(op, from, to string) (string, string, error) {
	if err := g.alive(op, from); err != nil {
		return "", "", err
	}
	if g.open {
		return from, to, nil
	}
	a, err := g.canonical(from, false)
	if err != nil {
		return "", "", err
	}
	b, err := g.canonical(to, false)
	if err != nil {
		return "", "", err
	}
	return a, b, g.ask(policy.File{Op: op, Path: a, Requested: from, To: b, Mount: g.mountOf(a)})
}

// Stat implements [vfs.FS]. Looking is not asked about: listing is.
func (g *guard) Stat(name string) (fs.FileInfo, error) { return g.fs.Stat(name) }

// Lstat implements [vfs.FS].
func (g *guard) Lstat(name string) (fs.FileInfo, error) { return g.fs.Lstat(name) }

// Readlink implements [vfs.FS].
func (g *guard) Readlink(name string) (string, error) { return g.fs.Readlink(name) }

// Mkdir implements [vfs.FS].
func (g *guard) Mkdir(name string, perm fs.FileMode) error {
	at, err := g.one("create", name, false)
	if err != nil {
		return err
	}
	return g.fs.Mkdir(at, perm)
}

// Remove implements [vfs.FS].
func (g *guard) Remove(name string) error {
	at, err := g.one("remove", name, false)
	if err != nil {
		return err
	}
	return g.fs.Remove(at)
}

// Rmdir implements [vfs.FS].
func (g *guard) Rmdir(name string) error {
	at, err := g.one("remove", name, false)
	if err != nil {
		return err
	}
	return g.fs.Rmdir(at)
}

// Rename implements [vfs.FS].
func (g *guard) Rename(from, to string) error {
	a, b, err := g.two("rename", from, to)
	if err != nil {
		return err
	}
	return g.fs.Rename(a, b)
}

// Link implements [vfs.FS].
func (g *guard) Link(from, to string) error {
	a, b, err := g.two("link", from, to)
	if err != nil {
		return err
	}
	return g.fs.Link(a, b)
}

// Symlink implements [vfs.FS]. A policy sees it as a hard link: what it
// leads to, and where it appears.
func (g *guard) Symlink(dest, name string) error {
	_, at, err := g.two("link", joinPath(dirOf(name), dest), name)
	if err != nil {
		return err
	}
	return g.fs.Symlink(dest, at)
}

// Chmod implements [vfs.FS].
func (g *guard) Chmod(name string, mode fs.FileMode) error {
	at, err := g.one("chmod", name, true)
	if err != nil {
		return err
	}
	return g.fs.Chmod(at, mode)
}

// Chtimes implements [vfs.FS].
func (g *guard) Chtimes(name string, atime, mtime time.Time) error {
	at, err := g.one("chmod", name, true)
	if err != nil {
		return err
	}
	return g.fs.Chtimes(at, atime, mtime)
}

// An openFile counts as open until it is closed, and is cut off when the run
// is over.
type openFile struct {
	vfs.File
	*run
	name   string
	closed bool
}

func (f *openFile) Read(p []byte) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *openFile) Write(p []byte) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *openFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *openFile) Truncate(size int64) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *openFile) check() error {
	if f.ended.Load() {
		return errEnded
	}
	return f.ctx.Err()
}

func (f *openFile) Close() error {
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	f.run.files.Add(-1)
	return f.File.Close()
}
