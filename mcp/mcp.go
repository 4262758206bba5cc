// Package mcp serves terminals over the Model Context Protocol, on standard
// input and output and over HTTP, to clients of both eras: those that open
// with initialize, and those of 2026-07-28 that say in every request what
// they speak.
//
// The official SDK does sessions, dispatch and headers. Round it lie layers for
// what it does not do: a strict envelope (scan.go, envelope.go), a mux of one
// byte stream with a session for each era (stdio.go), a router of HTTP requests
// (http.go), and a guard round every call (guard.go).
package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/brake"
	"github.com/donax-sh/donax/termhost"
)

// Info names the server to its clients.
type Info struct {
	Name    string // short: clients build tool names from it; "" means donax
	Title   string
	Version string
}

// Config configures a [Server].
type Config struct {
	Info         Info
	Host         *termhost.Host // the terminals that the five tools work on
	Tools        []Tool         // a host program's own tools beside the five; a later one of a name replaces an earlier
	Instructions string         // what every client is told; "" means [Instructions]
	More         string         // added to the instructions: what else this host has
	Limits       Limits

	// Remember stands between the host's asks and the person at the client: it
	// returns an Approver that answers what was approved before and puts the rest
	// to the one it is given. Nil asks every time.
	Remember func(policy.Approver) policy.Approver

	// Raw shows terminal escape sequences in text as they are. By default they are
	// taken out, because what a model or person sees must not steer a terminal.
	Raw bool

	// Every call of a tool passes one point: Grant and what else is bound to the context (see policy.Bind),
	// then Gate, which is where brakes stand and the record is kept. Both may be nil.
	Grant *brake.Grant // what clients may do at all; it holds for the commands they start, too
	Gate  policy.Gate

	// On whose behalf it is, for the record. What a context carries already stays: see policy.WithOrigin.
	Goal, Scope string
	Isolation   policy.Isolation // what separates the terminals of Host; "" is none

	// Metrics write what /metrics shows beside the server's own, in the text format of Prometheus.
	Metrics []func(io.Writer)

	// Health says what is wrong with the whole, for /healthz; nil, or nil from it, means that nothing is.
	// Its text is shown to whoever asks: it must name nothing.
	Health func() error

	Logger *slog.Logger // for the operator; nil discards. Never standard output: that is the protocol's
}

// A Server serves MCP. It is safe for concurrent use.
type Server struct {
	host   *termhost.Host
	tools  []Tool
	served []string // methods
	limits Limits
	log    *slog.Logger
	sdk    *sdk.Server

	remember  func(policy.Approver) policy.Approver
	raw       bool
	metrics   metrics
	more      []func(io.Writer)
	health    func() error
	approvals *approvals

	grant  *brake.Grant
	gate   policy.Gate
	origin policy.Origin

	mu    sync.Mutex
	calls map[string]int // in progress, by principal
}

// New returns a Server. The error says what is wrong with the configuration.
func New(c Config) (*Server, error) {
	if c.Host == nil {
		return nil, errors.New("mcp: Config.Host is nil")
	}
	if c.Info.Name == "" {
		c.Info.Name = "donax"
	}
	s := newBare(c)
	if c.Instructions == "" {
		c.Instructions = Instructions
		if c.Host.HasShells() {
			c.Instructions += SessionInstructions
		}
	}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: c.Info.Name, Title: c.Info.Title, Version: c.Info.Version}, &sdk.ServerOptions{
		Instructions: c.Instructions + c.More,
		// Only what is served: the SDK's default also claims logging.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		Logger:       slog.New(slog.DiscardHandler), // it would log whole params
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.TTLMs, c.CacheScope = int(time.Hour/time.Millisecond), "public" // the list is the same for everyone and never changes
		},
	})
	for _, t := range append(terminalTools(s), c.Tools...) {
		if err := s.add(t); err != nil {
			return nil, fmt.Errorf("mcp: tool %q: %w", t.Name, err)
		}
	}
	s.sdk.AddReceivingMiddleware(s.guard)
	return s, nil
}

// newBare returns a Server that serves nothing yet.
func newBare(c Config) *Server {
	s := &Server{
		host: c.Host, served: toolMethods, limits: c.Limits.withDefaults(), log: c.Logger,
		calls: map[string]int{}, approvals: newApprovals(), remember: c.Remember, raw: c.Raw, more: c.Metrics, health: c.Health, grant: c.Grant, gate: c.Gate,
		origin: policy.Origin{Server: strings.TrimSpace(c.Info.Name + " " + c.Info.Version), Goal: c.Goal, Scope: c.Scope, Isolation: c.Isolation},
	}
	if s.remember == nil {
		s.remember = func(ask policy.Approver) policy.Approver { return ask }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Tools returns the tools in the order in which clients see them.
func (s *Server) Tools() []Tool { return append([]Tool(nil), s.tools...) }

// Close ends every terminal, as [termhost.Host.Close] does. A Serve in
// progress goes on; its calls find no terminals.
func (s *Server) Close() error { return s.host.Close() }

// Serve serves one client on r and w, one message a line, until the input
// ends or ctx does; then it returns nil, with every terminal that was created
// through it ended. Calls in progress when the input ends are still answered,
// within [Limits].Drain. Any other error is one of r or w.
//
// The values of ctx reach every call. A [policy.Subject] among them names the
// principal; without one it is the local process. Serve may be called several
// times, also at the same time.
//
// A Read of r that is in progress when ctx ends cannot be interrupted: its
// goroutine remains until Read returns, and uses nothing of the Server then.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	subject := policy.SubjectFrom(ctx)
	if subject.Principal.Sub == "" {
		subject.Principal = policy.Principal{Sub: "local", Auth: "process"}
	}
	subject.Session.ID = "s_" + rand.Text()
	subject.Session.Transport = "stdio"
	m := newMux(s, w)
	m.l = &link{base: ctx, subject: subject, draining: m.draining}
	err := m.serve(withLink(ctx, m.l), r)
	if endErr := s.host.EndSession(subject.Session.ID); endErr != nil {
		s.log.Warn("terminals outlive their session", "session", subject.Session.ID, "err", endErr)
		err = errors.Join(err, endErr)
	}
	return err
}

// link is what a call needs to know of the way it came.
type link struct {
	base     context.Context // ends when nothing may run any more
	subject  policy.Subject  // without what the request itself says
	identity Identity        // who was authenticated; empty on a byte stream
	draining <-chan struct{} // closed when the client can ask no more
}

type linkKey struct{}

func withLink(ctx context.Context, l *link) context.Context {
	return context.WithValue(ctx, linkKey{}, l)
}

func linkFrom(ctx context.Context) *link {
	l, _ := ctx.Value(linkKey{}).(*link)
	return l
}
