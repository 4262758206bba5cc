package worker

import (
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// maxCalls is how many programs of one worker may run in the server at a time.
const maxCalls = 64

// A toolCall is a program that runs in the server for a line in a worker.
type toolCall struct {
	ctx   context.Context
	end   context.CancelFunc
	wants chan *encoder // what the worker is to do next
	done  chan *decoder // how that went
	body  bool          // it reads the body of a request, and nothing else
}

type callKey struct {
	run  uint32
	call uint64
}

// lookup answers whether the server has a program.
func (p *process) lookup(d *decoder, e *encoder) error {
	name := d.string()
	if err := d.end(); err != nil {
		return err
	}
	var prog sandbox.Program
	if p.cfg.Lookup != nil {
		prog = p.cfg.Lookup(name)
	}
	e.bool(prog != nil)
	if prog != nil {
		u := prog.Usage()
		for _, s := range []string{u.Name, u.Synopsis, u.Summary, u.Kind, u.SHA256} {
			e.string(s)
		}
	}
	return nil
}

// call starts a program and answers with what it wants first.
func (p *process) call(r *serverRun, d *decoder) (*encoder, error) {
	key := callKey{r.id, d.uint()}
	name := d.string()
	c := sandbox.Call{Args: d.strings(), Env: d.strings(), Dir: d.string(), Shown: d.bool(), Mounts: r.command.Mounts}
	if err := d.end(); err != nil {
		return nil, err
	}
	var prog sandbox.Program
	if p.cfg.Lookup != nil && p.session != nil {
		prog = p.cfg.Lookup(name)
	}
	if prog == nil || len(c.Args) == 0 {
		return ended(sandbox.ExitCode(sandbox.StatusNotFound)), nil
	}
	u := prog.Usage()
	if !r.admits(policy.Action{Kind: policy.KindExec, Exec: &policy.Exec{
		Name: u.Name, Args: c.Args[1:], Kind: u.Kind, SHA256: u.SHA256, Cwd: c.Dir, Ancestors: []string{}, Assigns: []string{},
	}}) {
		return ended(sandbox.ExitCode(sandbox.StatusDenied)), nil // a worker that asks first says why
	}
	t := p.begin(r.ctx, key)
	if t == nil {
		return ended(sandbox.ExitCode(sandbox.StatusFault)), nil
	}
	c.Stdin, c.Stdout, c.Stderr = toolStream{t, wantInput}, toolStream{t, wantOutput}, toolStream{t, wantError}
	go func() {
		defer t.end()
		err := p.session.Call(t.ctx, prog, c)
		_, _ = t.want(ended(err)) // a worker that does not ask any more knows
	}()
	return t.next(), nil
}

// begin notes a call that lasts until its end, or that of ctx; nil when the
// worker has too many, or has used the number for another.
func (p *process) begin(ctx context.Context, key callKey) *toolCall {
	t := &toolCall{wants: make(chan *encoder), done: make(chan *decoder)}
	t.ctx, t.end = context.WithCancel(ctx)
	p.mu.Lock()
	full := len(p.calls) >= maxCalls || p.calls[key] != nil || p.runs[key.run] == nil
	if !full {
		p.calls[key] = t
	}
	p.mu.Unlock()
	if full {
		t.end()
		return nil
	}
	context.AfterFunc(t.ctx, func() { p.forgetCall(key) })
	return t
}

// step tells a program how what it wanted went, and answers with what it wants
// next.
func (p *process) step(r *serverRun, d *decoder) (*encoder, error) {
	p.mu.Lock()
	t := p.calls[callKey{r.id, d.uint()}]
	p.mu.Unlock()
	if t == nil {
		return ended(context.Canceled), nil
	}
	select {
	case t.done <- d:
	case <-t.ctx.Done():
	}
	return t.next(), nil
}

// stop ends a program.
func (p *process) stop(r *serverRun, d *decoder) error {
	key := callKey{r.id, d.uint()}
	if err := d.end(); err != nil {
		return err
	}
	p.mu.Lock()
	t := p.calls[key]
	p.mu.Unlock()
	if t != nil {
		t.end()
	}
	return nil
}

func (p *process) forgetCall(key callKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, key)
}

func ended(err error) *encoder {
	e := newEncoder(64)
	e.byte(wantEnd)
	e.error(err)
	return e
}

// next waits for what the program wants.
func (t *toolCall) next() *encoder {
	select {
	case e := <-t.wants:
		return e
	case <-t.ctx.Done():
		select { // its end may be told still
		case e := <-t.wants:
			return e
		default:
			return ended(context.Canceled)
		}
	}
}

// want has the worker do something and returns how it went.
func (t *toolCall) want(e *encoder) (*decoder, error) {
	select {
	case t.wants <- e:
	case <-t.ctx.Done():
		return nil, context.Cause(t.ctx)
	}
	if e.b[headSize] == wantEnd {
		return nil, nil
	}
	select {
	case d := <-t.done:
		return d, nil
	case <-t.ctx.Done():
		return nil, context.Cause(t.ctx)
	}
}

// A toolStream is a stream of a program in the server whose other end is in
// the worker.
type toolStream struct {
	t    *toolCall
	what byte
}

var errStep = errors.New("an answer that makes no sense")

// ask asks the worker and takes its answer apart.
func (s toolStream) ask(put func(*encoder)) (data []byte, failed, eof bool, err error) {
	e := newEncoder(64)
	e.byte(s.what)
	put(e)
	d, err := s.t.want(e)
	if err != nil {
		return nil, false, false, err
	}
	data, failed, eof = d.bytes(), d.bool(), d.bool()
	if d.end() != nil {
		return nil, false, false, errStep
	}
	return data, failed, eof, nil
}

func (s toolStream) Read(p []byte) (int, error) {
	data, failed, eof, err := s.ask(func(e *encoder) { e.uint(uint64(min(len(p), window/4))) })
	n := copy(p, data)
	switch {
	case err != nil:
		return 0, err
	case eof:
		return n, io.EOF
	case failed:
		return n, errInput
	}
	return n, nil
}

func (s toolStream) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), window/4)]
		_, failed, _, err := s.ask(func(e *encoder) { e.bytes(part) })
		if err != nil {
			return n, err
		}
		if failed {
			return n, syscall.EPIPE
		}
		n, p = n+len(part), p[len(part):]
	}
	return n, nil
}
