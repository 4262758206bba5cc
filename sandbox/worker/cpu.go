package worker

import (
	"context"
	"time"
)

type cpuKey struct{}

// WithCPU returns a context in which a run in a worker tells add, ten times a
// second and at its end, how much CPU time its process has used meanwhile.
// Runs that share a process share its time. Systems that cannot tell of other
// processes, all but Linux, tell nothing.
func WithCPU(ctx context.Context, add func(time.Duration)) context.Context {
	return context.WithValue(ctx, cpuKey{}, add)
}

// meter tells the context of a run what the process uses until stop is called.
func (p *process) meter(ctx context.Context) (stop func()) {
	add, ok := ctx.Value(cpuKey{}).(func(time.Duration))
	if !ok {
		return func() {}
	}
	last, _, _ := usageOf(p.cmd.Process.Pid)
	tell := func() {
		now, _, ok := usageOf(p.cmd.Process.Pid)
		p.mu.Lock()
		share := max(1, len(p.runs))
		p.mu.Unlock()
		if ok && now > last {
			add((now - last) / time.Duration(share))
			last = now
		}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				tell()
			case <-done:
				tell()
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}
