package scan

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLastIndexByte(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := make([]byte, rnd.IntN(40))
		for i := range s {
			s[i] = "ab\x00\x01\x80\xff\n"[rnd.IntN(7)]
		}
		for _, c := range []byte("ab\x00\x01\x80\xff\nz") {
			if got, want := LastIndexByte(s, c), bytes.LastIndexByte(s, c); got != want {
				t.Fatalf("%q in %q: %d, want %d", c, s, got, want)
			}
		}
	}
}

func TestASCII(t *testing.T) {
	for n := range 30 {
		s := bytes.Repeat([]byte{0x7f}, n)
		if !ASCII(s) {
			t.Errorf("%d bytes are not", n)
		}
		for i := range s {
			s[i] = 0x80
			if ASCII(s) {
				t.Errorf("byte %d of %d is overlooked", i, n)
			}
			s[i] = 0x7f
		}
	}
}

func TestBlank(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := make([]byte, rnd.IntN(40))
		for i := range b {
			b[i] = "abcdefgh\x00\x08\x0b\x1f!\x80\xa0\xff \t\n"[rnd.IntN(19)]
		}
		s := string(b)
		pos := rnd.IntN(len(s) + 1)
		want := len(s)
		if i := strings.IndexAny(s[pos:], " \t\n"); i >= 0 {
			want = pos + i
		}
		if got := Blank(s, pos); got != want {
			t.Fatalf("%q from %d: %d, want %d", s, pos, got, want)
		}
	}
}
