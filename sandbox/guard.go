package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// filesOf returns the files as the program by may use them: each operation
// asks the policy first, counts, and fails once the run is over.
func (h *host) filesOf(ctx context.Context, by string, std stdio) vfs.FS {
	g := &guard{run: h.run, ctx: ctx, fs: h.session.fs, by: by, stderr: std.err, std: std, mounts: h.mounts}
	d, ok := policy.ConstantOf(ctx, h.policy, policy.KindFile)
	g.open = ok && d.Effect == policy.Allow
	return g
}

// A guard is the session's file system as one program sees it. A denied
// operation fails with EACCES after the reason was shown once.
type guard struct {
	*run
	ctx    context.Context
	fs     *vfs.Mount
	by     string
	stderr io.Writer
	open   bool // no rule has an opinion on files
	std    stdio
	mounts []policy.MountRule // what the policy takes from mounts
}

var _ vfs.FS = (*guard)(nil)

// Quiet returns the same files, guarded in the same way, for what a runtime
// does on its own: the program did not ask, so it is not told of a denial.
func (g *guard) Quiet() vfs.FS {
	q := *g
	q.stderr = nil
	return &q
}

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
	a.Usage = g.usage()
	_, err := policy.Check(g.ctx, g.policy, a)
	if err == nil {
		return nil
	}
	var de *policy.DeniedError
	if g.stderr != nil && errors.As(err, &de) && g.cause() == nil && g.ctx.Err() == nil {
		key := [4]string{g.by, f.Op, f.Path, f.To}
		if _, again := g.said.LoadOrStore(key, true); !again {
			_, _ = fmt.Fprintf(g.stderr, "%s: cannot %s %s: %v\n", g.by, f.Op, f.Path, de)
		}
	}
	return &fs.PathError{Op: f.Op, Path: f.Requested, Err: syscall.EACCES}
}

// told has the policy say why the file system itself has refused a change that
// was asked about as another one: a file where a protected folder belongs.
func (g *guard) told(err error, op string, l vfs.Location, to string) error {
	if errors.Is(err, syscall.EPERM) {
		asked := *g
		asked.open = false
		_ = asked.ask(policy.File{Op: op, Path: l.Path, Requested: l.Requested, To: to, Mount: l.Mount})
	}
	return err
}

// Open implements [vfs.FS].
func (g *guard) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if err := g.alive("open", name); err != nil {
		return nil, err
	}
	if f, ok := g.std.open(name); ok {
		return f, nil
	}
	l, err := g.fs.Resolve(name, vfs.FollowsLast(flag))
	if err == nil && !g.open {
		err = g.askOpen(l, flag)
	}
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC) != 0
	if err == nil && (writes || l.Info == nil && flag&os.O_CREATE != 0) {
		err = g.mayChange("open", name, l)
	}
	if err != nil {
		return nil, err
	}
	if n := g.run.files.Add(1); n > int64(g.limits.Files) {
		g.run.files.Add(-1)
		return nil, g.stop(&LimitError{What: fmt.Sprintf("%d open files", g.limits.Files)})
	}
	f, err := l.Open(flag, perm)
	if err != nil {
		g.run.files.Add(-1)
		return nil, g.told(err, "write", l, "")
	}
	return &openFile{File: f, run: g.run}, nil
}

// askOpen asks for each way in which a file is about to be used.
func (g *guard) askOpen(l vfs.Location, flag int) error {
	var ops []string
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC) != 0
	switch {
	case l.Info == nil:
		if flag&os.O_CREATE == 0 {
			return nil // there is nothing to open
		}
		ops = []string{"create"}
	case l.Info.IsDir():
		ops = []string{"list"}
	case !writes:
		ops = []string{"read"}
	case flag&os.O_WRONLY != 0:
		ops = []string{"write"}
	default:
		ops = []string{"read", "write"}
	}
	for _, op := range ops {
		if err := g.ask(policy.File{Op: op, Path: l.Path, Requested: l.Requested, Mount: l.Mount}); err != nil {
			return err
		}
	}
	return nil
}

// one asks about an operation on one place. What was asked about is what the
// Location then acts on, whatever is swapped in between.
func (g *guard) one(op string, l vfs.Location, err error) error {
	if err != nil {
		return err
	}
	if err := g.alive(op, l.Requested); err != nil {
		return err
	}
	if err := g.ask(policy.File{Op: op, Path: l.Path, Requested: l.Requested, Mount: l.Mount}); err != nil {
		return err
	}
	return g.mayChange(op, l.Requested, l)
}

// mayChange refuses changes where the policy has lowered what a mount grants.
func (g *guard) mayChange(op, name string, ls ...vfs.Location) error {
	for _, l := range ls {
		if l.Mount != "/dev" && Lowered(g.mounts, l.Mode, l.Path) {
			return &fs.PathError{Op: op, Path: name, Err: syscall.EROFS}
		}
	}
	return nil
}

// Lowered reports whether rules forbid changes at one of the paths, which are
// canonical, of a mount of this mode. A host folder that is written directly
// cannot become copy-on-write while it is in use, so that cow forbids what ro
// does there.
func Lowered(rules []policy.MountRule, mode vfs.MountMode, paths ...string) bool {
	for _, m := range rules {
		lowered := m.Mode != policy.MountRW && (m.Mode != policy.MountCOW || mode == vfs.ReadWrite)
		for _, p := range paths {
			if lowered && (p == m.Path || m.Path == "/" || strings.HasPrefix(p, m.Path+"/")) {
				return true
			}
		}
	}
	return false
}

// two asks about an operation that makes the entry to from what is at from.
func (g *guard) two(op, from, to string) (a, b vfs.Location, err error) {
	if err := g.alive(op, from); err != nil {
		return a, b, err
	}
	if a, err = g.fs.ResolveEntry(from); err != nil {
		return a, b, err
	}
	if b, err = g.fs.ResolveEntry(to); err != nil {
		return a, b, err
	}
	if err := g.ask(policy.File{Op: op, Path: a.Path, Requested: from, To: b.Path, Mount: a.Mount}); err != nil {
		return a, b, err
	}
	return a, b, g.mayChange(op, from, a, b) // of a link both: through it what is there could be written
}

// Stat implements [vfs.FS]. Looking is not asked about: listing is.
func (g *guard) Stat(name string) (fs.FileInfo, error) {
	if f, ok := g.std.open(name); ok {
		return f.Stat()
	}
	return g.fs.Stat(name)
}

// Lstat implements [vfs.FS].
func (g *guard) Lstat(name string) (fs.FileInfo, error) {
	if f, ok := g.std.open(name); ok {
		return f.Stat()
	}
	return g.fs.Lstat(name)
}

// Readlink implements [vfs.FS].
func (g *guard) Readlink(name string) (string, error) { return g.fs.Readlink(name) }

// Mkdir implements [vfs.FS].
func (g *guard) Mkdir(name string, perm fs.FileMode) error {
	l, err := g.fs.ResolveEntry(name)
	if err = g.one("create", l, err); err != nil {
		return err
	}
	return g.told(l.Mkdir(perm), "create", l, "")
}

// Remove implements [vfs.FS].
func (g *guard) Remove(name string) error {
	l, err := g.fs.ResolveEntry(name)
	if err = g.one("remove", l, err); err != nil {
		return err
	}
	return g.told(l.Remove(), "remove", l, "")
}

// Rmdir implements [vfs.FS].
func (g *guard) Rmdir(name string) error {
	l, err := g.fs.ResolveEntry(name)
	if err = g.one("remove", l, err); err != nil {
		return err
	}
	return g.told(l.Rmdir(), "remove", l, "")
}

// ruled reports whether a rule may have an opinion on a file.
func (g *guard) ruled() bool { return !g.open || len(g.mounts) > 0 }

// Rename implements [vfs.FS]. Where files are ruled a folder is not moved as
// one: with it would go, unasked, what is in it. Who moves it then copies and
// removes, and is asked about each file.
func (g *guard) Rename(from, to string) error {
	a, b, err := g.two("rename", from, to)
	if err != nil {
		return err
	}
	if a.Info != nil && a.Info.IsDir() && g.ruled() {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EXDEV}
	}
	return g.told(a.Rename(b), "rename", a, b.Path)
}

// Link implements [vfs.FS].
func (g *guard) Link(from, to string) error {
	a, b, err := g.two("link", from, to)
	if err != nil {
		return err
	}
	return g.told(a.Link(b), "link", a, b.Path)
}

// Symlink implements [vfs.FS]. A policy sees it as a hard link: what it
// leads to, as far as that exists, and where it appears.
func (g *guard) Symlink(target, name string) error {
	if err := g.alive("link", name); err != nil {
		return err
	}
	l, err := g.fs.ResolveEntry(name)
	if err != nil {
		return err
	}
	to := joinPath(path.Dir(l.Path), target)
	if t, err := g.fs.Resolve(to, true); err == nil {
		to = t.Path
	}
	if !g.open {
		if err := g.ask(policy.File{Op: "link", Path: to, Requested: name, To: l.Path, Mount: l.Mount}); err != nil {
			return err
		}
	}
	if err := g.mayChange("symlink", name, l); err != nil {
		return err
	}
	return g.told(l.Symlink(target), "link", vfs.Location{Path: to, Requested: name, Mount: l.Mount}, l.Path)
}

// Chmod implements [vfs.FS].
func (g *guard) Chmod(name string, mode fs.FileMode) error {
	l, err := g.fs.Resolve(name, true)
	if err = g.one("chmod", l, err); err != nil {
		return err
	}
	return g.told(l.Chmod(mode), "chmod", l, "")
}

// Chtimes implements [vfs.FS].
func (g *guard) Chtimes(name string, atime, mtime time.Time) error {
	l, err := g.fs.Resolve(name, true)
	if err = g.one("chmod", l, err); err != nil {
		return err
	}
	return g.told(l.Chtimes(atime, mtime), "chmod", l, "")
}

// Lchtimes is Chtimes for a symlink's own times.
func (g *guard) Lchtimes(name string, atime, mtime time.Time) error {
	l, err := g.fs.Resolve(name, false)
	if err = g.one("chmod", l, err); err != nil {
		return err
	}
	return g.told(l.Chtimes(atime, mtime), "chmod", l, "")
}

// An openFile counts as open until it is closed, and is cut off when the run
// is over.
type openFile struct {
	vfs.File
	*run
	closed atomic.Bool
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
	if f.closed.Swap(true) {
		return fs.ErrClosed
	}
	f.run.files.Add(-1)
	return f.File.Close()
}
