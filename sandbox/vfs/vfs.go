// Package vfs is the one file system that the shell and every program see.
//
// Names are absolute, slash-separated paths inside the sandbox. Errors are
// [*fs.PathError] (or [*os.LinkError]) whose Err is a [syscall.Errno], with
// the sandbox's path and never the host's. The kinds are: Mem (memory), Root
// (a host folder through os.Root), Overlay (a lower and an upper FS), Mount
// (the namespace: mounts, modes, symlink resolution) and Quota.
package vfs

import (
	"io"
	"io/fs"
	"time"
)

// FS is a file system. Implementations are safe for concurrent use.
//
// A Mount resolves symlinks itself, against its own namespace, and hands its
// parts names whose parent folders hold none: the other kinds never follow a
// symlink, neither in a parent nor in the last element.
type FS interface {
	// Open opens a file or folder. flag holds os.O_* bits and may hold
	// NoFollow; perm is for O_CREATE.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	Stat(name string) (fs.FileInfo, error)  // follows a last symlink
	Lstat(name string) (fs.FileInfo, error) // does not
	Readlink(name string) (string, error)
	Mkdir(name string, perm fs.FileMode) error
	Remove(name string) error // a file or a symlink: EISDIR for a folder
	Rmdir(name string) error  // an empty folder
	Rename(from, to string) error
	Link(from, to string) error // a hard link
	Symlink(target, name string) error
	Chmod(name string, mode fs.FileMode) error
	Chtimes(name string, atime, mtime time.Time) error // a zero time leaves that one as it is
}

// File is an open file or folder. Only the methods that fit its kind and the
// flags it was opened with succeed.
type File interface {
	io.Reader
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Seeker
	io.Closer
	Stat() (fs.FileInfo, error)
	ReadDir(n int) ([]fs.DirEntry, error) // as os.File.ReadDir
	Truncate(size int64) error
}

// NoFollow makes Open fail with ELOOP when the last element is a symlink. It
// is none of the os.O_* bits.
const NoFollow = 1 << 29

// Stat is what a FileInfo of this package returns from Sys.
type Stat struct {
	Dev, Ino, Nlink uint64
	Atime, Ctime    time.Time
}
