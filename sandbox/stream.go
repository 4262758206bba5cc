package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/donax-sh/donax/sandbox/shell"
)

// A sink is stdout or stderr of a run: it counts, keeps writers apart and
// ends with the run.
type sink struct {
	r *run
	w io.Writer // nil: discarded
}

func (s *sink) Write(p []byte) (int, error) {
	r := s.r
	if r.ctx.Err() != nil { // the reason for the end is the last thing said
		return 0, context.Cause(r.ctx)
	}
	select {
	case r.lock <- struct{}{}:
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
	defer func() { <-r.lock }()
	if r.ended.Load() {
		return 0, errEnded
	}
	left := r.limits.Output - r.output.Load()
	over := int64(len(p)) > left
	if over {
		p = p[:left]
	}
	n := len(p)
	var err error
	if s.w != nil && n > 0 {
		n, err = s.w.Write(p)
	}
	r.output.Add(int64(n))
	if over {
		return n, r.stop(&LimitError{What: "output of " + bytesText(r.limits.Output), Flag: "--output"})
	}
	return n, pipeError(err)
}

// pipeError maps the ways in which a reader can be gone to the one that
// programs know.
func pipeError(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) {
		return syscall.EPIPE
	}
	return err
}

// stdin returns a reader over in that takes from it only what is asked for.
func (r *run) stdin(in io.Reader) io.Reader {
	if in == nil {
		return nil
	}
	return &source{ctx: r.ctx, in: in}
}

// maxAhead is how much of stdin is read at a time.
const maxAhead = 32 << 10

// A source is the stdin of a run. A Read ends with the context although the
// reader below knows none: the bytes that come later go to the next Read.
type source struct {
	ctx context.Context
	in  io.Reader

	mu      sync.Mutex
	pending chan struct{} // closed when the read in flight is done
	buf     []byte        // read and not yet taken
	err     error
	room    []byte // what is read goes to; most lines read nothing
}

func (s *source) Read(p []byte) (int, error) { return s.ReadContext(s.ctx, p) }

// ReadContext reads until ctx ends.
func (s *source) ReadContext(ctx context.Context, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		s.mu.Lock()
		if len(s.buf) > 0 {
			n := copy(p, s.buf)
			s.buf = s.buf[n:]
			s.mu.Unlock()
			return n, nil
		}
		if s.err != nil {
			s.mu.Unlock()
			return 0, s.err
		}
		if err := ctx.Err(); err != nil {
			s.mu.Unlock()
			return 0, err
		}
		pending := s.ask(len(p))
		s.mu.Unlock()
		select {
		case <-pending:
		case <-ctx.Done():
		}
	}
}

// WaitRead waits until a Read would not. To know that, it asks the reader
// below for one byte, which the next Read gets.
func (s *source) WaitRead(ctx context.Context) error {
	for {
		s.mu.Lock()
		if len(s.buf) > 0 || s.err != nil {
			s.mu.Unlock()
			return nil
		}
		pending := s.ask(1)
		s.mu.Unlock()
		select {
		case <-pending:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ask has up to n bytes read, unless a read is in flight, and returns what is
// closed when they are there. Never more than was asked for: what a program
// does not read stays with the caller. The caller holds mu.
func (s *source) ask(n int) <-chan struct{} {
	if s.pending == nil {
		s.pending = make(chan struct{})
		if n = min(n, maxAhead); n > len(s.room) {
			s.room = make([]byte, n)
		}
		go s.fill(n)
	}
	return s.pending
}

func (s *source) fill(n int) {
	n, err := s.in.Read(s.room[:n])
	s.mu.Lock()
	s.buf, s.err = s.room[:n], err
	close(s.pending)
	s.pending = nil
	s.mu.Unlock()
}

// bound is a stream of a shell as a program uses it whose own context is ctx.
// The shell's stream may be a pipe that knows only the shell's.
type bound struct {
	ctx context.Context
	f   *shell.File
}

func (b bound) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.f.ReadContext(b.ctx, p)
}

func (b bound) Write(p []byte) (int, error) {
	if b.ctx.Err() != nil { // also where writing cannot block: nothing is said after the end
		return 0, context.Cause(b.ctx)
	}
	return b.f.WriteContext(b.ctx, p)
}

// WaitRead waits until a Read would not.
func (b bound) WaitRead(ctx context.Context) error { return b.f.WaitRead(ctx) }

// WaitWrite waits until a Write of one byte would not.
func (b bound) WaitWrite(ctx context.Context) error { return b.f.WaitWrite(ctx) }

// unbound returns what is behind a stream, for a shell to share.
func unbound(r io.Reader) io.Reader {
	if b, ok := r.(bound); ok {
		return b.f
	}
	return r
}

func unboundWriter(w io.Writer) io.Writer {
	if b, ok := w.(bound); ok {
		return b.f
	}
	return w
}

// shown reports whether w is the run's own stdout, through however many shells.
func (r *run) shown(w io.Writer) bool {
	for {
		switch f := unboundWriter(w).(type) {
		case *sink:
			return f == r.out
		case *shell.File:
			w = f.Writer()
		case allowanceWriter:
			w = f.w
		default:
			return false
		}
	}
}

// boundReader is r as a program reads it until ctx ends.
func boundReader(ctx context.Context, r io.Reader) io.Reader {
	switch r := unbound(r).(type) {
	case nil:
		return empty{}
	case *shell.File:
		return bound{ctx, r}
	case *source:
		return boundSource{ctx, r}
	}
	return r
}

// boundWriter is w as a program writes to it until ctx ends.
func boundWriter(ctx context.Context, w io.Writer) io.Writer {
	switch w := unboundWriter(w).(type) {
	case nil:
		return io.Discard
	case *shell.File:
		return bound{ctx, w}
	}
	return w
}

// boundSource is the stdin of a run as a program reads it.
type boundSource struct {
	ctx context.Context
	s   *source
}

func (b boundSource) Read(p []byte) (int, error)         { return b.s.ReadContext(b.ctx, p) }
func (b boundSource) WaitRead(ctx context.Context) error { return b.s.WaitRead(ctx) }

type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }
