package mcp

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// stream serves r with next. It keeps the response alive while next is
// silent, and gives up on a client that does not read.
func (h *httpHandler) stream(w http.ResponseWriter, r *http.Request, next http.Handler) {
	b := &beat{w: w, rc: http.NewResponseController(w), limit: h.c.WriteLimit, last: time.Now()}
	w.Header().Set("X-Accel-Buffering", "no") // proxies hold events back otherwise
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { b.run(h.c.Heartbeat, quit) })
	defer done.Wait()
	defer close(quit)
	next.ServeHTTP(b, r)
}

// beat is a ResponseWriter that writes a comment into an event stream that
// has been silent for a while, so that headers go out and those on the way
// see life.
type beat struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	limit time.Duration

	mu   sync.Mutex
	last time.Time
	sent bool // the header is out
}

func (b *beat) run(every time.Duration, quit <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case now := <-tick.C:
			b.comment(now, every)
		}
	}
}

func (b *beat) comment(now time.Time, every time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.last) < every*9/10 || !strings.HasPrefix(b.w.Header().Get("Content-Type"), "text/event-stream") {
		return
	}
	b.sent = true
	b.deadline()
	// An error shows at the next write of a message, or as the end of the request's context.
	if _, err := b.w.Write([]byte(": keep-alive\n\n")); err == nil {
		_ = b.rc.Flush()
	}
	b.last = now
}

// deadline ends a write that the client leaves unread for too long: it would
// hold the call and everything that waits for it.
func (b *beat) deadline() { _ = b.rc.SetWriteDeadline(time.Now().Add(b.limit)) }

func (b *beat) Header() http.Header { return b.w.Header() }

func (b *beat) WriteHeader(code int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.sent {
		b.sent = true
		b.w.WriteHeader(code)
	}
}

func (b *beat) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = true
	b.deadline()
	n, err := b.w.Write(p)
	b.last = time.Now()
	return n, err
}

// Flush sends what was written.
func (b *beat) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline()
	_ = b.rc.Flush() // an error shows at the next write
}
