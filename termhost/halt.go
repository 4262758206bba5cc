package termhost

import (
	"context"
	"errors"
	"fmt"

	"github.com/donax-sh/donax/policy"
)

// ErrHalted is matched by the error that refuses a command while the Host is
// halted.
var ErrHalted = errors.New("halted")

// A haltError carries the reason of [Host.Halt] to clients.
type haltError struct{ reason string }

func (e *haltError) Error() string        { return e.reason }
func (e *haltError) Is(target error) bool { return target == ErrHalted }

// Stopped is a command that [Host.Halt] has ended.
type Stopped struct {
	ID        string // of its terminal
	Principal policy.Principal
	Command   string // as it was given
	Ended     bool   // nothing of it runs any more; false when it did not stop in time
}

// Halt refuses every new command, ends all that run and waits until they are
// gone, as long as ctx lasts. reason is what clients are told; it must be fit
// for a model. What was written can still be read. The result says of each
// command that ran whether it has ended; the error counts those that have not.
// Halt may be called again, for instance to look once more; the first reason
// stays until [Host.Resume].
func (h *Host) Halt(ctx context.Context, reason string) ([]Stopped, error) {
	h.mu.Lock()
	if h.halted == nil {
		h.halted = &haltError{reason}
	}
	why := h.halted
	ts := make([]*Terminal, 0, len(h.live)) // whoever comes later finds the Host halted: see add
	for t := range h.live {
		ts = append(ts, t)
	}
	h.mu.Unlock()
	for _, t := range ts {
		t.end(why)
	}
	list, left := make([]Stopped, len(ts)), 0
	for i, t := range ts {
		list[i] = Stopped{ID: t.id, Principal: t.subject.Principal, Command: t.command.Text, Ended: true}
		select {
		case <-t.done:
			continue
		default:
		}
		select {
		case <-t.done:
		case <-ctx.Done():
			list[i].Ended = false
			left++
		}
	}
	if left > 0 {
		return list, fmt.Errorf("%d command(s) did not stop", left)
	}
	return list, nil
}

// Resume lets commands start again after [Host.Halt].
func (h *Host) Resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halted = nil
}
