package wasm

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm/wasi"
)

// A pool has the machines of one module of the box.
//
// To initialise a machine takes milliseconds. So it is done once: the memory
// and globals of one that is initialised are the snapshot, and every other
// machine starts as its copy. After a run a machine is reset to it, behind the
// back of whoever ran it, and serves again. One that trapped or was killed is
// closed, and another takes its place.
//
// Nobody ever waits for a machine: a command may wait for its children, and
// they need machines, too. When none is ready one is made.
type pool struct {
	m *module

	mu      sync.Mutex
	snap    *snapshot  // nil: not taken yet
	runs    int        // so far without a snapshot
	ready   []*machine // last used last
	dirty   []*machine // to be reset
	held    int        // bytes of the one that is being reset; 0: none is
	own     int        // bytes that a machine had for itself when it was last reset
	spare   *machine   // made before anybody asked, and never initialised
	missing bool       // one is to be made for one that was closed
	working bool       // somebody resets and makes
	trimmer *time.Timer
	closed  bool
	stats   PoolStats
}

// PoolStats says what the machines of one tier of the box do.
type PoolStats struct {
	Tier     string
	Ready    int   // waiting for work
	Snapshot int64 // bytes that each begins with
	Memory   int64 // bytes that each of them holds for itself, as the last one that was reset
	Made     int64 // so far
	Dropped  int64 // so far: killed or broken
	Reused   int64 // runs so far in a machine that had served before
}

const (
	// captureAt is the run that has a snapshot taken. A process that runs one
	// command has nothing from it.
	captureAt = 2

	// idleTime is how long a machine waits for work before it is closed.
	idleTime = 10 * time.Second
)

// take returns a machine whose memory may grow to limit bytes. ctx carries
// the job that will run.
func (p *pool) take(ctx context.Context, limit uint64) (*machine, error) {
	if p.m.fresh {
		return p.m.instantiate(ctx, limit, nil)
	}
	p.mu.Lock()
	snap := p.snap
	if snap == nil {
		p.stats.Made++
		if p.runs++; p.runs == captureAt {
			p.work()
		}
		mc := p.spare
		p.spare = nil
		p.mu.Unlock()
		if mc != nil && uint64(len(mc.alloc.bytes())) <= limit {
			mc.alloc.begin(ctx, limit)
			return mc, nil
		}
		if mc != nil {
			mc.close()
		}
		return p.m.instantiate(ctx, limit, nil)
	}
	if uint64(snap.size) > limit {
		p.mu.Unlock()
		return nil, (&allocator{limit: limit}).err()
	}
	for {
		mc := p.pop()
		if mc == nil {
			p.missing = false
			p.stats.Made++
			p.mu.Unlock()
			return p.make(ctx, snap, limit)
		}
		p.mu.Unlock()
		if mc.clean || mc.reset(snap) {
			mc.alloc.begin(ctx, limit)
			mc.clean = false
			p.mu.Lock()
			p.stats.Reused++
			p.mu.Unlock()
			return mc, nil
		}
		p.mu.Lock()
		p.drop(mc)
	}
}

// pop takes a machine out that waits, ready rather than dirty.
func (p *pool) pop() (mc *machine) {
	if n := len(p.ready); n > 0 {
		mc, p.ready = p.ready[n-1], p.ready[:n-1]
	} else if n := len(p.dirty); n > 0 {
		mc, p.dirty = p.dirty[n-1], p.dirty[:n-1]
	}
	return mc
}

func (p *pool) drop(mc *machine) {
	p.stats.Dropped++
	mc.close()
}

// make returns a new machine that is as the snapshot is.
func (p *pool) make(ctx context.Context, snap *snapshot, limit uint64) (*machine, error) {
	mc, err := p.m.instantiate(ctx, limit, snap)
	if err != nil {
		return nil, err
	}
	if !mc.reset(snap) {
		mc.close()
		return nil, errNoReset
	}
	mc.clean = false
	return mc, nil
}

var errNoReset = errors.New("wasm: an instance cannot be made from the snapshot")

// waiting counts the machines that wait for work, and their bytes.
func (p *pool) waiting() (n, bytes int) {
	for _, l := range [][]*machine{p.ready, p.dirty} {
		for _, mc := range l {
			n++
			bytes += mc.size()
		}
	}
	if p.held > 0 {
		n++
	}
	return n, bytes + p.held
}

// give takes a machine back after its run.
func (p *pool) give(mc *machine) {
	mc.alloc.ctx = p.m.rt.life // a machine that waits must not keep its last job
	p.mu.Lock()
	defer p.mu.Unlock()
	n, bytes := p.waiting()
	switch {
	case p.closed || p.snap == nil:
		mc.close()
	case mc.spent:
		p.drop(mc)
		if n == 0 {
			p.missing = true
			p.work()
		}
	case n > 0 && bytes+mc.size() > p.m.rt.idle:
		mc.close()
	default:
		p.dirty = append(p.dirty, mc)
		p.work()
	}
}

// work sees to it that somebody does what is to be done. The lock is held.
func (p *pool) work() {
	if p.working || p.closed || p.m.rt.enter() != nil {
		return
	}
	p.working = true
	go func() {
		defer p.m.rt.active.Done()
		for p.step() {
		}
	}()
}

// step does one thing and reports whether there was one.
func (p *pool) step() bool {
	p.mu.Lock()
	snap, mc := p.snap, (*machine)(nil)
	n := len(p.dirty)
	switch {
	case p.closed, snap != nil && n == 0 && !p.missing:
		p.working = false
		p.mu.Unlock()
		return false
	case snap == nil:
	case n > 0:
		mc, p.dirty = p.dirty[n-1], p.dirty[:n-1]
		p.held = max(1, mc.size())
	default:
		p.stats.Made++
	}
	p.mu.Unlock()

	var err error
	switch {
	case snap == nil:
		mc, snap, err = p.capture()
	case mc == nil:
		mc, err = p.make(p.m.rt.life, snap, maxMemory)
	case !mc.reset(snap):
		err = errNoReset
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.missing = 0, false
	if err != nil { // the next run will say why
		if mc != nil {
			p.drop(mc)
		}
		p.working = false
		return false
	}
	p.snap, p.own = snap, mc.held
	mc.clean, mc.idle = true, time.Now()
	p.ready = append(p.ready, mc)
	if p.trimmer == nil && !p.closed {
		p.trimmer = time.AfterFunc(idleTime, p.trim)
	}
	return true
}

// capture initialises a machine and takes the snapshot. The clocks stand still
// meanwhile, so that no machine sees them run backwards; there are no files.
func (p *pool) capture() (*machine, *snapshot, error) {
	job := wasi.NewJob(wasi.Config{Args: []string{"box"}, FS: vfs.NewMem(vfs.MemConfig{})})
	defer job.Close()
	mt := &meter{}
	ctx := wasi.With(context.WithValue(p.m.rt.life, meterKey{}, mt), job)
	mc, err := p.m.instantiate(ctx, uint64(p.m.rt.memory), nil)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"_initialize", "box_prepare"} {
		if mc.mod.ExportedFunction(name) == nil {
			continue
		}
		if _, err := mc.call(ctx, mt, name); err != nil {
			mc.close()
			return nil, nil, err
		}
	}
	s := mc.snapshot()
	s.share(p.m.rt.tracker, mc)
	mc.fresh = false
	return mc, s, nil
}

// trim closes machines that nobody has needed for a while, but one.
func (p *pool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := time.Now().Add(-idleTime)
	for len(p.ready) > 1 && p.ready[0].idle.Before(old) {
		p.ready[0].close()
		p.ready = p.ready[1:]
	}
	if p.closed {
		return
	}
	p.m.rt.spaces.trim()
	p.trimmer = nil
	if len(p.ready) > 1 {
		p.trimmer = time.AfterFunc(idleTime, p.trim)
	}
}

// shed closes the machines that wait for work. The next command has one made.
func (p *pool) shed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, mc := range p.ready {
		mc.close()
	}
	p.ready = nil
}

func (p *pool) read() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Ready, _ = p.waiting()
	if p.snap != nil {
		s.Snapshot, s.Memory = int64(p.snap.held), int64(p.own)
	}
	return s
}

// close closes all machines. None runs any more.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.trimmer != nil {
		p.trimmer.Stop()
	}
	if p.spare != nil {
		p.spare.close()
	}
	for _, mc := range append(p.ready, p.dirty...) {
		mc.close()
	}
	p.ready, p.dirty = nil, nil
	if p.snap != nil {
		p.snap.close()
	}
}
