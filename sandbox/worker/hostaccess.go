package worker

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// rules say what a worker's runs may do to files.
type rules interface {
	freeFiles() bool // everything
	admitFile(f policy.File, mode vfs.MountMode, changes bool) error
}

// within reports whether name is dir or below it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// place returns where a name on a mount is for lines. What another mount hides
// from them is nowhere: through the mount below, a folder that is mounted ro
// again further down could be written.
func (h *hostFiles) place(of int, name string) (string, error) {
	if name == "" || name[0] != '/' || path.Clean(name) != name {
		return "", syscall.EINVAL
	}
	mount := h.points[of].Path
	full := path.Join(mount, name)
	for _, q := range h.points {
		if len(q.Path) > len(mount) && within(q.Path, mount) && within(full, q.Path) {
			return "", syscall.EACCES
		}
	}
	return full, nil
}

// pinned reports whether a place holds up a mount, so that moving it would
// bring to light what the mount hides.
func (h *hostFiles) pinned(full string) bool {
	for _, q := range h.points {
		if within(q.Path, full) {
			return true
		}
	}
	return false
}

// mountOf returns the mount that holds a place, which the worker has called
// said. Those of /bin and /dev may be its own.
func (h *hostFiles) mountOf(full, said string) string {
	best := ""
	if (said == "/bin" || said == "/dev") && within(full, said) {
		best = said
	}
	for _, q := range h.points {
		if within(full, q.Path) && len(q.Path) > len(best) {
			best = q.Path
		}
	}
	if best == "" {
		return said
	}
	return best
}

// asks are the operations as a policy knows them; one that is not here looks
// only, which nobody is asked about.
var asks = map[fileOp]string{
	opMkdir: "create", opRemove: "remove", opRmdir: "remove", opRename: "rename", opLink: "link", opSymlink: "link", opChmod: "chmod", opChtimes: "chmod",
}

// may says why an operation by name may not be done. Opening has its own rules.
func (h *hostFiles) may(op fileOp, of int, name, to string) error {
	f := policy.File{Op: asks[op], Mount: h.points[of].Path}
	var err error
	if op == opRename || op == opLink || op == opSymlink {
		if f.To, err = h.place(of, to); err != nil {
			return err
		}
	}
	if op == opSymlink { // whose name is the text of the link
		f.Path = h.leadsTo(f.To, name)
	} else if f.Path, err = h.place(of, name); err != nil {
		return err
	}
	f.Requested = f.Path
	switch {
	case (op == opRename || op == opRmdir) && h.pinned(f.Path), op == opRename && h.pinned(f.To):
		return syscall.EBUSY
	case f.Op == "" || h.rules.freeFiles():
		return nil
	}
	if err := h.rules.admitFile(f, h.points[of].Mode, true); err != nil || op != opRename {
		return err
	}
	if fi, err := h.points[of].FS.Lstat(name); err == nil && fi.IsDir() {
		return syscall.EXDEV // what is in it was not asked about
	}
	return nil
}

// leadsTo returns where a symlink leads, as far as that exists.
func (h *hostFiles) leadsTo(link, target string) string {
	to := target
	if !path.IsAbs(to) {
		to = strings.TrimSuffix(path.Dir(link), "/") + "/" + to
	}
	if h.ns != nil {
		if l, err := h.ns.Resolve(to, true); err == nil {
			to = l.Path
		}
	}
	return to
}

// maxRaces is how often a file may turn into something else while it is opened.
const maxRaces = 16

// openAt opens a file when the rules allow what the flags ask for. What was
// allowed is what is opened: a file that comes, goes or changes its kind in
// between is asked about again.
func (h *hostFiles) openAt(of int, name string, flag int, perm fs.FileMode) (vfs.File, error) {
	full, err := h.place(of, name)
	if err != nil {
		return nil, err
	}
	m := h.points[of]
	if h.rules.freeFiles() {
		return m.FS.Open(name, flag|vfs.NoFollow, perm)
	}
	for range maxRaces {
		f, again, err := h.tryOpen(m, full, name, flag|vfs.NoFollow, perm)
		if !again {
			return f, err
		}
	}
	return nil, syscall.EAGAIN
}

func (h *hostFiles) tryOpen(m vfs.MountPoint, full, name string, flag int, perm fs.FileMode) (f vfs.File, again bool, err error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC) != 0
	ask := func(op string, changes bool) error {
		return h.rules.admitFile(policy.File{Op: op, Path: full, Requested: full, Mount: m.Path}, m.Mode, changes)
	}
	fi, err := m.FS.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		if err := ask("create", true); err != nil {
			return nil, false, err
		}
		f, err = m.FS.Open(name, flag|os.O_EXCL, perm)
		return f, errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0, err
	case err != nil:
		return nil, false, err
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, false, syscall.EEXIST
	case fi.IsDir() && writes:
		return nil, false, syscall.EISDIR
	case fi.IsDir():
		err = ask("list", false)
	case !writes:
		err = ask("read", false)
	default:
		if flag&os.O_WRONLY == 0 {
			err = ask("read", false)
		}
		if err == nil {
			err = ask("write", true)
		}
	}
	if err != nil {
		return nil, false, err
	}
	if f, err = m.FS.Open(name, flag&^os.O_CREATE, perm); err != nil {
		return nil, errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0, err
	}
	now, err := f.Stat()
	if err == nil && now.IsDir() == fi.IsDir() {
		return f, false, nil
	}
	return nil, err == nil, errors.Join(err, f.Close())
}
