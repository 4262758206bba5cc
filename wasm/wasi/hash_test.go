package wasi_test

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding"
	"hash"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/wasi"
)

// A hash goes on from call to call, and whatever a guest says its state were
// does nothing beyond that state.
func TestHash(t *testing.T) {
	g := &guest{t: t, mod: instanceOf(t, wasi.DonaxModule)}
	g.job(wasi.Config{})
	text := strings.Repeat("the quick brown fox ", 1000)
	for name, start := range map[string]func() hash.Hash{
		"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	} {
		whole, parts := start(), start()
		whole.Write([]byte(text))
		state, err := parts.(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		at, n := g.put(1024, string(state))
		for _, part := range []string{text[:7], "", text[7:5000], text[5000:]} {
			ptr, size := g.put(4096, part)
			if e := g.call("hash", at, n, ptr, size); e != 0 {
				t.Fatalf("%s: %d", name, e)
			}
		}
		got, _ := g.mem.Read(uint32(at), uint32(n))
		if err := parts.(encoding.BinaryUnmarshaler).UnmarshalBinary(got); err != nil || string(parts.Sum(nil)) != string(whole.Sum(nil)) {
			t.Errorf("%s: %x, want %x (%v)", name, parts.Sum(nil), whole.Sum(nil), err)
		}
	}
	var spent int64
	g.job(wasi.Config{Spend: func(n int64) error { spent += n; return nil }})
	end := uint64(guestPages << 16)
	sha, _ := sha256.New().(encoding.BinaryMarshaler).MarshalBinary()
	at, n := g.put(1024, string(sha))
	for _, c := range []struct {
		args []uint64
		want uint64
	}{
		{[]uint64{at, n, end - 2, 3}, eFAULT}, {[]uint64{end - 2, n, 0, 1}, eFAULT}, {[]uint64{0xffffffff, 2, 0, 0}, eFAULT},
		{[]uint64{at, n, 0, 1<<20 + 1}, eINVAL}, {[]uint64{at, n - 1, 0, 1}, eINVAL}, {[]uint64{at + 1, n, 0, 1}, eINVAL}, {[]uint64{at, 0, 0, 0}, eINVAL},
		{[]uint64{at, n, at, n}, 0}, // of itself
	} {
		if got := g.call("hash", c.args...); got != c.want {
			t.Errorf("hash%v: %d, want %d", c.args, got, c.want)
		}
	}
	if spent < int64(n) {
		t.Errorf("%d bytes were hashed for %d instructions", n, spent)
	}
}
