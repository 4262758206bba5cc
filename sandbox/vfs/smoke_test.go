package vfs_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
)

func write(t testing.TB, fsys vfs.FS, name, text string) {
	t.Helper()
	f, err := fsys.Open(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(fsys vfs.FS, name string) (string, error) {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

func want(t testing.TB, err error, e syscall.Errno) {
	t.Helper()
	if e == 0 && err == nil {
		return
	}
	if !errors.Is(err, e) {
		t.Errorf("error %v, want %v", err, e)
	}
}

func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "f"), []byte("host"), 0o644)
	os.Symlink("../secret", filepath.Join(dir, "out"))
	os.Symlink("/tmp/abs", filepath.Join(dir, "abs"))
	root, err := vfs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ov, err := vfs.NewOverlay(vfs.NewReadOnly(root), vfs.MemConfig{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := vfs.NewMount(
		vfs.MountPoint{Path: "/workspace", FS: root, Mode: vfs.ReadWrite},
		vfs.MountPoint{Path: "/ro", FS: root, Mode: vfs.ReadOnlyMount},
		vfs.MountPoint{Path: "/cow", FS: ov, Mode: vfs.CopyOnWrite},
		vfs.MountPoint{Path: "/tmp", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.ReadWrite},
	)
	if err != nil {
		t.Fatal(err)
	}
	write(t, m, "/tmp/a", "hi")
	if s, err := read(m, "/tmp/../tmp/./a"); s != "hi" || err != nil {
		t.Fatal(s, err)
	}
	if s, err := read(m, "/cow/f"); s != "host" || err != nil {
		t.Fatal(s, err)
	}
	write(t, m, "/cow/f", "changed")
	if s, _ := read(m, "/cow/f"); s != "changed" {
		t.Fatal(s)
	}
	if s, _ := read(m, "/workspace/f"); s != "host" {
		t.Fatal(s)
	}
	_, err = read(m, "/workspace/out")
	want(t, err, syscall.ENOENT)
	write(t, m, "/workspace/abs", "through")
	if s, _ := read(m, "/tmp/abs"); s != "through" {
		t.Fatal(s)
	}
	_, err = m.Open("/ro/f", os.O_WRONLY|os.O_TRUNC, 0)
	want(t, err, syscall.EROFS)
	d, err := m.Open("/", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	ents, err := d.ReadDir(-1)
	if err != nil || len(ents) != 4 || ents[0].Name() != "cow" {
		t.Fatal(ents, err)
	}
	want(t, m.Symlink("../x", "/workspace/l"), syscall.EPERM)
	want(t, m.Rename("/workspace/f", "/tmp/f"), syscall.EXDEV)
	want(t, m.Rmdir("/tmp"), syscall.EBUSY)
}
