package worker

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"
)

// An insideRun is one run in the worker. It is the context of the run, whose
// end the server decides.
type insideRun struct {
	conn *conn
	id   uint32
	done chan struct{}

	mu    sync.Mutex
	err   error         // why the context ended
	used  int           // bytes of output that the server has not taken yet
	gone  bool          // nobody reads the output
	taker chan struct{} // closed when used or gone changes
}

func newInsideRun(c *conn, id uint32) *insideRun {
	return &insideRun{conn: c, id: id, done: make(chan struct{}), taker: make(chan struct{})}
}

var _ context.Context = (*insideRun)(nil)

func (r *insideRun) Deadline() (time.Time, bool) { return time.Time{}, false }
func (r *insideRun) Done() <-chan struct{}       { return r.done }

func (r *insideRun) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return nil
}

func (r *insideRun) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// stop ends the context.
func (r *insideRun) stop(deadline bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.err = context.Canceled
	if deadline {
		r.err = context.DeadlineExceeded
	}
	close(r.done)
}

// taken makes room for more output.
func (r *insideRun) taken(n int, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used, r.gone = max(0, r.used-n), r.gone || gone
	close(r.taker)
	r.taker = make(chan struct{})
}

// reserve waits until n bytes may be sent.
func (r *insideRun) reserve(n int) error {
	for {
		r.mu.Lock()
		gone, fits, taker := r.gone, r.used+n <= window, r.taker
		if fits && !gone {
			r.used += n
		}
		r.mu.Unlock()
		switch {
		case gone:
			return syscall.EPIPE
		case fits:
			return nil
		}
		select {
		case <-taker:
		case <-r.done:
			return r.Err()
		}
	}
}

// outStream is stdout or stderr of a run.
type outStream struct {
	r      *insideRun
	stream byte
}

func (o outStream) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), window/4)]
		if err := o.r.reserve(len(part)); err != nil {
			return n, err
		}
		e := newEncoder(len(part) + 16)
		e.byte(o.stream)
		e.b = append(e.b, part...)
		if err := o.r.conn.post(kindOutput, o.r.id, e); err != nil {
			return n, err
		}
		n, p = n+len(part), p[len(part):]
	}
	return n, nil
}

// inStream is stdin of a run.
type inStream struct{ r *insideRun }

func (i inStream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	e := newEncoder(16)
	e.uint(uint64(i.r.id))
	e.uint(uint64(min(len(p), window/4)))
	body, err := i.r.conn.call(i.r, kindInput, e)
	if err != nil {
		return 0, err
	}
	d := decoder{b: body}
	data, state := d.bytes(), d.byte()
	n := copy(p, data)
	switch {
	case d.end() != nil:
		return n, d.err
	case state == readEOF:
		return n, io.EOF
	case state == readFailed:
		return n, errInput
	}
	return n, nil
}

// What follows the bytes of a read.
const (
	readMore   byte = 0
	readEOF    byte = 1
	readFailed byte = 2
)

var errInput = errors.New("the input cannot be read")
