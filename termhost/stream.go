package termhost

import (
	"context"
	"iter"
)

// Snapshot is the output and the state of a terminal at one moment.
type Snapshot struct {
	Data      []byte
	Offset    int64 // of Data[0], counted from the first byte ever written
	Written   int64 // bytes ever written
	Truncated bool  // bytes before Offset are no longer kept
	Exit      *Exit // nil while the command runs; when set, no byte will follow

	// Withheld is why the policy lets nobody see the bytes asked for, a
	// [*policy.DeniedError]; Data is empty then.
	Withheld error
}

// Output returns all output that is kept.
func (t *Terminal) Output() Snapshot { return t.OutputFrom(0, -1) }

// OutputFrom returns at most limit bytes of output from offset on; a negative
// offset counts from the end, a negative limit means no limit. Where the
// bytes at offset are no longer kept, it starts at the first character that
// is: Snapshot.Offset says where.
func (t *Terminal) OutputFrom(offset int64, limit int) Snapshot {
	t.touch()
	s := t.out.snapshot(offset, limit)
	if len(s.Data) > 0 {
		if s.Withheld = t.withheld(s.Written, s.Exit); s.Withheld != nil {
			s.Data = nil
		}
	}
	return s
}

func (b *buffer) snapshot(offset int64, limit int) Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	if offset < 0 {
		offset = max(0, b.end+offset)
	}
	s := Snapshot{Written: b.end, Truncated: b.base > 0, Exit: b.exit}
	s.Offset, s.Data = b.read(offset, limit)
	return s
}

// Chunk is a piece of a stream of output.
type Chunk struct {
	Offset  int64 // of Data[0], counted from the first byte ever written
	Data    []byte
	Skipped int64 // bytes before Offset that were dropped unread, or that the policy withholds
	Written int64 // bytes ever written when the chunk was taken
}

// Stream yields output from its first kept byte on, as it comes, until the
// command has ended and all was yielded, the terminal is released, or ctx
// ends. The reader pulls: a slow one slows nobody and loses the oldest bytes,
// which Chunk.Skipped counts.
func (t *Terminal) Stream(ctx context.Context) iter.Seq[Chunk] {
	return t.StreamFrom(ctx, 0)
}

// StreamFrom is [Terminal.Stream] from an offset on.
func (t *Terminal) StreamFrom(ctx context.Context, offset int64) iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		defer t.Watch()()
		b, at := t.out, offset
		for {
			b.mu.Lock()
			off, data := b.read(at, -1)
			c := Chunk{Offset: off, Data: data, Skipped: max(0, off-at), Written: b.end}
			exit, ended := b.exit, b.exit != nil || b.gone
			more := b.changed()
			b.mu.Unlock()
			at = off + int64(len(data))
			if len(data) > 0 && t.withheld(c.Written, exit) != nil {
				c.Offset, c.Data, c.Skipped, data = at, nil, c.Skipped+int64(len(data)), nil
			}
			if (len(data) > 0 || c.Skipped > 0) && !yield(c) {
				return
			}
			if ended {
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Changed returns a channel that is closed when more than seen bytes have
// been written or the command has ended.
func (t *Terminal) Changed(seen int64) <-chan struct{} {
	b := t.out
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end > seen || b.exit != nil {
		c := make(chan struct{})
		close(c)
		return c
	}
	return b.changed()
}
