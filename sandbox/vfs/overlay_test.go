package vfs_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
)

func newOverlay(t testing.TB) (*vfs.Overlay, *vfs.Mount, string) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"d/e", "x"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"f", "d/g", "d/e/h"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("low "+f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ov, err := vfs.NewOverlay(openRoot(t, dir), vfs.MemConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return ov, mount(t, ov), dir
}

func changes(t *testing.T, ov *vfs.Overlay) string {
	t.Helper()
	all, err := ov.Changes()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "%s %s\n", c.Kind, c.Path)
	}
	return b.String()
}

func TestChanges(t *testing.T) {
	tests := []struct {
		name string
		do   func(m *vfs.Mount) error
		want string
	}{
		{"nothing", func(m *vfs.Mount) error { _, err := read(m, "/f"); return err }, ""},
		{"new file in a lower folder", func(m *vfs.Mount) error { return m.Symlink("x", "/d/l") }, "added /d/l\n"},
		{"new folder", func(m *vfs.Mount) error { m.Mkdir("/n", 0o755); return m.Mkdir("/n/o", 0o755) }, "added /n\nadded /n/o\n"},
		{"removed file", func(m *vfs.Mount) error { return m.Remove("/d/g") }, "removed /d/g\n"},
		{"removed folder", func(m *vfs.Mount) error { m.Remove("/d/e/h"); return m.Rmdir("/d/e") }, "removed /d/e\n"},
		{"made and gone", func(m *vfs.Mount) error { m.Mkdir("/n", 0o755); return m.Rmdir("/n") }, ""},
		{"chmod", func(m *vfs.Mount) error { return m.Chmod("/f", 0o600) }, "modified /f\n"},
		{"chmod of a folder", func(m *vfs.Mount) error { return m.Chmod("/d", 0o700) }, "modified /d\n"},
		{"rename", func(m *vfs.Mount) error { return m.Rename("/f", "/k") }, "removed /f\nadded /k\n"},
		{"rename there and back", func(m *vfs.Mount) error { m.Rename("/f", "/k"); return m.Rename("/k", "/f") }, ""},
		{"rename of a folder", func(m *vfs.Mount) error { return m.Rename("/d", "/k") },
			"removed /d\nadded /k\nadded /k/e\nadded /k/e/h\nadded /k/g\n"},
		{"rename over an empty lower folder", func(m *vfs.Mount) error { return m.Rename("/d", "/x") },
			"removed /d\nadded /x/e\nadded /x/e/h\nadded /x/g\n"},
		{"file becomes folder", func(m *vfs.Mount) error { m.Remove("/f"); return m.Mkdir("/f", 0o755) }, "removed /f\nadded /f\n"},
		{"folder made anew", func(m *vfs.Mount) error {
			m.Remove("/d/e/h")
			m.Rmdir("/d/e")
			return m.Mkdir("/d/e", 0o755)
		}, "removed /d/e/h\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ov, m, dir := newOverlay(t)
			before := hostTree(t, dir)
			want(t, tt.do(m), 0)
			if got := changes(t, ov); got != tt.want {
				t.Errorf("got:\n%swant:\n%s", got, tt.want)
			}
			checkChanges(t, ov, openRoot(t, dir))
			if hostTree(t, dir) != before {
				t.Error("the lower folder changed")
			}
		})
	}
}

// A handle opened before a file is copied up sees what is written after.
func TestOverlayHandleSeesCopyUp(t *testing.T) {
	_, m, _ := newOverlay(t)
	r, err := m.Open("/f", os.O_RDONLY, 0)
	want(t, err, 0)
	defer r.Close()
	before, err := r.Stat()
	want(t, err, 0)
	w, err := m.Open("/f", os.O_WRONLY|os.O_APPEND, 0)
	want(t, err, 0)
	_, err = w.Write([]byte("+new"))
	want(t, err, 0)
	want(t, w.Close(), 0)
	if b, err := io.ReadAll(r); string(b) != "low f+new" {
		t.Errorf("%q %v", b, err)
	}
	after, err := r.Stat()
	want(t, err, 0)
	a, b := before.Sys().(*vfs.Stat), after.Sys().(*vfs.Stat)
	if a.Ino != b.Ino || a.Dev != b.Dev {
		t.Errorf("the file became another: %v %v", a, b)
	}
	want(t, m.Remove("/f"), 0)
	if _, err := r.ReadAt(make([]byte, 4), 0); err != nil {
		t.Error(err)
	}
	_, err = m.Stat("/f")
	want(t, err, syscall.ENOENT)
}

// Changes of the host show through where nothing was changed above.
func TestOverlaySeesTheHost(t *testing.T) {
	_, m, dir := newOverlay(t)
	if _, err := read(m, "/d/g"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d/g"), []byte("edited on the host"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d/n"), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := read(m, "/d/g"); s != "edited on the host" {
		t.Error(s, err)
	}
	if names, _ := list(m, "/d"); strings.Join(names, " ") != "e g n" {
		t.Error(names)
	}
	if fi, err := m.Stat("/d/g"); err != nil || fi.Size() != 18 {
		t.Error(fi, err)
	}
}
