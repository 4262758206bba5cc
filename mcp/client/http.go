package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newHTTP returns a transport over streamable HTTP, and what closes the
// connections that it keeps.
func newHTTP(cfg *Config) (mcp.Transport, func(), error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, errors.New("the URL of a server must be like https://HOST/PATH") // it may hold a secret: not quoted
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	g := &gate{cfg: cfg, base: base, origin: u.Scheme + "://" + u.Host}
	return &mcp.StreamableClientTransport{
		Endpoint:     cfg.URL,
		MaxEventSize: 2 * cfg.Limits.Message, // the gate has the limit, and a clearer answer
		MaxRetries:   1,
		HTTPClient:   &http.Client{Transport: g, CheckRedirect: g.redirect},
	}, base.CloseIdleConnections, nil
}

// gate is what every request and response passes: it adds the credentials,
// keeps them from other hosts, and bounds and mends what comes back.
type gate struct {
	cfg    *Config
	base   http.RoundTripper
	origin string
}

// redirect follows a redirection only within the server's own origin: the
// credentials, and the arguments of calls, are for nobody else.
func (g *gate) redirect(r *http.Request, via []*http.Request) error {
	if r.URL.Scheme+"://"+r.URL.Host != g.origin {
		return errors.New("the server redirects to another host, which is not followed")
	}
	if len(via) > 3 {
		return errors.New("the server redirects in circles")
	}
	return nil
}

// RoundTrip implements [http.RoundTripper].
func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range g.cfg.Header {
		r.Header[name] = values
	}
	if g.cfg.Bearer != nil {
		token, err := g.cfg.Bearer()
		if err != nil {
			return nil, fmt.Errorf("bearer token: %w", err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if r.Method == http.MethodGet {
		return g.listen(r), nil
	}
	id := requestID(r)
	resp, err := g.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch kind = strings.TrimSpace(kind); {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		resp.Body.Close()
		return nil, fmt.Errorf("the server answers %s: check its credentials", resp.Status)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		resp.Body = body{io.LimitReader(resp.Body, 64<<10), resp.Body}
	case kind == "application/json":
		return g.message(resp, id)
	case kind == "text/event-stream":
		resp.Body = g.events(io.LimitReader(resp.Body, 4*int64(g.cfg.Limits.Message)), resp.Body, id)
	default:
		resp.Body = body{io.LimitReader(resp.Body, 64<<10), resp.Body}
	}
	return resp, nil
}

type body struct {
	io.Reader
	io.Closer
}

// requestID returns the id of the JSON-RPC request that r carries, or nil.
func requestID(r *http.Request) []byte {
	if r.GetBody == nil {
		return nil
	}
	b, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer b.Close()
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.NewDecoder(b).Decode(&m)
	return m.ID
}

// message reads a response that is one message.
func (g *gate) message(resp *http.Response, id []byte) (*http.Response, error) {
	limit := g.cfg.Limits.Message
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if len(data) > limit && id != nil {
		data = failure(id, limit)
	}
	resp.Body = io.NopCloser(bytes.NewReader(plain(data)))
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
	return resp, nil
}

// events mends the messages of an event stream as they pass.
func (g *gate) events(r io.Reader, c io.Closer, id []byte) io.ReadCloser {
	return &eventStream{lines: lines{newReader(r), g.cfg.Limits.Message}, Closer: c, id: id}
}

type eventStream struct {
	lines lines
	io.Closer
	id   []byte
	rest []byte
	err  error
}

// Read passes lines on. A message is one data line everywhere; one that is
// split over several passes unmended.
func (s *eventStream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		line, err := s.lines.line()
		var long *longLine
		switch {
		case errors.As(err, &long) && s.id != nil:
			line = append([]byte("data: "), failure(s.id, s.lines.max)...)
		case errors.As(err, &long):
			continue
		case err != nil:
			s.err = err
			continue
		}
		line = bytes.TrimRight(line, "\r\n")
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			line = append([]byte("data: "), plain(bytes.TrimSpace(data))...)
		}
		s.rest = append(line, '\n')
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// listen answers the request for the stream of notifications at once, and
// opens the real one behind it: some servers send no header before the first
// event, some never answer, some close it every minute. None of that may hold
// up or end the connection, which works without.
func (g *gate) listen(r *http.Request) *http.Response {
	pr, pw := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = pw.CloseWithError(r.Context().Err()) })
	go func() {
		for wait := time.Second; r.Context().Err() == nil; wait = min(2*wait, 5*time.Minute) {
			resp, err := g.base.RoundTrip(r.Clone(r.Context()))
			if err == nil {
				ok := resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
				if ok {
					_, _ = io.Copy(pw, g.events(resp.Body, resp.Body, nil))
				}
				resp.Body.Close()
				if !ok {
					return
				}
			}
			select {
			case <-time.After(wait):
			case <-r.Context().Done():
			}
		}
	}()
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, ContentLength: -1, Request: r,
	}
}
