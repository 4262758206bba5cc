package sandbox

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Heap is how much memory the process that runs lines under l should let its
// garbage collector keep ([debug.SetMemoryLimit]): what the shells may hold,
// and as much as the rest takes. The limits count what is alive; without this
// as much again may wait to be collected.
func (l Limits) Heap() int64 { return l.orDefault().Session + 32<<20 }

// collectStep is how much more shells hold when the heap is looked at again.
const collectStep = 8 << 20

// collect has a shell that holds more and more wait for the collector, where
// the process bounds its heap. By itself the collector gives way to the shell
// when it has taken half of the time, as on a machine that is busy, and what a
// bomb throws away is then many times what it holds.
func (r *run) collect(held int64) {
	last := r.looked.Load()
	if held >= last && held < last+collectStep || !r.looked.CompareAndSwap(last, held) || held < last {
		return
	}
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return
	}
	used := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(used)
	if used[0].Value.Kind() == metrics.KindUint64 && used[0].Value.Uint64() > uint64(limit)/4*3 {
		runtime.GC()
	}
}
