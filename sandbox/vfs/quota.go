package vfs

import (
	"math"
	"sync/atomic"
	"syscall"
)

// Default bounds of a [Quota].
const (
	DefaultMaxBytes = 256 << 20
	DefaultMaxFiles = 20_000
)

// QuotaConfig bounds what a session may keep in files. Zero means the
// default, a negative number no bound.
type QuotaConfig struct {
	MaxBytes int64 // logical sizes in all, holes included
	MaxFiles int64 // names in all: files, folders, symlinks and further hard links
}

// A Quota counts bytes and names over all file systems that share it; past a
// bound they answer EDQUOT. It is safe for concurrent use.
type Quota struct {
	maxBytes, maxFiles int64
	bytes, files       atomic.Int64
}

// NewQuota returns a Quota with nothing used.
func NewQuota(c QuotaConfig) *Quota {
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxFiles == 0 {
		c.MaxFiles = DefaultMaxFiles
	}
	return &Quota{maxBytes: c.MaxBytes, maxFiles: c.MaxFiles}
}

// Used returns the bytes and names counted now.
func (q *Quota) Used() (bytes, files int64) { return q.bytes.Load(), q.files.Load() }

// takeBytes reserves up to n bytes and returns how many it got.
func (q *Quota) takeBytes(n int64) int64 {
	if n <= 0 {
		return 0
	}
	for {
		used := q.bytes.Load()
		got := n
		if q.maxBytes >= 0 {
			got = min(n, max(0, q.maxBytes-used))
		}
		if got == 0 || q.bytes.CompareAndSwap(used, used+got) {
			return got
		}
	}
}

// takeAllBytes reserves n bytes, or none and returns false.
func (q *Quota) takeAllBytes(n int64) bool {
	got := q.takeBytes(n)
	if got < n {
		q.giveBytes(got)
		return false
	}
	return true
}

// grow reserves what writing n bytes at off adds to a file of a size. It
// returns how many of them fit, what was taken for them, and why not all do.
func (q *Quota) grow(size, off, n int64) (fits, taken int64, e syscall.Errno) {
	if off > math.MaxInt64-n {
		return 0, 0, syscall.EFBIG
	}
	need := max(0, off+n-size)
	taken = q.takeBytes(need)
	fits = max(0, n-(need-taken))
	switch {
	case taken < need:
		e = syscall.EDQUOT
	case off+n > maxFile:
		fits, e = 0, syscall.EFBIG
	}
	if fits == 0 { // perhaps not even the gap before off: leave no trace
		q.giveBytes(taken)
		taken = 0
	}
	return fits, taken, e
}

func (q *Quota) takeFile() bool {
	if q.files.Add(1) > q.maxFiles && q.maxFiles >= 0 {
		q.files.Add(-1)
		return false
	}
	return true
}

// giveBytes and giveFiles return what was taken. Files that were there before
// the session were never counted, so neither goes below zero.
func (q *Quota) giveBytes(n int64) { give(&q.bytes, n) }
func (q *Quota) giveFiles(n int64) { give(&q.files, n) }

func give(c *atomic.Int64, n int64) {
	for n > 0 {
		v := c.Load()
		if c.CompareAndSwap(v, max(0, v-n)) {
			return
		}
	}
}
