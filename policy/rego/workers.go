package rego

import "time"

// idleWorker is how long a goroutine waits for its next evaluation.
const idleWorker = time.Second

// workers runs functions in goroutines that outlive them for a moment: an
// evaluation grows its stack by several steps, which would cost as much as
// the evaluation itself if each began with a new one.
type workers struct{ jobs chan func() }

func newWorkers() *workers { return &workers{jobs: make(chan func())} }

// do runs f in another goroutine, an idle one if there is any.
func (w *workers) do(f func()) {
	select {
	case w.jobs <- f:
	default:
		go w.loop(f)
	}
}

func (w *workers) loop(f func()) {
	idle := time.NewTimer(idleWorker)
	defer idle.Stop()
	for {
		f()
		idle.Reset(idleWorker)
		select {
		case f = <-w.jobs:
		case <-idle.C:
			return
		}
	}
}
