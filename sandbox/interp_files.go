package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
	"mvdan.cc/sh/v3/interp"
)

// Marks are names of files that do not exist. The rewriter redirects the
// stdout of a statement to one: opening it tells the shell that the statement
// begins, and closing it, which interp never forgets, that it ended. What is
// written to it goes where it would have gone. A script that opens one itself
// gains nothing.
const (
	markPrefix = "\x01donax-"
	markJob    = markPrefix + "job"
	markStage  = markPrefix + "stage"
	markTime   = markPrefix + "time"
	markPosix  = markPrefix + "time-p"
	markStdin  = markPrefix + "stdin"
)

// open opens a file for a redirection or for source.
func (sh *interpShell) open(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	if strings.HasPrefix(name, markPrefix) {
		return sh.openMark(name, hc)
	}
	if text, ok := sh.takeSource(name); ok {
		return struct {
			io.Reader
			io.WriteCloser
		}{strings.NewReader(text), nullFile{sh.h.run}}, nil
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return nil, sh.openError(hc, name, syscall.ENOENT)
	}
	if sh.h.ended.Load() {
		return nil, errEnded
	}
	at := joinPath(hc.Dir, name)
	fsys := sh.h.filesOf(ctx, "shell", stdio{sh.in.reader(hc.Stdin), sh.output(hc), hc.Stderr})
	if at == "/dev/null" {
		if _, err := sh.h.session.fs.Lstat(at); errors.Is(err, fs.ErrNotExist) {
			return nullFile{sh.h.run}, nil
		}
	}
	f, err := fsys.Open(at, flag, perm)
	if cause := sh.h.cause(); cause != nil {
		if f != nil {
			_ = f.Close()
		}
		return nil, cause
	}
	if err != nil {
		return nil, sh.openError(hc, name, err)
	}
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		if fi, err := f.Stat(); err == nil && fi.IsDir() {
			_ = f.Close()
			return nil, sh.openError(hc, name, syscall.EISDIR)
		}
		return &redirected{File: f, sh: sh, ctx: ctx}, nil
	}
	return f, nil
}

// openError is an error that interp prints as it is: it prints redirections'
// errors without the name of the shell, so that is in here.
func (sh *interpShell) openError(hc interp.HandlerContext, name string, err error) error {
	// interp keeps a script going only after errors of this type.
	return &fs.PathError{Op: strings.TrimSuffix(sh.prefix(hc.Pos), ": "), Path: name, Err: errors.New(reason(err))}
}

func (sh *interpShell) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	hc := interp.HandlerCtx(ctx)
	f, err := sh.h.filesOf(ctx, "shell", stdio{err: hc.Stderr}).Open(joinPath(hc.Dir, name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (sh *interpShell) stat(ctx context.Context, name string, follow bool) (fs.FileInfo, error) {
	fsys := sh.h.files(ctx)
	if follow {
		return fsys.Stat(name)
	}
	return fsys.Lstat(name)
}

// access answers -r, -w and -x from the sandbox's own view: never access(2).
func (sh *interpShell) access(ctx context.Context, name string, mode interp.AccessMode) error {
	fi, err := sh.h.files(ctx).Stat(name)
	if err != nil {
		return err
	}
	if perm := fi.Mode().Perm(); perm>>6&fs.FileMode(mode) != fs.FileMode(mode) {
		return &fs.PathError{Op: "access", Path: name, Err: syscall.EACCES}
	}
	return nil
}

// redirected is a file that becomes a shell's stdin. interp copies it into a
// pipe; that copy must end when the redirection does, or when the script does.
type redirected struct {
	vfs.File
	sh  *interpShell
	ctx context.Context
	end atomic.Pointer[pipeEnd]
}

// WriteTo is how io.Copy hands over the pipe, or the buffer of $(<file).
func (f *redirected) WriteTo(w io.Writer) (int64, error) {
	switch out := w.(type) {
	case *os.File:
		ctx, cancel := context.WithCancel(f.ctx)
		end := newPipeEnd(ctx, out)
		end.cancel = cancel
		f.end.Store(end)
		defer end.close()
		w = struct{ io.Writer }{end}
	case buffer:
		w = &capture{h: f.sh.h, buf: out, limit: f.sh.h.limits.Memory / 4}
	}
	return io.Copy(w, struct{ io.Reader }{f.File})
}

// Close ends the copy: nobody reads the pipe any more.
func (f *redirected) Close() error {
	if end := f.end.Load(); end != nil {
		end.cancel()
	}
	return f.File.Close()
}

// A mark is the writer behind a statement that is being watched.
type mark struct {
	io.Writer
	end func()
}

func (m *mark) Read([]byte) (int, error) { return 0, io.EOF }

func (m *mark) Close() error {
	if m.end != nil {
		m.end()
		m.end = nil
	}
	return nil
}

func (sh *interpShell) openMark(name string, hc interp.HandlerContext) (io.ReadWriteCloser, error) {
	m := &mark{Writer: hc.Stdout}
	h := sh.h
	switch name {
	case markJob:
		if n := h.jobs.Add(1); n > int64(h.limits.Jobs) {
			h.jobs.Add(-1)
			return nil, h.stop(&LimitError{What: fmt.Sprintf("%d background jobs", h.limits.Jobs)})
		}
		m.end = func() { h.jobs.Add(-1) }
	case markStage:
		if n := h.stages.Add(1); n >= int64(h.limits.Stages) {
			h.stages.Add(-1)
			return nil, h.stop(&LimitError{What: fmt.Sprintf("%d pipeline stages", h.limits.Stages)})
		}
		m.end = func() { h.stages.Add(-1) }
	case markTime, markPosix:
		start := time.Now()
		m.end = func() {
			d := time.Since(start)
			format := "\nreal\t%dm%.3fs\nuser\t0m0.000s\nsys\t0m0.000s\n"
			if name == markPosix {
				_, _ = fmt.Fprintf(hc.Stderr, "real %.2f\nuser 0.00\nsys 0.00\n", d.Seconds())
				return
			}
			_, _ = fmt.Fprintf(hc.Stderr, format, int(d.Minutes()), d.Seconds()-60*float64(int(d.Minutes())))
		}
	case markStdin:
		sh.in.pump(hc.Stdin)
	}
	return m, nil
}

// unmark returns the stream below the marks.
func unmark(w io.Writer) io.Writer {
	for {
		m, ok := w.(*mark)
		if !ok {
			return w
		}
		w = m.Writer
	}
}

// nullFile is /dev/null where the session's files have none.
type nullFile struct{ r *run }

func (nullFile) Read([]byte) (int, error) { return 0, io.EOF }

func (f nullFile) Write(p []byte) (int, error) { return len(p), f.r.ctx.Err() }

func (nullFile) Close() error { return nil }
