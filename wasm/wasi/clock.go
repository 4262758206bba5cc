package wasi

import (
	"crypto/rand"
	"math"
	"runtime"
	"time"
)

const (
	clockReal = iota
	clockMono
	clockCPU
	clockThreadCPU
)

// now reads a clock in nanoseconds. The CPU clocks show the time since the
// job's epoch, an upper bound: the sandbox does not measure closer.
func (j *Job) now(id uint32) (uint64, errno) {
	switch {
	case id > clockThreadCPU:
		return 0, eINVAL
	case j.cfg.Epoch.IsZero():
		j.ticks++
		return uint64(j.ticks), 0
	case id == clockReal:
		return uint64(time.Now().UnixNano()), 0
	}
	return uint64(time.Since(j.cfg.Epoch) + time.Second), 0
}

func clockTimeGet(c *call) errno {
	t, e := c.now(c.u32(0))
	if e != 0 {
		return e
	}
	return c.mem.put64(c.u32(2), t)
}

func clockResGet(c *call) errno {
	if c.u32(0) > clockThreadCPU {
		return eINVAL
	}
	return c.mem.put64(c.u32(1), 1)
}

func randomGet(c *call) errno {
	b, ok := c.mem.bytes(c.u32(0), c.u32(1))
	if !ok {
		return eFAULT
	}
	for len(b) > 0 { // in pieces: a gigabyte takes a while
		c.alive()
		n := min(len(b), 1<<20)
		rand.Read(b[:n]) // never fails
		b = b[n:]
	}
	return 0
}

func schedYield(*call) errno {
	runtime.Gosched()
	return 0
}

// Sizes of the records of poll_oneoff.
const (
	subSize   = 48
	eventSize = 32
	maxSubs   = 1 << 16 // what Go's runtime can have
)

// pollOneoff waits for the first of its subscriptions. Files and streams are
// always ready: a read from a stream then waits by itself.
func pollOneoff(c *call) errno {
	n := c.u32(2)
	if n == 0 || n > maxSubs {
		return eINVAL
	}
	subs, ok := c.mem.bytes(c.u32(0), n*subSize)
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
	wait := time.Duration(math.MaxInt64)
	ready := false
	for i := range int(n) {
		s := subs[i*subSize:][:subSize]
		if s[8] != 0 {
			ready = true // or broken, which is told at once, too
			continue
		}
		d, e := c.timeout(s)
		if e != 0 {
			ready = true
			continue
		}
		wait = min(wait, d)
	}
	if !ready && wait > 0 {
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-c.ctx.Done():
			t.Stop()
			c.alive()
		}
	}
	events := 0
	for i := range int(n) {
		s := subs[i*subSize:][:subSize]
		var ev [eventSize]byte
		if c.event(s, ev[:], !ready && wait != math.MaxInt64, wait) {
			copy(out[events*eventSize:], ev[:])
			events++
		}
	}
	return c.mem.put32(c.u32(3), uint32(events))
}

// timeout returns how long a clock subscription waits.
func (c *call) timeout(s []byte) (time.Duration, errno) {
	now, e := c.now(le.Uint32(s[16:]))
	if e != 0 {
		return 0, e
	}
	t := le.Uint64(s[24:])
	if le.Uint16(s[40:])&1 != 0 { // an absolute time
		t -= min(t, now)
	}
	return time.Duration(min(t, math.MaxInt64)), 0
}

// event fills in the event of a subscription, if it has come. slept says that
// the shortest timeout, wait, is over.
func (c *call) event(s, ev []byte, slept bool, wait time.Duration) bool {
	copy(ev, s[:8])
	ev[10] = s[8]
	fail := func(e errno) bool {
		le.PutUint16(ev[8:], uint16(e))
		return true
	}
	if s[8] == 0 {
		d, e := c.timeout(s)
		if e != 0 {
			return fail(e)
		}
		// A relative timeout counts from the start of the wait.
		return slept && (d <= wait || le.Uint16(s[40:])&1 != 0 && d == 0) || d == 0
	}
	d, e := c.get(le.Uint32(s[16:]))
	switch {
	case s[8] > 2:
		return fail(eINVAL)
	case e != 0:
		return fail(e)
	case d.dir:
		return fail(eBADF)
	case s[8] == 1 && d.rights&rightRead == 0 || s[8] == 2 && d.rights&rightWrite == 0:
		return fail(eBADF)
	}
	avail := uint64(1)
	if s[8] == 1 && d.file.f != nil {
		if fi, err := d.file.f.Stat(); err == nil && fi.Mode().IsRegular() {
			pos, err := d.file.f.Seek(0, 1)
			if err == nil {
				avail = uint64(max(fi.Size()-pos, 0))
			}
		}
	}
	le.PutUint64(ev[16:], avail)
	return true
}
