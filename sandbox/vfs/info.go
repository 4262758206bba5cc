package vfs

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// info is the FileInfo of every kind, and its own DirEntry.
type info struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
	st    Stat
}

func (i *info) Name() string               { return i.name }
func (i *info) Size() int64                { return i.size }
func (i *info) Mode() fs.FileMode          { return i.mode }
func (i *info) Type() fs.FileMode          { return i.mode.Type() }
func (i *info) ModTime() time.Time         { return i.mtime }
func (i *info) IsDir() bool                { return i.mode.IsDir() }
func (i *info) Sys() any                   { return &i.st }
func (i *info) Info() (fs.FileInfo, error) { return i, nil }

// infoOf returns fi as one of this package, to be changed freely. A foreign
// one that carries no *Stat gets a link count of 1.
func infoOf(fi fs.FileInfo) *info {
	if i, ok := fi.(*info); ok {
		c := *i
		return &c
	}
	i := &info{name: fi.Name(), size: fi.Size(), mode: fi.Mode(), mtime: fi.ModTime()}
	i.st = Stat{Nlink: 1, Atime: i.mtime, Ctime: i.mtime}
	if st, ok := fi.Sys().(*Stat); ok {
		i.st = *st
	}
	return i
}

// listing is the state of an open folder: one snapshot, sorted by name, that
// later changes do not disturb.
type listing struct {
	ents []fs.DirEntry
	pos  int
	done bool // ents is filled
}

func (l *listing) rewind() { *l = listing{} }

// read serves ReadDir(n) from the snapshot, which fill makes on first use.
func (l *listing) read(n int, fill func() ([]fs.DirEntry, error)) ([]fs.DirEntry, error) {
	if !l.done {
		ents, err := fill()
		if err != nil {
			return nil, err
		}
		sortEntries(ents)
		l.ents, l.done = ents, true
	}
	rest := l.ents[l.pos:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	l.pos += len(rest)
	return slices.Clone(rest), nil
}

func sortEntries(ents []fs.DirEntry) {
	slices.SortFunc(ents, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}
