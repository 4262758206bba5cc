package wasi

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/klauspost/compress/flate"
)

// Config is what a [Job] is made of. The zero Config has no files, empty
// input, and output that goes nowhere.
type Config struct {
	Args, Env []string
	FS        vfs.FS // nil: no file system at all

	// Preopens are the folders that the guest starts with, from descriptor 3
	// on. Nil means one, "/"; an empty list means none.
	Preopens []Preopen

	// Streams that are a vfs.File are files to the guest, too.
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Spawn starts other programs; nil: there are none.
	Spawn func(context.Context, sandbox.Child) error
	// Fetch makes HTTP requests; nil: there is no network.
	Fetch func(context.Context, sandbox.Request) (*sandbox.Response, error)
	Umask *uint32 // nil means 022

	// Spend is told of work that the host does in place of the guest, in
	// instructions, before it is done. An error ends the guest. Nil: it is free.
	Spend func(n int64) error

	// Epoch is where the monotonic clock starts, a second on. A zero Epoch
	// means that both clocks stand still, a nanosecond after their beginning:
	// so it must be while a snapshot is taken, since the clocks of whatever
	// starts from it must not run backwards.
	Epoch time.Time
}

// Preopen is a folder that a guest finds open: Path under the name Name.
type Preopen struct {
	Name, Path string

	// Else is another folder, for guests to which two places are one name: what
	// is not in Path, but there, is found there.
	Else string
}

// A Job is one run of a guest: its arguments, descriptors and children. Only
// the guest's own goroutine may use it. Close it when the run is over.
type Job struct {
	cfg   Config
	fds   []*descriptor // by number; nil where free
	umask uint32
	mode  uint32 // for the next file to be created
	ticks int64  // of the standing clock
	inos  uint64
	kids  children
	call  call // the present one

	linger time.Duration

	deflater     *flate.Writer // of deflate, while the guest runs
	deflateLevel int
}

// Linger is how long the run is to go on after the guest has ended, which it
// asks for by linger: a guest that only waits needs no instance meanwhile.
func (j *Job) Linger() time.Duration { return j.linger }

// NewJob returns a job with its standard streams and preopens.
func NewJob(cfg Config) *Job {
	j := &Job{cfg: cfg, umask: 0o022, mode: noMode}
	if cfg.Umask != nil {
		j.umask = *cfg.Umask & 0o777
	}
	j.kids.init()
	if cfg.Stdin == nil {
		cfg.Stdin = eof{}
	}
	if cfg.Stdout == nil {
		cfg.Stdout = io.Discard
	}
	if cfg.Stderr == nil {
		cfg.Stderr = io.Discard
	}
	for _, f := range []*file{{r: cfg.Stdin}, {w: cfg.Stdout}, {w: cfg.Stderr}} {
		f.f, _ = f.r.(vfs.File)
		if w, ok := f.w.(vfs.File); ok {
			f.f = w
		}
		f.refs.Store(1)
		j.inos++
		f.ino = j.inos
		j.fds = append(j.fds, &descriptor{file: f, rights: streamRights(f)})
	}
	if cfg.FS == nil {
		return j
	}
	pre := cfg.Preopens
	if pre == nil {
		pre = []Preopen{{Name: "/", Path: "/"}}
	}
	for _, p := range pre {
		j.fds = append(j.fds, &descriptor{file: newFile(nil), path: p.Path, orelse: p.Else, dir: true, preopen: p.Name, rights: dirRights, inherit: allRights})
	}
	return j
}

// Close ends the children that still run, waits for them, and closes what
// the guest has left open.
func (j *Job) Close() {
	j.kids.close()
	for _, d := range j.fds {
		if d != nil {
			d.file.release()
		}
	}
	j.fds = nil
}

// file is what one or more descriptors, and children, have open.
type file struct {
	r    io.Reader
	w    io.Writer
	f    vfs.File // nil for a stream, and for a folder not yet read
	refs atomic.Int32
	own  bool   // close f when the last reference goes
	end  func() // called then, too; may be nil
	ino  uint64
}

func newFile(f vfs.File) *file {
	o := &file{f: f, own: true}
	if f != nil {
		o.r, o.w = f, f
	}
	o.refs.Store(1)
	return o
}

func (f *file) release() {
	if f.refs.Add(-1) != 0 || !f.own {
		return
	}
	if f.f != nil {
		f.f.Close()
	}
	if f.end != nil {
		f.end()
	}
}
