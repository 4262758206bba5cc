package wasi

import (
	"io/fs"
	"syscall"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// Kinds of file in preview 1, which has none for pipes.
const (
	typeUnknown = 0
	typeBlock   = 1
	typeChar    = 2
	typeDir     = 3
	typeRegular = 4
	typeSocket  = 6
	typeSymlink = 7
)

func typeOf(m fs.FileMode) uint8 {
	switch {
	case m.IsRegular():
		return typeRegular
	case m.IsDir():
		return typeDir
	case m&fs.ModeSymlink != 0:
		return typeSymlink
	case m&fs.ModeCharDevice != 0:
		return typeChar
	case m&fs.ModeDevice != 0:
		return typeBlock
	case m&fs.ModeSocket != 0:
		return typeSocket
	}
	return typeUnknown
}

// Unix st_mode bits, which the box reads from the padding of a filestat.
const (
	sFIFO  = 0o010000
	sChar  = 0o020000
	sDir   = 0o040000
	sBlock = 0o060000
	sReg   = 0o100000
	sLink  = 0o120000
	sSock  = 0o140000
)

func unixMode(m fs.FileMode) uint32 {
	u := uint32(m.Perm())
	for _, b := range []struct {
		mode fs.FileMode
		bit  uint32
	}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}} {
		if m&b.mode != 0 {
			u |= b.bit
		}
	}
	switch typeOf(m) {
	case typeRegular:
		return u | sReg
	case typeDir:
		return u | sDir
	case typeSymlink:
		return u | sLink
	case typeChar:
		return u | sChar
	case typeBlock:
		return u | sBlock
	case typeSocket:
		return u | sSock
	}
	return u | sFIFO
}

// fileMode is the inverse of unixMode for the bits that chmod changes.
func fileMode(u uint32) fs.FileMode {
	m := fs.FileMode(u & 0o777)
	if u&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if u&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if u&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// putStat writes a filestat.
func (c *call) putStat(ptr uint32, fi fs.FileInfo) errno {
	b, ok := c.mem.bytes(ptr, 64)
	if !ok {
		return eFAULT
	}
	clear(b)
	st := vfs.Stat{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
	switch s := fi.Sys().(type) {
	case *vfs.Stat:
		st = *s
	case vfs.Stat:
		st = s
	}
	le.PutUint64(b, st.Dev)
	le.PutUint64(b[8:], st.Ino)
	b[16] = typeOf(fi.Mode())
	le.PutUint32(b[20:], unixMode(fi.Mode()))
	le.PutUint64(b[24:], st.Nlink)
	le.PutUint64(b[32:], uint64(fi.Size()))
	le.PutUint64(b[40:], nanos(st.Atime))
	le.PutUint64(b[48:], nanos(fi.ModTime()))
	le.PutUint64(b[56:], nanos(st.Ctime))
	return 0
}

// nanos is a timestamp, which cannot say a time before 1970.
func nanos(t time.Time) uint64 {
	if t.Unix() < 0 {
		return 0
	}
	return uint64(t.UnixNano())
}

func fdFilestatGet(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	var fi fs.FileInfo
	var err error
	switch {
	case d.file.f != nil:
		fi, err = d.file.f.Stat()
	case d.dir:
		fi, err = c.cfg.FS.Stat(d.path)
	default:
		return c.putStreamStat(c.u32(1), d)
	}
	if err != nil {
		return c.tell(err)
	}
	return c.putStat(c.u32(1), fi)
}

// putStreamStat describes a pipe. Each has a number of its own, or programs
// would take their input for their output.
func (c *call) putStreamStat(ptr uint32, d *descriptor) errno {
	b, ok := c.mem.bytes(ptr, 64)
	if !ok {
		return eFAULT
	}
	clear(b)
	le.PutUint64(b[8:], d.file.ino)
	le.PutUint32(b[20:], sFIFO|0o600)
	le.PutUint64(b[24:], 1)
	return 0
}

func fdFilestatSetSize(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	if d.file.f == nil || int64(c.p[1]) < 0 {
		return eINVAL
	}
	return c.tell(d.file.f.Truncate(int64(c.p[1])))
}

func fdFilestatSetTimes(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	at, mt, e := c.times(c.p[1], c.p[2], c.u32(3))
	if e != 0 {
		return e
	}
	if err := c.still(d); err != nil {
		return c.tell(err)
	}
	return c.tell(c.cfg.FS.Chtimes(d.path, at, mt))
}

// still checks that what d has open is found under the name that it was
// opened with. A file system changes permissions and times by name, and
// another file can have that name by now.
func (c *call) still(d *descriptor) error {
	if d.path == "" {
		return syscall.ENOTSUP
	}
	if d.file.f == nil { // a folder that was given
		return nil
	}
	open, err := d.file.f.Stat()
	if err != nil {
		return err
	}
	named, err := c.cfg.FS.Stat(d.path)
	if err == nil && !same(open, named) {
		err = syscall.ENOTSUP
	}
	return err
}

// same reports whether a and b are of one file. A file system without
// numbers does not say.
func same(a, b fs.FileInfo) bool {
	s, ok := a.Sys().(*vfs.Stat)
	t, also := b.Sys().(*vfs.Stat)
	return ok && also && s.Ino != 0 && s.Ino == t.Ino && s.Dev == t.Dev
}

// times reads the times and flags of the two calls that set times.
func (c *call) times(atim, mtim uint64, flags uint32) (at, mt time.Time, e errno) {
	const aset, anow, mset, mnow = 1, 2, 4, 8
	if flags&^15 != 0 || flags&(aset|anow) == aset|anow || flags&(mset|mnow) == mset|mnow {
		return at, mt, eINVAL
	}
	now := time.Now()
	switch {
	case flags&aset != 0:
		at = time.Unix(0, int64(atim))
	case flags&anow != 0:
		at = now
	}
	switch {
	case flags&mset != 0:
		mt = time.Unix(0, int64(mtim))
	case flags&mnow != 0:
		mt = now
	}
	return at, mt, 0
}
