package vfs

import (
	"io/fs"
	"strings"
	"syscall"
)

// The rules of containment: a symlink that the sandbox puts on the host must
// not lead the host out of the mounted folder when the host follows it.
//
// A target is safe when it is relative, has ".." only at its start, and no
// more of them than the link is deep: what is left goes down, through links
// that were judged in the same way. Making, linking or moving a link judges
// it at its new place; moving a folder upwards judges the links in it. These
// operations exclude each other, so a link cannot slip into a folder that was
// already looked through. Links that the host's user made are not judged
// where they are.

// climbs reports whether a symlink with text target leads out of the root
// from a folder that is depth levels below it.
func climbs(target string, depth int) bool {
	if !relativeTarget(target) {
		return true
	}
	down := false
	for rest := target; rest != ""; {
		var elem string
		elem, rest = next(rest)
		switch elem {
		case "", ".":
		case "..":
			// Behind a name, ".." is the parent of wherever that name leads,
			// which can change later.
			if depth--; down || depth < 0 {
				return true
			}
		default:
			down = true
		}
	}
	return false
}

// depthOf is the number of folders between the root and name's parent.
func depthOf(name string) int { return strings.Count(name, "/") - 1 }

// Symlink makes a symlink; EPERM when the host would follow it out.
func (r *Root) Symlink(target, name string) error {
	return linkErr("symlink", target, name, r.symlink(target, name))
}

func (r *Root) symlink(target, name string) syscall.Errno {
	dir, base, e := r.parent(name)
	if e != 0 {
		return e
	}
	defer dir.done()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch _, err := dir.Lstat(base); {
	case err == nil:
		return syscall.EEXIST
	case target == "":
		return syscall.ENOENT
	case len(target) > maxPath:
		return syscall.ENAMETOOLONG
	case strings.IndexByte(target, 0) >= 0:
		return syscall.EINVAL
	case climbs(target, depthOf(name)):
		return syscall.EPERM // cases 001 and 002: the host itself would follow it later
	}
	return errnoOf(dir.Symlink(target, base))
}

// Rename moves from to to.
func (r *Root) Rename(from, to string) error {
	return linkErr("rename", from, to, r.pair(from, to, true))
}

// Link gives the file or symlink from a second name.
func (r *Root) Link(from, to string) error {
	return linkErr("link", from, to, r.pair(from, to, false))
}

func (r *Root) pair(from, to string, move bool) syscall.Errno {
	r.mu.Lock()
	defer r.mu.Unlock()
	fromDir, fromBase, e := r.parent(from)
	if e != 0 {
		return e
	}
	defer fromDir.done()
	toDir, toBase, e := r.parent(to)
	if e != 0 {
		return e
	}
	defer toDir.done()
	fi, e := look(fromDir, fromBase)
	if e != 0 {
		return e
	}
	if move && (fromBase == "." || toBase == ".") {
		return syscall.EBUSY
	}
	if _, e := look(toDir, toBase); e == 0 && !move {
		return syscall.EEXIST
	} else if e != 0 && e != syscall.ENOENT {
		return e
	}
	if !move && fi.IsDir() {
		return syscall.EPERM
	}
	// A folder that moves down or stays level takes no link further up.
	if from != to && (!fi.IsDir() || depthOf(to) < depthOf(from)) {
		if e := r.judge(fromDir, fromBase, from, fi, depthOf(to)); e != 0 {
			return e
		}
	}
	if move {
		return renameAt(fromDir.Root, fromBase, toDir.Root, toBase, r.top.Root, from, to)
	}
	return linkAt(fromDir.Root, fromBase, toDir.Root, toBase, r.top.Root, from, to)
}

// judge refuses to move or link what would lead out from a folder depth
// levels deep: base itself, or when it is a folder any link in it.
func (r *Root) judge(dir dirHandle, base, name string, fi fs.FileInfo, depth int) syscall.Errno {
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		target, err := dir.Readlink(base)
		if err != nil {
			return errnoOf(err)
		}
		if climbs(target, depth) {
			return syscall.EPERM
		}
	case fi.IsDir():
		sub, e := r.step(dir.Root, base, name)
		if e != 0 {
			return e
		}
		d := dirHandle{sub, r}
		defer d.done()
		f, err := sub.Open(".")
		if err != nil {
			return errnoOf(err)
		}
		ents, err := f.ReadDir(-1)
		f.Close()
		if err != nil {
			return errnoOf(err)
		}
		for _, ent := range ents {
			if ent.Type()&fs.ModeSymlink == 0 && !ent.IsDir() {
				continue
			}
			kid, err := sub.Lstat(ent.Name())
			if err != nil {
				return errnoOf(err)
			}
			if e := r.judge(d, ent.Name(), join(name, ent.Name()), kid, depth+1); e != 0 {
				return e
			}
		}
	}
	return 0
}
