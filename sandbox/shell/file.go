package shell

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// A File is an open file description: what descriptors refer to. Duplicated
// descriptors and subshells share one, with its offset. It reads from and
// writes to a file of the host, a pipe, a stream of the Config or memory.
type File struct {
	refs atomic.Int32
	name string // for /dev/fd and messages
	file vfs.File
	rp   *pipe
	wp   *pipe
	r    io.Reader
	w    io.Writer
	buf  *capture
	ctx  context.Context // of Read and Write, which a program of the host calls

	held int64 // charged to run until the last reference goes
	run  *run

	mu    sync.Mutex
	ahead []byte // read from the file or stream but not yet by the script; guarded by mu
	wmu   sync.Mutex
}

// A capture collects what a command substitution writes.
type capture struct {
	mu    sync.Mutex
	b     []byte
	max   int64
	fatal func(error)       // ends the script
	spend func(int64) error // accounts for what is held
	done  chan struct{}     // closed when the last descriptor is
}

func newFile(f *File) *File {
	f.refs.Store(1)
	if f.ctx == nil {
		f.ctx = context.Background()
	}
	return f
}

// newPipe returns the two ends of a pipe.
func newPipe(ctx context.Context) (r, w *File) {
	p := &pipe{}
	return newFile(&File{rp: p, ctx: ctx, name: "pipe"}), newFile(&File{wp: p, ctx: ctx, name: "pipe"})
}

func (f *File) ref() *File { f.refs.Add(1); return f }

// release drops one reference and closes with the last one.
func (f *File) release() {
	if f == nil || f.refs.Add(-1) != 0 {
		return
	}
	if f.file != nil {
		f.mu.Lock()
		f.sync()
		f.mu.Unlock()
		_ = f.file.Close()
	}
	if f.rp != nil {
		f.rp.closeRead()
	}
	if f.wp != nil {
		f.wp.closeWrite()
	}
	if f.buf != nil {
		close(f.buf.done)
	}
	if f.held > 0 {
		if err := f.run.charge(-f.held); err != nil {
			f.run.fatal(err)
		}
	}
}

// sync gives back to a seekable file what was read ahead; mu is held.
func (f *File) sync() {
	if len(f.ahead) > 0 && f.file != nil {
		if _, err := f.file.Seek(-int64(len(f.ahead)), io.SeekCurrent); err == nil {
			f.ahead = nil
		}
	}
}

// Stream returns what a program should use for this description: the
// vfs.File of a plain file, else the File itself.
func (f *File) Stream() io.ReadWriter {
	if f == nil {
		return nil
	}
	if f.file != nil {
		f.mu.Lock()
		f.sync()
		n := len(f.ahead)
		f.mu.Unlock()
		if n == 0 {
			return f.file
		}
	}
	return f
}

// Writer returns what the shell was given to write to, when the description
// is that, and nil for pipes, files and captures.
func (f *File) Writer() io.Writer { return f.w }

// VFS returns the vfs.File behind f, or nil when f is no file of the host's.
func (f *File) VFS() vfs.File { return f.file }

// A contextReader is a stream of the Config whose reads end with a context.
type contextReader interface {
	ReadContext(ctx context.Context, b []byte) (int, error)
}

// ReadContext reads as a program would whose own context is ctx.
func (f *File) ReadContext(ctx context.Context, b []byte) (int, error) { return f.read(ctx, b) }

// WriteContext writes as a program would whose own context is ctx; a pipe
// without reader gives EPIPE.
func (f *File) WriteContext(ctx context.Context, b []byte) (int, error) { return f.write(ctx, b) }

// WaitRead waits until a read would not: for bytes, the end or an error. It
// returns the cause of ctx's end when that comes first.
func (f *File) WaitRead(ctx context.Context) error {
	f.mu.Lock()
	ahead := len(f.ahead) > 0
	f.mu.Unlock()
	switch {
	case ahead:
	case f.rp != nil:
		return f.rp.waitRead(ctx)
	case f.file == nil && f.r != nil:
		if w, ok := f.r.(interface{ WaitRead(context.Context) error }); ok {
			return w.WaitRead(ctx)
		}
	}
	return nil
}

// WaitWrite is WaitRead for a write of one byte.
func (f *File) WaitWrite(ctx context.Context) error {
	if f.wp != nil {
		return f.wp.waitWrite(ctx)
	}
	return nil
}

// Read reads as a program would.
func (f *File) Read(b []byte) (int, error) { return f.read(f.ctx, b) }

// Write writes as a program would; a pipe without reader gives EPIPE.
func (f *File) Write(b []byte) (int, error) { return f.write(f.ctx, b) }

// Close is there for programs; the shell keeps its own count.
func (f *File) Close() error { return nil }

func (f *File) readable() bool { return f.file != nil || f.rp != nil || f.r != nil }
func (f *File) writable() bool { return f.file != nil || f.wp != nil || f.w != nil || f.buf != nil }

func (f *File) read(ctx context.Context, b []byte) (int, error) {
	f.mu.Lock()
	if len(f.ahead) > 0 {
		n := copy(b, f.ahead)
		if f.ahead = f.ahead[n:]; len(f.ahead) == 0 {
			f.ahead = nil
		}
		f.mu.Unlock()
		return n, nil
	}
	f.mu.Unlock()
	return f.readRaw(ctx, b)
}

func (f *File) readRaw(ctx context.Context, b []byte) (int, error) {
	switch {
	case f.rp != nil:
		return f.rp.read(ctx, b)
	case f.file != nil:
		return f.file.Read(b)
	case f.r != nil:
		if r, ok := f.r.(contextReader); ok {
			return r.ReadContext(ctx, b)
		}
		return f.r.Read(b)
	}
	return 0, syscall.EBADF
}

func (f *File) write(ctx context.Context, b []byte) (int, error) {
	switch {
	case f.buf != nil:
		f.buf.mu.Lock()
		defer f.buf.mu.Unlock()
		if int64(len(f.buf.b)+len(b)) > f.buf.max {
			err := &LimitError{What: "command substitution of " + size(f.buf.max), Flag: "--memory"}
			f.buf.fatal(err) // also when a program writes and makes nothing of the error
			return 0, err
		}
		if err := f.buf.spend(int64(len(b))); err != nil {
			f.buf.fatal(err)
			return 0, err
		}
		f.buf.b = append(f.buf.b, b...)
		return len(b), nil
	case f.wp != nil:
		return f.wp.write(ctx, b)
	case f.file != nil:
		f.mu.Lock()
		f.sync()
		f.mu.Unlock()
		return f.file.Write(b)
	case f.w != nil:
		f.wmu.Lock()
		defer f.wmu.Unlock()
		return f.w.Write(b)
	}
	return 0, syscall.EBADF
}

// WriteString writes s.
func (f *File) WriteString(ctx context.Context, s string) (int, error) {
	return f.write(ctx, []byte(s))
}

// readUntil appends bytes up to and including delim to dst, at most max (no
// bound when negative), taking nothing more than that from the stream. err is
// io.EOF when the stream ended first.
func (f *File) readUntil(ctx context.Context, dst []byte, delim byte, max int) ([]byte, error) {
	var chunk []byte // made when needed: most calls find enough read ahead
	for n := 0; max < 0 || n < max; {
		f.mu.Lock()
		if len(f.ahead) > 0 {
			take := len(f.ahead)
			if max >= 0 && take > max-n {
				take = max - n
			}
			found := false
			for i := 0; i < take; i++ {
				if f.ahead[i] == delim {
					take, found = i+1, true
					break
				}
			}
			dst = append(dst, f.ahead[:take]...)
			n += take
			if f.ahead = f.ahead[take:]; len(f.ahead) == 0 {
				f.ahead = nil
			}
			f.mu.Unlock()
			if found {
				return dst, nil
			}
			continue
		}
		f.mu.Unlock()
		if ctx.Err() != nil {
			return dst, context.Cause(ctx)
		}
		if chunk == nil {
			chunk = make([]byte, 4096)
		}
		m, err := f.readRaw(ctx, chunk)
		if m > 0 {
			f.mu.Lock()
			f.ahead = append(f.ahead, chunk[:m]...)
			f.mu.Unlock()
			continue
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// readAll reads f to its end, at most limit bytes of what.
func (sh *shell) readAll(f *File, limit int64, what string) (b []byte, err error) {
	var chunk [8192]byte
	for {
		sh.tick()
		n, err := f.read(sh.ctx, chunk[:])
		b = append(b, chunk[:n]...)
		switch {
		case int64(len(b)) > limit:
			return nil, &LimitError{What: what + " of " + size(limit)}
		case err == nil && n > 0:
		case err == nil || errors.Is(err, io.EOF):
			return b, nil
		default:
			return b, err
		}
	}
}

// ready tells whether a read would return at once.
func (f *File) ready() bool {
	f.mu.Lock()
	ahead := len(f.ahead) > 0
	f.mu.Unlock()
	if ahead || f.rp == nil {
		return true
	}
	return f.rp.ready()
}

func size(n int64) string {
	for i, unit := range []string{" GiB", " MiB", " KiB"} {
		if one := int64(1) << (30 - 10*i); n >= one && n%one == 0 {
			return itoa64(n/one) + unit
		}
	}
	return itoa64(n) + " bytes"
}

// textFile is a here-document: a read-only file in memory.
func (sh *shell) textFile(s string) *File {
	n := int64(len(s))
	if err := sh.run.charge(n); err != nil {
		throw(err)
	}
	return newFile(&File{r: strings.NewReader(s), name: "heredoc", held: n, run: sh.run})
}
