package wasm

import (
	"os"
	"sync"
)

// maxShared is the largest snapshot that machines can show.
const maxShared = 64 << 20

// A Tracker holds what is needed to see which pages of its memory a process
// has written to: it makes machines small and their resets short (see
// [Config]). A process that gives up the right to open files has it made
// before. Only Linux has what it needs; with the zero Tracker each machine has a
// copy of its own.
type Tracker struct {
	mu      sync.Mutex
	pagemap *os.File
	files   []*os.File // that nobody uses yet
}

// NewTracker returns a Tracker with room for the snapshots of so many tiers. It
// may have the system's account of this process opened later: see
// [Tracker.Pagemap].
func NewTracker(tiers int) *Tracker {
	t := &Tracker{pagemap: openPagemap()}
	for range tiers {
		if f := sharedFile(maxShared); f != nil {
			t.files = append(t.files, f)
		}
	}
	return t
}

// Pagemap gives t the file /proc/PID/pagemap of this process, opened by
// somebody else, where this process may not open it.
func (t *Tracker) Pagemap(f *os.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pagemap == nil {
		t.pagemap = f
	} else {
		f.Close()
	}
}

// file returns a file for a snapshot, or nil.
func (t *Tracker) file() *os.File {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pagemap == nil { // the zero Tracker, or a system that does not say
		return nil
	}
	if n := len(t.files); n > 0 {
		f := t.files[n-1]
		t.files = t.files[:n-1]
		return f
	}
	return sharedFile(maxShared)
}

// holds reports whether the system tells the truth of memory that shows a
// snapshot: that nothing was written to, and then, of each page in turn that
// is written to, just that. What emulates the system may not.
func (t *Tracker) holds(s *snapshot, mem []byte) bool {
	var seen []int
	look := func() bool {
		seen = seen[:0]
		return written(t.pagemap, mem, func(at int) { seen = append(seen, at) })
	}
	if len(s.parts) == 0 || !look() || len(seen) != 0 {
		return false
	}
	for i, p := range s.parts[:min(2, len(s.parts))] {
		_ = isZero(mem[p.at : p.at+hostPage]) // to read is not to write
		if !look() || len(seen) != i {
			return false
		}
		mem[p.at] ^= 0xff
		if !look() || len(seen) != i+1 || seen[i] != p.at {
			return false
		}
		mem[p.at] ^= 0xff
	}
	return true
}

// close lets go of all.
func (t *Tracker) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pagemap.Close() // of nothing, perhaps
	for _, f := range t.files {
		f.Close()
	}
	t.pagemap, t.files = nil, nil
}
