package mcp

import (
	"sync"
	"time"
)

// rates bounds the requests of each principal: burst at once, then rate a
// second.
type rates struct {
	rate  float64
	burst float64

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	last   time.Time
}

func (r *rates) init(rate float64, burst int) {
	r.rate, r.burst, r.buckets = rate, float64(burst), map[string]*bucket{}
}

// take takes one token of who and returns 0, or how long to wait for one.
// own is the principal's own rate; 0 means the common one.
func (r *rates) take(who string, own float64, now time.Time) time.Duration {
	rate := r.rate
	if own > 0 {
		rate = own
	}
	if rate < 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.buckets[who]
	if b == nil {
		r.sweep(rate, now)
		b = &bucket{tokens: r.burst, last: now}
		r.buckets[who] = b
	}
	b.tokens = min(r.burst, b.tokens+rate*max(0, now.Sub(b.last).Seconds()))
	b.last = now
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration((1 - b.tokens) / rate * float64(time.Second))
}

// maxBuckets is how many there may be before those that are full again, and
// so say nothing, are forgotten.
const maxBuckets = 4096

func (r *rates) sweep(rate float64, now time.Time) {
	if len(r.buckets) < maxBuckets {
		return
	}
	for who, b := range r.buckets {
		if b.tokens+rate*now.Sub(b.last).Seconds() >= r.burst {
			delete(r.buckets, who)
		}
	}
	for who := range r.buckets { // all of them in use: somebody gets a full one early
		if len(r.buckets) < maxBuckets {
			return
		}
		delete(r.buckets, who)
	}
}
