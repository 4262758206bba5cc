//go:build wasip1

package guest

import (
	"io"
	"syscall"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// web is applet.Web over the host's function.
type web struct{}

var _ applet.Web = web{}

// Fetch encodes r as the host reads it, and reads the head of what comes
// back: its length, a kind of failure or 0, and what belongs to it.
func (web) Fetch(r applet.WebRequest) (*applet.WebResponse, error) {
	b := str(nil, r.Method)
	b = str(b, r.URL)
	b = str(b, r.From)
	b = list(b, r.Header)
	b = u32(u32(b, uint32(r.Size)), uint32(uint64(r.Size)>>32))
	b = u32(u32(b, millis(r.Connect)), millis(r.Timeout))
	if r.Data != nil {
		b = append(u32(b, uint32(len(r.Data))), r.Data...)
	} else {
		b = u32(b, none)
	}
	var n uint32
	if errno := netFetch(&b[0], uint32(len(b)), fd(r.File, none), &n); errno != 0 {
		if errno == syscall.ENOSYS {
			return nil, applet.ErrNoWeb
		}
		return nil, &applet.WebError{Kind: applet.WebInvalid, Msg: applet.Reason(errno)}
	}
	body := &stream{int(n)}
	d := decoder{r: body}
	d.b = make([]byte, 4)
	d.fill()
	d.b = make([]byte, d.u32())
	d.fill()
	if kind := d.u32(); kind != 0 {
		body.Close()
		return nil, &applet.WebError{Kind: applet.WebKind(kind), Msg: d.str()}
	}
	return &applet.WebResponse{
		Proto: d.str(), Status: int(d.u32()), Reason: d.str(), Header: d.list(), Body: body, Remote: d.str(),
		Resolved: d.micros(), Connected: d.micros(), Secured: d.micros(), Answered: d.micros(),
	}, nil
}

// millis rounds up: 0 would mean no bound.
func millis(d time.Duration) uint32 {
	return uint32(min((d+time.Millisecond-1)/time.Millisecond, 1<<31))
}

// stream is a descriptor of the host to read. It is no os.File, whose close
// by the garbage collector could hit a descriptor that has a new meaning.
type stream struct{ fd int }

func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := syscall.Read(s.fd, p)
	switch {
	case err == syscall.EFBIG:
		return 0, &applet.WebError{Kind: applet.WebTooLarge, Msg: "the response is too large"}
	case err == syscall.ETIMEDOUT:
		return 0, &applet.WebError{Kind: applet.WebTimeout, Msg: "timed out"}
	case err != nil:
		return 0, &applet.WebError{Kind: applet.WebBroken, Msg: "the connection ended too early"}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (s *stream) Close() error {
	fd := s.fd
	if s.fd = -1; fd < 0 {
		return nil
	}
	return syscall.Close(fd)
}

// decoder reads what list and str write. The host does not lie: there is
// nothing to check.
type decoder struct {
	r io.Reader
	b []byte
}

func (d *decoder) fill() { io.ReadFull(d.r, d.b) }

func (d *decoder) u32() uint32 {
	n := uint32(d.b[0]) | uint32(d.b[1])<<8 | uint32(d.b[2])<<16 | uint32(d.b[3])<<24
	d.b = d.b[4:]
	return n
}

func (d *decoder) str() string {
	n := d.u32()
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) list() []string {
	l := make([]string, d.u32())
	for i := range l {
		l[i] = d.str()
	}
	return l
}

func (d *decoder) micros() time.Duration { return time.Duration(d.u32()) * time.Microsecond }
