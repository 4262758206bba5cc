package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mux serves one byte stream with two SDK sessions behind it, one for each
// era: a session keeps its era as state, which must not reach the other. No
// line that a client can write ends it.
type mux struct {
	s        *Server
	l        *link
	draining chan struct{} // closed when the input has ended
	bulky    chan struct{} // one token for each answer that may be large
	wmu      sync.Mutex
	w        io.Writer

	mu       sync.Mutex
	writeErr error             // first failure of w; nothing is written after it
	broken   chan struct{}     // closed then
	inflight map[string]*call  // by id
	idle     chan struct{}     // closed when inflight is empty, if somebody waits for that
	asked    map[string]string // questions of the server by id, with their method
	ready    bool              // the legacy session has been initialized
	eras     [2]*eraConn
}

// call is a request that was not answered yet.
type call struct {
	era       int
	method    string
	bulky     bool
	cancelled bool
}

func newMux(s *Server, w io.Writer) *mux {
	m := &mux{s: s, w: w, draining: make(chan struct{}), bulky: make(chan struct{}, maxBulky), broken: make(chan struct{}), inflight: map[string]*call{}, asked: map[string]string{}}
	for i := range m.eras {
		m.eras[i] = &eraConn{m: m, era: i, in: make(chan jsonrpc.Message), closed: make(chan struct{})}
	}
	return m
}

func (m *mux) writeLine(b []byte) error {
	m.wmu.Lock()
	defer m.wmu.Unlock()
	m.mu.Lock()
	err := m.writeErr
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if _, err = m.w.Write(append(b, '\n')); err != nil {
		m.stopWriting(fmt.Errorf("write: %w", err))
	}
	return err
}

// stopWriting makes err the answer to every later write.
func (m *mux) stopWriting(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writeErr == nil {
		m.writeErr = err
		close(m.broken)
	}
}

// finish forgets a call that has an answer, and returns it; nil when there
// was none. ok says that the answer is no error.
func (m *mux) finish(key string, ok bool) *call {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.inflight[key]
	delete(m.inflight, key)
	if len(m.inflight) == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
	if c != nil && c.method == "initialize" && ok {
		m.ready = true
	}
	return c
}

var errEnded = errors.New("the connection has ended")

// sessionEnd is how long the SDK's sessions may take to end; a handler that
// ignores its context does not hold the process.
const sessionEnd = time.Second

func (m *mux) serve(ctx context.Context, r io.Reader) error {
	var sessions []*sdk.ServerSession
	for _, c := range m.eras {
		ss, err := m.s.sdk.Connect(ctx, c, nil)
		if err != nil {
			return err
		}
		sessions = append(sessions, ss)
	}
	input := make(chan error, 1)
	go func() { input <- m.read(r) }()

	var err error
	select {
	case <-ctx.Done(): // the end that was asked for
	case <-m.broken:
		err = m.writeErr
	case err = <-input:
		if errors.Is(err, io.EOF) {
			err = nil
			m.drain(ctx)
		}
	}
	// Ending the sessions' streams cancels what is still in progress, with the SDK's own machinery.
	limit := time.NewTimer(sessionEnd)
	defer limit.Stop()
	done := make(chan struct{})
	for _, c := range m.eras {
		c.Close()
	}
	go func() {
		for _, ss := range sessions {
			_ = ss.Wait() // io.EOF or nothing
		}
		close(done)
	}()
	select {
	case <-done:
	case <-limit.C:
		m.s.log.Warn("a call does not end", "session", m.l.subject.Session.ID)
	}
	m.stopWriting(errEnded)
	return err
}

// waitGrace is how long a wait for a terminal goes on after the input has
// ended: commands of a script that is piped in are quick, and a server that
// nobody speaks to any more must be gone within a second.
const waitGrace = 500 * time.Millisecond

// drain lets calls in progress end: the client has closed its end, as a
// pipe does, and may still read. Waits for terminals are answered at once.
func (m *mux) drain(ctx context.Context) {
	limit := time.NewTimer(m.s.limits.Drain)
	defer limit.Stop()
	grace := time.AfterFunc(min(waitGrace, m.s.limits.Drain/2), func() { close(m.draining) })
	defer grace.Stop()
	for {
		m.mu.Lock()
		if len(m.inflight) == 0 {
			m.mu.Unlock()
			return
		}
		if m.idle == nil {
			m.idle = make(chan struct{})
		}
		idle := m.idle
		m.mu.Unlock()
		select {
		case <-idle:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		case <-m.broken:
			return
		}
	}
}
