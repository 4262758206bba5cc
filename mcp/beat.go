package mcp

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"sync"
	"time"
)

// stream serves r with next, and gives up on a client that does not read. A
// call that is silent for a while gets signs of life: they send the header,
// and those on the way do not take the connection for dead.
func (h *httpHandler) stream(w http.ResponseWriter, r *http.Request, next http.Handler, silent bool) {
	b := &beat{w: w, rc: http.NewResponseController(w), header: http.Header{}, limit: h.c.WriteLimit, last: time.Now()}
	if silent {
		quit := make(chan struct{})
		var done sync.WaitGroup
		done.Go(func() { b.run(h.c.Heartbeat, quit) })
		defer done.Wait()
		defer close(quit)
	}
	if r.Method == http.MethodGet {
		// It would outlive everything else: nothing ends it but the client.
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(h.base, cancel)()
		go func() {
			select {
			case <-h.c.Draining:
				cancel()
			case <-ctx.Done():
			}
		}()
		r = r.WithContext(ctx)
	}
	next.ServeHTTP(b, r)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open(http.StatusOK) // for an answer without a body
}

// beat is a ResponseWriter that writes comments into an event stream.
type beat struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	limit  time.Duration
	header http.Header // next's, until it goes out: signs of life must not race with it

	mu    sync.Mutex
	last  time.Time
	sent  bool // the header is out
	early bool // it was sent by a sign of life
	event bool // next answers with another status than was sent: its body becomes an event
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
	if now.Sub(b.last) < every*9/10 {
		return
	}
	if !b.sent {
		h := b.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Accel-Buffering", "no")
		b.sent, b.early = true, true
		b.w.WriteHeader(http.StatusOK)
	}
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

// open sends the header of next, if none was sent. The caller holds mu.
func (b *beat) open(code int) {
	if b.sent {
		b.event = b.event || b.early && code != http.StatusOK
		return
	}
	b.sent = true
	maps.Copy(b.w.Header(), b.header)
	b.w.Header().Set("X-Accel-Buffering", "no") // proxies hold events back otherwise
	b.deadline()
	b.w.WriteHeader(code)
}

func (b *beat) Header() http.Header { return b.header }

func (b *beat) WriteHeader(code int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open(code)
}

func (b *beat) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open(http.StatusOK)
	b.deadline()
	out := p
	if b.event {
		out = bytes.Join([][]byte{[]byte("event: message\ndata: "), bytes.TrimSpace(p), []byte("\n\n")}, nil)
	}
	_, err := b.w.Write(out)
	b.last = time.Now()
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush sends what was written.
func (b *beat) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open(http.StatusOK)
	b.deadline()
	_ = b.rc.Flush() // an error shows at the next write
}
