package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBulky is how many answers that may be large can be on their way to one
// client, over HTTP to one principal. Each is at most some 8 MiB.
const maxBulky = 8

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
		if e.bulky() {
			// The client reads its answers before it asks for more: nothing else bounds what waits for it.
			select {
			case m.bulky <- struct{}{}:
			case <-m.eras[e.era()].closed:
				return
			}
		}
		era := e.era()
		if era == eraModern && e.method == "tools/call" {
			e.slim()
		}
		m.send(era, e.msg)
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
	m.inflight[e.key] = &call{era: e.era(), method: e.method, bulky: e.bulky()}
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
