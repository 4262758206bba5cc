package vfs

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// treeFile is an open node.
type treeFile struct {
	t    *tree
	n    *node
	name string
	flag int

	mu     sync.RWMutex // guards what follows
	pos    int64
	list   listing
	closed bool
}

func (f *treeFile) setName(name string) { f.name = name }

func (f *treeFile) fail(op string, e syscall.Errno) error { return pathErr(op, f.name, e) }

// ready says whether content may be read or written. Precondition: f.mu is
// held.
func (f *treeFile) ready(ok bool) syscall.Errno {
	switch {
	case f.closed, !ok:
		return syscall.EBADF
	case f.n.dir:
		return syscall.EISDIR
	}
	return 0
}

func (f *treeFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.readAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *treeFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.readAt(p, off)
}

func (f *treeFile) readAt(p []byte, off int64) (int, error) {
	if e := f.ready(canRead(f.flag)); e != 0 {
		return 0, f.fail("read", e)
	}
	if off < 0 {
		return 0, f.fail("read", syscall.EINVAL)
	}
	if len(p) == 0 {
		return 0, nil
	}
	f.n.mu.RLock()
	defer f.n.mu.RUnlock()
	if f.n.backed {
		n, err := f.n.src.ReadAt(p, off)
		return n, renamed("read", f.name, err)
	}
	n := f.n.data.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *treeFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, end, err := f.writeAt(p, f.pos)
	f.pos = end
	return n, err
}

func (f *treeFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, _, err := f.writeAt(p, off)
	return n, err
}

// writeAt writes at off, or at the end of a file opened for appending. What
// fits into the quota is written, as a full disk would take it.
func (f *treeFile) writeAt(p []byte, off int64) (n int, end int64, _ error) {
	if e := f.ready(canWrite(f.flag)); e != 0 {
		return 0, off, f.fail("write", e)
	}
	if off < 0 {
		return 0, off, f.fail("write", syscall.EINVAL)
	}
	if len(p) == 0 {
		return 0, off, nil
	}
	f.n.mu.Lock()
	defer f.n.mu.Unlock()
	if e := f.t.copyUp(f.n); e != 0 {
		return 0, off, f.fail("write", e)
	}
	d := &f.n.data
	if f.flag&os.O_APPEND != 0 {
		off = d.size
	}
	fits, _, e := f.t.quota.grow(d.size, off, int64(len(p)))
	if fits == 0 {
		return 0, off, f.fail("write", e)
	}
	p = p[:fits]
	d.writeAt(p, off)
	now := f.t.now()
	f.n.mtime, f.n.ctime = now, now
	return len(p), off + int64(len(p)), f.fail("write", e)
}

func (f *treeFile) Seek(off int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, f.fail("seek", syscall.EBADF)
	}
	if f.n.dir {
		if off != 0 || whence != io.SeekStart {
			return 0, f.fail("seek", syscall.EINVAL)
		}
		f.list.rewind()
		return 0, nil
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		off += f.pos
	case io.SeekEnd:
		off += f.size()
	default:
		return 0, f.fail("seek", syscall.EINVAL)
	}
	if off < 0 {
		return 0, f.fail("seek", syscall.EINVAL)
	}
	f.pos = off
	return off, nil
}

func (f *treeFile) size() int64 {
	f.n.mu.RLock()
	defer f.n.mu.RUnlock()
	if f.n.backed {
		return f.t.backedSize(f.n)
	}
	return f.n.data.size
}

func (f *treeFile) Truncate(size int64) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	e := syscall.Errno(0)
	switch {
	case f.closed:
		e = syscall.EBADF
	case f.n.dir, size < 0, !canWrite(f.flag):
		e = syscall.EINVAL // so POSIX has it, also for a handle that only reads
	default:
		e = f.truncate(size)
	}
	return f.fail("truncate", e)
}

func (f *treeFile) truncate(size int64) syscall.Errno {
	f.n.mu.Lock()
	defer f.n.mu.Unlock()
	if e := f.t.copyUp(f.n); e != 0 {
		return e
	}
	if e := f.n.resize(f.t, size); e != 0 {
		return e
	}
	now := f.t.now()
	f.n.mtime, f.n.ctime = now, now
	return 0
}

func (f *treeFile) Stat() (fs.FileInfo, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return nil, f.fail("stat", syscall.EBADF)
	}
	f.t.mu.RLock()
	defer f.t.mu.RUnlock()
	return f.t.stat(f.n, baseName(f.name)), nil
}

func (f *treeFile) ReadDir(n int) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, f.fail("readdir", syscall.EBADF)
	case !f.n.dir:
		return nil, f.fail("readdir", syscall.ENOTDIR)
	}
	return f.list.read(n, f.entries)
}

func (f *treeFile) entries() ([]fs.DirEntry, error) {
	f.t.mu.RLock()
	defer f.t.mu.RUnlock()
	var ents []fs.DirEntry
	if f.n.nlink == 0 {
		return nil, nil // removed
	}
	for name, k := range f.n.kids {
		if k != nil {
			ents = append(ents, f.t.stat(k, name))
		}
	}
	low, e := f.t.lowNames(f.n)
	if e != 0 {
		return nil, f.fail("readdir", e)
	}
	for _, d := range low {
		ents = append(ents, lowEntry{d, f.t})
	}
	return ents, nil
}

func (f *treeFile) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return f.fail("close", syscall.EBADF)
	}
	f.closed = true
	f.mu.Unlock()
	f.t.put(f.n)
	return nil
}
