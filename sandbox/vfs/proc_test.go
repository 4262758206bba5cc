package vfs_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
)

func TestProc(t *testing.T) {
	q := vfs.NewQuota(vfs.QuotaConfig{MaxBytes: 1000})
	dev, err := vfs.NewDev(vfs.DevConfig{})
	want(t, err, 0)
	points := []vfs.MountPoint{
		{Path: "/a b", FS: vfs.NewMem(vfs.MemConfig{Quota: q}), Mode: vfs.ReadWrite},
		{Path: "/dev", FS: dev, Mode: vfs.ReadWrite},
		{Path: "/ro", FS: vfs.NewMem(vfs.MemConfig{Quota: q}), Mode: vfs.ReadOnlyMount},
	}
	proc, err := vfs.NewProc(vfs.ProcConfig{Memory: 64 << 20, Quota: q, Mounts: func() []vfs.MountPoint { return points }})
	want(t, err, 0)
	points = append(points, vfs.MountPoint{Path: "/proc", FS: proc, Mode: vfs.ReadOnlyMount})
	m, err := vfs.NewMount(points...)
	want(t, err, 0)
	holds := func(name, text string) {
		t.Helper()
		if got, err := read(m, name); got != text || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	holds("/proc/mounts", "donax /a\\040b tmpfs rw 0 0\ndonax /dev devtmpfs ro 0 0\ndonax /ro tmpfs ro 0 0\ndonax /proc proc ro 0 0\n")
	holds("/proc/meminfo", "MemTotal:          65536 kB\nMemFree:           65536 kB\nMemAvailable:      65536 kB\n")
	holds("/proc/quota", "bytes 0 1000\nnames 0 20000\n")
	write(t, m, "/a b/f", "12345")
	holds("/proc/quota", "bytes 5 1000\nnames 1 20000\n")

	f, err := m.Open("/proc/quota", os.O_RDONLY, 0)
	want(t, err, 0)
	in, err := f.Stat()
	want(t, err, 0)
	out, err := m.Stat("/proc/meminfo")
	want(t, err, 0)
	if in.Sys().(*vfs.Stat).Dev != out.Sys().(*vfs.Stat).Dev {
		t.Error("an open file is on another device than its folder")
	}
	want(t, f.Close(), 0)
	_, err = m.Open("/proc/quota", os.O_WRONLY, 0)
	want(t, err, syscall.EROFS)
	_, err = m.Open("/proc/new", os.O_WRONLY|os.O_CREATE, 0o644)
	want(t, err, syscall.EROFS)
	_, err = m.Open("/proc/self", os.O_RDONLY, 0)
	want(t, err, syscall.ENOENT)
	want(t, m.Remove("/proc/mounts"), syscall.EROFS)
}
