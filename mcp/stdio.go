package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	eraModern = iota
	eraLegacy
)

// mux serves one byte stream with two SDK sessions behind it, one for each
// era: a session keeps its era as state, which must not reach the other. No
// line that a client can write ends it.
type mux struct {
	s        *Server
	l        *link
	draining chan struct{} // closed when the input has ended
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
	cancelled bool
}

func newMux(s *Server, w io.Writer) *mux {
	m := &mux{s: s, w: w, draining: make(chan struct{}), broken: make(chan struct{}), inflight: map[string]*call{}, asked: map[string]string{}}
	for i := range m.eras {
		m.eras[i] = &eraConn{m: m, era: i, in: make(chan jsonrpc.Message), closed: make(chan struct{})}
	}
	return m
}

// eraConn is the transport of one session.
type eraConn struct {
	m      *mux
	era    int
	in     chan jsonrpc.Message
	closed chan struct{}
	once   sync.Once
}

func (c *eraConn) Connect(context.Context) (sdk.Connection, error) { return c, nil }
func (c *eraConn) SessionID() string                               { return "" }
func (c *eraConn) Close() error                                    { c.once.Do(func() { close(c.closed) }); return nil }

func (c *eraConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *eraConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch v := msg.(type) {
	case *jsonrpc.Response:
		if c.m.finish(idKey(v.ID), v.Error == nil) {
			return nil // cancelled: the protocol forbids any further message for it
		}
		v.Error = presentable(v.Error)
	case *jsonrpc.Request:
		if key := idKey(v.ID); key != "" {
			c.m.mu.Lock()
			c.m.asked[key] = v.Method
			c.m.mu.Unlock()
		}
	}
	b, err := encodeMessage(msg)
	if err != nil {
		return err
	}
	return c.m.writeLine(b)
}

// encodeMessage is jsonrpc.EncodeMessage without its second pass over a
// result, which is JSON on one line already.
func encodeMessage(msg jsonrpc.Message) ([]byte, error) {
	r, ok := msg.(*jsonrpc.Response)
	if !ok || r.Error != nil || len(r.Result) == 0 {
		return jsonrpc.EncodeMessage(msg)
	}
	id, err := json.Marshal(r.ID.Raw())
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(r.Result)+len(id)+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, r.Result...)
	return append(b, '}'), nil
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

// finish forgets a call and reports whether it had been cancelled.
func (m *mux) finish(key string, ok bool) (cancelled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.inflight[key]
	delete(m.inflight, key)
	if len(m.inflight) == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
	if c == nil {
		return false
	}
	if c.method == "initialize" && ok {
		m.ready = true
	}
	return c.cancelled
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

// drain lets calls in progress end: the client has closed its end, as a
// pipe does, and may still read. Waits for terminals are answered at once.
func (m *mux) drain(ctx context.Context) {
	limit := time.NewTimer(m.s.limits.Drain)
	defer limit.Stop()
	grace := time.AfterFunc(min(time.Second, m.s.limits.Drain/2), func() { close(m.draining) })
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

// read routes messages until the input ends.
func (m *mux) read(r io.Reader) error {
	in := newLines(r, m.s.limits.Message)
	for {
		line, err := in.next()
		if errors.Is(err, errLineTooLong) {
			m.reply(faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("message longer than %d bytes", m.s.limits.Message)))
			continue
		}
		if err != nil {
			return err
		}
		e, f := parseEnvelope(line)
		switch {
		case f != nil:
			m.reply(f)
		case e != nil:
			m.route(e)
		}
	}
}

func (m *mux) reply(f *fault) {
	_ = m.writeLine(f.bytes()) // a failure ends serve by itself
}

func (m *mux) route(e *envelope) {
	switch e.kind {
	case kindResponse:
		m.mu.Lock()
		_, wanted := m.asked[e.key]
		delete(m.asked, e.key)
		m.mu.Unlock()
		if wanted { // only the legacy session asks a client anything
			m.send(eraLegacy, e.msg)
		}
	case kindNotification:
		switch e.method {
		case "notifications/cancelled":
			m.cancel(e)
		case "notifications/initialized":
			m.send(eraLegacy, e.msg)
		} // the others have no meaning here
	case kindRequest:
		if f := m.admit(e); f != nil {
			m.reply(f)
			return
		}
		m.send(e.era(), e.msg)
	}
}

func (e *envelope) era() int {
	if e.modern() {
		return eraModern
	}
	return eraLegacy
}

// cancel marks a call so that nothing more is written for it.
func (m *mux) cancel(e *envelope) {
	var raw []byte
	members(e.params, func(name string, v []byte) {
		if name == "requestId" {
			raw = v
		}
	})
	id, ok := readID(raw)
	if !ok {
		return
	}
	m.mu.Lock()
	c := m.inflight[idKey(id)]
	live := c != nil && c.method != "initialize"
	if live {
		c.cancelled = true
	}
	m.mu.Unlock()
	if !live {
		return
	}
	params, err := json.Marshal(map[string]any{"requestId": id.Raw()})
	if err == nil {
		m.send(c.era, &jsonrpc.Request{Method: e.method, Params: params})
	}
}

// admit enters a request among those in flight, or says why not.
func (m *mux) admit(e *envelope) *fault {
	if f := e.check(m.s.served); f != nil {
		return f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inflight[e.key] != nil {
		// The reply must not carry the id: it would be taken for the first call's answer.
		return faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("id %v is already in flight", quoteID(e.id)))
	}
	if len(m.inflight) >= m.s.limits.Requests {
		return faultOf(e.id, jsonrpc.CodeInternalError, fmt.Sprintf("busy: %d requests are in flight; retry later", len(m.inflight)))
	}
	if e.era() == eraLegacy {
		if f := m.admitLegacy(e); f != nil {
			return f
		}
	}
	m.inflight[e.key] = &call{era: e.era(), method: e.method}
	return nil
}

// admitLegacy is admit for a request of the initialize era. The caller holds
// mu.
func (m *mux) admitLegacy(e *envelope) *fault {
	if e.method == "server/discover" {
		return faultOf(e.id, jsonrpc.CodeInvalidParams, "missing _meta "+metaVersion)
	}
	switch {
	case e.method == "initialize" && m.ready:
		return faultOf(e.id, jsonrpc.CodeInvalidRequest, "already initialized")
	case m.ready, e.method == "initialize", e.method == "ping":
		return nil
	}
	for _, c := range m.inflight {
		if c.method == "initialize" {
			return nil // sent without waiting for the answer: the SDK keeps the order
		}
	}
	if e.hasMeta {
		return faultOf(e.id, jsonrpc.CodeInvalidParams, "revision "+e.version+" opens with initialize")
	}
	return faultOf(e.id, jsonrpc.CodeInvalidParams, "missing _meta "+metaVersion+" (or open with initialize, for "+legacyRevision+" and earlier)")
}

func quoteID(id jsonrpc.ID) string {
	b, err := json.Marshal(id.Raw())
	if err != nil {
		return "?"
	}
	return string(b)
}

func (m *mux) send(era int, msg jsonrpc.Message) {
	select {
	case m.eras[era].in <- msg:
	case <-m.eras[era].closed:
	}
}
