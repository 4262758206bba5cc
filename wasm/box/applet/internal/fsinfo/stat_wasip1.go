package fsinfo

import (
	"io/fs"
	"syscall"
	"time"
	"unsafe"
)

// given marks the permission bits in a filestat as present.
const given = 1 << 31

// Mode returns fi's type and permissions, also inside wasm, where fi.Mode()
// does not know the latter: WASI has no room for them. The sandbox puts them,
// with the mark given, into the unused bytes 20 to 23 of the filestat.
func Mode(fi fs.FileInfo) fs.FileMode {
	m := fi.Mode()
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		if bits := *(*uint32)(unsafe.Add(unsafe.Pointer(s), 20)); bits&given != 0 {
			return m.Type() | fromBits(bits&0o7777)
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

// Of returns what fi.Sys() holds.
func Of(fi fs.FileInfo) Info {
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
	}
	return Info{Dev: s.Dev, Ino: s.Ino, Nlink: s.Nlink, Atime: time.Unix(0, int64(s.Atime)), Ctime: time.Unix(0, int64(s.Ctime))}
}
