package vfs

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// ChangeKind says what happened to a name.
type ChangeKind string

// The kinds of change.
const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified"
	Removed  ChangeKind = "removed"
)

// A Change is one difference between an [Overlay] and what is below it.
type Change struct {
	Path string
	Kind ChangeKind
	Info fs.FileInfo // what is there now, or what was there if Removed
}

// Changes lists the differences to the lower file system, sorted by path. An
// added folder is followed by all that is in it, a removed one stands for it.
// What changed its type is removed and added. A rename is a removal and an
// addition. Of a folder only a changed mode counts as modified, of a file
// also its time.
func (o *Overlay) Changes() ([]Change, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var out []Change
	if err := o.diff(o.root, "/", &out); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), -strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return out, nil
}

// diff compares the folder n with the lower folder dir, which exists.
func (o *Overlay) diff(n *node, dir string, out *[]Change) error {
	names := make(map[string]bool, len(n.kids))
	for name := range n.kids {
		names[name] = true
	}
	if n.low != dir { // made anew or moved here: what is below counts too
		low, e := o.lowNames(&node{low: dir})
		if e != 0 {
			return pathErr("changes", dir, e)
		}
		for _, ent := range low {
			names[ent.Name()] = true
		}
		own, e := o.lowNames(n)
		if e != 0 {
			return pathErr("changes", dir, e)
		}
		for _, ent := range own {
			names[ent.Name()] = true
		}
	}
	for name := range names {
		if err := o.diffName(n, name, join(dir, name), out); err != nil {
			return err
		}
	}
	return nil
}

func (o *Overlay) diffName(n *node, name, path string, out *[]Change) error {
	var was *info
	if fi, err := o.lower.Lstat(path); err == nil {
		was = o.lowInfo(fi)
	}
	kid, known := n.kids[name]
	if !known && n.low != "" && was != nil && join(n.low, name) == path {
		return nil
	}
	var now *info
	var low string // where the entry is below, if it has no node
	switch {
	case kid != nil:
		now = o.stat(kid, name)
	case !known && n.low != "":
		low = join(n.low, name)
		if fi, err := o.lower.Lstat(low); err == nil {
			now = o.lowInfo(fi)
		}
	}
	switch {
	case now == nil && was == nil:
		return nil
	case now == nil:
		*out = append(*out, Change{path, Removed, was})
		return nil
	case was != nil && was.mode.Type() != now.mode.Type():
		*out = append(*out, Change{path, Removed, was})
		was = nil
	}
	if was == nil {
		*out = append(*out, Change{path, Added, now})
	} else if o.differs(was, now, kid, path) {
		*out = append(*out, Change{path, Modified, now})
	}
	if !now.IsDir() {
		return nil
	}
	if kid == nil {
		kid = &node{low: low}
	}
	if was == nil {
		return o.addAll(kid, path, out)
	}
	return o.diff(kid, path, out)
}

func (o *Overlay) differs(was, now *info, kid *node, path string) bool {
	switch {
	case was.mode != now.mode:
		return true
	case now.IsDir():
		return false
	case kid == nil:
		return was.st.Ino != now.st.Ino
	case now.mode&fs.ModeSymlink != 0:
		return kid.low != path && !o.sameLink(kid, path)
	}
	kid.mu.RLock()
	defer kid.mu.RUnlock()
	return !kid.backed || kid.low != path || !was.mtime.Equal(now.mtime)
}

func (o *Overlay) sameLink(kid *node, path string) bool {
	target, err := o.lower.Readlink(path)
	return err == nil && target == kid.target
}

// addAll lists everything in the folder n as added.
func (o *Overlay) addAll(n *node, dir string, out *[]Change) error {
	for name, kid := range n.kids {
		if kid == nil {
			continue
		}
		i := o.stat(kid, name)
		*out = append(*out, Change{join(dir, name), Added, i})
		if i.IsDir() {
			if err := o.addAll(kid, join(dir, name), out); err != nil {
				return err
			}
		}
	}
	low, e := o.lowNames(n)
	if e != 0 {
		return pathErr("changes", dir, e)
	}
	for _, ent := range low {
		fi, err := lowEntry{ent, &o.tree}.Info()
		if err != nil {
			return err
		}
		*out = append(*out, Change{join(dir, ent.Name()), Added, fi})
		if fi.IsDir() {
			if err := o.addAll(&node{low: join(n.low, ent.Name())}, join(dir, ent.Name()), out); err != nil {
				return err
			}
		}
	}
	return nil
}
