package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/donax-sh/donax/policy"
)

// An Authenticator says who sends a request. It is safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the identity behind r. An error refuses the
	// request; its text goes to the operator's log, not to the client.
	Authenticate(r *http.Request) (Identity, error)
}

// Identity is an authenticated client.
type Identity struct {
	Principal policy.Principal // Sub must not be empty
	Rate      float64          // requests a second; 0 means HTTPConfig.Rate
}

// OperatorRole is the role that may read /metrics.
const OperatorRole = "operator"

// HTTPConfig configures [Server.Handler]. Zero numbers take the defaults that
// their comments name.
type HTTPConfig struct {
	Auth           Authenticator   // nil refuses every request
	AllowedHosts   []string        // names, without port, by which clients may reach the server beside localhost
	AllowedOrigins []string        // origins of web pages that may call, such as https://app.example
	Draining       <-chan struct{} // once closed, new requests get 503 and waits are answered at once; may be nil

	Rate        float64       // requests a second of one principal; 0 means 50, negative no limit
	Burst       int           // requests that may come at once; 0 means 200
	Sessions    int           // sessions of one principal in the era of initialize; 0 means 64
	SessionIdle time.Duration // such a session ends when unused for so long; 0 means 30 minutes
	Heartbeat   time.Duration // a sign of life on silent streams; 0 means 15 s
	ReadLimit   time.Duration // how long a body may take to arrive; 0 means 30 s
	WriteLimit  time.Duration // how long a client may leave one write unread; 0 means 30 s
}

func (c HTTPConfig) withDefaults() HTTPConfig {
	if c.Rate == 0 {
		c.Rate = 50
	}
	c.Burst = orDefault(c.Burst, 200)
	c.Sessions = orDefault(c.Sessions, 64)
	c.SessionIdle = orDefault(c.SessionIdle, 30*time.Minute)
	c.Heartbeat = orDefault(c.Heartbeat, 15*time.Second)
	c.ReadLimit = orDefault(c.ReadLimit, 30*time.Second)
	c.WriteLimit = orDefault(c.WriteLimit, 30*time.Second)
	return c
}

// NewHTTPServer returns a server for h with bounds that fit it: on headers,
// and on the time that they may take. The caller adds TLS and listens.
func NewHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
}

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
	sessions sessions
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

// withToken makes the identity known to the SDK: it binds a session to its
// user, and hands it to calls.
func (h *httpHandler) withToken(next http.Handler) http.Handler {
	inner := auth.RequireBearerToken(func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		l := linkFrom(ctx)
		if l == nil {
			return nil, auth.ErrInvalidToken
		}
		p := l.subject.Principal
		return &auth.TokenInfo{UserID: userID(p), Extra: map[string]any{principalKey: p}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The SDK hands the headers on to calls. They see no secret, and it sees a token however the client was authenticated.
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer authenticated")
		inner.ServeHTTP(w, r)
	})
}

const principalKey = "donax.principal"

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
		w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())+1))
		writeFault(w, http.StatusTooManyRequests, faultOf(jsonrpc.ID{}, jsonrpc.CodeInternalError, "too many requests; slow down"))
		return
	}
	if h.ended() {
		w.Header().Set("Retry-After", "5")
		writeFault(w, http.StatusServiceUnavailable, faultOf(jsonrpc.ID{}, jsonrpc.CodeInternalError, "the server is shutting down"))
		return
	}
	l := &link{base: h.base, draining: h.c.Draining, subject: policy.SubjectFrom(h.base)}
	l.subject.Principal = who.Principal
	l.subject.Session = policy.Session{Transport: "http"}
	sid := r.Header.Get("Mcp-Session-Id")
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
		if sid == "" || r.Header.Get("MCP-Protocol-Version") >= modernRevision {
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

func (h *httpHandler) servePost(w http.ResponseWriter, r *http.Request, sid string, who Identity) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		// A page can send other types without asking; this one it cannot.
		writeFault(w, http.StatusUnsupportedMediaType, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "Content-Type must be application/json"))
		return
	}
	if r.Header.Get("Accept") == "" { // which means anything
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	body, ok := h.readBody(w, r)
	if !ok {
		return
	}
	e, f := parseEnvelope(body)
	if f != nil {
		writeFault(w, http.StatusBadRequest, f)
		return
	}
	if e == nil { // a notification of the wrong shape
		writeFault(w, http.StatusBadRequest, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "malformed notification"))
		return
	}
	version := r.Header.Get("MCP-Protocol-Version")
	modern := version >= modernRevision || e.modern()
	if f := h.checkHeaders(r, e, version); f != nil {
		writeFault(w, http.StatusBadRequest, f)
		return
	}
	if e.kind == kindRequest {
		if f := e.check(h.s.served); f != nil {
			writeFault(w, statusOf(f, modern), f)
			return
		}
	}
	switch {
	case modern:
		h.stream(w, withBody(r, body), h.modern, e.method == "tools/call")
	case e.method == "initialize" && sid == "":
		if e.kind == kindRequest && !h.sessions.room(userID(who.Principal), time.Now()) {
			writeFault(w, http.StatusTooManyRequests, faultOf(e.id, jsonrpc.CodeInternalError, "too many sessions; end one with DELETE"))
			return
		}
		if e.kind == kindRequest && e.rewritten {
			if body, ok = h.encode(w, e); !ok {
				return
			}
		}
		h.stream(&sessionWriter{ResponseWriter: w, h: h, owner: userID(who.Principal)}, withBody(r, body), h.legacy, false)
	case sid == "":
		writeFault(w, http.StatusBadRequest, faultOf(e.id, jsonrpc.CodeInvalidParams,
			"open with initialize and send its Mcp-Session-Id, or send MCP-Protocol-Version and _meta of "+modernRevision))
	default:
		h.stream(w, withBody(r, body), h.legacy, e.method == "tools/call")
	}
}

func (h *httpHandler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(h.c.ReadLimit)) // not every server can: then the body limit has to do
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.s.limits.Message)))
	_ = rc.SetReadDeadline(time.Time{}) // the connection is watched for its end from now on
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		writeFault(w, http.StatusRequestEntityTooLarge, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("body longer than %d bytes", h.s.limits.Message)))
		return nil, false
	case err != nil:
		writeFault(w, http.StatusBadRequest, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the body did not arrive"))
		return nil, false
	}
	if body = bytes.TrimSpace(body); len(body) == 0 {
		writeFault(w, http.StatusBadRequest, faultOf(jsonrpc.ID{}, jsonrpc.CodeParseError, "parse error: the body is empty"))
		return nil, false
	}
	return body, true
}

// encode returns the body of a message that was changed.
func (h *httpHandler) encode(w http.ResponseWriter, e *envelope) ([]byte, bool) {
	b, err := jsonrpc.EncodeMessage(e.msg)
	if err != nil {
		writeFault(w, http.StatusBadRequest, faultOf(e.id, jsonrpc.CodeInvalidParams, "invalid params"))
		return nil, false
	}
	return b, true
}

func withBody(r *http.Request, body []byte) *http.Request {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return r
}

// checkHeaders holds the headers against the body where the SDK does not.
func (h *httpHandler) checkHeaders(r *http.Request, e *envelope, version string) *fault {
	switch {
	case version != "" && e.kind == kindRequest && e.hasMeta && e.version != version:
		return faultOf(e.id, sdk.CodeHeaderMismatch, "MCP-Protocol-Version is not the _meta "+metaVersion)
	case version != "" && !slices.Contains(sdk.SupportedProtocolVersions(), version):
		return unsupported(e.id, version)
	}
	// The protocol lets clients write a name in base64; the SDK compares it as it stands.
	if n := r.Header.Get("Mcp-Name"); strings.HasPrefix(n, "=?base64?") && strings.HasSuffix(n, "?=") && len(n) >= 11 {
		name, err := base64.StdEncoding.DecodeString(n[9 : len(n)-2])
		if err != nil {
			return faultOf(e.id, sdk.CodeHeaderMismatch, "Mcp-Name is not valid base64")
		}
		r.Header.Set("Mcp-Name", string(name))
	}
	return nil
}

// statusOf is the status of an answer that is an error: the era of
// 2026-07-28 says it in HTTP too.
func statusOf(f *fault, modern bool) int {
	switch {
	case f.err.Code == jsonrpc.CodeMethodNotFound && modern:
		return http.StatusNotFound
	case f.err.Code == jsonrpc.CodeMethodNotFound:
		return http.StatusOK
	}
	return http.StatusBadRequest
}

func writeFault(w http.ResponseWriter, status int, f *fault) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(f.bytes()) // a client that is gone needs no answer
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
