package mcp

import (
	"net/http"
	"sync"
	"time"
)

// sessions knows the HTTP sessions of the era of initialize: whose they are,
// and when they were used. The SDK holds their state.
type sessions struct {
	max  int
	idle time.Duration

	mu   sync.Mutex
	byID map[string]*httpSession
}

type httpSession struct {
	owner string
	used  time.Time
}

func (s *sessions) init(max int, idle time.Duration) {
	s.max, s.idle, s.byID = max, idle, map[string]*httpSession{}
}

// touch reports whether owner has a session of this id, and marks it used.
func (s *sessions) touch(id, owner string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.byID[id]
	if h == nil || h.owner != owner {
		return false
	}
	h.used = now
	return true
}

// room reports whether owner may open one more session.
func (s *sessions) room(owner string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id, h := range s.byID {
		switch {
		case now.Sub(h.used) > s.idle+time.Minute: // the SDK has ended it
			delete(s.byID, id)
		case h.owner == owner:
			n++
		}
	}
	return n < s.max
}

func (s *sessions) add(id, owner string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[id] = &httpSession{owner, now}
}

func (s *sessions) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

// sessionWriter learns the id of a session from the answer that opens it,
// before the client does.
type sessionWriter struct {
	http.ResponseWriter
	h     *httpHandler
	owner string
	once  sync.Once
}

// Unwrap is for http.ResponseController.
func (w *sessionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *sessionWriter) learn() {
	w.once.Do(func() {
		if id := w.Header().Get("Mcp-Session-Id"); id != "" {
			w.h.sessions.add(id, w.owner, time.Now())
		}
	})
}

// WriteHeader sends the header.
func (w *sessionWriter) WriteHeader(code int) {
	w.learn()
	w.ResponseWriter.WriteHeader(code)
}

func (w *sessionWriter) Write(p []byte) (int, error) {
	w.learn()
	return w.ResponseWriter.Write(p)
}
