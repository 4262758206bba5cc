package vfs

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// Open opens a file or folder. The process's umask applies to new files.
func (r *Root) Open(name string, flag int, perm fs.FileMode) (File, error) {
	f, e := r.open(name, flag, perm)
	if e != 0 {
		return nil, pathErr("open", name, e)
	}
	return f, nil
}

// openTries bounds how often Open starts anew because the name changed while
// it was being opened.
const openTries = 8

func (r *Root) open(name string, flag int, perm fs.FileMode) (File, syscall.Errno) {
	if e := checkOpen(flag); e != 0 {
		return nil, e
	}
	dir, base, e := r.parent(name)
	if e != 0 {
		return nil, e
	}
	defer dir.done()
	e = syscall.ELOOP
	for try := 0; try < openTries; try++ {
		var f *os.File
		var isDir bool
		if f, isDir, e = openAt(dir.Root, base, flag, perm); e == 0 {
			return &rootFile{r: r, f: f, in: name, isDir: isDir, name: name, flag: flag}, 0
		}
		if e != errSwapped {
			return nil, e
		}
	}
	return nil, syscall.ELOOP
}

// errSwapped is never seen outside: what was opened is not what was there.
const errSwapped = syscall.Errno(1<<30 - 1)

// openAt opens base in dir. It never creates through a symlink (O_EXCL),
// never truncates before it knows what it opened, and never waits for the
// other end of a pipe put in place meanwhile (O_NONBLOCK).
func openAt(dir *os.Root, base string, flag int, perm fs.FileMode) (_ *os.File, isDir bool, _ syscall.Errno) {
	hostFlag := accessMode(flag) | flag&(os.O_APPEND|os.O_SYNC) | nonblock
	seen, err := dir.Lstat(base)
	if e := errnoOf(err); e == syscall.ENOENT && creates(flag) {
		f, err := dir.OpenFile(base, hostFlag|os.O_CREATE|os.O_EXCL, perm&fs.ModePerm)
		e := errnoOf(err)
		if e == syscall.EEXIST && !exclusive(flag) {
			e = errSwapped
		}
		return f, false, e
	} else if e != 0 {
		return nil, false, e
	}
	switch {
	case exclusive(flag):
		return nil, false, syscall.EEXIST
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, false, syscall.ELOOP
	case usable(seen) != 0:
		return nil, false, syscall.EPERM
	case seen.IsDir() && mutates(flag):
		return nil, false, syscall.EISDIR
	}
	f, err := dir.OpenFile(base, hostFlag, 0)
	if e := errnoOf(err); e == syscall.ENOENT {
		return nil, false, errSwapped
	} else if e != 0 {
		return nil, false, e
	}
	got, err := f.Stat()
	if err != nil || !os.SameFile(seen, got) {
		f.Close()
		return nil, false, errSwapped
	}
	if flag&os.O_TRUNC != 0 {
		if err := f.Truncate(0); err != nil {
			f.Close()
			return nil, false, errnoOf(err)
		}
	}
	return f, got.IsDir(), 0
}

// rootFile is an open file of a Root.
type rootFile struct {
	r     *Root
	f     *os.File
	in    string // its name in r when it was opened
	isDir bool
	name  string // for errors
	flag  int

	mu   sync.Mutex // guards list
	list listing
}

func (f *rootFile) setName(name string) { f.name = name }

func (f *rootFile) fail(op string, err error) error { return renamed(op, f.name, err) }

// ready refuses content operations that the host would refuse with less
// certain words.
func (f *rootFile) ready(op string, ok bool) error {
	switch {
	case !ok:
		return pathErr(op, f.name, syscall.EBADF)
	case f.isDir:
		return pathErr(op, f.name, syscall.EISDIR)
	}
	return nil
}

func (f *rootFile) Read(p []byte) (int, error) {
	if err := f.ready("read", canRead(f.flag)); err != nil {
		return 0, err
	}
	n, err := f.f.Read(p)
	return n, f.fail("read", err)
}

func (f *rootFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ready("read", canRead(f.flag)); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathErr("read", f.name, syscall.EINVAL)
	}
	n, err := f.f.ReadAt(p, off)
	return n, f.fail("read", err)
}

func (f *rootFile) Write(p []byte) (int, error) {
	if err := f.ready("write", canWrite(f.flag)); err != nil {
		return 0, err
	}
	n, err := f.f.Write(p)
	return n, f.fail("write", err)
}

func (f *rootFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.ready("write", canWrite(f.flag)); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathErr("write", f.name, syscall.EINVAL)
	}
	if f.flag&os.O_APPEND != 0 { // as Linux does, which package os refuses
		pos, err := f.f.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0, f.fail("write", err)
		}
		n, err := f.f.Write(p)
		if _, e := f.f.Seek(pos, io.SeekStart); err == nil {
			err = e
		}
		return n, f.fail("write", err)
	}
	n, err := f.f.WriteAt(p, off)
	return n, f.fail("write", err)
}

func (f *rootFile) Seek(off int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isDir {
		if off != 0 || whence != io.SeekStart {
			return 0, pathErr("seek", f.name, syscall.EINVAL)
		}
		f.list.rewind()
	}
	if whence < io.SeekStart || whence > io.SeekEnd { // the host has others
		return 0, pathErr("seek", f.name, syscall.EINVAL)
	}
	n, err := f.f.Seek(off, whence)
	return n, f.fail("seek", err)
}

func (f *rootFile) Truncate(size int64) error {
	if f.isDir || size < 0 || !canWrite(f.flag) {
		return pathErr("truncate", f.name, syscall.EINVAL)
	}
	return f.fail("truncate", f.f.Truncate(size))
}

func (f *rootFile) Stat() (fs.FileInfo, error) {
	fi, err := f.f.Stat()
	if err != nil {
		return nil, f.fail("stat", err)
	}
	return f.r.info(fi, f.in), nil
}

func (f *rootFile) Close() error { return f.fail("close", f.f.Close()) }

func (f *rootFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if !f.isDir {
		return nil, pathErr("readdir", f.name, syscall.ENOTDIR)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list.read(n, func() ([]fs.DirEntry, error) {
		ents, err := f.f.ReadDir(-1)
		if err != nil {
			return nil, f.fail("readdir", err)
		}
		for i, ent := range ents {
			ents[i] = rootEntry{r: f.r, dir: f.in, name: ent.Name(), typ: ent.Type()}
		}
		return ents, nil
	})
}

// rootEntry is an entry of a host folder. Its Info goes through the Root once
// more: the folder's handle alone does not say where a name leads now.
type rootEntry struct {
	r         *Root
	dir, name string
	typ       fs.FileMode
}

func (e rootEntry) Name() string               { return e.name }
func (e rootEntry) IsDir() bool                { return e.typ.IsDir() }
func (e rootEntry) Type() fs.FileMode          { return e.typ }
func (e rootEntry) Info() (fs.FileInfo, error) { return e.r.Lstat(join(e.dir, e.name)) }
