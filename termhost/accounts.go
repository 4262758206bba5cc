package termhost

import (
	"fmt"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
)

// owner is what a terminal id is bound to: the principal, never a connection.
type owner struct{ sub, tenant, auth string }

func ownerOf(p policy.Principal) owner { return owner{p.Sub, p.Tenant, p.Auth} }

// account is what one principal holds.
type account struct {
	running int         // commands being admitted or running
	terms   []*Terminal // not released, in order of creation
}

// admit takes a place among the running commands of o, which may be most; 0
// means the limit of all.
func (h *Host) admit(o owner, most int) (usage int, err error) {
	if most <= 0 || most > h.limits.Running {
		most = h.limits.Running
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return 0, ErrClosed
	}
	if h.halted != nil {
		return 0, h.halted
	}
	a := h.byOwner[o]
	if a == nil {
		a = &account{}
		h.byOwner[o] = a
	}
	if a.running >= most {
		var ids []string
		for _, t := range a.terms {
			if t.Running() && len(ids) < 3 {
				ids = append(ids, t.id)
			}
		}
		more := ""
		if len(ids) > 0 {
			more = ", for example " + strings.Join(ids, ", ")
		}
		return 0, fmt.Errorf("%w: %d commands are running, which is the limit; wait for, kill or release one%s", ErrTooMany, a.running, more)
	}
	if h.running >= h.limits.Total {
		return 0, fmt.Errorf("%w: the server runs as many commands as it may; try again later", ErrTooMany)
	}
	a.running++
	h.running++
	return a.running - 1, nil
}

// ended gives the place of a command that has ended back.
func (h *Host) ended(t *Terminal) {
	h.mu.Lock()
	delete(h.live, t)
	h.stats.OutputBytes += t.out.written()
	h.mu.Unlock()
	h.leave(t.owner)
}

// leave gives the place of admit back.
func (h *Host) leave(o owner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running--
	if a := h.byOwner[o]; a != nil {
		a.running--
		h.prune(o, a)
	}
}

// prune forgets an account that holds nothing. The caller holds h.mu.
func (h *Host) prune(o owner, a *account) {
	if a.running == 0 && len(a.terms) == 0 {
		delete(h.byOwner, o)
	}
}

// add registers t and returns the terminals that had to go to make room.
func (h *Host) add(t *Terminal) (evicted []*Terminal, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	if h.halted != nil { // since it was admitted
		return nil, h.halted
	}
	a := h.byOwner[t.owner]
	for _, old := range a.terms {
		if len(a.terms)-len(evicted) < h.limits.Kept {
			break
		}
		if !old.Running() {
			evicted = append(evicted, old)
		}
	}
	h.terms[t.id] = t
	h.stats.Created++
	h.live[t] = struct{}{}
	a.terms = append(a.terms, t)
	h.wg.Add(1) // under mu: Close sees either the terminal or a refusal
	return evicted, nil
}

// drop makes t's id unknown.
func (h *Host) drop(t *Terminal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.terms, t.id)
	if a := h.byOwner[t.owner]; a != nil {
		a.terms = slices.DeleteFunc(a.terms, func(u *Terminal) bool { return u == t })
		h.prune(t.owner, a)
	}
}

// others counts the commands of o that run beside the one that asks.
func (h *Host) others(o owner) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.byOwner[o]; a != nil {
		return int64(max(0, a.running-1))
	}
	return 0
}
