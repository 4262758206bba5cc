package wasi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// maxFetch bounds the bytes that describe a request, with a body that stands
// in them.
const maxFetch = 20 << 20

// netFetch makes an HTTP request. The guest gives its description and the
// descriptor of its body (none: the body stands in the description), and gets
// a descriptor to read: the length of the head, the head, and the response's
// body until its end. A request that was refused or failed has a head that
// says why. All is encoded as a request of proc_spawn is.
func netFetch(c *call) errno {
	if c.cfg.Fetch == nil {
		return eNOSYS
	}
	if c.u32(1) > maxFetch {
		return e2BIG
	}
	raw, ok := c.mem.bytes(c.u32(0), c.u32(1))
	if !ok {
		return eFAULT
	}
	if _, ok := c.mem.bytes(c.u32(3), 4); !ok {
		return eFAULT
	}
	if c.full() {
		return eMFILE
	}
	req := request{b: raw}
	r := req.fetch()
	if req.bad {
		return eINVAL
	}
	var files []*file
	if n := c.u32(2); n != none {
		d, e := c.get(n)
		if e != 0 || d.dir || d.rights&rightRead == 0 || r.Body != nil {
			return eBADF
		}
		d.file.refs.Add(1)
		files = append(files, d.file)
		r.Body = d.file.r
	}
	res, err := c.fetch(r)
	var ne *sandbox.NetError
	if err != nil {
		release(files)
		c.alive()
		if !errors.As(err, &ne) {
			c.stop(err)
		}
		res = &sandbox.Response{Body: io.NopCloser(strings.NewReader(""))}
	}
	head := fetchHead(res, ne)
	f := &file{r: io.MultiReader(bytes.NewReader(head), res.Body), own: true, end: func() {
		_ = res.Body.Close()
		if err == nil {
			release(files)
		}
	}}
	f.refs.Store(1)
	c.inos++
	f.ino = c.inos
	n, e := c.add(&descriptor{file: f, rights: streamRights(f)})
	if e != 0 {
		f.release()
		return e
	}
	return c.mem.put32(c.u32(3), n)
}

// fetch calls the session. A panic there must not take the process down.
func (c *call) fetch(r sandbox.Request) (res *sandbox.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a request: panic: %v", p)
		}
	}()
	return c.cfg.Fetch(c.ctx, r)
}

// fetch decodes the description of a request.
func (r *request) fetch() sandbox.Request {
	q := sandbox.Request{Method: r.str(r.u32()), URL: r.str(r.u32()), From: r.str(r.u32())}
	fields := r.list()
	for i := 0; i+1 < len(fields); i += 2 {
		q.Header = append(q.Header, sandbox.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	q.Size = int64(uint64(r.u32()) | uint64(r.u32())<<32)
	q.Connect = time.Duration(r.u32()) * time.Millisecond
	q.Timeout = time.Duration(r.u32()) * time.Millisecond
	if inline := r.u32(); inline != none {
		q.Body = strings.NewReader(r.str(inline))
		q.Size = int64(inline)
	}
	if len(r.b) != 0 || len(fields)%2 != 0 {
		r.bad = true
	}
	return q
}

// fetchHead encodes what came before the body, with its length.
func fetchHead(res *sandbox.Response, failed *sandbox.NetError) []byte {
	b := make([]byte, 4, 512)
	if failed != nil {
		b = addStr(addU32(b, uint32(failed.Kind)), failed.Msg)
	} else {
		b = addU32(b, 0)
		b = addStr(b, res.Proto)
		b = addU32(b, uint32(res.Status))
		b = addStr(b, res.Reason)
		b = addU32(b, uint32(2*len(res.Header)))
		for _, f := range res.Header {
			b = addStr(addStr(b, f.Name), f.Value)
		}
		b = addStr(b, res.Remote)
		for _, d := range []time.Duration{res.Times.Resolved, res.Times.Connected, res.Times.Secured, res.Times.Answered} {
			b = addU32(b, uint32(min(d.Microseconds(), 1<<32-1)))
		}
	}
	le.PutUint32(b, uint32(len(b)-4))
	return b
}

func addU32(b []byte, n uint32) []byte { return le.AppendUint32(b, n) }

func addStr(b []byte, s string) []byte { return append(addU32(b, uint32(len(s))), s...) }
