package vfs

import (
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// tree is the one implementation behind [Mem] and [Overlay]: a tree of nodes
// in memory. With a lower file system below it, a folder node that has a low
// name shows the lower folder's entries beside its own, and a file node that
// is backed has its content still there. Names that nobody changed have no
// node at all. A node keeps its low name wherever it is moved, so renaming a
// lower folder copies nothing.
type tree struct {
	quota *Quota
	now   func() time.Time
	lower FS // nil in Mem
	dev   atomic.Uint64
	ino   atomic.Uint64

	mu    sync.RWMutex // guards the shape: the fields of nodes that say so
	root  *node
	clean int // adopted nodes that could be forgotten; guarded by mu
}

// node is a file, folder or symlink.
type node struct {
	ino, layer uint64
	dir        bool
	target     string // of a symlink
	low        string // name in the lower file system; "" when there is none
	refs       atomic.Int64
	dirty      atomic.Bool // differs from the lower file system, or was moved: never forgotten

	// guarded by tree.mu
	kids  map[string]*node // of a folder; nil marks a name as removed from the lower one
	mode  fs.FileMode
	nlink int64
	paid  int64 // names counted in the quota
	home  *node // the folder in which it was adopted; nil once it moved or for a new node

	mu                  sync.RWMutex // guards what follows
	data                content
	atime, mtime, ctime time.Time
	backed              bool // content is that of low
	copied              bool // was backed, and its copy is counted as a file
	src                 File // low, while backed and open
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Owner's permission bits. Whoever uses a sandbox owns its files and is not
// root: modes bind it, as they would bind a user.
const (
	mayRead  = 0o400
	mayWrite = 0o200
	mayEnter = 0o100
)

func (t *tree) init(c MemConfig) {
	t.quota, t.now = c.Quota, c.Now
	if t.quota == nil {
		t.quota = NewQuota(QuotaConfig{})
	}
	if t.now == nil {
		t.now = func() time.Time { return time.Now().Round(0) } // without the monotonic clock
	}
	perm := c.Mode & modeBits
	if c.Mode == 0 {
		perm = 0o755
	}
	t.root = t.newNode(fs.ModeDir|perm, t.now())
}

func (t *tree) newNode(mode fs.FileMode, now time.Time) *node {
	n := &node{ino: t.ino.Add(1), dir: mode.IsDir(), mode: mode, nlink: 1, atime: now, mtime: now, ctime: now}
	if mode.IsDir() {
		n.nlink, n.kids = 2, map[string]*node{}
	}
	return n
}

func (t *tree) setDev(d uint64) uint64 {
	t.dev.CompareAndSwap(0, d)
	return t.dev.Load()
}

// enter says whether names below n may be looked up.
func (n *node) enter() syscall.Errno {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return syscall.ELOOP // never followed here: that is the namespace's business
	case !n.mode.IsDir():
		return syscall.ENOTDIR
	case n.mode&mayEnter == 0:
		return syscall.EACCES
	}
	return 0
}

// found is where a name led: to a node, or to an entry of the lower file
// system that has none.
type found struct {
	n   *node
	fi  *info
	low string // its name there
}

func (f found) mode() fs.FileMode {
	if f.n != nil {
		return f.n.mode
	}
	return f.fi.mode
}

// find looks a canonical name up. Precondition: t.mu is held.
func (t *tree) find(name string) (found, syscall.Errno) {
	n := t.root
	for rest := name[1:]; rest != ""; {
		if e := n.enter(); e != 0 {
			return found{}, e
		}
		elem, tail := next(rest)
		kid, known := n.kids[elem]
		if !known && n.low != "" {
			low := join(n.low, rest)
			fi, err := t.lower.Lstat(low)
			if err != nil {
				return found{}, errnoOf(err)
			}
			return found{fi: t.lowInfo(fi), low: low}, 0
		}
		if kid == nil {
			return found{}, syscall.ENOENT
		}
		n, rest = kid, tail
	}
	return found{n: n}, 0
}

// own looks name up and gives it a node, and its parents too. Precondition:
// t.mu is held for writing.
func (t *tree) own(name string) (*node, syscall.Errno) { return t.ownSeen(name, nil) }

// ownSeen is own when name was just seen in the lower file system.
func (t *tree) ownSeen(name string, seen *info) (*node, syscall.Errno) {
	n := t.root
	for rest := name[1:]; rest != ""; {
		if e := n.enter(); e != 0 {
			return nil, e
		}
		var elem string
		elem, rest = next(rest)
		if _, known := n.kids[elem]; seen != nil && rest == "" && !known && n.low != "" {
			return t.adoptAs(n, elem, seen)
		}
		kid, e := t.child(n, elem)
		if e != 0 {
			return nil, e
		}
		n = kid
	}
	return n, 0
}

// child returns the node of an entry of dir. Precondition: t.mu is held for
// writing.
func (t *tree) child(dir *node, elem string) (*node, syscall.Errno) {
	kid, known := dir.kids[elem]
	if !known && dir.low != "" {
		return t.adopt(dir, elem)
	}
	if kid == nil {
		return nil, syscall.ENOENT
	}
	return kid, 0
}

// parent returns the folder that holds name, ready to be changed.
// Precondition: t.mu is held for writing; name is not "/".
func (t *tree) parent(name string) (dir *node, base string, e syscall.Errno) {
	d, base := split(name)
	dir, e = t.own(d)
	if e == 0 {
		e = dir.enter()
	}
	return dir, base, e
}

// change says whether entries of dir may be added and removed.
func (n *node) change() syscall.Errno {
	if n.mode&mayWrite == 0 {
		return syscall.EACCES
	}
	return 0
}

// touch records that the entries of dir changed.
func (t *tree) touch(dir *node) {
	now := t.now()
	dir.dirty.Store(true)
	dir.mu.Lock()
	dir.mtime, dir.ctime = now, now
	dir.mu.Unlock()
}

// changed records that the attributes of n changed.
func (t *tree) changed(n *node) {
	now := t.now()
	n.dirty.Store(true)
	n.mu.Lock()
	n.ctime = now
	n.mu.Unlock()
}

// insert puts n into dir. It counts the name, which may be refused.
func (t *tree) insert(dir *node, base string, n *node) syscall.Errno {
	if dir.nlink == 0 {
		return syscall.ENOENT // removed while it was being looked at
	}
	if !t.quota.takeFile() {
		return syscall.EDQUOT
	}
	n.paid++
	dir.kids[base] = n
	if n.mode.IsDir() {
		dir.nlink++
	}
	t.touch(dir)
	return 0
}

// detach takes the entry base out of dir, hiding the lower one of that name.
func (t *tree) detach(dir *node, base string) {
	delete(dir.kids, base)
	if dir.low != "" {
		if _, err := t.lower.Lstat(join(dir.low, base)); errnoOf(err) != syscall.ENOENT {
			dir.kids[base] = nil
		}
	}
}

// unlink takes one name away from n and frees it with the last one.
func (t *tree) unlink(dir *node, base string, n *node) {
	t.detach(dir, base)
	if n.mode.IsDir() {
		n.nlink = 0
		dir.nlink = max(dir.nlink-1, 2)
	} else {
		n.nlink--
	}
	n.home = nil
	t.changed(n)
	t.touch(dir)
	t.reap(n)
}

// reap gives back what n no longer needs. An open file without a name keeps
// its bytes, and one name, until it is closed. Precondition: t.mu is held for
// writing.
func (t *tree) reap(n *node) {
	if n.nlink > 0 {
		if n.paid > n.nlink {
			t.quota.giveFiles(n.paid - n.nlink)
			n.paid = n.nlink
		}
		return
	}
	if n.refs.Load() > 0 {
		return
	}
	t.quota.giveFiles(n.paid)
	n.paid = 0
	if n.low == "" {
		t.quota.giveBytes(int64(len(n.target)))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.copied {
		n.copied = false
		t.quota.giveFiles(1)
	}
	n.resize(t, 0)
}

// resize truncates n, whose content must be its own, and settles the quota.
// Precondition: n.mu is held for writing.
func (n *node) resize(t *tree, size int64) syscall.Errno {
	switch {
	case n.backed:
		return 0
	case size > n.data.size:
		if !t.quota.takeAllBytes(size - n.data.size) {
			return syscall.EDQUOT
		}
		if size > maxFile {
			t.quota.giveBytes(size - n.data.size)
			return syscall.EFBIG
		}
	default:
		t.quota.giveBytes(n.data.size - size)
	}
	n.data.truncate(size)
	return 0
}

// stat describes n. Precondition: t.mu is held.
func (t *tree) stat(n *node, name string) *info {
	n.mu.RLock()
	defer n.mu.RUnlock()
	i := &info{name: name, mode: n.mode, mtime: n.mtime}
	i.st = Stat{Dev: t.dev.Load()<<8 | n.layer, Ino: n.ino, Nlink: uint64(max(n.nlink, 0)), Atime: n.atime, Ctime: n.ctime}
	switch {
	case n.mode.IsDir():
		i.size = 4096
	case n.mode&fs.ModeSymlink != 0:
		i.size = int64(len(n.target))
	case n.backed:
		i.size = t.backedSize(n)
	default:
		i.size = n.data.size
	}
	return i
}

// Open opens a file or folder; see [FS].
func (t *tree) Open(name string, flag int, perm fs.FileMode) (File, error) {
	f, e := t.open(name, flag, perm)
	if e != 0 {
		return nil, pathErr("open", name, e)
	}
	return f, nil
}

func (t *tree) open(name string, flag int, perm fs.FileMode) (*treeFile, syscall.Errno) {
	if e := checkName(name); e != 0 {
		return nil, e
	}
	if e := checkOpen(flag); e != 0 {
		return nil, e
	}
	t.mu.RLock()
	at, e := t.find(name)
	if e == 0 && at.n != nil && !exclusive(flag) {
		defer t.mu.RUnlock()
		return t.handle(at.n, name, flag)
	}
	t.mu.RUnlock()
	if e != 0 && (e != syscall.ENOENT || !creates(flag)) {
		return nil, e
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	n, e := t.ownSeen(name, at.fi)
	switch {
	case e == 0 && exclusive(flag):
		return nil, syscall.EEXIST
	case e == syscall.ENOENT && creates(flag):
		if n, e = t.create(name, perm&modeBits, ""); e == 0 {
			n.refs.Add(1)
			return &treeFile{t: t, n: n, name: name, flag: flag}, 0
		}
	}
	if e != 0 {
		return nil, e
	}
	f, e := t.handle(n, name, flag)
	if e != 0 {
		t.forget(n)
	}
	return f, e
}

// create makes a new node under a name that is free. Precondition: t.mu is
// held for writing.
func (t *tree) create(name string, mode fs.FileMode, target string) (*node, syscall.Errno) {
	if name == "/" {
		return nil, syscall.EEXIST
	}
	dir, base, e := t.parent(name)
	if e != 0 {
		return nil, e
	}
	if _, e := t.child(dir, base); e != syscall.ENOENT {
		if e == 0 {
			e = syscall.EEXIST
		}
		return nil, e
	}
	if e := dir.change(); e != 0 {
		return nil, e
	}
	n := t.newNode(mode, t.now())
	n.target = target
	if !t.quota.takeAllBytes(int64(len(target))) {
		return nil, syscall.EDQUOT
	}
	if e := t.insert(dir, base, n); e != 0 {
		t.quota.giveBytes(int64(len(target)))
		return nil, e
	}
	return n, 0
}

// handle opens n. Precondition: t.mu is held.
func (t *tree) handle(n *node, name string, flag int) (*treeFile, syscall.Errno) {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return nil, syscall.ELOOP
	case n.mode.IsDir():
		if mutates(flag) {
			return nil, syscall.EISDIR
		}
	case !n.mode.IsRegular():
		return nil, syscall.EPERM
	}
	if canRead(flag) && n.mode&mayRead == 0 || canWrite(flag) && n.mode&mayWrite == 0 {
		return nil, syscall.EACCES
	}
	n.refs.Add(1)
	if e := t.prepare(n, flag); e != 0 {
		n.refs.Add(-1)
		return nil, e
	}
	return &treeFile{t: t, n: n, name: name, flag: flag}, 0
}

// prepare opens the lower file behind n and truncates, as flag says.
func (t *tree) prepare(n *node, flag int) syscall.Errno {
	if n.dir || n.low == "" && flag&os.O_TRUNC == 0 {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if flag&os.O_TRUNC != 0 {
		if e := t.disown(n); e != 0 {
			return e
		}
		now := t.now()
		n.mtime, n.ctime = now, now
		return n.resize(t, 0)
	}
	return t.source(n)
}
