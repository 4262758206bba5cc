package vfs

import (
	"io"
	"io/fs"
	"slices"
	"sync"
	"syscall"
)

// mountDir is an open folder above mount points: it lists them beside the
// folder's own entries.
type mountDir struct {
	l Location
	f File // nil when only the namespace has the folder

	mu     sync.Mutex // guards what follows
	list   listing
	closed bool
}

func (d *mountDir) fail(op string, e syscall.Errno) error { return pathErr(op, d.l.Requested, e) }

func (d *mountDir) Read([]byte) (int, error)           { return 0, d.fail("read", syscall.EISDIR) }
func (d *mountDir) ReadAt([]byte, int64) (int, error)  { return 0, d.fail("read", syscall.EISDIR) }
func (d *mountDir) Write([]byte) (int, error)          { return 0, d.fail("write", syscall.EBADF) }
func (d *mountDir) WriteAt([]byte, int64) (int, error) { return 0, d.fail("write", syscall.EBADF) }
func (d *mountDir) Truncate(int64) error               { return d.fail("truncate", syscall.EINVAL) }

func (d *mountDir) Seek(off int64, whence int) (int64, error) {
	if off != 0 || whence != io.SeekStart {
		return 0, d.fail("seek", syscall.EINVAL)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list.rewind()
	if d.f != nil {
		return d.f.Seek(0, io.SeekStart)
	}
	return 0, nil
}

func (d *mountDir) Stat() (fs.FileInfo, error) {
	if d.f != nil {
		return d.f.Stat()
	}
	return d.l.Info, nil
}

func (d *mountDir) ReadDir(n int) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, d.fail("readdir", syscall.EBADF)
	}
	return d.list.read(n, d.entries)
}

func (d *mountDir) entries() ([]fs.DirEntry, error) {
	var ents []fs.DirEntry
	if d.f != nil {
		var err error
		if ents, err = d.f.ReadDir(-1); err != nil {
			return nil, err
		}
	}
	names := d.l.m.inner[d.l.Path].names
	ents = slices.DeleteFunc(ents, func(e fs.DirEntry) bool { return slices.Contains(names, e.Name()) })
	for _, name := range names {
		fi, _, e := d.l.m.lstat(join(d.l.Path, name))
		if e != 0 {
			return nil, d.fail("readdir", e)
		}
		i := infoOf(fi)
		i.name = name
		ents = append(ents, i)
	}
	return ents, nil
}

func (d *mountDir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return d.fail("close", syscall.EBADF)
	}
	d.closed = true
	if d.f != nil {
		return d.f.Close()
	}
	return nil
}
