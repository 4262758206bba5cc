package vfs

import (
	"io"
	"io/fs"
	"syscall"
)

// Overlay shows a lower file system that is never written, with every change
// kept in memory above it: what the cow mounts are. A file is copied up, and
// counted in the quota, when its content is first changed; open handles see
// the change. Changes of the lower file system show through where nothing
// was changed above. Hard links below are separate files here.
type Overlay struct{ tree }

// NewOverlay returns an Overlay without changes. It never calls a method of
// lower that writes.
func NewOverlay(lower FS, c MemConfig) (*Overlay, error) {
	fi, err := lower.Lstat("/")
	if err != nil {
		return nil, pathErr("overlay", "/", errnoOf(err))
	}
	o := &Overlay{}
	o.init(c)
	o.lower = lower
	i := infoOf(fi)
	o.root.mode, o.root.mtime, o.root.low = i.mode, i.mtime, "/"
	o.root.nlink = int64(max(i.st.Nlink, 2))
	return o, nil
}

var _ FS = (*Overlay)(nil)

// keepClean is how many unchanged lower names may have nodes at rest. More
// are forgotten on close, so that reading a large tree holds no memory.
const keepClean = 4096

// adopt gives the entry elem of the lower folder behind dir a node.
// Precondition: t.mu is held for writing.
func (t *tree) adopt(dir *node, elem string) (*node, syscall.Errno) {
	fi, err := t.lower.Lstat(join(dir.low, elem))
	if err != nil {
		return nil, errnoOf(err)
	}
	return t.adoptAs(dir, elem, t.lowInfo(fi))
}

// adoptAs is adopt of an entry that lowInfo described.
func (t *tree) adoptAs(dir *node, elem string, i *info) (*node, syscall.Errno) {
	low := join(dir.low, elem)
	n := &node{
		ino: i.st.Ino, layer: i.st.Dev & 0xff, low: low, home: dir, dir: i.IsDir(),
		mode: i.mode, nlink: int64(i.st.Nlink), atime: i.st.Atime, mtime: i.mtime, ctime: i.st.Ctime,
	}
	switch {
	case i.mode.IsDir():
		n.kids = map[string]*node{}
	case i.mode&fs.ModeSymlink != 0:
		target, err := t.lower.Readlink(low)
		if err != nil {
			return nil, errnoOf(err)
		}
		n.target = target
	case i.mode.IsRegular():
		n.backed = true
	}
	dir.kids[elem] = n
	t.clean++
	return n, 0
}

// forget drops the node of a lower name that nobody changed or has open, and
// of folders that were adopted only for its sake. Precondition: t.mu is held
// for writing.
func (t *tree) forget(n *node) {
	for n.home != nil && n.refs.Load() == 0 && !n.dirty.Load() && len(n.kids) == 0 {
		if n.dir && t.clean <= keepClean {
			return
		}
		home := n.home
		n.home = nil
		delete(home.kids, baseName(n.low))
		t.clean--
		n = home
	}
}

// put ends one use of n.
func (t *tree) put(n *node) {
	t.mu.RLock()
	idle := n.refs.Add(-1) == 0
	gone := n.nlink == 0
	clean := n.home != nil && !n.dirty.Load()
	t.mu.RUnlock()
	if !idle {
		return
	}
	if n.low != "" {
		n.mu.Lock()
		if n.src != nil && n.refs.Load() == 0 {
			n.src.Close()
			n.src = nil
		}
		n.mu.Unlock()
	}
	if gone || clean {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.reap(n)
		t.forget(n)
	}
}

// lowInfo describes a lower entry as the overlay shows it: on a device number
// of its own, so that its inode number, which survives copying up, meets no
// other.
func (t *tree) lowInfo(fi fs.FileInfo) *info {
	i := infoOf(fi)
	i.st.Dev = t.dev.Load()<<8 | 1 + i.st.Dev&0x7f
	if !i.mode.IsDir() {
		i.st.Nlink = 1
	}
	return i
}

// lowNames returns the entries of the lower folder behind n that n does not
// hide. Precondition: t.mu is held.
func (t *tree) lowNames(n *node) ([]fs.DirEntry, syscall.Errno) {
	if n.low == "" {
		return nil, 0
	}
	d, err := t.lower.Open(n.low, NoFollow, 0)
	if err != nil {
		if errnoOf(err) == syscall.ENOENT {
			return nil, 0 // the lower folder went away: what is above stays
		}
		return nil, errnoOf(err)
	}
	defer d.Close()
	all, err := d.ReadDir(-1)
	if err != nil {
		return nil, errnoOf(err)
	}
	shown := all[:0]
	for _, ent := range all {
		if _, known := n.kids[ent.Name()]; !known {
			shown = append(shown, ent)
		}
	}
	return shown, 0
}

// lowEntry is a folder entry that only the lower file system has.
type lowEntry struct {
	fs.DirEntry
	t *tree
}

func (l lowEntry) Info() (fs.FileInfo, error) {
	fi, err := l.DirEntry.Info()
	if err != nil {
		return nil, pathErr("lstat", l.Name(), errnoOf(err))
	}
	return l.t.lowInfo(fi), nil
}

// backedSize is the size of content that is still below. Precondition: n.mu
// is held.
func (t *tree) backedSize(n *node) int64 {
	var fi fs.FileInfo
	var err error
	if n.src != nil {
		fi, err = n.src.Stat()
	} else {
		fi, err = t.lower.Lstat(n.low)
	}
	if err != nil {
		return 0
	}
	return fi.Size()
}

// source opens the lower file behind n. Precondition: n.mu is held for
// writing.
func (t *tree) source(n *node) syscall.Errno {
	if !n.backed || n.src != nil {
		return 0
	}
	src, err := t.lower.Open(n.low, NoFollow, 0)
	if err != nil {
		return errnoOf(err)
	}
	n.src = src
	return 0
}

// disown separates n from the lower file, leaving it empty. Precondition:
// n.mu is held for writing.
func (t *tree) disown(n *node) syscall.Errno {
	n.dirty.Store(true)
	if !n.backed {
		return 0
	}
	if !t.quota.takeFile() {
		return syscall.EDQUOT
	}
	n.copied = true
	if n.src != nil {
		n.src.Close()
		n.src = nil
	}
	n.backed = false
	return 0
}

// copyUp brings the content of n into memory before it is changed.
// Precondition: n.mu is held for writing, and n is open.
func (t *tree) copyUp(n *node) syscall.Errno {
	if !n.backed {
		n.dirty.Store(true)
		return 0
	}
	src := n.src
	n.src = nil
	if e := t.disown(n); e != 0 {
		n.src = src
		return e
	}
	buf := make([]byte, chunkSize)
	for off := int64(0); ; {
		k, err := src.ReadAt(buf, off)
		e := syscall.Errno(0)
		switch {
		case !t.quota.takeAllBytes(int64(k)):
			e = syscall.EDQUOT
		case err != nil && err != io.EOF:
			e = errnoOf(err)
			fallthrough
		default:
			n.data.writeAt(buf[:k], off)
			off += int64(k)
		}
		if e != 0 { // as if nothing had been tried
			t.quota.giveBytes(n.data.size)
			t.quota.giveFiles(1)
			n.data, n.backed, n.src, n.copied = content{}, true, src, false
			return e
		}
		if err == io.EOF {
			break
		}
	}
	src.Close()
	return 0
}
