package wasi

import (
	"crypto/rand"
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
