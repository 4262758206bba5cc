package applet

import (
	"io/fs"
	"syscall"
	"time"
	"unsafe"
)

// permSet marks the permission bits in a filestat as given.
const permSet = 1 << 31

// Mode returns fi's type and permission bits, also inside wasm, where
// fi.Mode() does not know the latter: WASI has no room for them. The host
// stores them, with permSet, as a little-endian uint32 in the unused bytes 20
// to 23 of the filestat structure, which package os keeps as it came.
func Mode(fi fs.FileInfo) fs.FileMode {
	m := fi.Mode()
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		if bits := *(*uint32)(unsafe.Add(unsafe.Pointer(s), 20)); bits&permSet != 0 {
			return m.Type() | FromUnix(bits&0o7777)
		}
	}
	switch m.Type() {
	case fs.ModeDir:
		return m.Type() | 0o755
	case 0:
		return 0o644
	case fs.ModeSymlink:
		return m.Type() | 0o777
	}
	return m.Type() | 0o666
}

// Stat returns what fi.Sys() holds.
func Stat(fi fs.FileInfo) Info {
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
	}
	return Info{Dev: s.Dev, Ino: s.Ino, Nlink: s.Nlink, Atime: time.Unix(0, int64(s.Atime)), Ctime: time.Unix(0, int64(s.Ctime))}
}
