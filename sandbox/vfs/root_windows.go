package vfs

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// Windows has no operations on two handles that package os can reach: they go
// by names below the root. A folder swapped for a symlink at that moment can
// lead them to another place inside the root, never outside.

const nonblock = 0

// keepDirs is how many folders a Root keeps open: none, as that would stop
// others from removing them.
const keepDirs = 0

// hostName refuses what Windows reads as more than one name or as a stream.
func hostName(elem string) bool { return !strings.ContainsAny(elem, "\\:\x00") }

func relativeTarget(target string) bool {
	return !strings.HasPrefix(target, "/") && !strings.ContainsAny(target, "\\:")
}

func renameAt(_ *os.Root, _ string, _ *os.Root, _ string, root *os.Root, from, to string) syscall.Errno {
	return errnoOf(root.Rename(from[1:], to[1:]))
}

func linkAt(_ *os.Root, _ string, _ *os.Root, _ string, root *os.Root, from, to string) syscall.Errno {
	return errnoOf(root.Link(from[1:], to[1:]))
}

func chmodAt(dir *os.Root, base string, mode fs.FileMode) syscall.Errno {
	return errnoOf(dir.Chmod(base, mode))
}

func chtimesAt(dir *os.Root, base string, atime, mtime time.Time) syscall.Errno {
	return errnoOf(dir.Chtimes(base, atime, mtime))
}
