package wasm

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A snapshot gives back every byte, whatever was written meanwhile.
func TestSnapshotRestores(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		mem := make([]byte, pageSize)
		scribble := func(n int) {
			for range n {
				at := rnd.IntN(len(mem))
				mem[at] = byte(rnd.IntN(256))
			}
		}
		scribble(rnd.IntN(12))
		mc := &machine{alloc: &allocator{space: &space{b: mem, dirty: len(mem)}, size: len(mem)}}
		s := mc.snapshot()
		want := bytes.Clone(mem)
		scribble(rnd.IntN(100))
		s.restore(mem)
		if !bytes.Equal(mem, want) {
			t.Fatal("the memory differs from the snapshot")
		}
		held := 0
		for _, p := range s.parts {
			held += len(p.bytes)
		}
		if held != s.held || held > pageSize {
			t.Fatalf("%d bytes held, said to be %d", held, s.held)
		}
	}
}

// The same where memory shows the snapshot, which has to be found out page by
// page: after writes and reads within it and between its parts, growth, and
// in a space that another machine has left.
func TestSnapshotShown(t *testing.T) {
	tracker := NewTracker(1)
	defer tracker.close()
	rnd := rand.New(rand.NewPCG(3, 4))
	const size = 40 * pageSize
	from := &spaces{max: 64 << 20}
	defer from.close()
	begin := &allocator{ctx: t.Context(), limit: maxMemory, from: from}
	begin.Allocate(0, 0)
	first := begin.Reallocate(size)
	if first == nil || begin.space.reserved == nil {
		t.Skip("addresses cannot be reserved here")
	}
	for range 300 {
		first[rnd.IntN(20*pageSize)] = byte(rnd.IntN(256))
	}
	mc := &machine{alloc: begin}
	s := mc.snapshot()
	want := bytes.Clone(first)
	s.share(tracker, mc)
	if s.tracker == nil {
		t.Skip("this system does not say what was written to")
	}
	defer s.close()
	for round := range 50 {
		mem := mc.alloc.bytes()
		for range rnd.IntN(200) {
			at := rnd.IntN(size)
			if rnd.IntN(2) == 0 {
				mem[at] = byte(rnd.IntN(256))
			} else if mem[at] > 250 {
				mem[at] = 0
			}
		}
		own, ok := s.rewind(mem[:size])
		if !ok || !bytes.Equal(mem[:size], want) {
			t.Fatalf("round %d: %v, the memory differs from the snapshot", round, ok)
		}
		if mc.held > own {
			t.Fatalf("a page that was written to is forgotten: %d bytes, then %d", mc.held, own)
		}
		mc.held = own
		switch round % 10 {
		case 3:
			grown := mc.alloc.Reallocate(size + 3*pageSize)
			for i, x := range grown[size:] {
				if x != 0 {
					t.Fatalf("byte %d beyond the snapshot is %d", i, x)
				}
			}
			grown[size+rnd.IntN(3*pageSize)] = 1
			mc.alloc.size = size
		case 7: // another machine, perhaps in the same space
			mc.alloc.Free()
			mc = &machine{alloc: &allocator{ctx: t.Context(), limit: maxMemory, from: from, snap: s}}
			mc.alloc.Allocate(0, 0)
			if b := mc.alloc.Reallocate(0); !mc.alloc.shown || !bytes.Equal(b, want) {
				t.Fatalf("a new machine does not show the snapshot: %v", mc.alloc.shown)
			}
		}
	}
}
