package curl

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// failed words a failure as curl does.
func (t *transfer) failed(err error, after time.Duration) error {
	var we *applet.WebError
	if !errors.As(err, &we) {
		return fatal{56, applet.Reason(err)}
	}
	host := strings.Trim(t.url.Host, "[]")
	failed := "Failed to connect to " + host + " port " + t.url.DialPort()
	switch we.Kind {
	case applet.WebInvalid:
		return fatal{3, we.Msg}
	case applet.WebUnsupported:
		return fatal{1, we.Msg}
	case applet.WebDenied:
		return fatal{7, failed + ": " + we.Msg}
	case applet.WebUnresolved:
		return fatal{6, "Could not resolve host: " + host}
	case applet.WebUnreachable:
		return fatal{7, failed + " after " + millis(after) + " ms: Couldn't connect to server"}
	case applet.WebTimeout:
		return t.late()
	case applet.WebUntrusted:
		return fatal{60, "SSL certificate problem: " + we.Msg}
	case applet.WebHandshake:
		return fatal{35, we.Msg}
	case applet.WebTooLarge:
		return fatal{63, we.Msg}
	case applet.WebEmpty:
		return fatal{52, "Empty reply from server"}
	}
	return fatal{56, we.Msg}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// late is the end of the time.
func (t *transfer) late() error {
	bytes := strconv.FormatInt(t.down, 10)
	if n := t.length(); n >= 0 {
		bytes += " out of " + strconv.FormatInt(n, 10)
	}
	return fatal{28, "Operation timed out after " + millis(time.Since(t.began)) + " milliseconds with " + bytes + " bytes received"}
}

// length is how long the body says that it is; -1 when it does not.
func (t *transfer) length() int64 {
	n, err := strconv.ParseInt(t.header("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// receive takes the body of the last response.
func (t *transfer) receive() error {
	status := t.res.Status
	bad := status >= 400 && (t.fail || t.failBody)
	returned := fatal{22, "The requested URL returned error: " + itoa(status)}
	switch {
	case bad && t.fail && !t.failBody:
		return returned
	case t.file.at > 0 && status == 416:
		return nil // all of it is there
	case t.file.at > 0 && status != 206 && status < 400:
		return fatal{33, "HTTP server doesn't seem to support byte ranges. Cannot resume."}
	case t.maxSize > 0 && t.length() > t.maxSize:
		return fatal{63, "Maximum file size exceeded"}
	case t.head:
		return t.file.touch(t)
	}
	var in io.Reader = &meter{t: t, r: t.res.Body}
	if t.compressed {
		in = decoded(in, t.header("Content-Encoding"))
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if err := t.file.put(t, buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return t.cut(err)
		}
	}
	if err := t.file.touch(t); err != nil {
		return err
	}
	if bad {
		return returned
	}
	return nil
}

// meter counts and bounds what comes.
type meter struct {
	t *transfer
	r io.Reader
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.t.down += int64(n); m.t.maxSize > 0 && m.t.down > m.t.maxSize {
		return 0, fatal{63, "Exceeded the maximum allowed file size (" + strconv.FormatInt(m.t.maxSize, 10) + ")"}
	}
	return n, err
}

// cut words the early end of a body.
func (t *transfer) cut(err error) error {
	var we *applet.WebError
	var f fatal
	switch {
	case errors.As(err, &f):
		return f
	case !errors.As(err, &we):
		return fatal{61, "Error while processing content unencoding: " + err.Error()}
	case we.Kind == applet.WebTimeout:
		return t.late()
	case we.Kind == applet.WebTooLarge:
		return fatal{63, we.Msg + " (raise with --net-limit)"}
	case t.length() > t.down:
		return fatal{18, "transfer closed with " + strconv.FormatInt(t.length()-t.down, 10) + " bytes remaining to read"}
	case strings.EqualFold(t.header("Transfer-Encoding"), "chunked"):
		return fatal{18, "transfer closed with outstanding read data remaining"}
	}
	return fatal{56, "Recv failure: Connection reset by peer"}
}
