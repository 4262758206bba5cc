// Package vfs is the one file system that the shell and every program see.
//
// A sandbox's programs see one [Mount]. It is the only part that knows more
// than one file system and the only part that follows symlinks:
//
//	Mount                           the namespace: mount points, symlinks, ".."
//	  ReadOnly( Root )              ro:  a host folder that cannot be changed
//	  Overlay( ReadOnly( Root ) )   cow: changes stay in memory, counted in a Quota
//	  Quota.Limit( Protect( Root )) rw:  changes reach the host, counted, never
//	                                     where the host later executes them
//	  Mem, NewStatic, Dev, Proc     /tmp and /workspace, /bin, /dev, /proc
//
// [HostMount] builds the three host mounts. Every part below the Mount takes
// canonical absolute names only ("/a/b": no ".", "..", double or trailing
// slash, else EINVAL) and follows a symlink in no element: ELOOP. That closes
// the gap between asking and acting: [Mount.Resolve] turns a free name into
// the canonical one, a policy is asked about that, and the [Location]'s
// methods reach exactly that name or fail, whoever swaps what meanwhile.
//
// Errors are [*fs.PathError] (or [*os.LinkError]) whose Err is a
// [syscall.Errno], with the sandbox's path and never the host's. The Sys of
// every FileInfo is a [*Stat].
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
// symlink, neither in a parent nor in the last element, where following is
// asked for; they answer ELOOP.
type FS interface {
	// Open opens a file or folder. flag holds os.O_* bits and may hold
	// NoFollow; perm is for O_CREATE. Other bits, and O_TRUNC without the right
	// to write, are EINVAL.
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
// flags it was opened with succeed: otherwise EBADF, EISDIR, ENOTDIR or
// EINVAL. WriteAt on a file opened with O_APPEND appends, as on Linux. A
// folder's entries are sorted by name and are those of the first ReadDir
// since it was opened or rewound (Seek to 0).
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

// Stat is what a FileInfo of this package returns from Sys. Dev and Ino
// together name a file within one Mount, also after it was copied up; Dev is
// not the host's.
type Stat struct {
	Dev, Ino, Nlink uint64
	Atime, Ctime    time.Time
}
