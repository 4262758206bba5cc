package wasi_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/donax-sh/donax/wasm/wasi"
)

// What is found is what Go's own search finds, and nothing that a guest says
// reaches beyond its memory.
func TestFind(t *testing.T) {
	g := &guest{t: t, mod: instanceOf(t, wasi.DonaxModule)}
	var spent int64
	g.job(wasi.Config{Spend: func(n int64) error { spent += n; return nil }})
	const in, what, at = 8 << 10, 100 << 10, 1024
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		text, needle := make([]byte, rnd.IntN(400)), make([]byte, 1+rnd.IntN(4))
		for i := range text {
			text[i] = "aAbBzZ \x00\xc3"[rnd.IntN(9)]
		}
		for i := range needle {
			needle[i] = "abz \x00\xc3"[rnd.IntN(6)]
		}
		fold := rnd.Uint64N(2)
		want := bytes.Index(text, needle)
		if fold == 1 {
			want = bytes.Index(bytes.Map(func(r rune) rune {
				if r >= 'A' && r <= 'Z' {
					r |= 32
				}
				return r
			}, bytes.ReplaceAll(text, []byte{0xc3}, []byte{1})), bytes.ReplaceAll(needle, []byte{0xc3}, []byte{1}))
		}
		p, n := g.put(in, string(text))
		q, m := g.put(what, string(needle))
		if e := g.call("find", p, n, q, m, fold, at); e != 0 {
			t.Fatal(e)
		}
		if got, _ := g.mem.ReadUint32Le(at); int(int32(got)) != want {
			t.Fatalf("%q in %q, fold %d: %d, want %d", needle, text, fold, int32(got), want)
		}
	}
	if spent == 0 {
		t.Error("it costs nothing")
	}
	end := uint64(guestPages << 16)
	for _, c := range []struct {
		args []uint64
		want uint64
	}{
		{[]uint64{in, 64<<10 + 1, what, 1, 0, at}, eINVAL}, {[]uint64{in, 10, what, 0, 0, at}, eINVAL}, {[]uint64{in, 10, what, 65, 1, at}, eINVAL},
		{[]uint64{end - 2, 3, what, 1, 0, at}, eFAULT}, {[]uint64{in, 10, end - 1, 2, 0, at}, eFAULT}, {[]uint64{in, 10, what, 1, 0, end - 2}, eFAULT},
		{[]uint64{in, 0, what, 1, 0, at}, 0}, {[]uint64{in, 0, what, 1, 1, at}, 0}, {[]uint64{in, 10, in, 20, 0, at}, 0}, {[]uint64{in, 10, in, 20, 1, at}, 0},
	} {
		if got := g.call("find", c.args...); got != c.want {
			t.Errorf("find%v: %d, want %d", c.args, got, c.want)
		}
	}
}
