//go:build linux && (amd64 || arm64)

package wasm

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserve returns addresses for the largest memory there is, with no memory
// behind them, or nil.
func reserve() []byte {
	b, err := syscall.Mmap(-1, 0, maxMemory, syscall.PROT_NONE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil { // an address space limit, for one
		return nil
	}
	return b
}

// commit makes the bytes from until to usable: zero, and in memory when they
// are first touched.
func commit(b []byte, from, to int) bool {
	return syscall.Mprotect(b[from:to], syscall.PROT_READ|syscall.PROT_WRITE) == nil
}

// wantLarge asks the system for large pages behind b, if it has any.
func wantLarge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// discard gives the memory behind b back; b reads as zero from then on.
func discard(b []byte) {
	if syscall.Madvise(b, syscall.MADV_DONTNEED) != nil {
		clear(b)
	}
}

func release(b []byte) {
	if b != nil {
		syscall.Munmap(b)
	}
}

// mapCode lets b, which is the runtime's memory for code, show the file f from
// at on. The memory may be made executable, or this does nothing: it may not
// where the file system or the system forbids it.
func mapCode(f *os.File, at int64, b []byte) bool {
	if len(b) == 0 || uintptr(unsafe.Pointer(&b[0]))%uintptr(os.Getpagesize()) != 0 {
		return false
	}
	if !place(b, f.Fd(), at, 0) {
		return false
	}
	if unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC) == nil && unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE) == nil {
		return true
	}
	unmapImage(b)
	return false
}

// mapImage lets b, which is memory of an instance, show the file f until it is
// written to; unmapImage makes it zero again.
func mapImage(f *os.File, b []byte) bool { return place(b, f.Fd(), 0, 0) }
func unmapImage(b []byte) bool           { return place(b, ^uintptr(0), 0, unix.MAP_ANONYMOUS) }

// place puts a private mapping in the place of what is at b, whose bytes are not
// of the Go heap.
func place(b []byte, fd uintptr, at int64, flags int) bool {
	_, err := unix.MmapPtr(int(fd), at, unsafe.Pointer(&b[0]), uintptr(len(b)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|flags)
	return err == nil
}
