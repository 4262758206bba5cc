package egress

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/sandbox"
)

// upload is the body of a request.
type upload struct {
	c    *call
	r    io.Reader
	sent int64
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.sent += int64(n)
	if u.sent > u.c.cfg.Limits.Request {
		return 0, tooLarge("a request may carry %d bytes (raise with --net-limit)", u.c.cfg.Limits.Request)
	}
	return n, err
}

// body is the body of a response as a program reads it.
func (c *call) body(ctx context.Context, res *http.Response) (*download, error) {
	limit := c.cfg.Limits.Response
	if res.ContentLength > limit && c.req.Method != "HEAD" {
		return nil, tooLarge("a response may have %d bytes, this one has %d (raise with --net-limit)", limit, res.ContentLength)
	}
	d := &download{c: c, ctx: ctx, r: res.Body, left: limit}
	if len(c.secret) == 0 {
		return d, nil
	}
	// What is compressed cannot be searched.
	switch enc := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))); {
	case enc == "" || enc == "identity" || res.ContentLength == 0 || c.req.Method == "HEAD":
	case enc == "gzip" || enc == "x-gzip":
		d.r = &gunzip{from: res.Body}
	default:
		return nil, denied("not allowed: a response of a host with a secret, encoded as %s", strconv.Quote(enc))
	}
	d.r = newRedactor(d.r, c.patterns())
	return d, nil
}

// gunzip begins to read when it is read.
type gunzip struct {
	from io.Reader
	z    *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.from)
		if err != nil {
			return 0, err
		}
		g.z = z
	}
	return g.z.Read(p)
}

// download counts and bounds what comes.
type download struct {
	c     *call
	ctx   context.Context
	r     io.Reader
	left  int64
	close func()
}

func (d *download) Read(p []byte) (int, error) {
	if int64(len(p)) > d.left+1 { // one more tells whether there is more
		p = p[:d.left+1]
	}
	n, err := d.r.Read(p)
	if d.left -= int64(n); d.left < 0 {
		n--
		d.left = 0
		err = tooLarge("a response may have %d bytes (raise with --net-limit)", d.c.cfg.Limits.Response)
	}
	if err != nil && err != io.EOF {
		err = d.c.failure(d.ctx, err, sandbox.NetBroken)
	}
	return n, err
}

// Close ends the connection.
func (d *download) Close() error {
	d.close()
	return nil
}
