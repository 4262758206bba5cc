package vfs

import (
	"io/fs"
	"syscall"
	"time"
)

// Location is a place in a [Mount] with every symlink resolved. Its methods
// act on that place and follow nothing more; see [Mount.Resolve]. Their
// errors name what was asked for.
type Location struct {
	Path      string      // canonical
	Requested string      // as given to Resolve
	Mount     string      // where the mount that holds it is mounted
	Mode      MountMode   // of that mount
	Info      fs.FileInfo // nil when nothing is there

	m        *Mount
	fsys     FS
	rel      string // Path in fsys
	last     string // last element of Requested
	slash    bool   // a slash was at the end, also of a link's text
	dirOnly  bool   // a slash, "." or ".." was at the end
	synth    bool   // a folder that only the namespace has
	noParent bool   // its parent is one
}

func (l Location) put(name string, fi fs.FileInfo, synth bool) Location {
	p, rel := l.m.at(name)
	l.Path, l.Info, l.synth = name, fi, synth
	l.Mount, l.Mode, l.fsys, l.rel = p.Path, p.Mode, p.FS, rel
	return l
}

// pinned reports whether the place is a mount point or a folder above one.
func (l Location) pinned() bool {
	_, inner := l.m.inner[l.Path]
	return inner || l.Path == l.Mount
}

// isDir reports whether a folder is there.
func (l Location) isDir() bool { return l.Info != nil && l.Info.IsDir() }

// Open opens the place. O_CREATE creates it only if nothing is there, not
// even a symlink.
func (l Location) Open(flag int, perm fs.FileMode) (File, error) {
	e := checkOpen(flag)
	switch {
	case e != 0:
	case l.Info == nil && !creates(flag):
		e = syscall.ENOENT
	case creates(flag) && l.slash:
		e = syscall.EISDIR // "name/" cannot be created by open, whatever is there
	case l.Info == nil && l.noParent:
		e = syscall.EROFS
	case l.synth && exclusive(flag):
		e = syscall.EEXIST
	case l.synth && mutates(flag):
		e = syscall.EISDIR
	case l.Info != nil && l.dirOnly && !l.isDir():
		e = syscall.ENOTDIR
	}
	if e != 0 {
		return nil, pathErr("open", l.Requested, e)
	}
	if l.synth {
		return &mountDir{l: l}, nil
	}
	f, err := l.fsys.Open(l.rel, flag|NoFollow, perm)
	if err != nil {
		return nil, renamed("open", l.Requested, err)
	}
	if n, ok := f.(interface{ setName(string) }); ok {
		n.setName(l.Requested)
	}
	if _, inner := l.m.inner[l.Path]; inner {
		return &mountDir{l: l, f: f}, nil
	}
	return f, nil
}

// Readlink returns the text of a symlink; EINVAL when it is none.
func (l Location) Readlink() (string, error) {
	switch {
	case l.Info == nil:
		return "", pathErr("readlink", l.Requested, syscall.ENOENT)
	case l.Info.Mode()&fs.ModeSymlink == 0: // known without asking, which may take long
		return "", pathErr("readlink", l.Requested, syscall.EINVAL)
	}
	target, err := l.fsys.Readlink(l.rel)
	return target, renamed("readlink", l.Requested, err)
}

// mayMake says why nothing can be made here.
func (l Location) mayMake() syscall.Errno {
	switch {
	case l.Info != nil:
		return syscall.EEXIST
	case l.noParent:
		return syscall.EROFS
	}
	return 0
}

// Mkdir makes a folder.
func (l Location) Mkdir(perm fs.FileMode) error {
	if e := l.mayMake(); e != 0 {
		return pathErr("mkdir", l.Requested, e)
	}
	return renamed("mkdir", l.Requested, l.fsys.Mkdir(l.rel, perm))
}

// Symlink makes a symlink that says target.
func (l Location) Symlink(target string) error {
	e := l.mayMake()
	if e == 0 && l.dirOnly {
		e = syscall.ENOENT
	}
	if e == 0 {
		e = errnoOf(l.fsys.Symlink(target, l.rel))
	}
	return linkErr("symlink", target, l.Requested, e)
}

// Remove removes a file or a symlink.
func (l Location) Remove() error {
	e := syscall.Errno(0)
	switch {
	case l.Info == nil:
		e = syscall.ENOENT
	case l.isDir():
		e = syscall.EISDIR
	case l.dirOnly:
		e = syscall.ENOTDIR
	default:
		e = errnoOf(l.fsys.Remove(l.rel))
	}
	return pathErr("remove", l.Requested, e)
}

// Rmdir removes an empty folder.
func (l Location) Rmdir() error {
	e := syscall.Errno(0)
	switch {
	case l.Info == nil:
		e = syscall.ENOENT
	case !l.isDir():
		e = syscall.ENOTDIR
	case l.last == ".":
		e = syscall.EINVAL
	case l.last == "..":
		e = syscall.ENOTEMPTY
	case l.pinned():
		e = syscall.EBUSY
	default:
		e = errnoOf(l.fsys.Rmdir(l.rel))
	}
	return pathErr("rmdir", l.Requested, e)
}

// Rename moves what is here to to.
func (l Location) Rename(to Location) error {
	return linkErr("rename", l.Requested, to.Requested, l.rename(to))
}

func (l Location) rename(to Location) syscall.Errno {
	dots := func(x Location) bool { return x.last == "." || x.last == ".." }
	switch {
	case dots(l), dots(to):
		return syscall.EBUSY
	case l.Info == nil:
		return syscall.ENOENT
	case (l.dirOnly || to.dirOnly) && !l.isDir():
		return syscall.ENOTDIR
	case l.pinned(), to.pinned():
		return syscall.EBUSY
	case l.Mount != to.Mount:
		return syscall.EXDEV
	case to.noParent:
		return syscall.EROFS
	}
	return errnoOf(l.fsys.Rename(l.rel, to.rel))
}

// Link gives the file or symlink that is here the second name to.
func (l Location) Link(to Location) error {
	e := syscall.Errno(0)
	switch {
	case l.Info == nil:
		e = syscall.ENOENT
	case l.dirOnly && !l.isDir():
		e = syscall.ENOTDIR
	case to.mayMake() != 0:
		e = to.mayMake()
	case to.dirOnly:
		e = syscall.ENOENT
	case l.Mount != to.Mount:
		e = syscall.EXDEV
	case l.isDir():
		e = syscall.EPERM
	default:
		e = errnoOf(l.fsys.Link(l.rel, to.rel))
	}
	return linkErr("link", l.Requested, to.Requested, e)
}

// Chmod sets the permission bits of the file or folder.
func (l Location) Chmod(mode fs.FileMode) error {
	if e := l.mayAlter(); e != 0 {
		return pathErr("chmod", l.Requested, e)
	}
	return renamed("chmod", l.Requested, l.fsys.Chmod(l.rel, mode))
}

// Chtimes sets times, of a symlink its own; a zero one stays as it is.
func (l Location) Chtimes(atime, mtime time.Time) error {
	if e := l.mayAlter(); e != 0 {
		return pathErr("chtimes", l.Requested, e)
	}
	return renamed("chtimes", l.Requested, l.fsys.Chtimes(l.rel, atime, mtime))
}

func (l Location) mayAlter() syscall.Errno {
	switch {
	case l.Info == nil:
		return syscall.ENOENT
	case l.synth:
		return syscall.EROFS
	}
	return 0
}
