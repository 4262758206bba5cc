package vfs

import (
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Root is a folder of the host, reached only through [os.Root].
//
// os.Root keeps every access inside the folder but follows symlinks there. A
// Root follows none: it walks from folder to folder, each opened from the
// handle of the one before, and compares what it opened with what it looked
// at. So whatever the host or another program swaps meanwhile, what is opened
// is the object under exactly the name that was given, or nothing.
//
// Regular files, folders and symlinks can be used; anything else (device,
// pipe, socket) can be seen but is EPERM to all else, and never opened.
// Errors name the sandbox's path, never the host's.
//
// A symlink that would lead out of the folder when the host follows it is not
// made, linked or moved into place: EPERM. Set-id bits are EPERM too.
//
// It needs a toolchain with the os.Root fixes: Go 1.26.5 or 1.25.12.
type Root struct {
	top  *hostDir
	dev  atomic.Uint64
	mu   sync.Mutex // held by what could carry a symlink out: see climbs
	dirs dirCache

	devMu sync.Mutex
	devs  map[uint64]uint64 // host device number to a small one
}

// OpenRoot opens the host folder dir. Errors of OpenRoot alone name it, being
// for the operator.
func OpenRoot(dir string) (*Root, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Root{top: &hostDir{Root: r, refs: 1}, devs: map[uint64]uint64{}}, nil
}

var _ FS = (*Root)(nil)

// Close closes the folder; open files stay usable.
func (r *Root) Close() error {
	r.dirs.clear()
	return renamed("close", "/", r.top.Root.Close())
}

func (r *Root) setDev(d uint64) uint64 {
	r.dev.CompareAndSwap(0, d)
	return r.dev.Load()
}

// parent opens the folder that holds name. The root is "." in itself.
func (r *Root) parent(name string) (dir dirHandle, base string, e syscall.Errno) {
	if e := checkName(name); e != 0 {
		return dir, "", e
	}
	if name == "/" {
		return dirHandle{r.top, r}, ".", 0
	}
	d, base := split(name)
	if !hostName(base) {
		return dir, "", syscall.ENOENT
	}
	dir, e = r.dir(d)
	return dir, base, e
}

// usable refuses what is neither a regular file nor a folder nor a symlink.
func usable(fi fs.FileInfo) syscall.Errno {
	if t := fi.Mode().Type(); t != 0 && t != fs.ModeDir && t != fs.ModeSymlink {
		return syscall.EPERM
	}
	return 0
}

// look describes base in dir, if it is of a kind that may be used.
func look(dir dirHandle, base string) (fs.FileInfo, syscall.Errno) {
	fi, err := dir.Lstat(base)
	if err != nil {
		return nil, errnoOf(err)
	}
	return fi, usable(fi)
}

// info describes a host file without saying anything of the host.
func (r *Root) info(fi fs.FileInfo, name string) *info {
	i := &info{name: baseName(name), size: fi.Size(), mode: fi.Mode(), mtime: fi.ModTime()}
	host := hostStat(fi, name)
	r.devMu.Lock()
	small, ok := r.devs[host.Dev]
	if !ok {
		small = uint64(len(r.devs))
		r.devs[host.Dev] = small
	}
	r.devMu.Unlock()
	i.st = host
	i.st.Dev = r.dev.Load()<<8 | small&0xff
	if !i.mode.IsRegular() && !i.mode.IsDir() && i.mode&fs.ModeSymlink == 0 {
		i.size = 0
	}
	return i
}

// Lstat describes name itself.
func (r *Root) Lstat(name string) (fs.FileInfo, error) {
	dir, base, e := r.parent(name)
	if e != 0 {
		return nil, pathErr("lstat", name, e)
	}
	defer dir.done()
	fi, err := dir.Lstat(base)
	if err != nil {
		return nil, renamed("lstat", name, err)
	}
	return r.info(fi, name), nil
}

// Stat describes name; a symlink there is ELOOP, as nothing is followed.
func (r *Root) Stat(name string) (fs.FileInfo, error) {
	fi, err := r.Lstat(name)
	if err != nil {
		return nil, renamed("stat", name, err)
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return nil, pathErr("stat", name, syscall.ELOOP)
	}
	return fi, nil
}

// Readlink returns the text of a symlink; EINVAL when name is none.
func (r *Root) Readlink(name string) (string, error) {
	dir, base, e := r.parent(name)
	if e != 0 {
		return "", pathErr("readlink", name, e)
	}
	defer dir.done()
	fi, e := look(dir, base)
	if e == 0 && fi.Mode()&fs.ModeSymlink == 0 {
		e = syscall.EINVAL
	}
	if e != 0 {
		return "", pathErr("readlink", name, e)
	}
	target, err := dir.Readlink(base)
	return target, renamed("readlink", name, err)
}

// Mkdir makes a folder; the process's umask applies.
func (r *Root) Mkdir(name string, perm fs.FileMode) error {
	dir, base, e := r.parent(name)
	if e != 0 {
		return pathErr("mkdir", name, e)
	}
	defer dir.done()
	if base == "." {
		return pathErr("mkdir", name, syscall.EEXIST)
	}
	return renamed("mkdir", name, dir.Mkdir(base, perm&fs.ModePerm))
}

// Remove removes a file or a symlink.
func (r *Root) Remove(name string) error {
	return pathErr("remove", name, r.remove(name, false))
}

// Rmdir removes an empty folder.
func (r *Root) Rmdir(name string) error {
	return pathErr("rmdir", name, r.remove(name, true))
}

func (r *Root) remove(name string, wantDir bool) syscall.Errno {
	dir, base, e := r.parent(name)
	if e != 0 {
		return e
	}
	defer dir.done()
	fi, e := look(dir, base)
	switch {
	case e != 0:
		return e
	case fi.IsDir() && !wantDir:
		return syscall.EISDIR
	case !fi.IsDir() && wantDir:
		return syscall.ENOTDIR
	case base == ".":
		return syscall.EBUSY
	}
	return errnoOf(dir.Root.Remove(base))
}

// Chmod sets the permission bits of a file or folder.
func (r *Root) Chmod(name string, mode fs.FileMode) error {
	return pathErr("chmod", name, r.alter(name, func(dir dirHandle, base string, fi fs.FileInfo) syscall.Errno {
		switch {
		case fi.Mode()&fs.ModeSymlink != 0:
			return syscall.EOPNOTSUPP
		case mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
			return syscall.EPERM // a set-id file would run on the host as its owner for anyone there
		}
		return chmodAt(dir.Root, base, mode&(fs.ModePerm|fs.ModeSticky))
	}))
}

// Chtimes sets times; a zero one stays as it is.
func (r *Root) Chtimes(name string, atime, mtime time.Time) error {
	return pathErr("chtimes", name, r.alter(name, func(dir dirHandle, base string, fi fs.FileInfo) syscall.Errno {
		if atime.IsZero() {
			atime = hostStat(fi, name).Atime
		}
		if mtime.IsZero() {
			mtime = fi.ModTime()
		}
		return chtimesAt(dir.Root, base, atime, mtime)
	}))
}

func (r *Root) alter(name string, f func(dirHandle, string, fs.FileInfo) syscall.Errno) syscall.Errno {
	dir, base, e := r.parent(name)
	if e != 0 {
		return e
	}
	defer dir.done()
	fi, e := look(dir, base)
	if e != 0 {
		return e
	}
	return f(dir, base, fi)
}
