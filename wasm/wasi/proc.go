package wasi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// Bounds on children.
const (
	maxChildren = 256     // alive or not yet waited for
	maxRequest  = 4 << 20 // bytes of arguments and environment
)

// child is a program that the guest started.
type child struct {
	pid    int32
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended; then the rest is set
	status int32
	err    error // why the whole run must end
	signal int32 // sent by proc_kill; guarded by children.mu
}

// children are those of one job.
type children struct {
	mu    sync.Mutex
	byPID map[int32]*child // guarded by mu
	last  int32
	ended chan struct{} // has a token when some child ended
	wg    sync.WaitGroup
}

func (k *children) init() {
	k.byPID = map[int32]*child{}
	k.ended = make(chan struct{}, 1)
}

func (k *children) close() {
	k.mu.Lock()
	for _, c := range k.byPID {
		c.cancel()
	}
	k.mu.Unlock()
	k.wg.Wait()
}

// procSpawn starts a program and returns when it has been admitted.
func procSpawn(c *call) errno {
	if c.cfg.Spawn == nil {
		return eNOSYS
	}
	if c.u32(1) > maxRequest {
		return e2BIG
	}
	raw, ok := c.mem.bytes(c.u32(0), c.u32(1))
	if !ok {
		return eFAULT
	}
	if _, ok := c.mem.bytes(c.u32(2), 4); !ok {
		return eFAULT
	}
	req := request{b: raw}
	ch, fds := req.child()
	if req.bad {
		return eINVAL
	}
	ch.Dir = path.Clean(ch.Dir)
	files, e := c.stdio(&ch, fds)
	if e != 0 {
		return e
	}
	k := &c.kids
	k.mu.Lock()
	if len(k.byPID) >= maxChildren {
		k.mu.Unlock()
		release(files)
		return eAGAIN
	}
	k.last++
	ctx, cancel := context.WithCancel(c.ctx)
	kid := &child{pid: k.last, cancel: cancel, done: make(chan struct{})}
	k.byPID[kid.pid] = kid
	k.mu.Unlock()

	started := make(chan struct{})
	ch.Started = sync.OnceFunc(func() { close(started) })
	var err error
	job, parent := c.Job, c.ctx
	k.wg.Go(func() {
		defer cancel()
		defer release(files)
		err = job.spawn(ctx, ch)
		kid.finish(k, parent, err)
	})
	select {
	case <-started:
	case <-kid.done:
		select {
		case <-started:
		default:
			// It never ran. Whoever asked wants to know why.
			if e := refusal(err); e != 0 {
				k.forget(kid)
				return e
			}
		}
	case <-c.ctx.Done():
		c.alive()
	}
	return c.mem.put32(c.u32(2), uint32(kid.pid))
}

// spawn calls the session. A panic there must not take the process down.
func (j *Job) spawn(ctx context.Context, ch sandbox.Child) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("starting %s: panic: %v", ch.Args[0], p)
		}
	}()
	return j.cfg.Spawn(ctx, ch)
}

// refusal tells errors of programs that cannot be started from those of
// programs that ran.
func refusal(err error) errno {
	switch {
	case errors.Is(err, fs.ErrPermission): // a denial by the policy among them
		return eACCES
	case errors.Is(err, fs.ErrNotExist):
		return eNOENT
	}
	var host syscall.Errno
	if errors.As(err, &host) {
		if n, ok := numbers[host]; ok {
			return n
		}
	}
	return 0
}

// finish records how the child ended.
func (kid *child) finish(k *children, parent context.Context, err error) {
	k.mu.Lock()
	signal := kid.signal
	k.mu.Unlock()
	var code sandbox.ExitCode
	switch {
	case err == nil:
	case errors.As(err, &code):
		kid.status = int32(code)
	case signal != 0 && parent.Err() == nil && errors.Is(err, context.Canceled):
		kid.status = 128 + signal
	default:
		kid.err = err
	}
	close(kid.done)
	select {
	case k.ended <- struct{}{}:
	default:
	}
}

func (k *children) forget(kid *child) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byPID, kid.pid)
}

// find returns a child that has ended: pid, or any when pid is negative.
func (k *children) find(pid int32) (kid *child, e errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e = eCHILD
	for _, c := range k.byPID {
		if pid >= 0 && c.pid != pid {
			continue
		}
		e = 0
		select {
		case <-c.done:
			return c, 0
		default:
		}
	}
	return nil, e
}

// procWait waits for a child, with a timeout in nanoseconds when that is
// positive.
func procWait(c *call) errno {
	if _, ok := c.mem.bytes(c.u32(2), 4); !ok {
		return eFAULT
	}
	if _, ok := c.mem.bytes(c.u32(3), 4); !ok {
		return eFAULT
	}
	var timeout <-chan time.Time
	if ns := int64(c.p[1]); ns > 0 {
		t := time.NewTimer(time.Duration(ns))
		defer t.Stop()
		timeout = t.C
	}
	for {
		kid, e := c.kids.find(int32(c.u32(0)))
		if e != 0 {
			return e
		}
		if kid != nil {
			c.kids.forget(kid)
			if kid.err != nil { // a limit, or the end of everything: not the parent's to survive
				c.stop(kid.err)
			}
			c.mem.put32(c.u32(2), uint32(kid.pid))
			return c.mem.put32(c.u32(3), uint32(kid.status))
		}
		select {
		case <-c.kids.ended:
		case <-timeout:
			return eTIMEDOUT
		case <-c.ctx.Done():
			c.alive()
		}
	}
}

// procKill ends a child; signal 0 only asks whether it is there.
func procKill(c *call) errno {
	k := &c.kids
	k.mu.Lock()
	defer k.mu.Unlock()
	kid := k.byPID[int32(c.u32(0))]
	switch s := int32(c.u32(1)); {
	case kid == nil:
		return eSRCH
	case s < 0 || s > 64:
		return eINVAL
	case s != 0:
		if kid.signal == 0 {
			kid.signal = s
		}
		kid.cancel()
	}
	return 0
}

// stdio gives the child the guest's descriptors as its streams, and returns
// the files to release when it has ended.
func (c *call) stdio(ch *sandbox.Child, fds [3]uint32) (files []*file, e errno) {
	for i, n := range fds {
		if n == none {
			continue // nothing to read; output nobody wants
		}
		d, e := c.get(n)
		if e == 0 && (d.dir || i == 0 && d.rights&rightRead == 0 || i > 0 && d.rights&rightWrite == 0) {
			e = eBADF
		}
		if e != 0 {
			release(files)
			return nil, e
		}
		d.file.refs.Add(1)
		files = append(files, d.file)
		switch i {
		case 0:
			ch.Stdin = d.file.r
		case 1:
			ch.Stdout = d.file.w
		case 2:
			ch.Stderr = d.file.w
		}
	}
	if ch.Stdin == nil {
		ch.Stdin = eof{}
	}
	if ch.Stdout == nil {
		ch.Stdout = io.Discard
	}
	if ch.Stderr == nil {
		ch.Stderr = io.Discard
	}
	return files, 0
}

func release(files []*file) {
	for _, f := range files {
		f.release()
	}
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// none is the descriptor of a stream that is not there.
const none = ^uint32(0)

// request decodes what package guest encodes: lists as a count and then each
// string as a length and its bytes, numbers little-endian and 32 bits wide.
type request struct {
	b   []byte
	bad bool
}

func (r *request) child() (sandbox.Child, [3]uint32) {
	ch := sandbox.Child{Args: r.list(), Env: r.list(), Dir: r.str(r.u32())}
	fds := [3]uint32{r.u32(), r.u32(), r.u32()}
	if len(r.b) != 0 || len(ch.Args) == 0 || !strings.HasPrefix(ch.Dir, "/") {
		r.bad = true
	}
	return ch, fds
}

func (r *request) u32() uint32 {
	if len(r.b) < 4 {
		r.bad, r.b = true, nil
		return 0
	}
	n := le.Uint32(r.b)
	r.b = r.b[4:]
	return n
}

func (r *request) str(n uint32) string {
	if uint64(n) > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *request) list() []string {
	n := r.u32()
	if uint64(n) > uint64(len(r.b))/4 { // each string takes four bytes at least
		r.bad, r.b = true, nil
		return nil
	}
	l := make([]string, n)
	for i := range l {
		l[i] = r.str(r.u32())
	}
	return l
}
