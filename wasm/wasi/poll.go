package wasi

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// A readWaiter is a stream that can wait until a read of it would not: for
// bytes, the end or an error. It asks before it looks at its context, so that
// a context that is over makes it tell at once. A stream that is no
// readWaiter counts as ready: a read of it then waits by itself.
type readWaiter interface {
	WaitRead(ctx context.Context) error
}

// A writeWaiter is the same for writes: some byte could be written, or the
// reader is gone.
type writeWaiter interface {
	WaitWrite(ctx context.Context) error
}

// over returns a context that is over, to ask without waiting.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// waiter returns how to wait until f can be read, or written; nil when it
// always can.
func (f *file) waiter(write bool) func(context.Context) error {
	if write {
		if w, ok := f.w.(writeWaiter); ok {
			return w.WaitWrite
		}
	} else if r, ok := f.r.(readWaiter); ok {
		return r.WaitRead
	}
	return nil
}

// stream reports whether a read of f may have to wait.
func (f *file) stream() bool { return f.f == nil || f.waiter(false) != nil }

// ready reports whether a read, or a write, of f would not wait.
func (f *file) ready(write bool) bool {
	wait := f.waiter(write)
	return wait == nil || wait(over()) == nil
}

// Sizes and kinds of the records of poll_oneoff.
const (
	subSize   = 48
	eventSize = 32
	maxSubs   = 1 << 16 // what Go's runtime can have

	eventClock = 0
	eventRead  = 1
	eventWrite = 2
)

// subscription is one thing that a poll waits for.
type subscription struct {
	user [8]byte
	kind byte
	err  errno
	due  time.Time // of a clock
	file *file     // of the others
}

// pollOneoff waits for the first of its subscriptions, and tells of all that
// have come by then. One that is wrong has come with its error.
func pollOneoff(c *call) errno {
	n := c.u32(2)
	if n == 0 || n > maxSubs {
		return eINVAL
	}
	in, ok := c.mem.bytes(c.u32(0), n*subSize)
	if !ok {
		return eFAULT
	}
	out, ok := c.mem.bytes(c.u32(1), n*eventSize)
	if !ok {
		return eFAULT
	}
	if _, ok := c.mem.bytes(c.u32(3), 4); !ok {
		return eFAULT
	}
	start := time.Now()
	subs := make([]subscription, 0, n)
	for raw := range slices.Chunk(in, subSize) {
		subs = append(subs, c.subscription(raw, start))
	}
	for {
		events := 0
		now := time.Now()
		for i := range subs {
			if s := &subs[i]; s.come(now) {
				s.put(out[events*eventSize:][:eventSize])
				events++
			}
		}
		if events > 0 {
			return c.mem.put32(c.u32(3), uint32(events))
		}
		c.await(subs, now)
	}
}

// subscription decodes one; a timeout counts from start.
func (c *call) subscription(raw []byte, start time.Time) subscription {
	s := subscription{user: [8]byte(raw), kind: raw[8]}
	if s.kind == eventClock {
		now, e := c.now(le.Uint32(raw[16:]))
		if e != 0 {
			s.err = e
			return s
		}
		t := le.Uint64(raw[24:])
		if le.Uint16(raw[40:])&1 != 0 { // an absolute time
			t -= min(t, now)
		}
		s.due = start.Add(time.Duration(min(t, math.MaxInt64)))
		return s
	}
	d, e := c.get(le.Uint32(raw[16:]))
	switch {
	case s.kind > eventWrite:
		s.err = eINVAL
	case e != 0:
		s.err = e
	case d.dir, s.kind == eventRead && d.rights&rightRead == 0, s.kind == eventWrite && d.rights&rightWrite == 0:
		s.err = eBADF
	default:
		s.file = d.file
	}
	return s
}

// come reports whether what s waits for is there.
func (s *subscription) come(now time.Time) bool {
	switch {
	case s.err != 0:
		return true
	case s.kind == eventClock:
		return !s.due.After(now)
	}
	return s.file.ready(s.kind == eventWrite)
}

// put writes the event. The number of bytes is known of regular files only;
// of others it is one at least.
func (s *subscription) put(ev []byte) {
	clear(ev)
	copy(ev, s.user[:])
	le.PutUint16(ev[8:], uint16(s.err))
	ev[10] = s.kind
	if s.file == nil {
		return
	}
	avail := uint64(1)
	if f := s.file.f; s.kind == eventRead && f != nil {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			if pos, err := f.Seek(0, 1); err == nil {
				avail = uint64(max(fi.Size()-pos, 0))
			}
		}
	}
	le.PutUint64(ev[16:], avail)
}

// await returns when one of subs may have come. The run ends here when its
// context does.
func (c *call) await(subs []subscription, now time.Time) {
	ctx, cancel := context.WithCancel(c.ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	type what struct {
		f     *file
		write bool
	}
	asked := map[what]bool{}
	woken := make(chan struct{}, 1)
	wait := time.Duration(math.MaxInt64)
	for _, s := range subs {
		if s.kind == eventClock {
			wait = min(wait, s.due.Sub(now))
			continue
		}
		w := what{s.file, s.kind == eventWrite}
		if asked[w] { // one goroutine for each stream, however often it is named
			continue
		}
		asked[w] = true
		wg.Go(func() {
			_ = w.f.waiter(w.write)(ctx) // what there is to know the caller asks again
			select {
			case woken <- struct{}{}:
			default:
			}
		})
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-woken:
	case <-ctx.Done():
	}
	c.alive()
}
