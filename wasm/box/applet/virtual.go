package applet

import (
	"io/fs"
	"time"
)

// The one user of the sandbox. Every file belongs to it.
const (
	UserName = "user"
	UserID   = 1000
	HostName = "donax"
)

// Info is what commands show of a file beyond fs.FileInfo.
type Info struct {
	Dev, Ino, Nlink uint64
	Atime, Ctime    time.Time
}

// Blocks returns the number of 512-byte blocks that a file of fi's size is
// said to occupy: whole blocks of 4 KiB, so that it is the same on every host.
func Blocks(fi fs.FileInfo) int64 {
	switch {
	case fi.IsDir():
		return 8
	case fi.Mode().IsRegular():
		return (fi.Size() + 4095) / 4096 * 8
	}
	return 0
}

// UnixMode returns the permission bits of m with setuid, setgid and sticky as
// chmod(2) takes them.
func UnixMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// FromUnix is the inverse of UnixMode.
func FromUnix(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	if bits&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if bits&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if bits&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// TypeLetter is a file's type as find -type names it: f d l p s c b.
func TypeLetter(m fs.FileMode) byte {
	if c := ModeString(m)[0]; c != '-' {
		return c
	}
	return 'f'
}

// ModeString writes a mode as ls -l does: drwxr-xr-x.
func ModeString(m fs.FileMode) string {
	b := []byte("?rwxrwxrwx")
	switch m.Type() {
	case 0:
		b[0] = '-'
	case fs.ModeDir:
		b[0] = 'd'
	case fs.ModeSymlink:
		b[0] = 'l'
	case fs.ModeNamedPipe:
		b[0] = 'p'
	case fs.ModeSocket:
		b[0] = 's'
	case fs.ModeDevice:
		b[0] = 'b'
	case fs.ModeDevice | fs.ModeCharDevice:
		b[0] = 'c'
	}
	for i := range 9 {
		if m&(1<<(8-i)) == 0 {
			b[i+1] = '-'
		}
	}
	special := func(on bool, at int, x, no byte) {
		if !on {
			return
		}
		if b[at] == 'x' {
			b[at] = x
		} else {
			b[at] = no
		}
	}
	special(m&fs.ModeSetuid != 0, 3, 's', 'S')
	special(m&fs.ModeSetgid != 0, 6, 's', 'S')
	special(m&fs.ModeSticky != 0, 9, 't', 'T')
	return string(b)
}
