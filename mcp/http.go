package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/donax-sh/donax/policy"
)

// Handler serves MCP at /mcp, and /healthz and /metrics beside it; everything
// else is not found. Both eras are served at the one path: requests of
// 2026-07-28 need no session, those before open one with initialize.
//
// The values of base reach every call, and its end stops all calls in
// progress and refuses new ones. Every request must come with an allowed Host
// and, when it names one, an allowed Origin; all but /healthz must be
// authenticated. Terminals belong to the principal, not to a session.
func (s *Server) Handler(base context.Context, c HTTPConfig) http.Handler {
	h := &httpHandler{s: s, base: base, c: c.withDefaults()}
	h.rates.init(h.c.Rate, h.c.Burst)
	h.failures.init(failureRate, failureBurst)
	h.sessions.init(h.c.Sessions, h.c.SessionIdle)
	get := func(*http.Request) *sdk.Server { return s.sdk }
	limit := int64(s.limits.Message)
	h.modern = h.withToken(sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: limit, DisableLocalhostProtection: true,
	}))
	h.legacy = h.withToken(sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		SessionTimeout: h.c.SessionIdle, MaxRequestBodyBytes: limit, DisableLocalhostProtection: true,
	}))
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", h.serveMCP)
	mux.HandleFunc("GET /healthz", h.serveHealth)
	mux.HandleFunc("GET /metrics", h.serveMetrics)
	return h.checked(mux)
}

type httpHandler struct {
	s        *Server
	base     context.Context
	c        HTTPConfig
	modern   http.Handler // the SDK's, without sessions
	legacy   http.Handler // the SDK's, with sessions
	rates    rates
	failures rates // requests without a valid token, by remote host
	sessions sessions
	bulky    gates
}

// ended reports whether no new request is served.
func (h *httpHandler) ended() bool {
	select {
	case <-h.c.Draining:
		return true
	case <-h.base.Done():
		return true
	default:
		return false
	}
}

func (h *httpHandler) serveHealth(w http.ResponseWriter, _ *http.Request) {
	if h.ended() {
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
		return
	}
	checks := []func() error{h.s.health}
	if sick, ok := h.c.Auth.(Sick); ok {
		checks = append(checks, sick.Health)
	}
	for _, check := range checks {
		if check == nil {
			continue
		}
		if err := check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	fmt.Fprintln(w, "ok")
}

// authenticate answers the request itself when it is not authenticated.
func (h *httpHandler) authenticate(w http.ResponseWriter, r *http.Request) (Identity, bool) {
	err := errors.New("no authenticator")
	var who Identity
	if h.c.Auth != nil {
		who, err = h.c.Auth.Authenticate(r)
	}
	if err == nil && who.Principal.Sub == "" {
		err = errors.New("an identity without a name")
	}
	if err != nil {
		h.s.metrics.authFailures.Add(1)
		if wait := h.failures.take(hostOf(r.RemoteAddr), 0, time.Now()); wait > 0 {
			tooMany(w, wait) // and the log is spared
			return who, false
		}
		h.s.log.Warn("request refused", "remote", r.RemoteAddr, "err", err)
		challenge := `Bearer realm="donax"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		writeFault(w, http.StatusUnauthorized, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "a valid bearer token is required"))
		return who, false
	}
	return who, true
}

// A host that guesses tokens is slowed down. One that has a valid token is
// served whatever others at its address do.
const (
	failureRate  = 1 // a second
	failureBurst = 20
)

func tooMany(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())+1))
	writeFault(w, http.StatusTooManyRequests, faultOf(jsonrpc.ID{}, jsonrpc.CodeInternalError, "too many requests; slow down"))
}

// withToken makes the identity known to the SDK: it binds a session to its
// user, and hands it to calls.
func (h *httpHandler) withToken(next http.Handler) http.Handler {
	inner := auth.RequireBearerToken(func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		l := linkFrom(ctx)
		if l == nil {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: userID(l.identity.Principal), Extra: map[string]any{identityKey: l.identity}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The SDK hands the headers on to calls. They see no secret, and it sees a token however the client was authenticated.
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer authenticated")
		inner.ServeHTTP(w, r)
	})
}

const identityKey = "donax.identity"

// userID names a principal without room for two to share a name.
func userID(p policy.Principal) string {
	return fmt.Sprintf("%q %q %q", p.Tenant, p.Auth, p.Sub)
}

func (h *httpHandler) serveMCP(w http.ResponseWriter, r *http.Request) {
	who, ok := h.authenticate(w, r)
	if !ok {
		return
	}
	if wait := h.rates.take(userID(who.Principal), who.Rate, time.Now()); wait > 0 {
		h.s.metrics.rateLimited.Add(1)
		tooMany(w, wait)
		return
	}
	if h.ended() {
		w.Header().Set("Retry-After", "5")
		writeFault(w, http.StatusServiceUnavailable, faultOf(jsonrpc.ID{}, jsonrpc.CodeInternalError, "the server is shutting down"))
		return
	}
	l := &link{base: h.base, draining: h.c.Draining, subject: policy.SubjectFrom(h.base), identity: who}
	l.subject.Principal = who.Principal
	l.subject.Session = policy.Session{Transport: "http"}
	sid := r.Header.Get("Mcp-Session-Id")
	if r.Header.Get("MCP-Protocol-Version") >= modernRevision {
		sid = "" // that era has no sessions; a client of both may send what it has
	}
	if sid != "" && !h.sessions.touch(sid, userID(who.Principal), time.Now()) {
		// A session of somebody else is answered like one that never was.
		writeFault(w, http.StatusNotFound, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "session not found: open one with initialize"))
		return
	}
	l.subject.Session.ID = publicSession(sid)
	r = r.WithContext(withLink(withValues(r.Context(), h.base), l))

	switch r.Method {
	case http.MethodPost:
		h.servePost(w, r, sid, who)
	case http.MethodGet, http.MethodDelete:
		if sid == "" {
			notAllowed(w, "POST")
			return
		}
		if r.Method == http.MethodDelete {
			h.sessions.drop(sid)
		}
		h.stream(w, r, h.legacy, r.Method == http.MethodGet)
	default: // a preflight of a browser, too: no page is invited by CORS headers
		notAllowed(w, "POST, GET, DELETE")
	}
}

func notAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	writeFault(w, http.StatusMethodNotAllowed, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "method not allowed"))
}

// publicSession names a session in policies and logs. The id itself opens the
// session, so it stays out of them.
func publicSession(sid string) string {
	if sid == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(sid))
	return "h_" + hex.EncodeToString(sum[:12])
}

// valuesContext has the values of two contexts, and the end of the first.
type valuesContext struct {
	context.Context
	more context.Context
}

func withValues(ctx, more context.Context) context.Context { return valuesContext{ctx, more} }

func (c valuesContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.more.Value(key)
}
