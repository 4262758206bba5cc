package wasm

import (
	"context"
	"time"
)

// Bounds of running guests, for those who report them.
const (
	Ration   = ration   // instructions between two looks at kill, deadline and budget
	MaxStack = maxStack // bytes of native stack
)

// MachineCost is what the machines of one tier of the box cost here.
type MachineCost struct {
	Tier   string
	SHA256 string        // of the module
	Memory int64         // bytes that a machine begins with
	Shared bool          // by all machines, each as far as it has not written to them
	Load   time.Duration // to have the compiled code, from the cache or by compiling
	Init   time.Duration // to initialise the first machine
	Reset  time.Duration // to make a used one as new: the least of several
}

// Measure loads all tiers of the box and measures their machines.
func (r *Runtime) Measure(ctx context.Context) ([]MachineCost, error) {
	var all []MachineCost
	for _, m := range r.tiers {
		if m.fresh { // its machines do not wait
			continue
		}
		c := MachineCost{Tier: m.pool.stats.Tier, SHA256: m.sum}
		start := time.Now()
		if err := m.load(ctx); err != nil {
			return all, err
		}
		c.Load = time.Since(start)
		start = time.Now()
		mc, snap, err := m.pool.capture()
		if err != nil {
			return all, err
		}
		defer snap.close()
		c.Init, c.Memory = time.Since(start), int64(snap.held)
		c.Shared = snap.tracker != nil
		for range 20 {
			start = time.Now()
			if !mc.reset(snap) {
				mc.close()
				return all, errNoReset
			}
			if d := time.Since(start); c.Reset == 0 || d < c.Reset {
				c.Reset = d
			}
		}
		mc.close()
		all = append(all, c)
	}
	return all, nil
}

// Idle is how many bytes the machines of one tier that wait for work may hold
// in all.
func (r *Runtime) Idle() int { return r.idle }
