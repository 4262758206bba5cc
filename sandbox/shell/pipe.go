package shell

import (
	"context"
	"io"
	"sync"
	"syscall"
)

// A pipe is an in-memory pipe: a bounded ring between one or more writers
// and readers. Reads and writes end when their context does.
type pipe struct {
	mu      sync.Mutex
	buf     []byte // ring
	r, n    int    // start and length of what is in it
	rclosed bool
	wclosed bool
	wake    chan struct{} // closed at the next change; nil when nobody waits
}

const pipeSize = 64 << 10

func (p *pipe) changed() {
	if p.wake != nil {
		close(p.wake)
		p.wake = nil
	}
}

// wait waits for a change, with mu held before and after.
func (p *pipe) wait(ctx context.Context) error {
	if p.wake == nil {
		p.wake = make(chan struct{})
	}
	ch := p.wake
	p.mu.Unlock()
	defer p.mu.Lock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *pipe) read(ctx context.Context, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n == 0 {
		if p.wclosed {
			return 0, io.EOF
		}
		if err := p.wait(ctx); err != nil {
			return 0, err
		}
	}
	n := 0
	for n < len(b) && p.n > 0 {
		m := copy(b[n:], p.buf[p.r:min(p.r+p.n, len(p.buf))])
		n += m
		p.n -= m
		if p.r += m; p.r == len(p.buf) {
			p.r = 0
		}
	}
	if p.n == 0 {
		p.r = 0
	}
	p.changed()
	return n, nil
}

func (p *pipe) write(ctx context.Context, b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	total := 0
	for len(b) > 0 {
		if p.rclosed {
			return total, syscall.EPIPE
		}
		if p.n == pipeSize {
			if err := p.wait(ctx); err != nil {
				return total, err
			}
			continue
		}
		p.grow(len(b))
		w := (p.r + p.n) % len(p.buf)
		end := len(p.buf)
		if w < p.r {
			end = p.r
		}
		m := copy(p.buf[w:end], b)
		p.n += m
		total += m
		b = b[m:]
		p.changed()
	}
	return total, nil
}

// grow makes the ring larger, up to pipeSize, when more must fit.
func (p *pipe) grow(more int) {
	want := min(p.n+more, pipeSize)
	if want <= len(p.buf) {
		return
	}
	size := max(len(p.buf), 512)
	for size < want {
		size *= 2
	}
	nb := make([]byte, size)
	for i := 0; i < p.n; {
		i += copy(nb[i:p.n], p.buf[(p.r+i)%len(p.buf):min(len(p.buf), (p.r+i)%len(p.buf)+p.n-i)])
	}
	p.buf, p.r = nb, 0
}

func (p *pipe) closeRead() {
	p.mu.Lock()
	p.rclosed = true
	p.changed()
	p.mu.Unlock()
}

func (p *pipe) closeWrite() {
	p.mu.Lock()
	p.wclosed = true
	p.changed()
	p.mu.Unlock()
}

// ready tells whether a read would not block.
func (p *pipe) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n > 0 || p.wclosed
}

// waitRead waits until a read would not block.
func (p *pipe) waitRead(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n == 0 && !p.wclosed {
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// waitWrite waits until a write would not block before its first byte.
func (p *pipe) waitWrite(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n == pipeSize && !p.rclosed {
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
