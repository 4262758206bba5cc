package worker

import (
	"io"
	"io/fs"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// A remoteFile is an open file that the server holds.
type remoteFile struct {
	conn   *conn
	name   string
	handle int
}

var _ vfs.File = (*remoteFile)(nil)

func (f *remoteFile) ask(op fileOp, put func(*encoder)) (*decoder, error) {
	return ask(f.conn, op, f.handle, put)
}

func (f *remoteFile) fail(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// read asks for as many bytes as one answer can carry.
func (f *remoteFile) read(op fileOp, p []byte, put func(*encoder)) (int, error) {
	d, err := f.ask(op, func(e *encoder) {
		e.uint(uint64(min(len(p), maxChunk)))
		if put != nil {
			put(e)
		}
	})
	if err != nil && err != io.EOF {
		return 0, f.fail("read", err)
	}
	n := copy(p, d.bytes())
	if bad := d.end(); bad != nil {
		return n, bad
	}
	return n, err
}

func (f *remoteFile) Read(p []byte) (int, error) { return f.read(opRead, p, nil) }

// ReadAt reads until p is full, as io.ReaderAt demands.
func (f *remoteFile) ReadAt(p []byte, off int64) (n int, err error) {
	for {
		k, err := f.read(opReadAt, p[n:], func(e *encoder) { e.int(off + int64(n)) })
		n += k
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

func (f *remoteFile) write(op fileOp, p []byte, at func(*encoder, int)) (n int, err error) {
	for {
		part := p[n:min(len(p), n+maxChunk)]
		d, err := f.ask(op, func(e *encoder) {
			e.bytes(part)
			if at != nil {
				at(e, n)
			}
		})
		k := min(max(0, d.int32()), len(part)) // an answer without number is 0
		n += k
		if err != nil || n == len(p) || k == 0 {
			return n, f.fail("write", err)
		}
	}
}

func (f *remoteFile) Write(p []byte) (int, error) { return f.write(opWrite, p, nil) }

func (f *remoteFile) WriteAt(p []byte, off int64) (int, error) {
	return f.write(opWriteAt, p, func(e *encoder, n int) { e.int(off + int64(n)) })
}

func (f *remoteFile) Seek(off int64, whence int) (int64, error) {
	d, err := f.ask(opSeek, func(e *encoder) { e.int(off); e.int(int64(whence)) })
	if err != nil {
		return 0, f.fail("seek", err)
	}
	at := d.int()
	return at, d.end()
}

func (f *remoteFile) Close() error {
	_, err := f.ask(opClose, nil)
	return f.fail("close", err)
}

func (f *remoteFile) Stat() (fs.FileInfo, error) {
	d, err := f.ask(opFstat, nil)
	if err != nil {
		return nil, f.fail("stat", err)
	}
	i := d.info()
	return i, d.end()
}

func (f *remoteFile) Truncate(size int64) error {
	_, err := f.ask(opTruncate, func(e *encoder) { e.int(size) })
	return f.fail("truncate", err)
}

// maxEntries is how many entries of a folder one answer carries.
const maxEntries = 512

func (f *remoteFile) ReadDir(n int) (all []fs.DirEntry, err error) {
	for {
		want := maxEntries
		if n > 0 {
			want = min(want, n-len(all))
		}
		d, err := f.ask(opReadDir, func(e *encoder) { e.uint(uint64(want)) })
		if err == io.EOF {
			if n > 0 && len(all) == 0 {
				return nil, io.EOF
			}
			return all, nil
		}
		if err != nil {
			return all, f.fail("readdir", err)
		}
		part := many(d, 4, func() fs.DirEntry { return d.info() })
		if err := d.end(); err != nil {
			return all, err
		}
		if all = append(all, part...); n > 0 && len(all) == n || len(part) == 0 {
			return all, nil
		}
	}
}

// A fileInfo is a FileInfo, and a DirEntry, that came over the wire.
type fileInfo struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
	stat  vfs.Stat
}

func (i *fileInfo) Name() string               { return i.name }
func (i *fileInfo) Size() int64                { return i.size }
func (i *fileInfo) Mode() fs.FileMode          { return i.mode }
func (i *fileInfo) Type() fs.FileMode          { return i.mode.Type() }
func (i *fileInfo) ModTime() time.Time         { return i.mtime }
func (i *fileInfo) IsDir() bool                { return i.mode.IsDir() }
func (i *fileInfo) Sys() any                   { return &i.stat }
func (i *fileInfo) Info() (fs.FileInfo, error) { return i, nil }

// remoteDevs is added to the server's numbers of file systems, which the
// worker's own must not meet.
const remoteDevs = 1 << 20

func (e *encoder) info(fi fs.FileInfo) {
	st, ok := fi.Sys().(*vfs.Stat)
	if !ok {
		st = &vfs.Stat{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
	}
	e.string(fi.Name())
	e.int(fi.Size())
	e.uint(uint64(fi.Mode()))
	e.time(fi.ModTime())
	e.uint(st.Dev + remoteDevs)
	e.uint(st.Ino)
	e.uint(st.Nlink)
	e.time(st.Atime)
	e.time(st.Ctime)
}

func (d *decoder) info() *fileInfo {
	return &fileInfo{
		name: d.string(), size: d.int(), mode: fs.FileMode(d.uint()), mtime: d.time(),
		stat: vfs.Stat{Dev: d.uint(), Ino: d.uint(), Nlink: d.uint(), Atime: d.time(), Ctime: d.time()},
	}
}
