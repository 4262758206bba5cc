package wasm

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/donax-sh/donax/sandbox"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	pageSize  = 64 << 10
	maxMemory = 4 << 30

	// maxLazy is how much memory a guest finds by touching it. A page that is
	// touched for the first time may take 15 µs, and nobody can stop compiled code
	// between two of them: what is beyond is found before the guest sees it.
	maxLazy = 8 << 20

	// maxKept is how much of a space stays in memory between two runs: what most
	// commands of the box need.
	maxKept = 16 << 20

	// largePage is what the system may give at a time, many times cheaper than
	// page by page.
	largePage = 2 << 20
)

// space is room for the memory of one instance. Its bytes stay where they are
// while it grows, where the system can reserve addresses without memory.
// What it held for the instance before is still there below dirty.
type space struct {
	b        []byte // as far as it is usable
	dirty    int    // what may not be zero ends here
	mapped   int    // bytes that show an image's file where they were not written to
	reserved []byte // nil: b is of the Go heap
}

// resize makes n bytes usable, which keep their contents as far as keep.
func (s *space) resize(n, keep int) bool {
	switch {
	case n <= len(s.b):
	case s.reserved != nil:
		if n > maxLazy {
			n = (n + largePage - 1) &^ (largePage - 1)
			if len(s.b) <= maxLazy {
				wantLarge(s.reserved[maxLazy:])
			}
		}
		if !commit(s.reserved, len(s.b), n) {
			return false
		}
		s.b = s.reserved[:n]
	default:
		// Some room to spare, since growing copies everything.
		b := make([]byte, n+n/4)
		copy(b, s.b[:keep])
		s.b, s.dirty = b, keep
	}
	return true
}

// fill has memory found for what is beyond maxLazy, as far as n, until ctx ends.
func (s *space) fill(ctx context.Context, n int) bool {
	for at := max(maxLazy, s.dirty); at < n; at = s.dirty {
		if ctx.Err() != nil {
			return false
		}
		s.dirty = min(n, at+largePage)
		touch(s.b[at:s.dirty])
	}
	return true
}

// touch writes to each page of b, whose contents stay. A system call that finds
// memory would not do: on some virtual machines what is dear is the first use.
func touch(b []byte) {
	for i := 0; i < len(b); i += hostPage {
		atomic.AddUint32((*uint32)(unsafe.Pointer(&b[i])), 0)
	}
}

// spaces keeps the spaces of instances that are gone: memory that the process
// has already is many times cheaper than what it must get from the system.
type spaces struct {
	mu     sync.Mutex
	closed bool
	free   []*space
	bytes  int // in free
	max    int
}

func (p *spaces) get() *space {
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		p.bytes -= s.dirty
		p.mu.Unlock()
		return s
	}
	p.mu.Unlock()
	return &space{reserved: reserve()}
}

// trim gives what a large run has used back to the system.
func (s *space) trim() {
	if s.dirty > maxKept && s.reserved != nil {
		discard(s.b[maxKept:]) // large pages end beyond dirty
		s.dirty = maxKept
	}
}

func (p *spaces) put(s *space) {
	if s.mapped > 0 && !unmapImage(s.reserved[:s.mapped]) {
		release(s.reserved)
		return
	}
	if s.dirty <= s.mapped {
		s.dirty = 0
	}
	s.mapped = 0
	s.trim()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || s.dirty == 0 || p.bytes+s.dirty > p.max {
		release(s.reserved)
		return
	}
	p.free = append(p.free, s)
	p.bytes += s.dirty
}

// trim gives all back to the system.
func (p *spaces) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.free {
		release(s.reserved)
	}
	p.free, p.bytes = nil, 0
}

func (p *spaces) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.trim()
}

// allocator gives one instance its memory, up to a limit, and remembers when
// it had to refuse. Only the goroutine that runs the instance uses it.
type allocator struct {
	limit   uint64
	refused atomic.Bool
	ctx     context.Context // of the run
	snap    *snapshot       // what to have room for; nil: what the module asks for
	shown   bool            // the memory shows snap
	image   *image          // what to begin with; nil: zeros
	from    *spaces
	space   *space
	size    int
}

var _ experimental.MemoryAllocator = (*allocator)(nil)

// Allocate is called once, when the instance is made.
func (a *allocator) Allocate(uint64, uint64) experimental.LinearMemory {
	a.space = a.from.get()
	return a
}

// Reallocate grows the memory. Nil is a memory.grow of -1 to the guest.
func (a *allocator) Reallocate(size uint64) []byte {
	if a.snap != nil {
		size = max(size, uint64(a.snap.size))
	}
	if size > a.limit {
		a.refused.Store(true)
		return nil
	}
	n, s := int(size), a.space
	if !s.resize(n, a.size) {
		a.refused.Store(true)
		return nil
	}
	if n > a.size {
		if a.size == 0 && a.snap != nil && a.snap.show(s) {
			a.shown, s.dirty = true, max(s.dirty, a.snap.size)
		}
		// What an instance gets must be zero, and not what another left there.
		if end := min(n, s.dirty); end > a.size && !(a.size == 0 && a.shown) {
			clear(s.b[a.size:end])
		}
		if a.size == 0 && a.image != nil && !a.image.load(s) {
			a.refused.Store(true)
			return nil
		}
		if !s.fill(a.ctx, n) {
			return nil
		}
		s.dirty = max(s.dirty, n)
		a.size = n
	}
	return s.b[:n:n]
}

// Free is called when the instance is closed. Nothing may hold on to its
// memory then: a stream that still reads into it would write into the next
// instance's.
func (a *allocator) Free() {
	if a.space != nil {
		a.from.put(a.space)
		a.space = nil
	}
}

// begin says what the next run may have.
func (a *allocator) begin(ctx context.Context, limit uint64) {
	a.ctx, a.limit = ctx, limit
	a.refused.Store(false)
}

// bytes returns the memory as it is.
func (a *allocator) bytes() []byte {
	if a.space == nil { // a module without memory
		return nil
	}
	return a.space.b[:a.size]
}

// shrink takes from an instance that does not run what it has beyond n bytes.
// The runtime has no call for that, so this sets the length that it keeps and
// has the last page grown again, which makes compiled code see it. Without
// it the many programs that grow a little would each cost a new instance.
func (a *allocator) shrink(mem api.Memory, n int) bool {
	if a.size == n {
		return true
	}
	v := reflect.ValueOf(mem)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct || n < pageSize {
		return false
	}
	buf := v.Elem().FieldByName("Buffer")
	if !buf.IsValid() || !buf.CanSet() || buf.Type() != reflect.TypeFor[[]byte]() || buf.Len() != a.size {
		return false
	}
	a.size = n - pageSize
	buf.SetBytes(a.space.b[:a.size:a.size])
	_, ok := mem.Grow(1)
	a.space.trim()
	return ok && a.size == n && int(mem.Size()) == n
}

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
