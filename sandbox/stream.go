package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
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

// A source is the stdin of a run. A Read ends with the context although the
// reader below knows none: the bytes that come later go to the next Read.
type source struct {
	ctx context.Context
	in  io.Reader

	mu      sync.Mutex
	pending chan struct{} // closed when the read in flight is done
	buf     []byte        // read and not yet taken
	err     error
	room    [32 << 10]byte
}

func (s *source) Read(p []byte) (int, error) { return s.read(s.ctx, p) }

func (s *source) read(ctx context.Context, p []byte) (int, error) {
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
		if s.pending == nil {
			s.pending = make(chan struct{})
			// Never more than was asked for: what a program does not read
			// stays with the caller.
			go s.fill(min(len(p), len(s.room)))
		}
		pending := s.pending
		s.mu.Unlock()
		select {
		case <-pending:
		case <-ctx.Done():
		}
	}
}

func (s *source) fill(n int) {
	n, err := s.in.Read(s.room[:n])
	s.mu.Lock()
	s.buf, s.err = s.room[:n], err
	close(s.pending)
	s.pending = nil
	s.mu.Unlock()
}

// deadliner is an OS pipe.
type deadliner interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// pipeEnd is one end of an OS pipe as a program sees it: without the file
// behind it, and with reads and writes that end with ctx.
type pipeEnd struct {
	ctx context.Context
	f   interface {
		io.ReadWriter
		deadliner
	}
	stop   func() bool
	cancel context.CancelFunc // of ctx, if it is the end's own
}

// newPipeEnd must be followed by close, which leaves the file open.
func newPipeEnd(ctx context.Context, f *os.File) *pipeEnd {
	p := &pipeEnd{ctx: ctx, f: f}
	p.stop = context.AfterFunc(ctx, func() {
		_ = f.SetReadDeadline(time.Now())
		_ = f.SetWriteDeadline(time.Now())
	})
	return p
}

func (p *pipeEnd) close() { p.stop() }

func (p *pipeEnd) Read(b []byte) (int, error) {
	for {
		n, err := p.f.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, p.errno(err)
		}
		if p.ctx.Err() != nil {
			return 0, context.Cause(p.ctx)
		}
		// The deadline was that of another program on this pipe, ended alone.
		_ = p.f.SetReadDeadline(time.Time{})
	}
}

func (p *pipeEnd) Write(b []byte) (int, error) {
	done := 0
	for {
		n, err := p.f.Write(b[done:])
		done += n
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return done, p.errno(err)
		}
		if p.ctx.Err() != nil {
			return done, context.Cause(p.ctx)
		}
		_ = p.f.SetWriteDeadline(time.Time{})
	}
}

// errno strips the host's name of the file from an error.
func (p *pipeEnd) errno(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return pipeError(err)
}
