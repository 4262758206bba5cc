// Package client dials MCP servers: as child processes over their standard
// streams, and over streamable HTTP, in whichever era the server answers:
// 2026-07-28, or an initialize revision.
//
// Nothing that a server sends is trusted. Lines that are no messages are
// skipped, messages over a limit fail the one call that they answer, lists end
// after a number of pages, and whatever a server does, [Client.Close] returns
// soon with the process and all its children gone.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config says which server to dial and as whom. Either Command or URL is set.
type Config struct {
	Command []string  // program and arguments; a name without slash is looked up in the PATH of Env, or else in that of this process
	Env     []string  // NAME=VALUE: the whole environment of the server; nothing is inherited
	Dir     string    // "" means the current folder
	Stderr  io.Writer // the server's stderr; nil discards it

	URL    string                 // of a streamable HTTP endpoint
	Header http.Header            // sent with every request to the host of URL, and to no other
	Bearer func() (string, error) // if set, gives the bearer token of each request

	Name, Version string // how the client introduces itself; "" means donax
	Revision      string // the MCP revision to ask for; "" means the newest, and an older era where that is not known

	Limits       Limits
	ToolsChanged func()                                  // called when the server says so, at most every half second; may be nil
	Elicit       func(context.Context, Elicitation) bool // asked when the server wants a person's yes; nil does not offer it
	Logf         func(format string, args ...any)        // told what was skipped; may be nil
}

// Limits bounds a connection. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Message int           // bytes of one message
	Tools   int           // tools in a list
	Pages   int           // pages of a list
	Probe   time.Duration // for the answer to the probe of the modern era
}

// DefaultLimits is the one place where defaults live.
var DefaultLimits = Limits{Message: 32 << 20, Tools: 1000, Pages: 100, Probe: 10 * time.Second}

// legacy is the revision that is asked for when a server cannot bear the probe.
const legacy = "2025-11-25"

// An Elicitation is a server's question to the person. Whoever answers it
// must say that the words are the server's.
type Elicitation struct {
	Message string
	URL     string // a page that the server wants opened; "" for a plain question
	Fields  bool   // the server wants values that a yes does not give
}

// Client is one connection. Its methods may be called concurrently.
type Client struct {
	cfg     Config
	session *mcp.ClientSession
	tokens  atomic.Int64
	changed *time.Timer
	done    chan struct{}
	idle    func() // closes what HTTP keeps open; nil otherwise

	mu       sync.Mutex
	progress map[string]func(message string) // by token; guarded by mu
	calls    map[*call]bool                  // in flight; guarded by mu
	closed   bool                            // guarded by mu
}

// call is a call in flight.
type call struct{ ctx context.Context }

// Start dials a server and shakes hands with it; ctx bounds that and not the
// connection, which lasts until [Client.Close] or until the server ends.
func Start(ctx context.Context, cfg Config) (*Client, error) {
	if (len(cfg.Command) == 0) == (cfg.URL == "") {
		return nil, errors.New("a server needs either a command or a URL")
	}
	if cfg.Name == "" {
		cfg.Name = "donax"
	}
	if cfg.Version == "" {
		cfg.Version = "0"
	}
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	d := DefaultLimits
	l := &cfg.Limits
	l.Message, l.Tools, l.Pages, l.Probe = or(l.Message, d.Message), or(l.Tools, d.Tools), or(l.Pages, d.Pages), or(l.Probe, d.Probe)

	c := &Client{cfg: cfg, progress: map[string]func(string){}, calls: map[*call]bool{}, done: make(chan struct{})}
	if err := c.dial(ctx); err != nil {
		return nil, err
	}
	go func() {
		_ = c.session.Wait()
		close(c.done)
	}()
	return c, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// dial connects: with the probe of the modern era first, in a window, and
// anew with the older handshake when that did not end well. Some servers
// ignore a request that comes before initialize, some end.
func (c *Client) dial(ctx context.Context) error {
	options := &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{}, // the SDK's default claims roots, which this client does not have
		ProgressNotificationHandler: c.onProgress,
		Logger:                      slog.New(slog.DiscardHandler), // it would quote what servers send
	}
	if c.cfg.ToolsChanged != nil {
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { c.onChange() }
	}
	if c.cfg.Elicit != nil {
		options.ElicitationHandler = c.onElicit
	}
	transport, err := c.transport()
	if err != nil {
		return err
	}
	connect := func(ctx context.Context, revision string) error {
		sdk := mcp.NewClient(&mcp.Implementation{Name: c.cfg.Name, Version: c.cfg.Version}, options)
		session, err := sdk.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			return err
		}
		c.session = session
		return nil
	}
	if c.cfg.Revision != "" && c.cfg.Revision < "2026" {
		return c.explain(connect(ctx, c.cfg.Revision), transport)
	}
	window, cancel := context.WithTimeout(ctx, c.cfg.Limits.Probe)
	defer cancel()
	err = connect(window, c.cfg.Revision)
	if err == nil || ctx.Err() != nil || errors.Is(err, errStart) || c.cfg.Revision != "" {
		return c.explain(err, transport)
	}
	c.cfg.Logf("the probe of the modern era failed (%v); starting again with initialize", err)
	return c.explain(connect(ctx, legacy), transport)
}

func (c *Client) transport() (mcp.Transport, error) {
	if c.cfg.URL != "" {
		t, idle, err := newHTTP(&c.cfg)
		c.idle = idle
		return t, err
	}
	return &process{cfg: &c.cfg}, nil
}

// explain adds to a failed start what the process said last.
func (c *Client) explain(err error, t mcp.Transport) error {
	if err == nil {
		return nil
	}
	if p, ok := t.(*process); ok {
		return p.explain(err)
	}
	return err
}

// Server returns the server's name and version and the MCP revision in use.
func (c *Client) Server() (name, version, revision string) {
	r := c.session.InitializeResult()
	if r == nil {
		return "", "", ""
	}
	if r.ServerInfo != nil {
		name, version = r.ServerInfo.Name, r.ServerInfo.Version
	}
	return name, version, r.ProtocolVersion
}

// Instructions returns what the server tells whoever uses its tools.
func (c *Client) Instructions() string {
	if r := c.session.InitializeResult(); r != nil {
		return r.Instructions
	}
	return ""
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the connection and the server. It does not wait for calls in
// flight, which fail.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	if c.changed != nil {
		c.changed.Stop()
	}
	c.mu.Unlock()
	err := c.session.Close()
	if c.idle != nil {
		c.idle()
	}
	return err
}

// debounce is how long a change of the tool list may settle: servers announce
// one change several times.
const debounce = 500 * time.Millisecond

func (c *Client) onChange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
	case c.changed == nil:
		c.changed = time.AfterFunc(debounce, c.cfg.ToolsChanged)
	default:
		c.changed.Reset(debounce)
	}
}

// onElicit relays a server's question when it is clear which call it belongs
// to: the protocol does not say.
func (c *Client) onElicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	refused := &mcp.ElicitResult{Action: "decline"}
	var in *call
	c.mu.Lock()
	for one := range c.calls {
		in = one
	}
	if len(c.calls) != 1 {
		in = nil
	}
	c.mu.Unlock()
	if in == nil {
		return refused, nil
	}
	e := Elicitation{Message: r.Params.Message, URL: r.Params.URL}
	if schema, ok := r.Params.RequestedSchema.(map[string]any); ok {
		fields, _ := schema["required"].([]any)
		e.Fields = len(fields) > 0
	}
	if !c.cfg.Elicit(in.ctx, e) || ctx.Err() != nil {
		return refused, nil
	}
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
}

func (c *Client) onProgress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, ok := r.Params.ProgressToken.(string)
	if !ok {
		return
	}
	c.mu.Lock()
	f := c.progress[token]
	c.mu.Unlock()
	if f == nil {
		return
	}
	text := r.Params.Message
	if text == "" {
		text = fmt.Sprint(r.Params.Progress)
		if r.Params.Total > 0 {
			text += fmt.Sprint("/", r.Params.Total)
		}
	}
	f(text)
}
