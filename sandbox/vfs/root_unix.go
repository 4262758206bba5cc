//go:build unix

package vfs

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The operations that os.Root has only with symlinks followed, or not between
// two folders, are done here on handles that came from os.Root, with single
// names and without following.

const nonblock = syscall.O_NONBLOCK

// keepDirs is how many folders a Root keeps open.
const keepDirs = 64

// hostName reports whether elem is one name to the host as well.
func hostName(elem string) bool { return strings.IndexByte(elem, 0) < 0 }

func relativeTarget(target string) bool { return !strings.HasPrefix(target, "/") }

// withFD calls f with the descriptor of dir.
func withFD(dir *os.Root, f func(fd int) error) syscall.Errno {
	h, err := dir.Open(".")
	if err != nil {
		return errnoOf(err)
	}
	defer h.Close()
	c, err := h.SyscallConn()
	if err != nil {
		return errnoOf(err)
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return errnoOf(err)
	}
	return errnoOf(inner)
}

func renameAt(fromDir *os.Root, fromBase string, toDir *os.Root, toBase string, _ *os.Root, _, _ string) syscall.Errno {
	return withFD(fromDir, func(a int) error {
		if e := withFD(toDir, func(b int) error { return unix.Renameat(a, fromBase, b, toBase) }); e != 0 {
			return e
		}
		return nil
	})
}

func linkAt(fromDir *os.Root, fromBase string, toDir *os.Root, toBase string, _ *os.Root, _, _ string) syscall.Errno {
	return withFD(fromDir, func(a int) error {
		if e := withFD(toDir, func(b int) error { return unix.Linkat(a, fromBase, b, toBase, 0) }); e != 0 {
			return e
		}
		return nil
	})
}

func chmodAt(dir *os.Root, base string, mode fs.FileMode) syscall.Errno {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSticky != 0 {
		bits |= unix.S_ISVTX
	}
	e := withFD(dir, func(fd int) error { return unix.Fchmodat(fd, base, bits, unix.AT_SYMLINK_NOFOLLOW) })
	if e != syscall.EOPNOTSUPP && e != syscall.ENOTSUP && e != syscall.ENOSYS {
		return e
	}
	// An older Linux cannot do it by name without following: go by handle.
	f, _, e := openAt(dir, base, os.O_RDONLY, 0)
	if e == errSwapped {
		e = syscall.ELOOP
	}
	if e != 0 {
		return e
	}
	defer f.Close()
	return errnoOf(f.Chmod(mode))
}

func chtimesAt(dir *os.Root, base string, atime, mtime time.Time) syscall.Errno {
	ts := make([]unix.Timespec, 2)
	for i, t := range []time.Time{atime, mtime} {
		var err error
		if ts[i], err = unix.TimeToTimespec(t); err != nil {
			return syscall.EINVAL
		}
	}
	return withFD(dir, func(fd int) error { return unix.UtimesNanoAt(fd, base, ts, unix.AT_SYMLINK_NOFOLLOW) })
}
