package worker

import (
	"context"
	"errors"
	"io"

	"github.com/donax-sh/donax/sandbox"
)

// A remoteFetch is a request to the network that the server makes for a line
// here, and the body of its response. As with a [remoteProgram], the worker does
// what the server wants next and asks again; the body comes as it is read, so
// that a slow reader holds up the other end and fills no memory.
type remoteFetch struct {
	w     *inside
	ctx   context.Context
	call  uint64
	given sandbox.Fetch

	body []byte // of the server's last answer; nil when it has been dealt with
	left []byte // of the response, to be read next
	err  error  // the end of the response
	over func() // ends ctx, and with it the request
}

// fetch has the server make a request, and returns when the head of the response
// is there.
func (w *inside) fetch(ctx context.Context, f sandbox.Fetch) (*sandbox.Response, error) {
	select {
	case w.fetches <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r := &remoteFetch{w: w, call: w.called.Add(1), given: f}
	r.ctx, r.over = context.WithCancel(ctx) // a program that keeps a body open past its time keeps no slot
	context.AfterFunc(r.ctx, func() {
		// The next request must not find this one there still.
		_, _ = w.conn.call(context.Background(), kindDone, r.name(r.call)) // a server that is gone has forgotten it
		<-w.fetches
	})
	res, err := r.begin()
	if err != nil {
		r.over()
		return nil, err
	}
	return res, nil
}

// name begins a message about a call.
func (r *remoteFetch) name(call uint64) *encoder {
	e := newEncoder(64)
	e.uint(uint64(runOf(r.ctx)))
	e.uint(call)
	return e
}

func (r *remoteFetch) begin() (*sandbox.Response, error) {
	var upload uint64
	if r.given.Body != nil {
		upload = r.w.called.Add(1)
	}
	e := r.name(r.call)
	e.fetch(r.given, upload)
	if len(e.b)-headSize > maxSmall {
		return nil, &sandbox.NetError{Kind: sandbox.NetTooLarge, Msg: "the head of the request is too large"}
	}
	var err error
	if r.body, err = r.w.conn.call(r.ctx, kindFetch, e); err != nil {
		return nil, err
	}
	if upload != 0 {
		d, err := r.next(wantUpload)
		if err == nil {
			err = d.end()
		}
		if err != nil {
			return nil, err
		}
		go r.upload(upload) // beside the rest: an answer may come before all was read
	}
	d, err := r.next(wantHead)
	if err != nil {
		return nil, err
	}
	res := d.response()
	if err := d.end(); err != nil {
		return nil, err
	}
	res.Body = r
	return res, nil
}

// next does what the server wants until that is what is asked for here.
func (r *remoteFetch) next(want byte) (*decoder, error) {
	for {
		if r.body == nil {
			e := r.name(r.call)
			e.bytes(nil)
			e.bool(false)
			e.bool(false)
			var err error
			if r.body, err = r.w.conn.call(r.ctx, kindStep, e); err != nil {
				return nil, err
			}
		}
		d := &decoder{b: r.body}
		r.body = nil
		switch got := d.byte(); {
		case got == want:
			return d, d.err
		case got == wantError:
			if text := d.bytes(); r.given.Stderr != nil {
				_, _ = r.given.Stderr.Write(text) // a warning that nobody reads
			}
		case got == wantEnd:
			err := d.error()
			if bad := d.end(); bad != nil {
				return nil, bad
			}
			switch {
			case err == nil:
				err = io.EOF
			case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
				<-r.ctx.Done() // the line has ended in the server, and will hear of it
				err = context.Cause(r.ctx)
			}
			return nil, err
		default:
			d.fail("what a request cannot want")
		}
		if err := d.end(); err != nil {
			return nil, err
		}
	}
}

// Read reads the body of the response.
func (r *remoteFetch) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.left) == 0 && r.err == nil {
		d, err := r.next(wantOutput)
		if err == nil {
			r.left = d.bytes()
			err = d.end()
		}
		if r.err = err; err != nil {
			r.over()
		}
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Close has the server end the request.
func (r *remoteFetch) Close() error {
	r.over()
	return nil
}

// upload reads the body of the request for the server, until that has enough.
func (r *remoteFetch) upload(call uint64) {
	body, err := r.w.conn.call(r.ctx, kindUpload, r.name(call))
	for err == nil {
		d := decoder{b: body}
		if d.byte() != wantInput {
			return
		}
		buf := make([]byte, d.small(window/4))
		if d.end() != nil {
			return
		}
		n, fail := r.given.Body.Read(buf)
		e := r.name(call)
		e.bytes(buf[:n])
		e.bool(fail != nil && fail != io.EOF)
		e.bool(fail == io.EOF)
		body, err = r.w.conn.call(r.ctx, kindStep, e)
	}
}
