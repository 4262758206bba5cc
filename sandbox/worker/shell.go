package worker

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
)

// A Shell is a shell that is kept in a worker: the current folder, variables
// and functions go from one Run to the next. It has its worker for as long as
// it is open, and loses its state when that dies.
type Shell struct {
	pool *Pool
	id   uint32

	mu sync.Mutex
	m  *member // nil before the first line, and after the worker was lost
}

// NewShell returns a shell in its first state. It takes no worker yet.
func (p *Pool) NewShell() *Shell { return &Shell{pool: p, id: p.shells.Add(1)} }

// hold returns the worker of the shell. A worker that is gone is told of once:
// whoever goes on has to know that the state is that of a new shell.
func (s *Shell) hold(ctx context.Context) (*member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m != nil && !s.m.alive() {
		lost := s.m.lost
		s.pool.give(s.m)
		s.m = nil
		return nil, fmt.Errorf("%w; the session is a new one from here on, without its variables and folder", lost)
	}
	if s.m == nil {
		m, err := s.pool.take(ctx)
		if err != nil {
			return nil, err
		}
		s.m = m
	}
	return s.m, nil
}

// Inspect is [Pool.Inspect] for the next line of the shell.
func (s *Shell) Inspect(ctx context.Context, c policy.Command) (policy.Command, error) {
	m, err := s.hold(ctx)
	if err != nil {
		return c, err
	}
	return m.inspect(ctx, s.id, c)
}

// Run is [Pool.Run] in the shell.
func (s *Shell) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	m, err := s.hold(ctx)
	if err != nil {
		return statusLost, err
	}
	return s.pool.run(ctx, m, time.Time{}, s.id, c, in, out, errw)
}

// Close drops the state and gives the worker back.
func (s *Shell) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m != nil {
		_ = s.m.conn.send(kindDrop, s.id, newEncoder(0)) // a worker that is gone has dropped it
		s.pool.give(s.m)
		s.m = nil
	}
	return nil
}
