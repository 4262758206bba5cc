package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// ErrClosed says that the log has been closed.
var ErrClosed = errors.New("audit: the log is closed")

const (
	zeroHash = "0000000000000000000000000000000000000000000000000000000000000000"
	syncLag  = 200 * time.Millisecond // how late what nobody waits for reaches the disk
	healLag  = 100 * time.Millisecond // between two tries after a failure
)

// A chain is the file that is being written. Whoever appends first writes for
// all that have come meanwhile; one goroutine syncs for all that wait.
type chain struct {
	path    string
	maxSize int64
	lock    *os.File      // the head: held locked, and overwritten in place
	kick    chan struct{} // somebody waits for the disk
	stop    chan struct{}
	stopped chan struct{} // closed when the syncing goroutine has ended

	mu      sync.Mutex
	f       file
	seq     int64  // of the last line in buf, or else written
	hash    string // of that line
	buf     []byte // lines that are not written yet
	pending *batch // of those who wait for buf
	writing bool

	size    int64 // of the file, as far as lines were written whole
	written Anchor
	synced  Anchor
	syncing *batch // of those who wait for the disk
	timer   bool   // a late sync is on its way
	err     error  // the last failure; nothing is written until the file is whole again
	tried   time.Time
	closed  bool

	disk sync.Mutex // held while syncing, and while the file is exchanged
}

// A file is what is used of an [os.File]; tests make one fail.
type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
	Stat() (os.FileInfo, error)
}

// A batch is what several wait for.
type batch struct {
	done chan struct{} // closed when err is set
	err  error
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

func (b *batch) end(err error) {
	if b != nil {
		b.err = err
		close(b.done)
	}
}

func (b *batch) wait(ctx context.Context) error {
	select {
	case <-b.done:
		return b.err
	default:
	}
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// appendLine makes a line of body and of its place in the chain.
func appendLine(b []byte, prev Anchor, body []byte) (line []byte, next Anchor) {
	next.Seq = prev.Seq + 1
	start := len(b)
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, next.Seq, 10)
	b = append(b, `,"prev":"`...)
	b = append(b, prev.Hash...)
	b = append(b, `",`...)
	b = append(b, body...)
	sum := sha256.Sum256(b[start:])
	next.Hash = hex.EncodeToString(sum[:])
	b = append(b, `,"hash":"`...)
	b = append(b, next.Hash...)
	return append(b, "\"}\n"...), next
}

// append adds a record and waits until it is written; if durable, until it is
// on disk. When ctx ends first the record may be written all the same.
func (c *chain) append(ctx context.Context, body []byte, durable bool) error {
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return ErrClosed
	case c.err != nil && !c.heal():
		err := c.err
		c.mu.Unlock()
		return err
	}
	if c.pending == nil {
		c.pending = newBatch()
	}
	var a Anchor
	c.buf, a = appendLine(c.buf, Anchor{c.seq, c.hash}, body)
	c.seq, c.hash = a.Seq, a.Hash
	mine := c.pending
	if !c.writing {
		c.writeAll() // gives mu up while it writes
	}
	c.mu.Unlock()
	if err := mine.wait(ctx); err != nil || !durable {
		return err
	}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	if c.synced.Seq >= a.Seq {
		c.mu.Unlock()
		return nil
	}
	if c.syncing == nil {
		c.syncing = newBatch()
	}
	disk := c.syncing
	c.mu.Unlock()
	c.wake()
	return disk.wait(ctx)
}

func (c *chain) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// writeAll writes what is pending, and what comes while it does. The caller
// holds mu and is the only writer.
func (c *chain) writeAll() {
	c.writing = true
	for len(c.buf) > 0 && c.err == nil {
		lines, who, upto := c.buf, c.pending, Anchor{c.seq, c.hash}
		c.buf, c.pending = nil, nil
		if c.size > 0 && c.size+int64(len(lines)) > c.maxSize {
			c.mu.Unlock()
			c.rotate() // a failure only makes the file larger than wished
			c.mu.Lock()
		}
		f := c.f
		c.mu.Unlock()
		n, err := f.Write(lines)
		c.mu.Lock()
		if err == nil && n < len(lines) {
			err = io.ErrShortWrite
		}
		if err != nil {
			_ = f.Truncate(c.size) // the half that was written; heal tries again
			c.fail(err)
			err = c.err
		} else {
			c.size += int64(n)
			c.written = upto
			if c.err != nil { // syncing failed meanwhile, and took the chain back too far
				c.seq, c.hash = upto.Seq, upto.Hash
			}
			if !c.timer {
				c.timer = true
				time.AfterFunc(syncLag, c.wake)
			}
		}
		who.end(err)
	}
	c.writing = false
}

// fail makes everything that is not written fail, and takes the chain back to
// what is. The caller holds mu.
func (c *chain) fail(err error) {
	c.err, c.tried = fmt.Errorf("audit: %w", err), time.Now()
	c.pending.end(c.err)
	c.syncing.end(c.err)
	c.buf, c.pending, c.syncing = nil, nil, nil
	c.seq, c.hash = c.written.Seq, c.written.Hash
}

// heal reports whether the log can be written again after a failure: what was
// half written is cut off, so that no record is torn or there twice. The caller
// holds mu.
func (c *chain) heal() bool {
	if c.writing || time.Since(c.tried) < healLag {
		return false
	}
	c.tried = time.Now()
	if fi, err := c.f.Stat(); err != nil || fi.Size() < c.size {
		return false // somebody has cut it: that is not ours to mend
	}
	if c.f.Truncate(c.size) != nil || c.f.Sync() != nil {
		return false
	}
	c.err = nil
	return true
}

// syncAll syncs whenever somebody asks, until stop is closed.
func (c *chain) syncAll() {
	defer close(c.stopped)
	for {
		select {
		case <-c.stop:
			return
		case <-c.kick:
			c.sync()
		}
	}
}

// sync brings what is written to the disk, and the head with it.
func (c *chain) sync() {
	c.disk.Lock()
	defer c.disk.Unlock()
	c.mu.Lock()
	who, upto, f, idle := c.syncing, c.written, c.f, c.written == c.synced
	c.syncing, c.timer = nil, false
	c.mu.Unlock()
	if idle {
		who.end(nil)
		return
	}
	err := f.Sync()
	if err == nil {
		err = writeHead(c.lock, upto)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		who.end(fmt.Errorf("audit: %w", err))
		c.fail(err)
		return
	}
	c.synced = upto
	who.end(nil)
}

// head returns what is on disk.
func (c *chain) head() Anchor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.synced
}

// rotate closes the file under a numbered name and begins the next one. Only
// the writer calls it.
func (c *chain) rotate() {
	c.disk.Lock()
	defer c.disk.Unlock()
	if c.f.Sync() != nil {
		return
	}
	files, err := rotated(c.path)
	if err != nil {
		return
	}
	n := 1
	if len(files) > 0 {
		n = number(c.path, files[len(files)-1]) + 1
	}
	old := fmt.Sprintf("%s.%06d", c.path, n)
	if _, err := os.Lstat(old); err == nil || os.Rename(c.path, old) != nil {
		return
	}
	f, err := os.OpenFile(c.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		_ = os.Rename(old, c.path) // the old one goes on
		return
	}
	syncFolder(filepath.Dir(c.path))
	c.mu.Lock()
	was := c.f
	c.f, c.size = f, 0
	c.mu.Unlock()
	_ = was.Close() // all of it is on disk
}

func (c *chain) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// close writes and syncs what is left.
func (c *chain) close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	for c.writing {
		c.mu.Unlock()
		time.Sleep(time.Millisecond)
		c.mu.Lock()
	}
	c.mu.Unlock()
	c.sync()
	close(c.stop)
	<-c.stopped
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.err, c.f.Close(), c.lock.Close())
}

// headSize is the length of the head file: one write of so little is never
// seen half done.
const headSize = 160

func writeHead(f *os.File, a Anchor) error {
	line := fmt.Appendf(nil, `{"seq":%d,"hash":%q}`, a.Seq, a.Hash)
	line = append(line, bytes.Repeat([]byte(" "), headSize-1-len(line))...)
	if _, err := f.WriteAt(append(line, '\n'), 0); err != nil {
		return err
	}
	return f.Sync()
}
