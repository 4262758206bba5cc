package termhost

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// A Shell is a Runner whose commands share a shell: the current folder,
// variables and functions go from one Run to the next, but for those of a
// command that did not end by itself. Its Inspect and Run are called for one
// command at a time.
type Shell interface {
	Runner
	Close() error // frees it; called once, when nothing runs in it
}

// shellKey names a shell. Principals do not share shells.
type shellKey struct {
	owner owner
	name  string
}

// shell is a named Shell.
type shell struct {
	Shell
	busy string    // id of the terminal whose command has it; "" when free
	used time.Time // when it was last freed
}

// A count in the pattern would cost each start of a process a millisecond.
var shellName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// HasShells reports whether Spec.Session may be used.
func (h *Host) HasShells() bool { return h.open != nil }

// lend gives the shell of this name to the terminal with this id, and opens
// it when there is none.
func (h *Host) lend(ctx context.Context, o owner, name, id string) (*shell, error) {
	switch {
	case h.open == nil:
		return nil, errors.New("named sessions are not available here: leave session out")
	case len(name) > 64 || !shellName.MatchString(name):
		return nil, errors.New("a session's name is 1 to 64 of A-Z, a-z, 0-9, _, . and -")
	}
	key := shellKey{o, name}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	if s := h.shells[key]; s != nil {
		if s.busy != "" {
			return nil, fmt.Errorf("session %s is busy with terminal %s; wait for it, or kill it", name, s.busy)
		}
		s.busy = id
		return s, nil
	}
	n := 0
	for k := range h.shells {
		if k.owner == o {
			n++
		}
	}
	if n >= h.limits.Shells {
		return nil, fmt.Errorf("%w: %d named sessions are open, which is the limit; use one of them, or none", ErrTooMany, n)
	}
	if len(h.shells) >= h.limits.ShellsTotal {
		return nil, fmt.Errorf("%w: the server holds as many named sessions as it may; try again later, or leave session out", ErrTooMany)
	}
	sh, err := h.open(ctx)
	if err != nil {
		return nil, &FaultError{err}
	}
	s := &shell{Shell: sh, busy: id}
	h.shells[key] = s
	return s, nil
}

// giveBack frees a shell, or closes it when its state cannot be trusted any
// more, because what ran in it failed itself.
func (h *Host) giveBack(o owner, name string, s *shell, keep bool) {
	key := shellKey{o, name}
	h.mu.Lock()
	s.busy, s.used = "", time.Now()
	if h.closed || !keep {
		delete(h.shells, key)
	}
	kept := h.shells[key] == s
	h.mu.Unlock()
	if !kept {
		_ = s.Close() // it is gone either way
	}
}

// sweepShells closes shells that nobody has used for a while; all that are
// free, when everything is.
func (h *Host) sweepShells(now time.Time, everything bool) {
	h.mu.Lock()
	var idle []*shell
	for k, s := range h.shells {
		if s.busy == "" && (everything || now.Sub(s.used) >= h.limits.Idle) {
			idle = append(idle, s)
			delete(h.shells, k)
		}
	}
	h.mu.Unlock()
	for _, s := range idle {
		_ = s.Close() // it is gone either way
	}
}
