package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	eraModern = iota
	eraLegacy
)

// eraConn is the transport of one session.
type eraConn struct {
	m      *mux
	era    int
	in     chan jsonrpc.Message
	closed chan struct{}
	once   sync.Once
}

func (c *eraConn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

func (c *eraConn) SessionID() string { return "" }

func (c *eraConn) Close() error { c.once.Do(func() { close(c.closed) }); return nil }

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
		call := c.m.finish(idKey(v.ID), v.Error == nil)
		if call != nil && call.bulky {
			defer func() { <-c.m.bulky }() // once it is written
		}
		if call != nil && call.cancelled {
			return nil // the protocol forbids any further message for it
		}
		v.Error = presentable(v.Error)
	case *jsonrpc.Request:
		if key := idKey(v.ID); key != "" {
			if !c.m.ask(key, v.Method) {
				return errors.New("too many questions are unanswered")
			}
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

// maxAsked is how many questions may be unanswered: a client that cancels
// its calls never answers theirs.
const maxAsked = 1000

// ask remembers a question of the server, unless too many are unanswered.
func (m *mux) ask(key, method string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.asked) >= maxAsked {
		return false
	}
	m.asked[key] = method
	return true
}
