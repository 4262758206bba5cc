package sandbox

import (
	"context"
	"io"
	"syscall"
	"time"

	"github.com/donax-sh/donax/policy"
)

// A Network makes HTTP requests for programs. sandbox/egress is the one that
// dials.
type Network interface {
	// Do makes one request and returns when the head of its response is there.
	// It follows no redirect. Before anything leaves, even the look-up of a
	// name, it asks admit, and again about each address that it is about to
	// dial. The error is a [*NetError], one of admit, or that of ctx; the body
	// of the response fails with such an error, too, and ends with ctx.
	Do(ctx context.Context, r Request, admit Admit) (*Response, error)
}

// Admit says with an error that a connection may not be made.
type Admit func(context.Context, policy.Net) error

// A Request is one HTTP request of a program.
type Request struct {
	Method string        // a token; sent and asked about in upper case
	URL    string        // http or https, absolute, printable ASCII, without user and password
	From   string        // the URL whose redirect led here; "" otherwise
	Header []HeaderField // in this order; those of the connection itself are refused
	Body   io.Reader     // nil: none
	Size   int64         // bytes of Body; -1 when not known
	// Zero means the network's own bound; a larger one is lowered to that.
	Connect time.Duration // until a connection is there
	Timeout time.Duration // until the body has been read
}

// HeaderField is one line of an HTTP head.
type HeaderField struct{ Name, Value string }

// A Response is what a server answered.
type Response struct {
	Proto  string        // HTTP/1.1, HTTP/2.0
	Status int           // 200
	Reason string        // "OK"; "" in HTTP/2
	Header []HeaderField // as received
	Body   io.ReadCloser // never nil; the caller closes it
	Remote string        // address and port that were dialled
	Times  NetTimes
}

// NetTimes are the times since the start of a request at which its parts were
// done; 0 for those that it did not have.
type NetTimes struct{ Resolved, Connected, Secured, Answered time.Duration }

// NetKind says what a [NetError] is.
type NetKind uint8

// Kinds of failure. The numbers are told to programs: they never change.
const (
	NetInvalid     NetKind = iota + 1 // the request makes no sense
	NetUnsupported                    // neither http nor https
	NetDenied                         // not allowed; nothing was sent
	NetUnresolved                     // the name has no address
	NetUnreachable                    // no connection
	NetTimeout                        // a bound on time was reached
	NetUntrusted                      // the server's certificate is not good
	NetHandshake                      // TLS failed otherwise
	NetTooLarge                       // a bound on size was reached
	NetBroken                         // the connection ended too early, or what came was not HTTP
	NetEmpty                          // the connection ended before anything came
)

// A NetError says why a request failed. Its text may be shown to anyone.
type NetError struct {
	Kind NetKind
	Msg  string
}

func (e *NetError) Error() string { return e.Msg }

// Unwrap returns the number that a program sees which reads a body.
func (e *NetError) Unwrap() error {
	switch e.Kind {
	case NetTooLarge:
		return syscall.EFBIG
	case NetTimeout:
		return syscall.ETIMEDOUT
	case NetDenied:
		return syscall.EACCES
	}
	return syscall.EIO
}
