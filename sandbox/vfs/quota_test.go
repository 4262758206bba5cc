package vfs_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// limitedKinds are the writable kinds, each behind the same quota.
func limitedKinds(t testing.TB, c vfs.QuotaConfig) map[string]struct {
	fsys *vfs.Mount
	q    *vfs.Quota
} {
	t.Helper()
	out := map[string]struct {
		fsys *vfs.Mount
		q    *vfs.Quota
	}{}
	for _, kind := range []string{"mem", "overlay", "root"} {
		q := vfs.NewQuota(c)
		var fsys vfs.FS
		switch kind {
		case "mem":
			fsys = vfs.NewMem(vfs.MemConfig{Quota: q})
		case "overlay":
			ov, err := vfs.NewOverlay(openRoot(t, t.TempDir()), vfs.MemConfig{Quota: q})
			if err != nil {
				t.Fatal(err)
			}
			fsys = ov
		case "root":
			fsys = q.Limit(openRoot(t, t.TempDir()))
		}
		out[kind] = struct {
			fsys *vfs.Mount
			q    *vfs.Quota
		}{mount(t, fsys), q}
	}
	return out
}

// Threats: FS-9.
func TestCase038Quota(t *testing.T) {
	for kind, k := range limitedKinds(t, vfs.QuotaConfig{MaxBytes: 1 << 20, MaxFiles: 50}) {
		t.Run(kind, func(t *testing.T) {
			m := k.fsys
			used := func(bytes, files int64) {
				t.Helper()
				if b, f := k.q.Used(); b != bytes || f != files {
					t.Errorf("used %d bytes and %d files, want %d and %d", b, f, bytes, files)
				}
			}
			write(t, m, "/kept", "kept")
			used(4, 1)
			f, err := m.Open("/big", os.O_RDWR|os.O_CREATE, 0o644)
			want(t, err, 0)
			n, err := f.Write(make([]byte, 2<<20))
			want(t, err, syscall.EDQUOT)
			if n != 1<<20-4 {
				t.Errorf("wrote %d bytes", n)
			}
			used(1<<20, 2)
			_, err = f.Write([]byte("x"))
			want(t, err, syscall.EDQUOT)
			_, err = f.WriteAt([]byte("over"), 0) // no growth
			want(t, err, 0)
			want(t, f.Truncate(100), 0)
			used(104, 2)

			// Sparse: neither the bytes nor the memory of the hole.
			want(t, f.Truncate(10<<40), syscall.EDQUOT)
			_, err = f.WriteAt([]byte("x"), 1<<30)
			want(t, err, syscall.EDQUOT)
			_, err = f.Seek(1<<40, io.SeekStart)
			want(t, err, 0)
			_, err = f.Write([]byte("x"))
			want(t, err, syscall.EDQUOT)
			used(104, 2)

			// An open file keeps its bytes until it is closed.
			want(t, m.Remove("/big"), 0)
			if b, _ := k.q.Used(); b != 104 {
				t.Errorf("%d bytes used with an open file", b)
			}
			want(t, f.Close(), 0)
			used(4, 1)

			// So does one that is only read.
			write(t, m, "/r", "0123456789")
			f, err = m.Open("/r", os.O_RDONLY, 0)
			want(t, err, 0)
			want(t, m.Remove("/r"), 0)
			if b, _ := k.q.Used(); b != 14 {
				t.Errorf("%d bytes used with an open file", b)
			}
			_, err = f.Write([]byte("x"))
			want(t, err, syscall.EBADF)
			want(t, f.Close(), 0)
			used(4, 1)

			// Names run out, and come back.
			made := 0
			for i := 0; ; i++ {
				var err error
				switch name := fmt.Sprintf("/n%d", i); i % 4 {
				case 0:
					err = m.Mkdir(name, 0o755)
				case 1:
					err = m.Symlink("kept", name)
				case 2:
					err = m.Link("/kept", name)
				default:
					var f vfs.File
					if f, err = m.Open(name, os.O_WRONLY|os.O_CREATE, 0o644); err == nil {
						f.Close()
					}
				}
				if err != nil {
					want(t, err, syscall.EDQUOT)
					break
				}
				made++
			}
			if made != 49 {
				t.Errorf("made %d names", made)
			}
			_, err = m.Open("/one-more", os.O_WRONLY|os.O_CREATE, 0o644)
			want(t, err, syscall.EDQUOT)
			_, err = m.Stat("/one-more")
			want(t, err, syscall.ENOENT)
			want(t, m.Rename("/n3", "/n7"), 0) // replaces
			used(4+12*4, 49)                   // the texts of 12 symlinks
			for i := range 49 {
				name := fmt.Sprintf("/n%d", i)
				switch {
				case i == 3:
				case i%4 == 0:
					want(t, m.Rmdir(name), 0)
				default:
					want(t, m.Remove(name), 0)
				}
			}
			used(4, 1)
			if s, err := read(m, "/kept"); s != "kept" || err != nil {
				t.Error(s, err)
			}
			f, err = m.Open("/kept", os.O_WRONLY|os.O_TRUNC, 0)
			want(t, err, 0)
			used(0, 1)
			want(t, f.Close(), 0)
		})
	}
}

// What was on the host before gives nothing back beyond what the session put
// there.
func TestQuotaOfOldFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), make([]byte, 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	q := vfs.NewQuota(vfs.QuotaConfig{MaxBytes: 100})
	m := mount(t, q.Limit(openRoot(t, dir)))
	write(t, m, "/new", string(make([]byte, 60)))
	want(t, m.Remove("/old"), 0)
	if b, f := q.Used(); b != 0 || f != 0 {
		t.Error(b, f)
	}
	g, err := m.Open("/more", os.O_WRONLY|os.O_CREATE, 0o644)
	want(t, err, 0)
	n, err := g.Write(make([]byte, 200))
	want(t, err, syscall.EDQUOT)
	if n != 100 {
		t.Error(n)
	}
	want(t, g.Close(), 0)
}

// A copy-up that does not fit leaves the file as it was.
func TestQuotaCopyUp(t *testing.T) {
	dir := t.TempDir()
	text := bytes.Repeat([]byte("0123456789"), 30_000)
	if err := os.WriteFile(filepath.Join(dir, "f"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	q := vfs.NewQuota(vfs.QuotaConfig{MaxBytes: 100_000})
	ov, err := vfs.NewOverlay(openRoot(t, dir), vfs.MemConfig{Quota: q})
	want(t, err, 0)
	m := mount(t, ov)
	f, err := m.Open("/f", os.O_RDWR, 0)
	want(t, err, 0)
	_, err = f.Write([]byte("x"))
	want(t, err, syscall.EDQUOT)
	b := make([]byte, 20)
	if _, err := f.ReadAt(b, 200_000); err != nil || string(b) != "01234567890123456789" {
		t.Errorf("%q %v", b, err)
	}
	want(t, f.Close(), 0)
	if b, n := q.Used(); b != 0 || n != 0 {
		t.Error(b, n)
	}
	if c, err := ov.Changes(); len(c) != 0 {
		t.Error(c, err)
	}
	write(t, m, "/f", "short") // truncating needs no copy
	if b, n := q.Used(); b != 5 || n != 1 {
		t.Error(b, n)
	}
	want(t, m.Remove("/f"), 0)
	if b, n := q.Used(); b != 0 || n != 0 {
		t.Error(b, n)
	}
}

func TestSparseTakesNoMemory(t *testing.T) {
	m := vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{MaxBytes: -1})})
	f, err := m.Open("/f", os.O_RDWR|os.O_CREATE, 0o644)
	want(t, err, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = f.WriteAt([]byte("x"), 1<<33)
	want(t, err, 0)
	want(t, f.Truncate(1<<35), 0)
	want(t, f.Truncate(1<<40), syscall.EFBIG)
	_, err = f.WriteAt([]byte("x"), 1<<63-1)
	want(t, err, syscall.EFBIG)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes allocated", grown)
	}
	b := make([]byte, 3)
	if _, err := f.ReadAt(b, 1<<33-1); err != nil || string(b) != "\x00x\x00" {
		t.Errorf("%q %v", b, err)
	}
}
