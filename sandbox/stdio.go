package sandbox

import (
	"context"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/donax-sh/donax/sandbox/shell"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// stdio is the streams behind /dev/stdin, /dev/stdout, /dev/stderr and
// /dev/fd/N.
type stdio struct {
	ctx   context.Context // of what is in files
	in    io.Reader
	out   io.Writer
	err   io.Writer
	files map[int]*shell.File
}

// open opens /dev/stdin and its like: the stream itself, which stays open
// when the file is closed.
func (s stdio) open(name string) (*streamFile, bool) {
	if len(name) < 9 || name[:4] != "/dev" {
		return nil, false
	}
	f := &streamFile{name: path.Base(path.Clean(name))}
	switch name := path.Clean(name); name {
	case "/dev/stdin", "/dev/fd/0":
		f.r = s.in
	case "/dev/stdout", "/dev/fd/1":
		f.w = s.out
	case "/dev/stderr", "/dev/fd/2":
		f.w = s.err
	default:
		n, err := strconv.Atoi(strings.TrimPrefix(name, "/dev/fd/"))
		if err != nil || n < 3 || s.files[n] == nil {
			return nil, false
		}
		f.r, f.w = bound{s.ctx, s.files[n]}, bound{s.ctx, s.files[n]}
	}
	return f, f.r != nil || f.w != nil
}

// A streamFile is a stream as a file: it cannot seek.
type streamFile struct {
	name string
	r    io.Reader
	w    io.Writer
}

func (f *streamFile) Read(p []byte) (int, error) {
	if f.r == nil {
		return 0, syscall.EBADF
	}
	return f.r.Read(p)
}

func (f *streamFile) Write(p []byte) (int, error) {
	if f.w == nil {
		return 0, syscall.EBADF
	}
	return f.w.Write(p)
}

// WaitRead waits until a Read would not, as far as the stream knows.
func (f *streamFile) WaitRead(ctx context.Context) error {
	if w, ok := f.r.(interface{ WaitRead(context.Context) error }); ok {
		return w.WaitRead(ctx)
	}
	return nil
}

func (f *streamFile) ReadAt([]byte, int64) (int, error)  { return 0, syscall.ESPIPE }
func (f *streamFile) WriteAt([]byte, int64) (int, error) { return 0, syscall.ESPIPE }
func (f *streamFile) Seek(int64, int) (int64, error)     { return 0, syscall.ESPIPE }
func (f *streamFile) Truncate(int64) error               { return syscall.EINVAL }
func (f *streamFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, syscall.ENOTDIR }
func (f *streamFile) Close() error                       { return nil }
func (f *streamFile) Stat() (fs.FileInfo, error)         { return streamInfo(f.name), nil }

// streamInfo describes a stream: a pipe.
type streamInfo string

func (i streamInfo) Name() string       { return string(i) }
func (i streamInfo) Size() int64        { return 0 }
func (i streamInfo) Mode() fs.FileMode  { return fs.ModeNamedPipe | 0o600 }
func (i streamInfo) ModTime() time.Time { return time.Time{} }
func (i streamInfo) IsDir() bool        { return false }
func (i streamInfo) Sys() any           { return &vfs.Stat{Nlink: 1} }
