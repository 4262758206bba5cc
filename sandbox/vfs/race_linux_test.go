package vfs_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// A host process flips a name between a folder and a link out, and between a
// folder and a link to another folder inside, while the sandbox reads and
// writes through it. Bounded by count, not by time.
//
// Threats: FS-5.
func TestCase009RenameRace(t *testing.T) {
	e := newEscape(t, vfs.ReadWrite)
	in := func(name string) string { return filepath.Join(e.ws, name) }
	e.host(os.Mkdir(in("d"), 0o755))
	e.host(os.WriteFile(in("d/canary.txt"), []byte("inside"), 0o644))
	e.host(os.Mkdir(in("denied"), 0o755))
	e.host(os.WriteFile(in("denied/canary.txt"), []byte(canary+" denied"), 0o644))
	e.host(os.Symlink("../secret", in("link1")))
	e.host(os.Symlink("denied", in("link2")))
	rounds := 2000
	if testing.Short() {
		rounds = 400
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			link := in([]string{"link1", "link2"}[i>>1&1])
			unix.Renameat2(unix.AT_FDCWD, in("d"), unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
		}
	}()
	hits := 0
	for range rounds {
		// Nothing is listed or described that is not in d.
		if l, err := e.m.Resolve("/workspace/d", true); err == nil && l.Path == "/workspace/d" {
			if f, err := l.Open(os.O_RDONLY, 0); err == nil {
				ents, _ := f.ReadDir(-1)
				for _, ent := range ents {
					if fi, err := ent.Info(); err == nil && fi.Size() != int64(len("inside")) {
						t.Fatalf("%s of %d bytes is described", fi.Name(), fi.Size())
					}
				}
				f.Close()
			}
		}
		// Nothing is made or removed elsewhere.
		if l, err := e.m.ResolveEntry("/workspace/d/new"); err == nil && l.Path == "/workspace/d/new" && l.Info == nil {
			if l.Symlink("x") == nil {
				for try := 0; e.m.Remove("/workspace/d/new") != nil && try < 100_000; try++ {
					// d is away at the moment
				}
			}
		}
		// What Resolve names is what Open must reach: a policy that was asked
		// about /workspace/d/... must not end in /workspace/denied.
		l, err := e.m.Resolve("/workspace/d/canary.txt", true)
		if err != nil || l.Path != "/workspace/d/canary.txt" {
			continue
		}
		f, err := l.Open(os.O_RDWR, 0)
		if err != nil {
			continue
		}
		b := make([]byte, 100)
		n, _ := f.Read(b)
		f.Close()
		if hits++; string(b[:n]) != "inside" {
			t.Fatalf("%q leaked", b[:n])
		}
		if l.Chmod(0o600) == nil {
			hits++
		}
		if g, err := l.Open(os.O_WRONLY|os.O_TRUNC, 0); err == nil {
			g.Write([]byte("inside"))
			g.Close()
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d of %d rounds got through", hits, rounds)
	if names, err := os.ReadDir(in("denied")); len(names) != 1 {
		t.Errorf("the denied folder holds %v (%v)", names, err)
	}
	fi, err := os.Stat(in("denied/canary.txt"))
	e.host(err)
	if fi.Mode().Perm() != 0o644 || fi.Size() != int64(len(canary+" denied")) {
		t.Errorf("the denied file became %v, %d bytes", fi.Mode(), fi.Size())
	}
}
