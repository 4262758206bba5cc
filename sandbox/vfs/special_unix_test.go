//go:build unix

package vfs_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// Pipes and sockets in a host folder can be seen but not used, and opening
// one never waits.
//
// Threats: FS-7.
func TestCase012SpecialFiles(t *testing.T) {
	for _, mode := range []vfs.MountMode{vfs.ReadOnlyMount, vfs.ReadWrite, vfs.CopyOnWrite} {
		e := newEscape(t, mode)
		e.host(unix.Mkfifo(filepath.Join(e.ws, "p"), 0o666))
		sock, err := net.Listen("unix", filepath.Join(e.ws, "s"))
		e.host(err)
		defer sock.Close()
		for _, name := range []string{"/workspace/p", "/workspace/s"} {
			for _, flag := range []int{os.O_RDONLY, os.O_RDWR, os.O_WRONLY, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
				_, err := e.m.Open(name, flag, 0o644)
				if mode == vfs.ReadOnlyMount && flag != os.O_RDONLY {
					e.hidden(err, syscall.EROFS)
				} else {
					e.hidden(err, syscall.EPERM)
				}
			}
			fi, err := e.m.Lstat(name)
			e.host(err)
			if fi.Mode().IsRegular() || fi.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
				t.Errorf("%s has mode %v", name, fi.Mode())
			}
			if mode == vfs.ReadWrite {
				e.hidden(e.m.Remove(name), syscall.EPERM)
				e.hidden(e.m.Rename(name, "/workspace/q"), syscall.EPERM)
				e.hidden(e.m.Link(name, "/workspace/q"), syscall.EPERM)
				e.hidden(e.m.Chmod(name, 0o777), syscall.EPERM)
			}
		}
	}
	for _, name := range []string{"/proc/self/environ", "/dev/mem", "/dev/shm", "/proc"} {
		e := newEscape(t, vfs.ReadWrite)
		e.noRead(name)
	}
}

// A pipe swapped in between the look and the open does not hang the opener.
//
// Threats: FS-7.
func TestCase012PipeRace(t *testing.T) {
	e := newEscape(t, vfs.ReadWrite)
	in := func(name string) string { return filepath.Join(e.ws, name) }
	e.host(unix.Mkfifo(in("pipe"), 0o666))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(in("f"), in("parked"))
			os.Rename(in("pipe"), in("f"))
			os.Rename(in("f"), in("pipe"))
			os.Rename(in("parked"), in("f"))
		}
	}()
	for range 1500 {
		if f, err := e.m.Open("/workspace/f", os.O_RDONLY, 0); err == nil {
			if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
				t.Error("a pipe was opened", err)
			}
			f.Close()
		}
	}
	close(stop)
	<-done
}

func TestRootSetID(t *testing.T) {
	e := newEscape(t, vfs.ReadWrite)
	e.hidden(e.m.Chmod("/workspace/f", 0o755|fs.ModeSetuid), syscall.EPERM)
	want(t, e.m.Chmod("/workspace/f", 0o751), 0)
	when := time.Unix(1000, 7000)
	want(t, e.m.Chtimes("/workspace/f", time.Time{}, when), 0)
	fi, err := os.Stat(filepath.Join(e.ws, "f"))
	e.host(err)
	if fi.Mode().Perm() != 0o751 || !fi.ModTime().Equal(when) {
		t.Error(fi.Mode(), fi.ModTime())
	}
}
