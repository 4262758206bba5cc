package bzip2

import (
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Bzip2, Bunzip2, Bzcat) }

func TestAgainstBzip2(t *testing.T) {
	setup := `seq 1000 > s; echo hi > h; /bin/bzip2 -k h; mkdir d; echo plain > p; printf 'BZnope' > bad.bz2; head -c 30 h.bz2 > cut.bz2; cp h.bz2 q; cat h.bz2 p > trail.bz2; cat h.bz2 h.bz2 > two.bz2; ln -s h.bz2 l.bz2; printf x | /bin/bzip2 > in.tbz2`
	s := difftest.Suite{Commands: []string{"bzip2", "bunzip2", "bzcat"}, Setup: setup, Stderr: true}
	s.Run(t,
		`bzcat h.bz2`, `bunzip2 -f h.bz2; cat h`, `bunzip2 h.bz2`, `bzip2 h`, `bzip2 nope`, `bunzip2 nope`, `bzip2 d`, `bunzip2 bad.bz2`, `bunzip2 p`, `bunzip2 q; cat q.out`, `bzip2 h.bz2`,
		`bunzip2 -c trail.bz2`, `bunzip2 -q trail.bz2; cat trail`, `bzcat two.bz2`, `bunzip2 l.bz2`, `bunzip2 -c l.bz2`, `bunzip2 -k in.tbz2; cat in.tar`, `bzip2 -t h.bz2`, `bzip2 -tv h.bz2 bad.bz2`, `bzip2 -t bad.bz2`,
		`echo x | bzip2 -d`, `bzip2 < /dev/null`, `bzip2 -dv h.bz2; ls`, `bzip2 -dfv h.bz2`, `bunzip2 -k s h.bz2`, `bzcat nope h.bz2`, `bzcat p h.bz2`,
		`bzip2 -c s | bunzip2 | cmp - s`, `bzip2 s; bunzip2 < s.bz2 | cmp - <(seq 1000); rm s.bz2; ls`, `bzip2 -1 < s | /bin/bzip2 -dc | tail -1`, `bzip2 -k s; /bin/bzip2 -t s.bz2; rm s.bz2`,
	)
}
