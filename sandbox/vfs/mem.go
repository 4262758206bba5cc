package vfs

import (
	"io/fs"
	"time"
)

// MemConfig configures a [Mem] or an [Overlay].
type MemConfig struct {
	Quota *Quota           // may be shared; nil means one of its own with the defaults
	Mode  fs.FileMode      // permission bits of a Mem's root folder; 0 means 0755
	Now   func() time.Time // nil means time.Now
}

// Mem is a file system in memory, as a single user sees it who owns every
// file: inodes with hard links, symlinks, modes that bind, times (access
// times are set, not kept) and files that stay usable after their last name
// is gone. Holes take no memory; a file is at most 64 GiB (EFBIG).
type Mem struct{ tree }

// NewMem returns an empty Mem.
func NewMem(c MemConfig) *Mem {
	m := &Mem{}
	m.init(c)
	return m
}

var _ FS = (*Mem)(nil)
