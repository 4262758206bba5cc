package applet

import (
	"io"
	"os"
	"time"
)

// Web makes HTTP requests, through the sandbox and its policy.
type Web interface {
	// Fetch makes one request and returns when the head of its response is
	// there; it follows no redirect. The error is a [*WebError].
	Fetch(WebRequest) (*WebResponse, error)
}

// WebRequest is one HTTP request.
type WebRequest struct {
	Method string
	URL    string   // absolute, percent-encoded, without user and password
	From   string   // the URL whose redirect led here
	Header []string // names and values by turns
	Data   []byte   // the body; nil: File is
	File   *os.File // the body; nil: none
	Size   int64    // bytes of File; -1 when not known
	// Zero means the sandbox's own bounds.
	Connect, Timeout time.Duration
}

// WebResponse is a response; its body ends with a [*WebError] when it is not
// complete.
type WebResponse struct {
	Proto  string // HTTP/1.1
	Status int
	Reason string
	Header []string // names and values by turns, as received
	Body   io.ReadCloser
	Remote string // ADDRESS:PORT

	// Since the beginning of the request.
	Resolved, Connected, Secured, Answered time.Duration
}

// WebKind says what a [WebError] is; the numbers are the host's.
type WebKind uint32

// Kinds of failure.
const (
	WebInvalid WebKind = iota + 1
	WebUnsupported
	WebDenied
	WebUnresolved
	WebUnreachable
	WebTimeout
	WebUntrusted
	WebHandshake
	WebTooLarge
	WebBroken
	WebEmpty
)

// WebError says why a request failed.
type WebError struct {
	Kind WebKind
	Msg  string
}

func (e *WebError) Error() string { return e.Msg }

// ErrNoWeb is the error where there is no sandbox to ask.
var ErrNoWeb = &WebError{WebDenied, "not allowed: not inside the sandbox"}

// Fetch makes a request.
func (c *Ctx) Fetch(r WebRequest) (*WebResponse, error) {
	if c.Web == nil {
		return nil, ErrNoWeb
	}
	return c.Web.Fetch(r)
}
