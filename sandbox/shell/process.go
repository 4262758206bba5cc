package shell

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A process is the entry of one shell in the table of virtual processes.
type process struct {
	pid     int
	parent  *process
	text    atomic.Pointer[string] // the command, for ps; nil: a shell
	began   time.Time
	dead    atomic.Bool  // a signal ended it
	deadBy  atomic.Int32 // which
	pending atomic.Uint64
	cancel  context.CancelCauseFunc // ends what it waits for; may be nil
	traps   atomic.Pointer[trapMask]
	wake    chan struct{}
	group   *process // the job it belongs to; nil for itself
}

// A trapMask tells senders which signals the process traps or ignores.
type trapMask struct{ trapped, ignored uint64 }

type procTable struct {
	mu   sync.Mutex
	next int
	m    map[int]*process
}

func (t *procTable) init(pid int) {
	t.m = map[int]*process{}
	t.next = pid
}

func (t *procTable) nextPID() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	return t.next
}

func (t *procTable) add(parent *process, now time.Time) *process {
	p := &process{parent: parent, began: now, wake: make(chan struct{}, 1)}
	t.mu.Lock()
	if parent != nil {
		t.next++
		if m := parent.traps.Load(); m != nil && m.ignored != 0 {
			p.traps.Store(&trapMask{ignored: m.ignored})
		}
	}
	p.pid = t.next
	t.m[p.pid] = p
	t.mu.Unlock()
	return p
}

func (t *procTable) remove(p *process) {
	t.mu.Lock()
	delete(t.m, p.pid)
	t.mu.Unlock()
}

func (t *procTable) find(pid int) *process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.m[pid]
}

func (t *procTable) all() []*process {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*process, 0, len(t.m))
	for _, p := range t.m {
		out = append(out, p)
	}
	return out
}

// children are the processes started by p that still run.
func (t *procTable) children(p *process) []*process {
	var out []*process
	for _, q := range t.all() {
		if q.parent == p {
			out = append(out, q)
		}
	}
	return out
}

// signal delivers sig: it is kept for the shell's next step, or ends it.
func (t *procTable) signal(p *process, sig int) {
	if sig == 0 {
		return
	}
	m := p.traps.Load()
	if sig != sigKILL && sig != sigSTOP && m != nil {
		if m.ignored>>sig&1 != 0 {
			return
		}
		if m.trapped>>sig&1 != 0 {
			p.pending.Or(1 << sig)
			select {
			case p.wake <- struct{}{}:
			default:
			}
			return
		}
	}
	switch sig {
	case sigCHLD, sigCONT, sigURG, sigWINCH, sigSTOP, sigTSTP, sigTTIN, sigTTOU:
		return
	}
	p.deadBy.Store(int32(sig))
	p.dead.Store(true)
	if p.cancel != nil {
		p.cancel(context.Canceled)
	}
	// What it waits for in the foreground goes with it.
	for _, c := range t.children(p) {
		if c.group == nil {
			t.signal(c, sig)
		}
	}
}
