package vfs

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Limits on names, as Linux has them.
const (
	maxName = 255  // bytes of one element
	maxPath = 4095 // bytes of a whole name
	maxFile = 1 << 36
)

// openFlags are the os.O_* bits that Open knows; any other is refused.
const openFlags = os.O_RDONLY | os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_SYNC | os.O_TRUNC | NoFollow

func accessMode(flag int) int { return flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR) }
func canRead(flag int) bool   { return accessMode(flag) != os.O_WRONLY }
func canWrite(flag int) bool  { return accessMode(flag) != os.O_RDONLY }

// mutates reports whether opening with flag may change the file system, now
// or through the handle.
func mutates(flag int) bool { return canWrite(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0 }

// FollowsLast reports whether opening with flag follows a symlink in the last
// element: not with [NoFollow], and not when the name must not exist.
func FollowsLast(flag int) bool {
	return flag&NoFollow == 0 && !exclusive(flag)
}

// checkOpen refuses flags that no kind supports. O_TRUNC asks for a handle
// that can write: truncating through a read-only one is left undefined by
// POSIX, and slips past whoever looks only at the access mode.
func checkOpen(flag int) syscall.Errno {
	acc := accessMode(flag)
	switch {
	case flag&^openFlags != 0, acc == os.O_WRONLY|os.O_RDWR, flag&os.O_TRUNC != 0 && acc == os.O_RDONLY:
		return syscall.EINVAL
	}
	return 0
}

// checkName accepts exactly the canonical form of an absolute name: no empty,
// "." or ".." element and no trailing slash. The kinds take no other, so a
// name can only mean what it says.
func checkName(name string) syscall.Errno {
	if name == "/" {
		return 0
	}
	if name == "" {
		return syscall.ENOENT
	}
	if name[0] != '/' {
		return syscall.EINVAL
	}
	if len(name) > maxPath {
		return syscall.ENAMETOOLONG
	}
	start := 1
	for i := 1; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			if name[i] == 0 {
				return syscall.EINVAL
			}
			continue
		}
		switch e := name[start:i]; {
		case e == "", e == ".", e == "..":
			return syscall.EINVAL
		case len(e) > maxName:
			return syscall.ENAMETOOLONG
		}
		start = i + 1
	}
	return 0
}

// next splits the first element off rest, which has no leading slash.
func next(rest string) (elem, tail string) {
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[:i], rest[i+1:]
	}
	return rest, ""
}

// split returns the parent of a canonical name other than "/" and its last
// element.
func split(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	if i == 0 {
		return "/", name[1:]
	}
	return name[:i], name[i+1:]
}

// join appends an element to a canonical name.
func join(dir, elem string) string {
	if dir == "/" {
		return "/" + elem
	}
	return dir + "/" + elem
}

// within reports whether name is dir or lies below it.
func within(name, dir string) bool {
	return dir == "/" || name == dir || len(name) > len(dir) && name[len(dir)] == '/' && name[:len(dir)] == dir
}

func pathErr(op, name string, e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: e}
}

func linkErr(op, from, to string, e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: e}
}

func creates(flag int) bool { return flag&os.O_CREATE != 0 }

// exclusive reports whether the name to open must not exist.
func exclusive(flag int) bool { return flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL }

// setDev offers fsys a device number and returns the one it has.
func setDev(fsys FS, d uint64) uint64 {
	if s, ok := fsys.(interface{ setDev(uint64) uint64 }); ok {
		return s.setDev(d)
	}
	return 0
}

const flagNew = os.O_WRONLY | os.O_CREATE | os.O_EXCL
