package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

func canonical(name string) string { return textproto.CanonicalMIMEHeaderKey(name) }

// maxResponseHead is how many bytes the head of a response may have.
const maxResponseHead = 256 << 10

var errOnce = errors.New("a connection serves one request")

// do sends an admitted request.
func (c *call) do(ctx context.Context, admit sandbox.Admit) (*sandbox.Response, error) {
	conn, remote, err := c.connect(ctx, admit)
	if err != nil {
		return nil, err
	}
	head := &headReader{Conn: conn}
	dial := c.once(conn, head)
	tr := &http.Transport{ // of its own, and so is the connection: nothing is kept for whoever comes next
		DialContext:            dial,
		DialTLSContext:         dial,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxResponseHead,
	}
	stop := func() {
		_ = conn.Close()
		tr.CloseIdleConnections()
	}
	req := (&http.Request{
		Method: c.req.Method,
		URL:    c.url,
		Host:   c.url.Host,
		Header: c.fields(),
	}).WithContext(ctx)
	if c.req.Body != nil && c.req.Size != 0 {
		req.Body = io.NopCloser(&upload{c: c, r: c.req.Body})
		req.ContentLength = c.req.Size
	} else if c.req.Body != nil {
		req.Body = http.NoBody
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		stop()
		kind := sandbox.NetBroken
		if head.none() && errors.Is(err, io.EOF) {
			kind = sandbox.NetEmpty
		}
		return nil, c.failure(ctx, err, kind)
	}
	c.times.Answered = time.Since(c.start)
	body, err := c.body(ctx, res)
	if err != nil {
		_ = res.Body.Close()
		stop()
		return nil, err
	}
	end := c.end
	body.close = sync.OnceFunc(func() {
		_ = res.Body.Close()
		stop()
		end()
	})
	context.AfterFunc(ctx, body.close) // a program that keeps a body open past the time keeps no slot
	_, reason, _ := strings.Cut(res.Status, " ")
	return &sandbox.Response{
		Proto:  res.Proto,
		Status: res.StatusCode,
		Reason: c.hide(reason),
		Header: c.shown(res, head),
		Body:   body,
		Remote: remote,
		Times:  c.times,
	}, nil
}

// once hands out the connection to a transport that believes to dial.
func (c *call) once(conn net.Conn, head *headReader) func(context.Context, string, string) (net.Conn, error) {
	var mu sync.Mutex
	used := false
	return func(context.Context, string, string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		if used {
			return nil, errOnce
		}
		used = true
		if t, ok := conn.(*tls.Conn); ok && t.ConnectionState().NegotiatedProtocol == "h2" {
			return conn, nil // the transport has to see what it is
		}
		return head, nil
	}
}
