package worker

import (
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// A remoteFS is a file system of the session as a worker sees it: every
// operation is a request, and the server follows the same rules for names as
// any part of a vfs.Mount.
type remoteFS struct {
	conn  *conn
	mount int
}

var _ vfs.FS = (*remoteFS)(nil)

// Operations on file systems, by name, and on open files.
type fileOp byte

const (
	opOpen fileOp = iota + 1
	opStat
	opLstat
	opReadlink
	opMkdir
	opRemove
	opRmdir
	opRename
	opLink
	opSymlink
	opChmod
	opChtimes

	opRead
	opWrite
	opReadAt
	opWriteAt
	opSeek
	opClose
	opFstat
	opReadDir
	opTruncate
)

// How the answer to an operation begins: done, at the end of the file, or
// failed, with an errno.
const (
	fileDone byte = iota
	fileEOF
	fileFailed
)

// ask sends an operation. The decoder is at what follows the state; err is
// io.EOF or an errno.
func ask(c *conn, op fileOp, of int, put func(*encoder)) (*decoder, error) {
	e := newEncoder(128)
	e.byte(byte(op))
	e.uint(uint64(of))
	if put != nil {
		put(e)
	}
	body, err := c.call(context.Background(), kindFile, e)
	if err != nil {
		return &decoder{err: err}, syscall.EIO
	}
	d := &decoder{b: body}
	switch d.byte() {
	case fileDone:
	case fileEOF:
		return d, io.EOF
	default:
		return d, syscall.Errno(d.uint())
	}
	return d, nil
}

// byName is an operation that answers nothing.
func (r *remoteFS) byName(op fileOp, opName, name string, put func(*encoder)) error {
	_, err := ask(r.conn, op, r.mount, func(e *encoder) {
		e.string(name)
		if put != nil {
			put(e)
		}
	})
	if err != nil {
		return &fs.PathError{Op: opName, Path: name, Err: err}
	}
	return nil
}

func (r *remoteFS) twoNames(op fileOp, opName, from, to string) error {
	_, err := ask(r.conn, op, r.mount, func(e *encoder) { e.string(from); e.string(to) })
	if err != nil {
		return &os.LinkError{Op: opName, Old: from, New: to, Err: err}
	}
	return nil
}

// Open implements [vfs.FS].
func (r *remoteFS) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	d, err := ask(r.conn, opOpen, r.mount, func(e *encoder) { e.string(name); e.int(int64(flag)); e.uint(uint64(perm)) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := &remoteFile{conn: r.conn, name: name, handle: d.int32()}
	return f, d.end()
}

func (r *remoteFS) stat(op fileOp, opName, name string) (fs.FileInfo, error) {
	d, err := ask(r.conn, op, r.mount, func(e *encoder) { e.string(name) })
	if err != nil {
		return nil, &fs.PathError{Op: opName, Path: name, Err: err}
	}
	i := d.info()
	return i, d.end()
}

// Stat implements [vfs.FS].
func (r *remoteFS) Stat(name string) (fs.FileInfo, error) { return r.stat(opStat, "stat", name) }

// Lstat implements [vfs.FS].
func (r *remoteFS) Lstat(name string) (fs.FileInfo, error) { return r.stat(opLstat, "lstat", name) }

// Readlink implements [vfs.FS].
func (r *remoteFS) Readlink(name string) (string, error) {
	d, err := ask(r.conn, opReadlink, r.mount, func(e *encoder) { e.string(name) })
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	target := d.string()
	return target, d.end()
}

// Mkdir implements [vfs.FS].
func (r *remoteFS) Mkdir(name string, perm fs.FileMode) error {
	return r.byName(opMkdir, "mkdir", name, func(e *encoder) { e.uint(uint64(perm)) })
}

// Remove implements [vfs.FS].
func (r *remoteFS) Remove(name string) error { return r.byName(opRemove, "remove", name, nil) }

// Rmdir implements [vfs.FS].
func (r *remoteFS) Rmdir(name string) error { return r.byName(opRmdir, "rmdir", name, nil) }

// Rename implements [vfs.FS].
func (r *remoteFS) Rename(from, to string) error { return r.twoNames(opRename, "rename", from, to) }

// Link implements [vfs.FS].
func (r *remoteFS) Link(from, to string) error { return r.twoNames(opLink, "link", from, to) }

// Symlink implements [vfs.FS].
func (r *remoteFS) Symlink(target, name string) error {
	return r.twoNames(opSymlink, "symlink", target, name)
}

// Chmod implements [vfs.FS].
func (r *remoteFS) Chmod(name string, mode fs.FileMode) error {
	return r.byName(opChmod, "chmod", name, func(e *encoder) { e.uint(uint64(mode)) })
}

// Chtimes implements [vfs.FS].
func (r *remoteFS) Chtimes(name string, atime, mtime time.Time) error {
	return r.byName(opChtimes, "chtimes", name, func(e *encoder) { e.time(atime); e.time(mtime) })
}
