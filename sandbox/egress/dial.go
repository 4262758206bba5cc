package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// maxAddresses bounds the addresses of one name that are looked at.
const maxAddresses = 32

// connect resolves the target, checks and dials. It returns a connection on
// which HTTP can be spoken, with TLS for https, and what was dialled.
func (c *call) connect(ctx context.Context, admit sandbox.Admit) (net.Conn, string, error) {
	limit := bound(c.req.Connect, c.cfg.Limits.Connect)
	dialling, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	addrs, err := c.addresses(dialling)
	if err != nil {
		return nil, "", err
	}
	c.times.Resolved = time.Since(c.start)
	for _, ip := range addrs {
		if err := c.admit(ctx, admit, ip.String()); err != nil {
			return nil, "", err
		}
	}
	var conn net.Conn
	var remote string
	for i, ip := range addrs {
		remote = netip.AddrPortFrom(ip, c.port).String()
		// An address that does not answer leaves time for those that follow.
		left := limit - time.Since(c.start)
		one, cancel := context.WithTimeout(dialling, left/time.Duration(len(addrs)-i))
		conn, err = new(net.Dialer).DialContext(one, "tcp", remote) // an address, never a name: nothing is looked up again
		cancel()
		if err == nil || dialling.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, "", c.failure(ctx, err, sandbox.NetUnreachable)
	}
	c.times.Connected = time.Since(c.start)
	if c.scheme == "http" {
		return conn, remote, nil
	}
	secured, err := c.secure(dialling, conn)
	if err != nil {
		_ = conn.Close()
		return nil, "", err
	}
	c.times.Secured = time.Since(c.start)
	return secured, remote, nil
}

// addresses resolves the target, once, and refuses it when any address of it
// must not be reached: an answer that mixes public and private ones is an
// attack.
func (c *call) addresses(ctx context.Context) ([]netip.Addr, error) {
	addrs := []netip.Addr{c.ip}
	switch {
	case c.ip.IsValid():
	case c.host == "localhost": // no resolver has a say in this
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	default:
		found, err := c.cfg.Resolver.LookupNetIP(ctx, "ip", c.host+".") // the dot: no search list
		if err != nil || len(found) == 0 {
			if ctx.Err() != nil {
				return nil, c.failure(ctx, ctx.Err(), sandbox.NetTimeout)
			}
			return nil, fail(sandbox.NetUnresolved, "Could not resolve host: %s", c.host)
		}
		addrs = found
	}
	if len(addrs) > maxAddresses {
		addrs = addrs[:maxAddresses]
	}
	out := make([]netip.Addr, 0, len(addrs))
	for _, ip := range addrs {
		if !c.ip.IsValid() {
			ip = ip.Unmap() // resolvers give IPv4 so; an AAAA record in this form is checked as what it reaches
		}
		what := blocked(ip)
		if what != "" && !slices.ContainsFunc(c.cfg.Allow, func(r Rule) bool { return r.reaches(c.target, ip) }) {
			named := target{scheme: c.scheme, host: ip.WithZone("").String(), ip: ip, port: c.port}
			return nil, denied("blocked address %s (%s): only --allow-net %s opens it", ip, what, named.address())
		}
		if !slices.Contains(out, ip) {
			out = append(out, ip)
		}
	}
	return out, nil
}

// secure speaks TLS with the server and verifies who it is.
func (c *call) secure(ctx context.Context, conn net.Conn) (net.Conn, error) {
	t := tls.Client(conn, &tls.Config{
		ServerName: c.host,
		RootCAs:    c.cfg.Roots,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
	})
	err := t.HandshakeContext(ctx)
	if err == nil {
		return t, nil
	}
	kind := sandbox.NetHandshake
	var bad *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	if errors.As(err, &bad) || errors.As(err, &invalid) {
		kind = sandbox.NetUntrusted
	}
	return nil, c.failure(ctx, err, kind)
}
