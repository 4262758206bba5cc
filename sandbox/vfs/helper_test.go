package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// hostTree describes a folder of the host, down to times.
func hostTree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d %v", name, fi.Mode(), fi.Size(), fi.ModTime().UnixNano())
		switch {
		case fi.Mode().IsRegular():
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %.100q", text)
		case fi.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(name)
			b.WriteString(" -> " + target)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// names lists every path below dir with what is there, folders without
// content.
func names(t testing.TB, fsys vfs.FS, dir string, out map[string]string) {
	t.Helper()
	f, err := fsys.Open(dir, vfs.NoFollow, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ents, err := f.ReadDir(-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ents {
		name := strings.TrimSuffix(dir, "/") + "/" + e.Name()
		fi, err := fsys.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		text := fi.Mode().String()
		switch {
		case fi.IsDir():
			names(t, fsys, name, out)
		case fi.Mode().IsRegular():
			s, err := read(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			text += s
		case fi.Mode()&fs.ModeSymlink != 0:
			s, err := fsys.Readlink(name)
			if err != nil {
				t.Fatal(err)
			}
			text += s
		}
		out[name] = text
	}
}

// checkChanges compares what Changes says with a comparison of both trees.
func checkChanges(t testing.TB, ov *vfs.Overlay, lower vfs.FS) {
	t.Helper()
	was, now := map[string]string{}, map[string]string{}
	names(t, lower, "/", was)
	names(t, ov, "/", now)
	changes, err := ov.Changes()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]map[vfs.ChangeKind]bool{}
	removed := map[string]bool{}
	for _, c := range changes {
		if said[c.Path] == nil {
			said[c.Path] = map[vfs.ChangeKind]bool{}
		}
		if said[c.Path][c.Kind] {
			t.Fatalf("%s %s is listed twice", c.Kind, c.Path)
		}
		said[c.Path][c.Kind] = true
		if c.Kind == vfs.Removed && c.Info.IsDir() {
			removed[c.Path] = true
		}
	}
	gone := func(name string) bool { // with a removed folder
		for dir := range removed {
			if strings.HasPrefix(name, dir+"/") {
				return true
			}
		}
		return false
	}
	for name, text := range now {
		old, had := was[name]
		had = had && !gone(name)
		switch s := said[name]; {
		case !had && !s[vfs.Added]:
			t.Fatalf("%s was added and is not in %v", name, changes)
		case had && old != text && !s[vfs.Modified] && !s[vfs.Added]:
			t.Fatalf("%s was modified and is not in %v", name, changes)
		case had && s[vfs.Added] && !s[vfs.Removed]:
			t.Fatalf("%s was not added, yet is in %v", name, changes)
		}
	}
	for name := range was {
		if _, has := now[name]; !has && !said[name][vfs.Removed] && !gone(name) {
			t.Fatalf("%s was removed and is not in %v", name, changes)
		}
	}
	for name := range said {
		_, had := was[name]
		if _, has := now[name]; !has && !had {
			t.Fatalf("%s is in %v and nowhere else", name, changes)
		}
	}
}

func mount(t testing.TB, fsys vfs.FS) *vfs.Mount {
	t.Helper()
	m, err := vfs.NewMount(vfs.MountPoint{Path: "/", FS: fsys, Mode: vfs.ReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openRoot(t testing.TB, dir string) *vfs.Root {
	t.Helper()
	r, err := vfs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

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
