package wasi_test

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/wasi"
)

// Parts that are compressed one by one are one stream, and nothing that a
// guest says reaches beyond its memory.
func TestDeflate(t *testing.T) {
	g := &guest{t: t, mod: instanceOf(t, wasi.DonaxModule)}
	var spent int64
	g.job(wasi.Config{Spend: func(n int64) error { spent += n; return nil }})
	const in, out, count = 8 << 10, 112 << 10, 1024
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintln(&text, "line", i*i)
	}
	for level := uint64(1); level <= 9; level++ {
		var packed []byte
		rest, dict := text.String(), ""
		for last := uint64(0); last == 0; {
			part := rest[:min(len(rest), 60_000)]
			if rest = rest[len(part):]; rest == "" {
				last = 1
			}
			at, n := g.put(in, dict+part)
			if e := g.call("deflate", level, last, uint64(len(dict)), at, n, out, 80<<10, count); e != 0 {
				t.Fatalf("level %d: %d", level, e)
			}
			size, _ := g.mem.ReadUint32Le(count)
			b, _ := g.mem.Read(out, size)
			packed = append(packed, b...)
			dict = (dict + part)[max(0, len(dict)+len(part)-32<<10):]
		}
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil || string(got) != text.String() || len(packed) > text.Len()/2 {
			t.Errorf("level %d: %d bytes of %d in %d: %v", level, len(got), text.Len(), len(packed), err)
		}
	}
	if spent < 9*int64(text.Len()) {
		t.Errorf("%d bytes were compressed nine times for %d instructions", text.Len(), spent)
	}
	end := uint64(guestPages << 16)
	for _, c := range []struct {
		args []uint64
		want uint64
	}{
		{[]uint64{0, 0, 0, in, 10, out, 100, count}, eINVAL}, {[]uint64{10, 0, 0, in, 10, out, 100, count}, eINVAL}, {[]uint64{1 << 31, 0, 0, in, 10, out, 100, count}, eINVAL},
		{[]uint64{6, 0, 11, in, 10, out, 100, count}, eINVAL}, {[]uint64{6, 0, 32<<10 + 1, in, 40 << 10, out, 100, count}, eINVAL}, {[]uint64{6, 0, 0, in, 64<<10 + 1, out, 100, count}, eINVAL},
		{[]uint64{6, 0, 0, end - 2, 3, out, 100, count}, eFAULT}, {[]uint64{6, 0, 0, in, 10, end - 2, 100, count}, eFAULT}, {[]uint64{6, 0, 0, 0xffffffff, 10, out, 100, count}, eFAULT},
		{[]uint64{6, 0, 0, in, 10, out, 100, end - 2}, eFAULT}, {[]uint64{6, 0, 0, in, 1000, out, 1, count}, 1},
		{[]uint64{6, 1, 0, in, 0, out, 100, count}, 0}, {[]uint64{6, 0, 0, in, 1000, in, 2000, count}, 0}, // in place
	} {
		if got := g.call("deflate", c.args...); got != c.want {
			t.Errorf("deflate%v: %d, want %d", c.args, got, c.want)
		}
	}
}
