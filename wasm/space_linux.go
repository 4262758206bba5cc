//go:build linux && (amd64 || arm64)

package wasm

import "syscall"

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
