package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/sandbox/worker"
)

// An ownHome is what the lines of one principal share and nobody else sees:
// /workspace, /tmp, what was written over cow mounts, and the quota on it all.
type ownHome struct {
	session *sandbox.Session
	layout  *vfs.Mount
	files   []io.Closer
}

func (h *ownHome) close() (err error) {
	for _, f := range h.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// maxHomes is how many principals one server has files for.
const maxHomes = 1000

// homes has a home for each principal, which lasts as long as the server.
type homes struct {
	make func() (*ownHome, error)

	mu    sync.Mutex
	spare *ownHome // of whoever comes first
	of    map[whose]*ownHome
}

type whose struct{ sub, tenant, auth string }

// get returns the home of a principal.
func (h *homes) get(p policy.Principal) (*ownHome, error) {
	k := whose{p.Sub, p.Tenant, p.Auth}
	h.mu.Lock()
	defer h.mu.Unlock()
	if have := h.of[k]; have != nil {
		return have, nil
	}
	mine := h.spare
	switch {
	case mine != nil:
		h.spare = nil
	case len(h.of) >= maxHomes:
		return nil, fmt.Errorf("this server has files for %d principals, and no more: it must be started anew", maxHomes)
	default:
		var err error
		if mine, err = h.make(); err != nil {
			return nil, err
		}
	}
	if h.of == nil {
		h.of = map[whose]*ownHome{}
	}
	h.of[k] = mine
	return mine, nil
}

func (h *homes) close() (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.spare != nil {
		err = h.spare.close()
	}
	for _, one := range h.of {
		err = errors.Join(err, one.close())
	}
	return err
}

// session returns the sandbox of whoever asks.
func (h *homes) session(ctx context.Context) (*sandbox.Session, error) {
	mine, err := h.get(policy.SubjectFrom(ctx).Principal)
	if err != nil {
		return nil, err
	}
	return mine.session, nil
}

// Inspect is that of the principal's sandbox.
func (h *homes) Inspect(ctx context.Context, c policy.Command) (policy.Command, error) {
	s, err := h.session(ctx)
	if err != nil {
		return c, err
	}
	return s.Inspect(ctx, c)
}

// Run is that of the principal's sandbox.
func (h *homes) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	s, err := h.session(ctx)
	if err != nil {
		return sandbox.StatusFault, err
	}
	return s.Run(ctx, c, in, out, errw)
}

// remote is a principal's home as workers reach it. With programs that come and
// go, shown says, /bin is the server's to show.
func (h *homes) remote(p policy.Principal, shown bool) (worker.Home, error) {
	mine, err := h.get(p)
	if err != nil {
		return worker.Home{}, err
	}
	return worker.Home{Mounts: mine.mounts(shown), Session: mine.session}, nil
}

// mounts are the parts that workers have not of their own.
func (h *ownHome) mounts(shown bool) (points []vfs.MountPoint) {
	for _, p := range h.layout.Points() {
		if p.Path != "/" && (p.Path != "/bin" || shown) && p.Path != "/dev" {
			points = append(points, p)
		}
	}
	return points
}

// homeShell is a kept shell in the sandbox of whoever uses it first: they never
// change hands.
type homeShell struct {
	homes *homes
	shell *sandbox.Shell // nil before the first line
}

func (s *homeShell) open(ctx context.Context) (*sandbox.Shell, error) {
	if s.shell == nil {
		mine, err := s.homes.session(ctx)
		if err != nil {
			return nil, err
		}
		s.shell = mine.NewShell()
	}
	return s.shell, nil
}

// Inspect is that of the shell.
func (s *homeShell) Inspect(ctx context.Context, c policy.Command) (policy.Command, error) {
	sh, err := s.open(ctx)
	if err != nil {
		return c, err
	}
	return sh.Inspect(ctx, c)
}

// Run is that of the shell.
func (s *homeShell) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	sh, err := s.open(ctx)
	if err != nil {
		return sandbox.StatusFault, err
	}
	return sh.Run(ctx, c, in, out, errw)
}

// Close frees the shell.
func (s *homeShell) Close() error {
	if s.shell == nil {
		return nil
	}
	return s.shell.Close()
}
