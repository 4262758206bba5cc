package worker

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"
)

// What is posted is sent when more than maxPosted bytes have come together, and
// at the latest after a while: output sooner than what nobody waits for.
const (
	outputDelay = 200 * time.Microsecond
	otherDelay  = 5 * time.Millisecond
	maxPosted   = 16 << 10
)

// errTooLarge is why a frame was not sent at all.
var errTooLarge = errors.New("the message is too large")

// errClosed is what calls get when the other side is gone.
var errClosed = errors.New("worker: the connection is closed")

// A conn is one end of the socket. Any goroutine may send; one reads.
type conn struct {
	rw io.ReadWriteCloser
	in *bufio.Reader

	write  sync.Mutex
	posted []byte      // frames that wait for the next; guarded by write
	output bool        // among them; guarded by write
	flush  *time.Timer // sends them when none comes; guarded by write

	mu    sync.Mutex
	calls map[uint32]chan []byte // waiting for an answer
	next  uint32
	gone  bool
}

func newConn(rw io.ReadWriteCloser) *conn {
	return &conn{rw: rw, in: bufio.NewReaderSize(rw, 64<<10), calls: map[uint32]chan []byte{}}
}

// send sends the frame that e holds.
func (c *conn) send(k kind, id uint32, e *encoder) error { return c.put(k, id, e, true) }

// post is send for what may wait a moment for the frame that comes next: to
// wake the other side costs more than all else about a small frame. An error
// shows at the next send.
func (c *conn) post(k kind, id uint32, e *encoder) error { return c.put(k, id, e, false) }

func (c *conn) put(k kind, id uint32, e *encoder, now bool) error {
	n := len(e.b) - headSize
	if n > k.limit() {
		return errTooLarge
	}
	binary.LittleEndian.PutUint32(e.b, uint32(n))
	e.b[4] = byte(k)
	binary.LittleEndian.PutUint32(e.b[5:], id)
	c.write.Lock()
	defer c.write.Unlock()
	if len(c.posted) == 0 && now {
		_, err := c.rw.Write(e.b)
		return err
	}
	first := len(c.posted) == 0
	if c.posted = append(c.posted, e.b...); now || len(c.posted) > maxPosted {
		return c.writePosted()
	}
	sooner := k == kindOutput && !c.output
	c.output = c.output || sooner
	delay := otherDelay
	if c.output {
		delay = outputDelay
	}
	switch {
	case c.flush == nil:
		c.flush = time.AfterFunc(delay, func() { _ = c.sendPosted(false) }) // shows at the next send
	case first, sooner:
		c.flush.Reset(delay)
	}
	return nil
}

// sendPosted sends what waits for the next frame, or if it holds output.
func (c *conn) sendPosted(onlyOutput bool) error {
	c.write.Lock()
	defer c.write.Unlock()
	if onlyOutput && !c.output {
		return nil
	}
	return c.writePosted()
}

// writePosted is sendPosted when write is held.
func (c *conn) writePosted() error {
	if len(c.posted) == 0 {
		return nil
	}
	if c.flush != nil {
		c.flush.Stop()
	}
	_, err := c.rw.Write(c.posted)
	if c.posted, c.output = c.posted[:0], false; cap(c.posted) > 2*maxPosted {
		c.posted = nil // a large frame came last
	}
	return err
}

// call sends a request and waits for its answer, or for the end of ctx: the
// answer is then dropped when it comes.
func (c *conn) call(ctx context.Context, k kind, e *encoder) ([]byte, error) {
	answer := make(chan []byte, 1)
	c.mu.Lock()
	if c.gone {
		c.mu.Unlock()
		return nil, errClosed
	}
	c.next++
	id := c.next
	c.calls[id] = answer
	c.mu.Unlock()
	if err := c.send(k, id, e); err != nil {
		c.take(id)
		return nil, err
	}
	select {
	case body, ok := <-answer:
		if !ok {
			return nil, errClosed
		}
		return body, nil
	case <-ctx.Done():
		// The entry stays, or a late answer would look like one to nothing.
		return nil, context.Cause(ctx)
	}
}

// take returns the call with this number, once.
func (c *conn) take(id uint32) (chan []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.calls[id]
	delete(c.calls, id)
	return answer, ok
}

// answered hands an answer to its call and reports whether there was one.
func (c *conn) answered(f frame) bool {
	answer, ok := c.take(f.id)
	if ok {
		answer <- f.body
	}
	return ok
}

// close ends all calls that wait, and the connection.
func (c *conn) close() {
	c.mu.Lock()
	if !c.gone {
		c.gone = true
		for id, answer := range c.calls {
			close(answer)
			delete(c.calls, id)
		}
	}
	c.mu.Unlock()
	_ = c.rw.Close() // the process behind it is gone, or about to be
}
