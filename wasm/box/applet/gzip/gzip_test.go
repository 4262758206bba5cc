package gzip

import (
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) {
	difftest.Main(m, Gzip, Gunzip, Zcat)
}

func TestAgainstGzip(t *testing.T) {
	setup := `seq 1000 > s; echo hi > h; /bin/gzip -k h; mkdir d; echo x > d/f; printf 'not gzip' > bad.gz; head -c 30 h.gz > /dev/null; printf one | /bin/gzip > two.gz; printf 'two\n' | /bin/gzip >> two.gz; head -c 15 h.gz > cut.gz; echo p > plain`
	s := difftest.Suite{Commands: []string{"gzip", "gunzip", "zcat"}, Setup: setup, Stderr: true}
	s.Run(t,
		`gzip -c s | gunzip | cmp - s`, `gzip s; zcat s.gz | cmp - <(seq 1000); rm s.gz; ls`, `gzip -k s; gunzip -c s.gz | cmp - s; rm s.gz`, `gunzip -f h.gz; cat h`, `gunzip h.gz`, `gzip h`, `gzip nope`, `gunzip nope`, `gzip d`, `gunzip bad.gz`, `zcat two.gz`, `zcat < two.gz`, `gunzip -t h.gz two.gz`, `gzip -t bad.gz`, `gunzip cut.gz`, `gunzip plain`, `gzip h.gz`, `cat s | gzip -9 | gzip -d | tail -1`, `echo x | gunzip`, `gzip -S .z -k s; gunzip -c -S .z s.z | tail -1; rm s.z`, `gzip -r d; ls d; rm d/f.gz`, `gunzip -k two.gz; cat two`, `zcat h`, `gzip -d -c h.gz two.gz`, `printf '' | gzip | gunzip | wc -c`, `gzip -dc h.gz cut.gz; echo`, `gunzip -q plain`,
	)
}
