package vfs

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// Limit returns fsys with what is added to it counted in q: for file systems
// that do not count themselves, as a [Root]. What was there before is not
// counted; removing it gives nothing back beyond what q holds.
func (q *Quota) Limit(fsys FS) FS {
	return &limited{FS: fsys, q: q, open: map[fileID]*inode{}}
}

// limited counts the changes of a file system. Changes of names exclude each
// other, so that what is counted is what was done.
type limited struct {
	FS
	q *Quota

	mu   sync.Mutex // guards open, and every change of names
	open map[fileID]*inode
}

type fileID struct{ dev, ino uint64 }

// inode is a file with open handles.
type inode struct {
	mu     sync.Mutex // held while the size changes
	refs   int        // guarded by limited.mu
	orphan bool       // its last name is gone; guarded by limited.mu
}

func idOf(fi fs.FileInfo) fileID {
	st := infoOf(fi).st
	return fileID{st.Dev, st.Ino}
}

func (l *limited) setDev(d uint64) uint64 { return setDev(l.FS, d) }

func (l *limited) match(name string) int {
	if p, ok := l.FS.(interface{ match(string) int }); ok {
		return p.match(name)
	}
	return placeNone
}

func (l *limited) Open(name string, flag int, perm fs.FileMode) (File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var before fs.FileInfo
	isNew := false
	if mutates(flag) {
		var err error
		before, err = l.Lstat(name)
		isNew = errnoOf(err) == syscall.ENOENT && creates(flag)
	}
	if isNew && !l.q.takeFile() {
		return nil, pathErr("open", name, syscall.EDQUOT)
	}
	f, err := l.FS.Open(name, flag, perm)
	if err != nil {
		if isNew {
			l.q.giveFiles(1)
		}
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if flag&os.O_TRUNC != 0 && before != nil && before.Mode().IsRegular() {
		l.q.giveBytes(before.Size())
	}
	if fi.IsDir() {
		return f, nil
	}
	// Also who only reads keeps the bytes of a removed file on the disk.
	id := idOf(fi)
	n := l.open[id]
	if n == nil {
		n = &inode{}
		l.open[id] = n
	}
	n.refs++
	return &limitedFile{File: f, l: l, n: n, id: id, flag: flag, name: name}, nil
}

// add counts a name that make adds, and bytes with it.
func (l *limited) add(bytes int, make func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.q.takeFile() {
		return syscall.EDQUOT
	}
	err := error(syscall.EDQUOT)
	if l.q.takeAllBytes(int64(bytes)) {
		if err = make(); err == nil {
			return nil
		}
		l.q.giveBytes(int64(bytes))
	}
	l.q.giveFiles(1)
	return err
}

func (l *limited) Mkdir(name string, perm fs.FileMode) error {
	return renamed("mkdir", name, l.add(0, func() error { return l.FS.Mkdir(name, perm) }))
}

func (l *limited) Symlink(target, name string) error {
	err := l.add(len(target), func() error { return l.FS.Symlink(target, name) })
	return linkErr("symlink", target, name, errnoOf(err))
}

func (l *limited) Link(from, to string) error {
	return linkErr("link", from, to, errnoOf(l.add(0, func() error { return l.FS.Link(from, to) })))
}

// drop gives back what name holds once remove has removed it.
func (l *limited) drop(name string, remove func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	fi, err := l.Lstat(name)
	if err := remove(); err != nil {
		return err
	}
	if err == nil {
		l.gone(fi)
	}
	return nil
}

func (l *limited) gone(fi fs.FileInfo) {
	l.q.giveFiles(1)
	if fi.IsDir() || infoOf(fi).st.Nlink > 1 {
		return
	}
	if n := l.open[idOf(fi)]; n != nil {
		n.orphan = true // counted until it is closed
		return
	}
	l.q.giveBytes(fi.Size())
}

func (l *limited) Remove(name string) error {
	return l.drop(name, func() error { return l.FS.Remove(name) })
}

func (l *limited) Rmdir(name string) error {
	return l.drop(name, func() error { return l.FS.Rmdir(name) })
}

func (l *limited) Rename(from, to string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	src, errSrc := l.Lstat(from)
	old, errOld := l.Lstat(to)
	if err := l.FS.Rename(from, to); err != nil {
		return err
	}
	if errSrc == nil && errOld == nil && idOf(src) != idOf(old) {
		l.gone(old)
	}
	return nil
}

// limitedFile is an open file.
type limitedFile struct {
	File
	l    *limited
	n    *inode
	id   fileID
	flag int
	name string
	once sync.Once
}

func (f *limitedFile) setName(name string) {
	f.name = name
	if n, ok := f.File.(interface{ setName(string) }); ok {
		n.setName(name)
	}
}

func (f *limitedFile) Write(p []byte) (int, error) {
	if !canWrite(f.flag) {
		return f.File.Write(p)
	}
	f.n.mu.Lock()
	defer f.n.mu.Unlock()
	off := int64(-1)
	if f.flag&os.O_APPEND == 0 {
		var err error
		if off, err = f.File.Seek(0, io.SeekCurrent); err != nil {
			return 0, err
		}
	}
	return f.write(p, off, f.File.Write)
}

func (f *limitedFile) WriteAt(p []byte, off int64) (int, error) {
	if !canWrite(f.flag) || off < 0 {
		return f.File.WriteAt(p, off)
	}
	f.n.mu.Lock()
	defer f.n.mu.Unlock()
	at := off
	if f.flag&os.O_APPEND != 0 {
		at = -1
	}
	return f.write(p, at, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

// write reserves what writing p at off (-1 is the end) adds to the file, and
// writes as much as fits.
func (f *limitedFile) write(p []byte, off int64, do func([]byte) (int, error)) (int, error) {
	fi, err := f.File.Stat()
	if err != nil {
		return 0, err
	}
	size := fi.Size()
	if off < 0 {
		off = size
	}
	if len(p) == 0 {
		return do(p)
	}
	fits, taken, e := f.l.q.grow(size, off, int64(len(p)))
	if fits == 0 {
		return 0, pathErr("write", f.name, e)
	}
	n, err := do(p[:fits])
	f.l.q.giveBytes(taken - max(0, min(taken, off+int64(n)-size)))
	if err == nil && n < len(p) {
		err = pathErr("write", f.name, e)
	}
	return n, err
}

func (f *limitedFile) Truncate(size int64) error {
	if !canWrite(f.flag) || size < 0 {
		return f.File.Truncate(size)
	}
	f.n.mu.Lock()
	defer f.n.mu.Unlock()
	fi, err := f.File.Stat()
	if err != nil {
		return err
	}
	grow := size - fi.Size()
	switch {
	case grow > 0 && !f.l.q.takeAllBytes(grow):
		return pathErr("truncate", f.name, syscall.EDQUOT)
	case size > maxFile:
		f.l.q.giveBytes(grow)
		return pathErr("truncate", f.name, syscall.EFBIG)
	}
	if err := f.File.Truncate(size); err != nil {
		f.l.q.giveBytes(grow)
		return err
	}
	f.l.q.giveBytes(-grow)
	return nil
}

func (f *limitedFile) Close() error {
	f.once.Do(func() {
		f.l.mu.Lock()
		defer f.l.mu.Unlock()
		if f.n.refs--; f.n.refs > 0 {
			return
		}
		delete(f.l.open, f.id)
		if fi, err := f.File.Stat(); f.n.orphan && err == nil {
			f.l.q.giveBytes(fi.Size())
		}
	})
	return f.File.Close()
}
