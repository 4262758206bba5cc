//go:build linux && (amd64 || arm64)

package wasm

import (
	"encoding/binary"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Entries of /proc/PID/pagemap, as the kernel's admin-guide/mm/pagemap has them.
const (
	pagemapEntry   = 8 // bytes for each page
	pagemapFile    = 1 << 61
	pagemapSwapped = 1 << 62
	pagemapPresent = 1 << 63
)

// openPagemap returns what the system says of this process's pages, or nil.
func openPagemap() *os.File {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil || os.Getpagesize() != hostPage {
		return nil
	}
	return f
}

// sharedFile returns a file in memory that may take size bytes, or nil.
func sharedFile(size int64) *os.File {
	fd, err := unix.MemfdCreate("donax", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), "snapshot")
	if f.Truncate(size) != nil {
		f.Close()
		return nil
	}
	return f
}

// mapShared returns the first n bytes of f; what is written there is in f.
func mapShared(f *os.File, n int) []byte {
	b, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

// seal forbids changes of b: a slip of the host's must not be in every machine
// to come.
func seal(b []byte) bool { return unix.Mprotect(b, unix.PROT_READ) == nil }

func unmapShared(b []byte) {
	if b != nil {
		unix.Munmap(b)
	}
}

// mapPrivate lets b show f from at on until it is written to.
func mapPrivate(f *os.File, at int64, b []byte) bool { return place(b, f.Fd(), at, 0) }

// written calls f with the place in b of each page that is this process's own:
// that has been written to since b was made to show a file, or, where b shows
// none, that was touched at all. A page once written stays one. False means
// that the system did not say.
func written(pagemap *os.File, b []byte, f func(at int)) bool {
	var buf [512 * pagemapEntry]byte
	from := int64(uintptr(unsafe.Pointer(&b[0])) / hostPage * pagemapEntry)
	for at := 0; at < len(b); {
		n := min((len(b)-at)/hostPage*pagemapEntry, len(buf))
		if got, err := syscall.Pread(int(pagemap.Fd()), buf[:n], from); got != n || err != nil {
			return false
		}
		from += int64(n)
		for e := buf[:n]; len(e) > 0; e = e[pagemapEntry:] {
			// A page that is neither here nor in swap is as the file has it.
			if x := binary.NativeEndian.Uint64(e); x&(pagemapPresent|pagemapSwapped) != 0 && x&pagemapFile == 0 {
				f(at)
			}
			at += hostPage
		}
	}
	return true
}
