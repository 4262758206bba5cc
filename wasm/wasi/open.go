package wasi

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/sandbox/vfs"
)

const (
	oflagCreate    = 1
	oflagDirectory = 2
	oflagExcl      = 4
	oflagTrunc     = 8
)

func pathOpen(c *call) errno {
	perm := c.createMode(0o666)
	n, e := c.at(c.u32(0), c.u32(2), c.u32(3))
	if e != 0 {
		return e
	}
	oflags, rights, inherit, flags := c.u32(4), c.p[5], c.p[6], c.u32(7)
	follow := c.u32(1)&lookupFollow != 0
	if oflags&^15 != 0 || flags&^allFlags != 0 || oflags&oflagDirectory != 0 && oflags&oflagCreate != 0 {
		return eINVAL
	}
	if oflags&oflagTrunc != 0 {
		// Only a right that was given up counts: Go opens folders for reading
		// without this one, and truncates files in them.
		if parent, _ := c.get(c.u32(0)); parent.dropped&rightPathSetSize != 0 {
			return eNOTCAPABLE
		}
	}
	if _, ok := c.mem.bytes(c.u32(8), 4); !ok { // before there is anything to undo
		return eFAULT
	}
	if c.full() {
		return eMFILE
	}
	wantDir := oflags&oflagDirectory != 0 || n.folder
	d, err := c.openOwn(n.path, follow, wantDir)
	if d == nil && err == nil {
		d, err = c.openFile(n, openFlag(oflags, rights, flags, follow, wantDir), perm, wantDir)
	}
	if err == nil && d.dir && rights&rightWrite != 0 {
		d.file.release()
		err = syscall.EISDIR
	}
	if err != nil {
		return c.tell(err)
	}
	d.flags, d.opened = uint16(flags), flags&flagAppend != 0
	d.rights, d.inherit = rights&allRights, inherit&allRights
	if d.dir {
		d.rights &= dirRights
	} else {
		d.rights &= fileRights
		d.inherit = 0
	}
	num, e := c.add(d)
	if e != 0 {
		d.file.release()
		return e
	}
	return c.mem.put32(c.u32(8), num)
}

// openFlag translates the flags of path_open to those of vfs.FS.Open.
func openFlag(oflags uint32, rights uint64, flags uint32, follow, wantDir bool) int {
	write := rights&(rightWrite|rightAllocate|rightSetSize|rightDatasync) != 0 && rights&rightWrite != 0
	read := rights&(rightRead|rightReaddir) != 0
	f := os.O_RDONLY
	switch {
	case wantDir:
	case write && read, !write && oflags&oflagTrunc != 0: // truncating needs a handle that can write
		f = os.O_RDWR
	case write:
		f = os.O_WRONLY
	}
	for _, o := range []struct {
		on  bool
		bit int
	}{
		{oflags&oflagCreate != 0, os.O_CREATE},
		{oflags&oflagExcl != 0, os.O_EXCL},
		{oflags&oflagTrunc != 0 && !wantDir, os.O_TRUNC},
		{flags&flagAppend != 0 && !wantDir, os.O_APPEND},
		{!follow, vfs.NoFollow},
	} {
		if o.on {
			f |= o.bit
		}
	}
	return f
}

func (c *call) openFile(n name, flag int, perm os.FileMode, wantDir bool) (*descriptor, error) {
	if wantDir && flag&os.O_CREATE != 0 { // open("x/", O_CREAT)
		return nil, syscall.EISDIR
	}
	f, err := c.cfg.FS.Open(n.path, flag, perm)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && wantDir && !fi.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &descriptor{file: newFile(f), path: n.path, dir: fi.IsDir()}, nil
}

// own returns the descriptor that a name of /dev means: a program that opens
// /dev/stdin wants its own.
func (j *Job) own(p string) *descriptor {
	s, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return nil
	}
	n := -1
	switch s {
	case "stdin":
		n = 0
	case "stdout":
		n = 1
	case "stderr":
		n = 2
	default:
		if s, ok = strings.CutPrefix(s, "fd/"); ok {
			if k, err := strconv.ParseUint(s, 10, 16); err == nil && strconv.FormatUint(k, 10) == s {
				n = int(k)
			}
		}
	}
	if n < 0 {
		return nil
	}
	d, e := j.get(uint32(n))
	if e != 0 {
		return nil
	}
	return d
}

// openOwn opens one of the job's own descriptors by its name in /dev. It
// returns nothing when p is no such name.
func (c *call) openOwn(p string, follow, wantDir bool) (*descriptor, error) {
	d := c.own(p)
	switch {
	case d == nil:
		return nil, nil
	case !follow:
		return nil, syscall.ELOOP // they are links
	case wantDir && !d.dir:
		return nil, syscall.ENOTDIR
	}
	d.file.refs.Add(1)
	return &descriptor{file: d.file, path: d.path, dir: d.dir}, nil
}

// reopen replaces a file that the file system appends to by one that it does
// not, at the same position.
func (c *call) reopen(d *descriptor) error {
	if d.file.f == nil || d.path == "" {
		return syscall.ENOTSUP
	}
	mode := os.O_WRONLY
	if d.rights&rightRead != 0 {
		mode = os.O_RDWR
	}
	old, err := d.file.f.Stat()
	if err != nil {
		return err
	}
	pos, err := d.file.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	f, err := c.cfg.FS.Open(d.path, mode|vfs.NoFollow, 0)
	if err != nil {
		return err
	}
	now, err := f.Stat()
	if err == nil && !same(now, old) {
		err = syscall.ENOTSUP // another file has that name by now
	}
	if err == nil {
		_, err = f.Seek(pos, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return err
	}
	d.file.release()
	d.file, d.opened = newFile(f), false
	return nil
}
