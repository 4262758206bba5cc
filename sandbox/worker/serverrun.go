package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// A serverRun is one run as the server sees it.
type serverRun struct {
	p   *process
	id  uint32
	ctx context.Context
	in  io.Reader

	command policy.Command
	leave   leave // what the policy has allowed it

	exited chan struct{} // closed when the worker has said how it ended
	status int           // set before exited is closed
	err    error         // the same

	began time.Time // when somebody wanted it to run; zero: it must run in this process
	heard int64     // of the process, before it began

	fetcher func() *sandbox.Fetcher // what makes requests to the network for the run

	mu     sync.Mutex
	queue  []output
	queued int
	wake   chan struct{} // has room for one: there is something in queue
	over   chan struct{} // closed when nothing more will come
	idle   chan struct{} // closed when all was written
	cut    bool          // nothing is written any more
	owed   int           // bytes taken that the worker was not told of; of the writing goroutine
}

type output struct {
	stream byte
	data   []byte
}

// inspect has the worker complete c.
func (p *process) inspect(ctx context.Context, shell uint32, c policy.Command) (policy.Command, error) {
	e := newEncoder(len(c.Text) + 256)
	e.uint(uint64(shell))
	e.string(p.findDir(ctx, c.Cwd))
	e.request(c)
	answer := make(chan *decoder, 1)
	p.mu.Lock()
	p.next++
	id := p.next
	p.inspects[id] = answer
	p.mu.Unlock()
	switch err := p.conn.send(kindInspect, id, e); {
	case errors.Is(err, errTooLarge):
		p.mu.Lock()
		delete(p.inspects, id)
		p.mu.Unlock()
		return c, err
	case err != nil: // it is dying, or half a frame has been sent
		p.end()
	}
	var d *decoder
	select {
	case d = <-answer:
	case <-p.gone:
		return c, p.lost
	case <-ctx.Done(): // a parser cannot be asked to stop
		p.end()
		<-p.gone
		return c, ctx.Err()
	}
	if err := d.error(); err != nil {
		return c, err
	}
	got := d.facts()
	if err := d.end(); err != nil {
		p.end()
		return c, err
	}
	// What the caller gave is the caller's: only facts come from the worker.
	if len(c.Args) == 0 && got.Text != c.Text {
		p.end()
		return c, fmt.Errorf("%w: another text than was asked about", errProtocol)
	}
	c.Text, c.Cwd, c.Env, c.Static, c.Calls, c.Features, c.Limits = got.Text, got.Cwd, got.Env, got.Static, got.Calls, got.Features, got.Limits
	c.Params, c.Args = nonNil(c.Params), nonNil(c.Args)
	return c, nil
}

// findDir looks for the working folder of a command, which spares the worker
// the questions, and returns its path without symlinks; "" when the worker is to
// look itself. A disk that hangs must not hold up more than the command.
func (p *process) findDir(ctx context.Context, dir string) string {
	found := make(chan string, 1)
	go func() {
		l, err := p.files.ns.Resolve(cmp.Or(dir, p.cfg.Setup.Dir, "/"), true)
		if err != nil || l.Info == nil || !l.Info.IsDir() {
			l.Path = ""
		}
		found <- l.Path
	}()
	select {
	case real := <-found:
		return real
	case <-ctx.Done():
		return ""
	}
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// run has the worker run c. A worker that does not end the run soon after ctx
// is killed, and all that it ran with it. The error is errStale when nothing
// was done for somebody who has wanted it since began.
func (p *process) run(ctx context.Context, began time.Time, shell uint32, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	ctx, over := context.WithCancel(ctx) // what runs in the server for the line ends with it
	defer over()
	r := &serverRun{
		p: p, ctx: ctx, in: in, command: c, began: began, heard: p.heard.Load(), exited: make(chan struct{}),
		wake: make(chan struct{}, 1), over: make(chan struct{}), idle: make(chan struct{}),
	}
	r.fetcher = sync.OnceValue(func() *sandbox.Fetcher {
		f := p.session.Fetcher(ctx, c)
		context.AfterFunc(ctx, func() { _ = f.Close() })
		return f
	})
	e := newEncoder(len(c.Text) + 512)
	e.uint(uint64(shell))
	e.string(p.findDir(ctx, c.Cwd))
	e.bool(in != nil)
	e.request(c)
	e.uint(p.epoch()) // before asking: an answer of the policy before this one is not to be kept
	e.constants(p.constants(ctx))
	p.mu.Lock()
	p.next++
	r.id = p.next
	p.runs[r.id] = r
	p.mu.Unlock()
	go r.write(out, errw)
	if err := p.conn.send(kindRun, r.id, e); err != nil && p.alive() {
		p.end() // half a frame may have been sent
	}
	metered := p.meter(ctx)
	status, err := r.wait(out, errw)
	metered()
	p.mu.Lock()
	delete(p.runs, r.id)
	var left map[int]vfs.File
	if len(p.runs) == 0 { // and what starts from now on opens its own
		left = p.files.takeAll()
	}
	p.mu.Unlock()
	closeFiles(left)
	return status, err
}

// wait waits for the end of the run, and for its output to be written.
func (r *serverRun) wait(out, errw io.Writer) (int, error) {
	var said string
	status, err := statusLost, error(nil)
	select {
	case <-r.exited:
		status, err = r.status, r.err
	case <-r.p.gone:
		status, err, said = r.died()
	case <-r.ctx.Done():
		status, err, said = r.stopped()
	}
	close(r.over)
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	select {
	case <-r.idle:
	case <-limit.C:
		if r.ctx.Err() != nil {
			err = errors.Join(err, sandbox.ErrAbandoned)
			break
		}
		select { // somebody reads slowly, and may
		case <-r.idle:
		case <-r.ctx.Done():
			err = errors.Join(err, r.ctx.Err(), sandbox.ErrAbandoned)
		}
	}
	r.mu.Lock()
	r.cut = true
	r.mu.Unlock()
	if said != "" && errw != nil && !errors.Is(err, sandbox.ErrAbandoned) {
		_, _ = io.WriteString(errw, said) // whoever does not read it does not miss it
	}
	return status, err
}

// died is the answer of a run whose process is gone. An exit that came first
// counts.
func (r *serverRun) died() (int, error, string) {
	select {
	case <-r.exited:
		return r.status, r.err, ""
	default:
	}
	if r.p.stale(r.began, r.heard) {
		return statusLost, errStale, ""
	}
	return statusLost, r.p.lost, r.p.lost.say()
}

// stopped ends a run whose context has ended.
func (r *serverRun) stopped() (int, error, string) {
	deadline := errors.Is(r.ctx.Err(), context.DeadlineExceeded)
	e := newEncoder(1)
	e.bool(deadline)
	_ = r.p.conn.send(kindStop, r.id, e) // who does not hear it is killed below
	limit := time.NewTimer(r.p.limits.Grace)
	defer limit.Stop()
	select {
	case <-r.exited:
		return r.status, r.err, ""
	case <-limit.C:
		r.p.end()
		<-r.p.gone
	case <-r.p.gone:
	}
	select {
	case <-r.exited:
		return r.status, r.err, ""
	default:
	}
	if deadline {
		return sandbox.StatusTimeout, r.ctx.Err(), "donax: limit: time (" + r.p.cfg.raise("--timeout") + ")\n"
	}
	return sandbox.StatusKilled, r.ctx.Err(), "donax: killed\n"
}

// put queues output of the worker; false when it sent more than it may.
func (r *serverRun) put(stream byte, data []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queued += len(data); r.queued > window {
		return false
	}
	r.queue = append(r.queue, output{stream, data})
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return true
}

// write writes what is queued, so that a slow reader holds up its own run and
// nothing else.
func (r *serverRun) write(out, errw io.Writer) {
	defer close(r.idle)
	for last := false; ; {
		select {
		case <-r.wake:
		case <-r.over:
			last = true
		}
		r.mu.Lock()
		queue := r.queue
		r.queue = nil
		r.mu.Unlock()
		for _, o := range queue {
			w := out
			if o.stream == 2 {
				w = errw
			}
			r.writeOne(w, o.data)
		}
		if last && len(queue) == 0 {
			return
		}
	}
}

func (r *serverRun) writeOne(w io.Writer, data []byte) {
	r.mu.Lock()
	cut := r.cut
	r.mu.Unlock()
	gone := cut
	if w != nil && !cut {
		_, err := w.Write(data)
		gone = err != nil
	}
	if r.owed += len(data); r.owed < window/4 && !gone {
		return // most lines end before it matters
	}
	r.mu.Lock()
	r.queued -= r.owed
	r.mu.Unlock()
	e := newEncoder(8)
	e.uint(uint64(r.owed))
	e.bool(gone)
	r.owed = 0
	_ = r.p.conn.send(kindTaken, r.id, e) // a worker that is gone needs no room
}

// read answers a request for input.
func (r *serverRun) read(n int, e *encoder) {
	if r.in == nil || r.ctx.Err() != nil {
		e.bytes(nil)
		e.byte(readEOF)
		return
	}
	p := make([]byte, n)
	n, err := r.in.Read(p)
	e.bytes(p[:max(0, n)])
	switch {
	case err == nil:
		e.byte(readMore)
	case err == io.EOF, errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		e.byte(readEOF)
	default:
		e.byte(readFailed)
	}
}
