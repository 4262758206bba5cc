package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/donax-sh/donax/sandbox"
)

func fail(k sandbox.NetKind, format string, args ...any) error {
	return &sandbox.NetError{Kind: k, Msg: fmt.Sprintf(format, args...)}
}

func denied(format string, args ...any) error   { return fail(sandbox.NetDenied, format, args...) }
func invalid(format string, args ...any) error  { return fail(sandbox.NetInvalid, format, args...) }
func tooLarge(format string, args ...any) error { return fail(sandbox.NetTooLarge, format, args...) }

// failure turns what the standard library says into a NetError of a kind,
// unless it already is one, the time was over, or the caller's context ended.
// The texts are our own: an error must not quote a header with a secret.
func (c *call) failure(ctx context.Context, err error, kind sandbox.NetKind) error {
	var ne *sandbox.NetError
	var timeout net.Error
	switch {
	case errors.As(err, &ne):
		return ne
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fail(sandbox.NetTimeout, "timed out")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fail(kind, "%s", text(err, kind))
}

// text says what went wrong in words that show nothing of the host.
func text(err error, kind sandbox.NetKind) string {
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "Connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "Connection reset by peer"
	case errors.Is(err, syscall.ENETUNREACH):
		return "Network is unreachable"
	case errors.Is(err, syscall.EHOSTUNREACH):
		return "No route to host"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended too early"
	case errors.As(err, &record):
		return "the server does not speak TLS"
	}
	switch kind {
	case sandbox.NetUntrusted:
		return untrusted(err)
	case sandbox.NetHandshake:
		return "the TLS handshake failed"
	case sandbox.NetUnreachable:
		return "Couldn't connect to server"
	case sandbox.NetUnresolved:
		return "Could not resolve host"
	}
	return "the response is not HTTP that can be read"
}

func untrusted(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var bad x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "unable to get local issuer certificate"
	case errors.As(err, &host):
		return "the certificate is for another host"
	case errors.As(err, &bad) && bad.Reason == x509.Expired:
		return "certificate has expired"
	}
	return "the certificate cannot be verified"
}
