package vfs

import (
	"crypto/rand"
	"io"
	"io/fs"
	"syscall"
	"time"
)

// DevConfig configures [NewDev].
type DevConfig struct {
	Random io.Reader // what random and urandom give; nil means crypto/rand. Must be safe for concurrent use.
}

// Dev is a folder of the devices null, zero, full, random and urandom. They
// can be read and written; the folder itself cannot be changed (EROFS).
type Dev struct {
	ReadOnly
	random io.Reader
}

// NewDev returns a Dev.
func NewDev(c DevConfig) (*Dev, error) {
	files := map[string]string{"null": "", "zero": "", "full": "", "random": "", "urandom": ""}
	s, err := NewStatic(files, 0o666)
	if err != nil {
		return nil, err
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	return &Dev{ReadOnly: *s, random: c.Random}, nil
}

var _ FS = (*Dev)(nil)

// asDevice turns the description of a placeholder into that of its device.
func asDevice(fi fs.FileInfo) fs.FileInfo {
	if fi.IsDir() {
		return fi
	}
	i := infoOf(fi)
	i.mode = i.mode.Perm() | fs.ModeDevice | fs.ModeCharDevice
	return i
}

// Stat describes a device.
func (d *Dev) Stat(name string) (fs.FileInfo, error) { return d.Lstat(name) }

// Lstat describes a device.
func (d *Dev) Lstat(name string) (fs.FileInfo, error) {
	fi, err := d.ReadOnly.Lstat(name)
	if err != nil {
		return nil, err
	}
	return asDevice(fi), nil
}

// Open opens a device, also with O_CREATE and O_TRUNC, which do nothing.
func (d *Dev) Open(name string, flag int, perm fs.FileMode) (File, error) {
	fi, err := d.Lstat(name)
	if err != nil || fi.IsDir() {
		f, err := d.ReadOnly.Open(name, flag, perm)
		if err != nil {
			return nil, err
		}
		return &devDir{f}, nil
	}
	e := checkOpen(flag)
	if e == 0 && exclusive(flag) {
		e = syscall.EEXIST
	}
	if e != 0 {
		return nil, pathErr("open", name, e)
	}
	return &device{d: d, fi: fi, kind: fi.Name(), name: name, flag: flag}, nil
}

// device is an open device. It has no position: reads and writes at an offset
// are like those without.
type device struct {
	d          *Dev
	fi         fs.FileInfo
	kind, name string
	flag       int
}

func (v *device) setName(name string) { v.name = name }

func (v *device) Read(p []byte) (int, error) {
	switch {
	case !canRead(v.flag):
		return 0, pathErr("read", v.name, syscall.EBADF)
	case v.kind == "null":
		return 0, io.EOF
	case v.kind == "random", v.kind == "urandom":
		n, err := io.ReadFull(v.d.random, p)
		return n, renamed("read", v.name, err)
	}
	clear(p)
	return len(p), nil
}

func (v *device) Write(p []byte) (int, error) {
	switch {
	case !canWrite(v.flag):
		return 0, pathErr("write", v.name, syscall.EBADF)
	case v.kind == "full" && len(p) > 0:
		return 0, pathErr("write", v.name, syscall.ENOSPC)
	}
	return len(p), nil
}

func (v *device) ReadAt(p []byte, _ int64) (int, error)  { return v.Read(p) }
func (v *device) WriteAt(p []byte, _ int64) (int, error) { return v.Write(p) }
func (v *device) Seek(int64, int) (int64, error)         { return 0, nil }
func (v *device) Close() error                           { return nil }
func (v *device) Stat() (fs.FileInfo, error)             { return v.fi, nil }
func (v *device) Truncate(int64) error                   { return pathErr("truncate", v.name, syscall.EINVAL) }
func (v *device) ReadDir(int) ([]fs.DirEntry, error) {
	return nil, pathErr("readdir", v.name, syscall.ENOTDIR)
}

// devDir lists devices as such.
type devDir struct{ File }

func (d *devDir) setName(name string) {
	if n, ok := d.File.(interface{ setName(string) }); ok {
		n.setName(name)
	}
}

func (d *devDir) ReadDir(n int) ([]fs.DirEntry, error) {
	ents, err := d.File.ReadDir(n)
	for i, e := range ents {
		fi, err := e.Info()
		if err != nil {
			return nil, err
		}
		ents[i] = fs.FileInfoToDirEntry(asDevice(fi))
	}
	return ents, err
}

// Chtimes does nothing to a device, as touching one succeeds.
func (d *Dev) Chtimes(name string, _, _ time.Time) error {
	_, err := d.Lstat(name)
	return renamed("chtimes", name, err)
}
