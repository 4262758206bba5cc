package vfs

import (
	"fmt"
	"io/fs"
	"strings"
)

// ProcConfig is what the files of [NewProc] tell.
type ProcConfig struct {
	Memory int64               // bytes that one program may use
	Quota  *Quota              // of all that is written
	Mounts func() []MountPoint // the file systems of the namespace
}

// Proc is a folder of read-only files about the sandbox, made anew each time
// one is opened: meminfo and mounts in the form of Linux's, and quota, which
// takes the place of statfs(2): lines of what is counted, how much of it is
// used, and how much there may be (-1: any amount).
type Proc struct {
	ReadOnly
	files map[string]func() string
	dev   uint64
}

// NewProc returns a Proc.
func NewProc(c ProcConfig) (*Proc, error) {
	p := &Proc{files: map[string]func() string{
		"meminfo": func() string {
			line := func(name string, n int64) string { return fmt.Sprintf("%-15s %8d kB\n", name+":", n>>10) }
			return line("MemTotal", c.Memory) + line("MemFree", c.Memory) + line("MemAvailable", c.Memory)
		},
		"mounts": func() string {
			var b strings.Builder
			for _, m := range c.Mounts() {
				b.WriteString(m.describe())
			}
			return b.String()
		},
		"quota": func() string {
			bytes, names := c.Quota.Used()
			return fmt.Sprintf("bytes %d %d\nnames %d %d\n", bytes, c.Quota.maxBytes, names, c.Quota.maxFiles)
		},
	}}
	names := map[string]string{}
	for name := range p.files {
		names[name] = ""
	}
	s, err := NewStatic(names, 0o444)
	if err != nil {
		return nil, err
	}
	p.ReadOnly = *s
	return p, nil
}

var _ FS = (*Proc)(nil)

func (p *Proc) setDev(d uint64) uint64 {
	p.dev = d
	return p.ReadOnly.setDev(d)
}

// Open opens a file for reading.
func (p *Proc) Open(name string, flag int, perm fs.FileMode) (File, error) {
	base := strings.TrimPrefix(name, "/")
	text := p.files[base]
	if text == nil || mutates(flag) {
		return p.ReadOnly.Open(name, flag, perm)
	}
	now, err := NewStatic(map[string]string{base: text()}, 0o444)
	if err != nil {
		return nil, err
	}
	now.setDev(p.dev)
	return now.Open(name, flag, perm)
}

// describe is a line of mounts.
func (m MountPoint) describe() string {
	kind, access := "donax", "rw"
	switch m.FS.(type) {
	case *Mem:
		kind = "tmpfs"
	case *Overlay:
		kind = "overlay"
	case *Proc:
		kind = "proc"
	case *Dev:
		kind, access = "devtmpfs", "ro" // devices can be written to, the folder cannot
	}
	if m.Mode == ReadOnlyMount {
		access = "ro"
	}
	path := strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(m.Path)
	return "donax " + path + " " + kind + " " + access + " 0 0\n"
}
