package egress_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/egress"
)

// stub is a server on loopback that counts the connections it gets.
type stub struct {
	*httptest.Server
	conns atomic.Int64
}

func serve(t testing.TB, tls bool, h http.HandlerFunc) *stub {
	t.Helper()
	s := &stub{Server: httptest.NewUnstartedServer(h)}
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// addr is the server's HOST:PORT.
func (s *stub) addr() string { return s.Listener.Addr().String() }
func (s *stub) port() string { _, p, _ := net.SplitHostPort(s.addr()); return p }

// roots trusts the server's certificate, which is for example.com, too.
func (s *stub) roots() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(s.Certificate())
	return p
}

// names is a resolver with fixed answers, each query of a name taking the
// next one; the last stays.
type names struct {
	mu      sync.Mutex
	answers map[string][]string // each: addresses separated by spaces
	queries []string
}

func (n *names) LookupNetIP(_ context.Context, _, host string) (list []netip.Addr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queries = append(n.queries, host)
	a := n.answers[strings.TrimSuffix(host, ".")]
	if len(a) == 0 {
		return nil, errors.New("no such host")
	}
	if len(a) > 1 {
		n.answers[strings.TrimSuffix(host, ".")] = a[1:]
	}
	for _, s := range strings.Fields(a[0]) {
		list = append(list, netip.MustParseAddr(s))
	}
	return list, nil
}

func rules(t testing.TB, list ...string) (out []egress.Rule) {
	t.Helper()
	for _, s := range list {
		r, err := egress.ParseRule(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func open(t testing.TB, c egress.Config) *egress.Egress {
	t.Helper()
	e, err := egress.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// yes admits everything.
func yes(context.Context, policy.Net) error { return nil }

// asks records what is asked and admits everything.
type asks struct {
	mu   sync.Mutex
	list []policy.Net
}

func (a *asks) admit(_ context.Context, n policy.Net) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, n)
	return nil
}

// get makes a request and returns "STATUS BODY", or "KIND: MESSAGE".
func get(t testing.TB, e *egress.Egress, r sandbox.Request) string {
	t.Helper()
	if r.Method == "" {
		r.Method = "GET"
	}
	res, err := e.Do(t.Context(), r, yes)
	if err != nil {
		return told(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return told(err)
	}
	return fmt.Sprint(res.Status, " ", string(b))
}

func told(err error) string {
	var ne *sandbox.NetError
	if errors.As(err, &ne) {
		return fmt.Sprintf("%d: %s", ne.Kind, ne.Msg)
	}
	return err.Error()
}

func isKind(err error, k sandbox.NetKind) bool {
	var ne *sandbox.NetError
	return errors.As(err, &ne) && ne.Kind == k
}
