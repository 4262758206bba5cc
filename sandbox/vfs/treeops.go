package vfs

import (
	"io/fs"
	"syscall"
	"time"
)

// Stat describes name; a symlink there is ELOOP, as nothing is followed.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	i, e := t.lstat(name)
	if e == 0 && i.mode&fs.ModeSymlink != 0 {
		e = syscall.ELOOP
	}
	if e != 0 {
		return nil, pathErr("stat", name, e)
	}
	return i, nil
}

// Lstat describes name itself.
func (t *tree) Lstat(name string) (fs.FileInfo, error) {
	i, e := t.lstat(name)
	if e != 0 {
		return nil, pathErr("lstat", name, e)
	}
	return i, nil
}

func (t *tree) lstat(name string) (*info, syscall.Errno) {
	if e := checkName(name); e != 0 {
		return nil, e
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, e := t.find(name)
	if e != 0 || at.n == nil {
		return at.fi, e
	}
	return t.stat(at.n, baseName(name)), 0
}

func baseName(name string) string {
	if name == "/" {
		return "/"
	}
	_, b := split(name)
	return b
}

// Readlink returns the text of a symlink; EINVAL when name is none.
func (t *tree) Readlink(name string) (string, error) {
	target, e := t.readlink(name)
	return target, pathErr("readlink", name, e)
}

func (t *tree) readlink(name string) (string, syscall.Errno) {
	if e := checkName(name); e != 0 {
		return "", e
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, e := t.find(name)
	switch {
	case e != 0:
		return "", e
	case at.mode()&fs.ModeSymlink == 0:
		return "", syscall.EINVAL
	case at.n != nil:
		return at.n.target, 0
	}
	target, err := t.lower.Readlink(at.low)
	return target, errnoOf(err)
}

// Mkdir makes a folder.
func (t *tree) Mkdir(name string, perm fs.FileMode) error {
	return pathErr("mkdir", name, t.make(name, fs.ModeDir|perm&modeBits, ""))
}

// Symlink makes a symlink that says target, which is not looked at.
func (t *tree) Symlink(target, name string) error {
	switch {
	case target == "":
		return linkErr("symlink", target, name, syscall.ENOENT)
	case len(target) > maxPath:
		return linkErr("symlink", target, name, syscall.ENAMETOOLONG)
	}
	return linkErr("symlink", target, name, t.make(name, fs.ModeSymlink|0o777, target))
}

func (t *tree) make(name string, mode fs.FileMode, target string) syscall.Errno {
	if e := checkName(name); e != 0 {
		return e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, e := t.create(name, mode, target)
	return e
}

// Remove removes a file or a symlink. Open handles keep working.
func (t *tree) Remove(name string) error {
	return pathErr("remove", name, t.remove(name, false))
}

// Rmdir removes an empty folder.
func (t *tree) Rmdir(name string) error {
	return pathErr("rmdir", name, t.remove(name, true))
}

func (t *tree) remove(name string, wantDir bool) syscall.Errno {
	if e := checkName(name); e != 0 {
		return e
	}
	if name == "/" {
		if wantDir {
			return syscall.EBUSY
		}
		return syscall.EISDIR
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	dir, base, e := t.parent(name)
	if e != 0 {
		return e
	}
	n, e := t.child(dir, base)
	if e != 0 {
		return e
	}
	if e := dir.change(); e != 0 {
		return e
	}
	switch {
	case wantDir && !n.mode.IsDir():
		return syscall.ENOTDIR
	case !wantDir && n.mode.IsDir():
		return syscall.EISDIR
	case wantDir:
		if e := t.empty(n); e != 0 {
			return e
		}
	}
	t.unlink(dir, base, n)
	return 0
}

// empty returns ENOTEMPTY unless the folder n has no entries.
func (t *tree) empty(n *node) syscall.Errno {
	for _, k := range n.kids {
		if k != nil {
			return syscall.ENOTEMPTY
		}
	}
	names, e := t.lowNames(n)
	if e == 0 && len(names) > 0 {
		e = syscall.ENOTEMPTY
	}
	return e
}

// Rename moves from to to, replacing what is there when it is of the same
// sort and, being a folder, empty.
func (t *tree) Rename(from, to string) error {
	return linkErr("rename", from, to, t.rename(from, to))
}

func (t *tree) rename(from, to string) syscall.Errno {
	for _, name := range []string{from, to} {
		if e := checkName(name); e != 0 {
			return e
		}
		if name == "/" {
			return syscall.EBUSY
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fromDir, fromBase, e := t.parent(from)
	if e != 0 {
		return e
	}
	toDir, toBase, e := t.parent(to)
	if e != 0 {
		return e
	}
	n, e := t.child(fromDir, fromBase)
	if e != 0 {
		return e
	}
	if from == to {
		return 0
	}
	if within(to, from) {
		return syscall.EINVAL
	}
	if within(from, to) {
		return syscall.ENOTEMPTY
	}
	old, e := t.child(toDir, toBase)
	if e != 0 && e != syscall.ENOENT {
		return e
	}
	if old == n {
		return 0 // two names of one file: POSIX leaves both
	}
	if e := fromDir.change(); e != 0 {
		return e
	}
	if e := toDir.change(); e != 0 {
		return e
	}
	if old != nil {
		switch {
		case n.mode.IsDir() && !old.mode.IsDir():
			return syscall.ENOTDIR
		case !n.mode.IsDir() && old.mode.IsDir():
			return syscall.EISDIR
		case old.mode.IsDir():
			if e := t.empty(old); e != 0 {
				return e
			}
		}
		t.unlink(toDir, toBase, old)
	}
	t.detach(fromDir, fromBase)
	toDir.kids[toBase] = n
	if n.mode.IsDir() && fromDir != toDir {
		fromDir.nlink = max(fromDir.nlink-1, 2)
		toDir.nlink++
	}
	n.home = nil
	t.changed(n)
	t.touch(fromDir)
	t.touch(toDir)
	return 0
}

// Link gives the file or symlink from a second name.
func (t *tree) Link(from, to string) error {
	return linkErr("link", from, to, t.link(from, to))
}

func (t *tree) link(from, to string) syscall.Errno {
	for _, name := range []string{from, to} {
		if e := checkName(name); e != 0 {
			return e
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n, e := t.own(from)
	if e != 0 {
		return e
	}
	if to == "/" {
		return syscall.EEXIST
	}
	dir, base, e := t.parent(to)
	if e != 0 {
		return e
	}
	if _, e := t.child(dir, base); e != syscall.ENOENT {
		if e == 0 {
			e = syscall.EEXIST
		}
		return e
	}
	if n.mode.IsDir() {
		return syscall.EPERM
	}
	if e := dir.change(); e != 0 {
		return e
	}
	if e := t.insert(dir, base, n); e != 0 {
		return e
	}
	n.nlink++
	n.home = nil
	t.changed(n)
	return 0
}

// Chmod sets the permission bits of a file or folder.
func (t *tree) Chmod(name string, mode fs.FileMode) error {
	return pathErr("chmod", name, t.alter(name, func(n *node) syscall.Errno {
		if n.mode&fs.ModeSymlink != 0 {
			return syscall.EOPNOTSUPP
		}
		n.mode = n.mode&^modeBits | mode&modeBits
		return 0
	}))
}

// Chtimes sets times; a zero one stays as it is.
func (t *tree) Chtimes(name string, atime, mtime time.Time) error {
	return pathErr("chtimes", name, t.alter(name, func(n *node) syscall.Errno {
		n.mu.Lock()
		defer n.mu.Unlock()
		if !atime.IsZero() {
			n.atime = atime
		}
		if !mtime.IsZero() {
			n.mtime = mtime
		}
		return 0
	}))
}

func (t *tree) alter(name string, f func(*node) syscall.Errno) syscall.Errno {
	if e := checkName(name); e != 0 {
		return e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n, e := t.own(name)
	if e == 0 {
		e = f(n)
	}
	if e == 0 {
		t.changed(n)
	}
	return e
}
