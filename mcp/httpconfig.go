package mcp

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/donax-sh/donax/policy"
)

// An Authenticator says who sends a request. It is safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the identity behind r. An error refuses the
	// request; its text goes to the operator's log, not to the client.
	Authenticate(r *http.Request) (Identity, error)
}

// Sick is what an [Authenticator] may also be.
type Sick interface {
	// Health says why nobody, or nobody with credentials of some kind, is let
	// in; nil means that nothing is wrong. Its text is shown at /healthz, to
	// whoever asks.
	Health() error
}

// Identity is an authenticated client.
type Identity struct {
	Principal policy.Principal // Sub must not be empty
	Rate      float64          // requests a second; 0 means HTTPConfig.Rate
	Terminals int              // commands that run at a time; 0, and more than the host allows, mean what the host allows
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
