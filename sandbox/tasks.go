package sandbox

import "sync"

// tasks counts the programs that run. Once closed it lets no more begin.
type tasks struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // made by close; closed when none runs any more
}

// begin reports whether a program may start; end must follow if so.
func (t *tasks) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.n++
	return true
}

func (t *tasks) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.closed {
		close(t.idle)
	}
}

// close returns a channel that is closed when no program runs any more.
func (t *tasks) close() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.idle = true, make(chan struct{})
	if t.n == 0 {
		close(t.idle)
	}
	return t.idle
}
