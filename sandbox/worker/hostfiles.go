package worker

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"sync"
	"syscall"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// maxHandles is how many files one worker may have open. Lines have limits of
// their own below it.
const maxHandles = 8192

// hostFiles carries out what a worker asks for on the session's files. The
// file systems are made for hostile names; what is checked here is the rest.
type hostFiles struct {
	points []vfs.MountPoint
	ns     *vfs.Mount // the same, to see where links lead
	rules  rules

	mu   sync.Mutex
	open map[int]vfs.File // guarded by mu
	next int              // guarded by mu
}

func newHostFiles(points []vfs.MountPoint, r rules) (*hostFiles, error) {
	h := &hostFiles{rules: r, open: map[int]vfs.File{}}
	return h, h.bind(points)
}

// bind sets the file systems. No line runs yet.
func (h *hostFiles) bind(points []vfs.MountPoint) (err error) {
	h.points = nil
	for _, p := range points {
		if p.Mode == vfs.ReadOnlyMount { // a worker that puts this on is not enough
			p.FS = vfs.NewReadOnly(p.FS)
		}
		h.points = append(h.points, p)
	}
	h.ns, err = vfs.NewMount(h.points...)
	return err
}

// answer carries out one operation and writes its answer. The error says that
// the question made no sense.
func (h *hostFiles) answer(d *decoder, e *encoder) error {
	op := fileOp(d.byte())
	of := d.small(math.MaxInt32)
	if op < opRead {
		if of >= len(h.points) {
			d.fail("a file system that is not there")
		}
		if d.err != nil {
			return d.err
		}
		return h.named(of, op, d, e)
	}
	if d.err != nil {
		return d.err
	}
	return h.opened(of, op, d, e)
}

// file returns an open file, for the last time when it is to be closed.
func (h *hostFiles) file(handle int, op fileOp) vfs.File {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.open[handle]
	if op == opClose {
		delete(h.open, handle)
	}
	return f
}

func (e *encoder) failed(err error) {
	if err == io.EOF {
		e.byte(fileEOF)
		return
	}
	no := syscall.EIO
	errors.As(err, &no)
	e.byte(fileFailed)
	e.uint(uint64(no))
}

func (e *encoder) result(err error) {
	if err != nil {
		e.failed(err)
		return
	}
	e.byte(fileDone)
}

// named does an operation by name. What the operation needs is read before it
// is done, so that half a message does nothing.
func (h *hostFiles) named(of int, op fileOp, d *decoder, e *encoder) error {
	fsys, name, to := h.points[of].FS, d.string(), ""
	var do func()
	switch op {
	case opOpen:
		flag, perm := int(d.int()), fs.FileMode(d.uint())
		do = func() { h.openFile(of, name, flag, perm, e) }
	case opStat, opLstat:
		do = func() {
			stat := fsys.Stat
			if op == opLstat {
				stat = fsys.Lstat
			}
			fi, err := stat(name)
			e.result(err)
			if err == nil {
				e.info(fi)
			}
		}
	case opReadlink:
		do = func() {
			target, err := fsys.Readlink(name)
			e.result(err)
			if err == nil {
				e.string(target)
			}
		}
	case opMkdir:
		perm := fs.FileMode(d.uint())
		do = func() { e.result(fsys.Mkdir(name, perm)) }
	case opRemove:
		do = func() { e.result(fsys.Remove(name)) }
	case opRmdir:
		do = func() { e.result(fsys.Rmdir(name)) }
	case opRename, opLink, opSymlink:
		to = d.string()
		do = func() {
			f := map[fileOp]func(string, string) error{opRename: fsys.Rename, opLink: fsys.Link, opSymlink: fsys.Symlink}[op]
			e.result(f(name, to))
		}
	case opChmod:
		mode := fs.FileMode(d.uint())
		do = func() { e.result(fsys.Chmod(name, mode)) }
	case opChtimes:
		atime, mtime := d.time(), d.time()
		do = func() { e.result(fsys.Chtimes(name, atime, mtime)) }
	default:
		d.fail("an unknown operation on a file system")
	}
	if err := d.end(); err != nil {
		return err
	}
	if op != opOpen {
		if err := h.may(op, of, name, to); err != nil {
			e.failed(err)
			return nil
		}
	}
	do()
	return nil
}

func (h *hostFiles) openFile(of int, name string, flag int, perm fs.FileMode, e *encoder) {
	h.mu.Lock()
	full := len(h.open) >= maxHandles
	h.mu.Unlock()
	if full {
		e.failed(syscall.EMFILE)
		return
	}
	f, err := h.openAt(of, name, flag, perm)
	e.result(err)
	if err != nil {
		return
	}
	h.mu.Lock()
	h.next = (h.next + 1) & math.MaxInt32
	for h.open[h.next] != nil {
		h.next = (h.next + 1) & math.MaxInt32
	}
	h.open[h.next] = f
	e.int(int64(h.next))
	h.mu.Unlock()
}

// opened does an operation on an open file.
func (h *hostFiles) opened(handle int, op fileOp, d *decoder, e *encoder) error {
	var f vfs.File
	var do func()
	switch op {
	case opRead, opReadAt:
		n, off := d.small(maxChunk), int64(0)
		if op == opReadAt {
			off = d.int()
		}
		do = func() {
			p := make([]byte, n)
			var err error
			if op == opRead {
				n, err = f.Read(p)
			} else {
				n, err = f.ReadAt(p, off)
			}
			if err != nil && err != io.EOF && n > 0 {
				err = nil // the next one will say it again
			}
			e.result(err)
			if err == nil || err == io.EOF {
				e.bytes(p[:max(0, n)])
			}
		}
	case opWrite, opWriteAt:
		p, off := d.bytes(), int64(0)
		if op == opWriteAt {
			off = d.int()
		}
		do = func() {
			var n int
			var err error
			if op == opWrite {
				n, err = f.Write(p)
			} else {
				n, err = f.WriteAt(p, off)
			}
			e.result(err)
			e.int(int64(n))
		}
	case opSeek:
		off, whence := d.int(), d.int32()
		do = func() {
			at, err := f.Seek(off, whence)
			e.result(err)
			if err == nil {
				e.int(at)
			}
		}
	case opClose:
		do = func() { e.result(f.Close()) }
	case opFstat:
		do = func() {
			fi, err := f.Stat()
			e.result(err)
			if err == nil {
				e.info(fi)
			}
		}
	case opTruncate:
		size := d.int()
		do = func() { e.result(f.Truncate(size)) }
	case opReadDir:
		n := max(1, d.small(maxEntries)) // fewer would mean all
		do = func() { readDir(f, n, e) }
	default:
		d.fail("an unknown operation on a file")
	}
	if err := d.end(); err != nil {
		return err
	}
	if f = h.file(handle, op); f == nil {
		e.failed(syscall.EBADF)
		return nil
	}
	do()
	return nil
}

func readDir(f vfs.File, n int, e *encoder) {
	ents, err := f.ReadDir(n)
	e.result(err)
	if err != nil {
		return
	}
	list(e, ents, func(ent fs.DirEntry) {
		fi, err := ent.Info()
		if err != nil { // gone since it was listed: its name and kind are known
			fi = &fileInfo{name: ent.Name(), mode: ent.Type()}
		}
		e.info(fi)
	})
}

// closeAll closes what a worker has left open.
func (h *hostFiles) closeAll() { closeFiles(h.takeAll()) }

// takeAll returns the open files, which the worker has no more.
func (h *hostFiles) takeAll() map[int]vfs.File {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := h.open
	h.open = map[int]vfs.File{}
	return left
}

func closeFiles(left map[int]vfs.File) {
	for _, f := range left {
		_ = f.Close() // its writes were answered one by one
	}
}
