package wasm

import (
	"fmt"

	"github.com/donax-sh/donax/sandbox"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	pageSize  = 64 << 10
	maxMemory = 4 << 30
)

// allocator gives one instance its memory, up to a limit, and remembers when
// it had to refuse.
type allocator struct {
	limit   uint64
	refused bool
	buf     []byte
}

var _ experimental.MemoryAllocator = (*allocator)(nil)

// Allocate is called once, when the instance is made.
func (a *allocator) Allocate(uint64, uint64) experimental.LinearMemory { return a }

// Reallocate grows the memory. Nil is a memory.grow of -1 to the guest.
func (a *allocator) Reallocate(size uint64) []byte {
	if size > a.limit {
		a.refused = true
		return nil
	}
	if size > uint64(cap(a.buf)) {
		// Some room to spare, since growing copies everything.
		b := make([]byte, size, min(a.limit, size+size/4))
		copy(b, a.buf)
		a.buf = b
	}
	a.buf = a.buf[:size]
	return a.buf
}

// Free is called when the instance is closed.
func (a *allocator) Free() { a.buf = nil }

func (a *allocator) err() error {
	return &sandbox.LimitError{What: "memory " + bytesText(a.limit), Flag: "--memory"}
}

func bytesText(n uint64) string {
	for _, u := range []struct {
		size uint64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
