package tar

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command) }

const setup = `
mkdir -p t/d t/e; echo a > t/a; echo b > t/d/b; echo c > t/d/c; ln -s a t/l; chmod 640 t/a; ln t/a t/h; touch -d '2024-01-02 03:04:05' t/a t/d/b t/d/c t/d t/e t; touch -h -d '2024-01-02 03:04:05' t/l t
/bin/tar cf g.tar --sort=name --owner=user:1000 --group=user:1000 t; /bin/tar czf g.tgz --sort=name -C t a d; mkdir out; echo old > out/a; printf 'd/c\n' > ex; printf 'junkjunk' > bad
`

func TestAgainstTar(t *testing.T) {
	s := difftest.Suite{Commands: []string{"tar"}, Setup: setup, Stderr: true}
	// Compressed bytes differ: archives made are listed or removed.
	s.Run(t,
		`tar tf g.tar`, `tar tvf g.tar`, `tar tzf g.tgz`, `tar -tf g.tgz`, `tar -t -f g.tar t/d`, `tar tf g.tar nope`, `tar xf g.tar -C out; find out | sort; cat out/t/a; stat -c '%a %Y' out/t/a out/t/d`, `tar xvf g.tar -C out`, `tar xzf g.tgz -C out; cat out/a`, `tar -xf g.tar -C out --strip-components=1; cat out/a; ls out`, `tar xf g.tar -C out t/d/b; find out | sort`, `tar xOf g.tar t/a`, `tar xf g.tar -C out --exclude='*.x' --exclude=d; find out | sort`, `tar xf g.tar -C out -X ex; find out | sort`, `tar xkf g.tgz -C out; cat out/a`, `tar xf g.tgz -C out --skip-old-files; cat out/a`, `cat g.tgz | tar xz -C out; cat out/a`, `cat g.tar | tar t`, `tar xf g.tar --wildcards -C out '*/b'; find out | sort`,
		`tar cf n.tar --sort=name t; tar tf n.tar; rm n.tar`, `tar cf n.tar --sort=name -C t a d/b; tar tf n.tar; rm n.tar`, `tar czf n.tgz --sort=name t; tar tzf n.tgz; rm n.tgz`, `tar cvf n.tar --sort=name t; rm n.tar`, `tar cf - --sort=name t | tar tf -`, `tar cf n.tar --sort=name --exclude=d t; tar tf n.tar; rm n.tar`, `tar cf n.tar nope t/a; rm n.tar`, `tar cf n.tar --sort=name --no-recursion t; tar tf n.tar; rm n.tar`, `tar cf n.tar t/a; tar rf n.tar t/d/b; tar tf n.tar; rm n.tar`, `printf 't/a\nt/d/b\n' | tar cf n.tar -T -; tar tf n.tar; rm n.tar`, `tar cf n.tar -C t ./a; tar tf n.tar; rm n.tar`, `tar cf n.tar --owner=me:5 --group=us:6 --mtime='2020-01-01 UTC' t/a; tar tvf n.tar; rm n.tar`, `tar caf n.tar.gz t/a; gzip -t n.tar.gz; rm n.tar.gz`, `tar cf n.tar $PWD/t/d/b 2>&1 | sed "s|$PWD|P|"; tar tf n.tar | sed 's|.*/t/|t/|'; rm n.tar`, `tar chf n.tar t/l; tar tvf n.tar | cut -c1; rm n.tar`, `tar cf n.tar --sort=name t && mkdir o2 && tar xf n.tar -C o2 && diff -r t o2/t; rm -r o2 n.tar`,
		`tar tf nope`, `tar xf bad`, `tar`, `tar cf n.tar; rm -f n.tar`, `tar xf g.tar -C nodir`, `tar -c -x -f g.tar`,
	)
	s.Stderr = false
	s.Run(t, `tar xf`)
}

// TestEvil is the archive that wants out, in all the known ways.
func TestEvil(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	os.Mkdir(in, 0o755)
	os.Mkdir(filepath.Join(dir, "secret"), 0o755)
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	add := func(h tar.Header, text string) {
		h.Size, h.Mode = int64(len(text)), 0o644
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		tw.Write([]byte(text))
	}
	add(tar.Header{Name: "x", Typeflag: tar.TypeSymlink, Linkname: "../secret"}, "")
	add(tar.Header{Name: "x/new.txt", Typeflag: tar.TypeReg}, "evil")
	add(tar.Header{Name: "../up.txt", Typeflag: tar.TypeReg}, "evil")
	add(tar.Header{Name: "a/../../up2.txt", Typeflag: tar.TypeReg}, "evil")
	add(tar.Header{Name: "/abs.txt", Typeflag: tar.TypeReg}, "evil")
	add(tar.Header{Name: "hard", Typeflag: tar.TypeLink, Linkname: "../secret/k"}, "")
	add(tar.Header{Name: "dev", Typeflag: tar.TypeChar}, "")
	add(tar.Header{Name: "good", Typeflag: tar.TypeReg}, "good")
	tw.Close()
	t.Chdir(in)
	var errs bytes.Buffer
	status := Command.Run(&applet.Ctx{Cmd: Command, Args: []string{"xf", "-"}, Stdin: &b, Stdout: &bytes.Buffer{}, Stderr: &errs})
	if status != 2 {
		t.Errorf("status %d", status)
	}
	for _, name := range []string{"../up.txt", "a/../../up2.txt", "x", "hard", "dev"} {
		if !strings.Contains(errs.String(), name) && !strings.Contains(errs.String(), "../secret/k") {
			t.Errorf("%s is not named in %q", name, errs.String())
		}
	}
	for _, out := range []string{"up.txt", "up2.txt", "secret/new.txt"} {
		if _, err := os.Lstat(filepath.Join(dir, out)); err == nil {
			t.Errorf("%s was written", out)
		}
	}
	if data, _ := os.ReadFile("good"); string(data) != "good" {
		t.Error("the safe member was not extracted")
	}
}
