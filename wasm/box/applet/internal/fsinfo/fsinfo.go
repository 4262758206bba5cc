// Package fsinfo reads what fs.FileInfo has no method for.
package fsinfo

import (
	"io/fs"
	"time"
)

// The one user of the sandbox, who owns every file.
const (
	User = "user"
	UID  = 1000
)

// Info is what stat(2) knows beyond fs.FileInfo.
type Info struct {
	Dev, Ino, Nlink uint64
	Atime, Ctime    time.Time
}

// Blocks returns how many 512-byte blocks a file takes: whole blocks of 4 KiB,
// so that it is the same everywhere.
func Blocks(fi fs.FileInfo) int64 {
	switch {
	case fi.IsDir():
		return 8
	case fi.Mode().IsRegular():
		return (fi.Size() + 4095) / 4096 * 8
	}
	return 0
}

// Mode returns fi's type and permissions: true inside wasm, too, where the
// box's own package os knows them.
func Mode(fi fs.FileInfo) fs.FileMode { return fi.Mode() }

// Bits returns permission bits as chmod(2) takes them.
func Bits(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	for i, flag := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&flag != 0 {
			bits |= 0o1000 << i
		}
	}
	return bits
}

// ModeString is the mode as ls -l prints it: "drwxr-xr-x".
func ModeString(m fs.FileMode) string {
	b := []byte("?rwxrwxrwx")
	b[0] = Type(m)
	if b[0] == 'f' {
		b[0] = '-'
	}
	for i := range 9 {
		if m&(1<<(8-i)) == 0 {
			b[i+1] = '-'
		}
	}
	special := func(at int, flag fs.FileMode, c byte) {
		if m&flag == 0 {
			return
		}
		if b[at] == '-' {
			c -= 'a' - 'A'
		}
		b[at] = c
	}
	special(3, fs.ModeSetuid, 's')
	special(6, fs.ModeSetgid, 's')
	special(9, fs.ModeSticky, 't')
	return string(b)
}

// Type is the type as find -type names it: f d l p s c b.
func Type(m fs.FileMode) byte {
	switch {
	case m.IsRegular():
		return 'f'
	case m.IsDir():
		return 'd'
	case m&fs.ModeSymlink != 0:
		return 'l'
	case m&fs.ModeNamedPipe != 0:
		return 'p'
	case m&fs.ModeSocket != 0:
		return 's'
	case m&fs.ModeCharDevice != 0:
		return 'c'
	case m&fs.ModeDevice != 0:
		return 'b'
	}
	return 'U'
}
