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
