package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"syscall"
	"time"
)

// MountMode is the label of a mount, for people and policies.
type MountMode string

// The modes of a mount.
const (
	ReadOnlyMount MountMode = "ro"  // enforced by NewMount
	ReadWrite     MountMode = "rw"  // changes reach what is mounted
	CopyOnWrite   MountMode = "cow" // changes stay in the session: the FS is an Overlay or a Mem
)

// MountPoint puts FS at Path.
type MountPoint struct {
	Path string // canonical: absolute, without ".", ".." and trailing slash
	FS   FS
	Mode MountMode
}

// Mount is the namespace that a sandbox sees: file systems at places of one
// tree, with symlinks resolved against that tree as in a chroot, wherever
// they are stored. ".." never leads above "/", and an absolute link target
// starts at this tree's "/".
//
// A mount point and the folders above it always exist, are listed in their
// parents, and cannot be removed or renamed (EBUSY). Links and renames from
// one mount to another are EXDEV.
//
// Names given to a Mount are absolute but otherwise free in form.
type Mount struct {
	points []MountPoint        // the longest path first
	inner  map[string]innerDir // folders above mount points
	began  time.Time
}

// innerDir is a folder above mount points.
type innerDir struct {
	names []string // of the way to mount points, sorted
	ino   uint64   // if only the namespace has the folder
}

// NewMount makes a namespace. Without a mount at "/" the root is an empty
// read-only folder.
func NewMount(points ...MountPoint) (*Mount, error) {
	m := &Mount{inner: map[string]innerDir{}, began: time.Now()}
	seen := map[string]bool{}
	for _, p := range points {
		switch e := checkName(p.Path); {
		case e != 0:
			return nil, fmt.Errorf("mount point %q: %w", p.Path, e)
		case p.FS == nil:
			return nil, fmt.Errorf("mount point %q: no file system", p.Path)
		case seen[p.Path]:
			return nil, fmt.Errorf("mount point %q: given twice", p.Path)
		}
		switch p.Mode {
		case ReadOnlyMount:
			p.FS = NewReadOnly(p.FS)
		case ReadWrite, CopyOnWrite:
		default:
			return nil, fmt.Errorf("mount point %q: unknown mode %q", p.Path, p.Mode)
		}
		seen[p.Path] = true
		m.points = append(m.points, p)
	}
	if !seen["/"] {
		m.points = append(m.points, MountPoint{Path: "/", FS: emptyRoot(), Mode: ReadOnlyMount})
	}
	slices.SortStableFunc(m.points, func(a, b MountPoint) int { return len(b.Path) - len(a.Path) })
	for _, p := range m.points {
		for name := p.Path; name != "/"; {
			dir, base := split(name)
			d, known := m.inner[dir]
			if !known {
				d.ino = uint64(len(m.inner) + 1)
			}
			if !slices.Contains(d.names, base) {
				d.names = append(d.names, base)
				slices.Sort(d.names)
			}
			m.inner[dir] = d
			name = dir
		}
	}
	m.numberDevices()
	return m, nil
}

func emptyRoot() FS {
	return NewReadOnly(NewMem(MemConfig{Now: func() time.Time { return time.Unix(0, 0) }}))
}

// numberDevices gives every file system a device number that no other in the
// namespace has. One that is in several namespaces keeps its first.
func (m *Mount) numberDevices() {
	used := map[uint64]bool{}
	for _, p := range m.points {
		used[setDev(p.FS, 0)] = true
	}
	d := uint64(1)
	for _, p := range slices.Backward(m.points) {
		for used[d] {
			d++
		}
		used[setDev(p.FS, d)] = true
	}
}

var _ FS = (*Mount)(nil)

// Points returns the mount points, the longest path first.
func (m *Mount) Points() []MountPoint { return slices.Clone(m.points) }

// at returns the mount that holds a canonical name, and the name in it.
func (m *Mount) at(name string) (*MountPoint, string) {
	for i := range m.points {
		p := &m.points[i]
		if !within(name, p.Path) {
			continue
		}
		switch {
		case p.Path == "/":
			return p, name
		case name == p.Path:
			return p, "/"
		}
		return p, name[len(p.Path):]
	}
	panic("vfs: a namespace without root") // NewMount always puts one there
}

// lstat describes a canonical name. synth is set for a folder that exists
// only because something is mounted below it.
func (m *Mount) lstat(name string) (fi fs.FileInfo, synth bool, e syscall.Errno) {
	p, rel := m.at(name)
	fi, err := p.FS.Lstat(rel)
	_, inner := m.inner[name]
	switch {
	case name == p.Path && err == nil:
		i := infoOf(fi)
		i.name = baseName(name)
		return i, false, 0
	case inner && (err != nil || !fi.IsDir()):
		return m.synthetic(name), true, 0
	}
	return fi, false, errnoOf(err)
}

func (m *Mount) synthetic(name string) *info {
	i := &info{name: baseName(name), size: 4096, mode: fs.ModeDir | 0o755, mtime: m.began}
	i.st = Stat{Ino: m.inner[name].ino, Nlink: 2, Atime: m.began, Ctime: m.began}
	return i
}

// Open opens a file or folder, following symlinks unless flag says no.
func (m *Mount) Open(name string, flag int, perm fs.FileMode) (File, error) {
	l, err := m.ResolveOpen(name, flag)
	if err != nil {
		return nil, err
	}
	return l.Open(flag, perm)
}

// Stat describes what name leads to.
func (m *Mount) Stat(name string) (fs.FileInfo, error) { return m.stat("stat", name, true) }

// Lstat describes name itself, except that a trailing slash follows.
func (m *Mount) Lstat(name string) (fs.FileInfo, error) { return m.stat("lstat", name, false) }

func (m *Mount) stat(op, name string, follow bool) (fs.FileInfo, error) {
	l, err := m.Resolve(name, follow)
	if err != nil {
		return nil, reop(op, err)
	}
	if l.Info == nil {
		return nil, pathErr(op, name, syscall.ENOENT)
	}
	if base := path.Base(name); base != l.Info.Name() {
		i := infoOf(l.Info)
		i.name = base
		return i, nil
	}
	return l.Info, nil
}

// Readlink returns the text of a symlink; EINVAL when name is none.
func (m *Mount) Readlink(name string) (string, error) {
	l, err := m.Resolve(name, false)
	if err != nil {
		return "", reop("readlink", err)
	}
	return l.Readlink()
}

// Mkdir makes a folder.
func (m *Mount) Mkdir(name string, perm fs.FileMode) error {
	l, err := m.ResolveEntry(name)
	if err != nil {
		return reop("mkdir", err)
	}
	return l.Mkdir(perm)
}

// Remove removes a file or a symlink.
func (m *Mount) Remove(name string) error {
	l, err := m.ResolveEntry(name)
	if err != nil {
		return reop("remove", err)
	}
	return l.Remove()
}

// Rmdir removes an empty folder.
func (m *Mount) Rmdir(name string) error {
	l, err := m.ResolveEntry(name)
	if err != nil {
		return reop("rmdir", err)
	}
	return l.Rmdir()
}

// Rename moves from to to within one mount.
func (m *Mount) Rename(from, to string) error {
	a, err := m.ResolveEntry(from)
	if err != nil {
		return linkErr("rename", from, to, errnoOf(err))
	}
	b, err := m.ResolveEntry(to)
	if err != nil {
		return linkErr("rename", from, to, errnoOf(err))
	}
	return a.Rename(b)
}

// Link gives the file or symlink from a second name in the same mount. A
// symlink is followed only when a slash trails it.
func (m *Mount) Link(from, to string) error {
	a, err := m.Resolve(from, false)
	if err == nil && a.Info == nil {
		err = syscall.ENOENT
	}
	if err != nil {
		return linkErr("link", from, to, errnoOf(err))
	}
	b, err := m.ResolveEntry(to)
	if err != nil {
		return linkErr("link", from, to, errnoOf(err))
	}
	return a.Link(b)
}

// Symlink makes a symlink that says target.
func (m *Mount) Symlink(target, name string) error {
	l, err := m.ResolveEntry(name)
	if err != nil {
		return linkErr("symlink", target, name, errnoOf(err))
	}
	return l.Symlink(target)
}

// Chmod sets the permission bits of what name leads to.
func (m *Mount) Chmod(name string, mode fs.FileMode) error {
	l, err := m.Resolve(name, true)
	if err != nil {
		return reop("chmod", err)
	}
	return l.Chmod(mode)
}

// Chtimes sets the times of what name leads to; a zero one stays as it is.
func (m *Mount) Chtimes(name string, atime, mtime time.Time) error {
	l, err := m.Resolve(name, true)
	if err != nil {
		return reop("chtimes", err)
	}
	return l.Chtimes(atime, mtime)
}

// Lchtimes is Chtimes for a symlink's own times.
func (m *Mount) Lchtimes(name string, atime, mtime time.Time) error {
	l, err := m.Resolve(name, false)
	if err != nil {
		return reop("chtimes", err)
	}
	return l.Chtimes(atime, mtime)
}

// reop sets the operation that a failed resolution was part of.
func reop(op string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		pe.Op = op
	}
	return err
}
