// Package egress is the only part of donax that dials: it makes the HTTP
// requests of programs, see [Egress.Do].
//
// The way of one request: its URL is read strictly (target.go), the
// operator's list is asked (rule.go), then the policy, then the name is
// resolved, once. Every address must be a public one or named by the operator
// (address.go); the policy is asked about each before it is dialled, and what
// was asked about is what is dialled: there is no second look-up. No redirect
// is followed, no proxy of the environment is used, certificates are always
// verified, and a connection serves one request only.
package egress

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// Config is what an [Egress] is made of. The zero Config reaches what admit
// allows, but no private address.
type Config struct {
	Allow    []Rule         // upper bound on what is reached; empty: public addresses only, as admit allows
	Secrets  []Secret       // headers added to requests to a host
	Roots    *x509.CertPool // nil: the system's
	Resolver Resolver       // nil: the system's
	Limits   Limits         // zero fields take the value of DefaultLimits
}

// A Resolver finds the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Limits bounds the requests of an [Egress].
type Limits struct {
	Request    int64         // bytes of one request's body
	Response   int64         // bytes of one response's body
	Concurrent int           // requests at a time; more wait
	Connect    time.Duration // until a connection is there
	Timeout    time.Duration // of one request, until its response has been read
}

// DefaultLimits is the one place where defaults live.
var DefaultLimits = Limits{
	Request:    16 << 20,
	Response:   16 << 20,
	Concurrent: 16,
	Connect:    30 * time.Second,
	Timeout:    2 * time.Minute,
}

// Egress makes requests. It is safe for concurrent use.
type Egress struct {
	cfg   Config
	slots chan struct{} // one for each request under way
}

var _ sandbox.Network = (*Egress)(nil)

// New returns an Egress. The error names a secret that makes no sense.
func New(cfg Config) (*Egress, error) {
	d, l := DefaultLimits, cfg.Limits
	cfg.Limits = Limits{
		Request:    cmp.Or(l.Request, d.Request),
		Response:   cmp.Or(l.Response, d.Response),
		Concurrent: cmp.Or(l.Concurrent, d.Concurrent),
		Connect:    cmp.Or(l.Connect, d.Connect),
		Timeout:    cmp.Or(l.Timeout, d.Timeout),
	}
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	for _, s := range cfg.Secrets {
		if err := s.check(); err != nil {
			return nil, err
		}
	}
	return &Egress{cfg: cfg, slots: make(chan struct{}, cfg.Limits.Concurrent)}, nil
}

// Do implements [sandbox.Network].
func (e *Egress) Do(ctx context.Context, r sandbox.Request, admit sandbox.Admit) (*sandbox.Response, error) {
	c, err := e.prepare(r)
	if err != nil {
		return nil, err
	}
	if err := c.admit(ctx, admit, ""); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, bound(r.Timeout, e.cfg.Limits.Timeout))
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		cancel()
		return nil, c.failure(ctx, ctx.Err(), sandbox.NetTimeout)
	}
	c.end = func() { cancel(); <-e.slots }
	res, err := c.do(ctx, admit)
	if err != nil {
		c.end()
		return nil, err
	}
	return res, nil
}
