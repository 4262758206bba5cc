package worker

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/donax-sh/donax/sandbox"
)

// A remoteProgram is a program that runs in the server, because it needs what a
// worker cannot have: the tools of upstream servers. Its streams stay in the
// worker. The worker asks for what the program wants next, does it, and asks
// again, until the program has ended.
type remoteProgram struct {
	w     *inside
	usage sandbox.Usage
}

// What a program in the server wants.
const (
	wantInput  byte = 1 // so many bytes of stdin
	wantOutput byte = 2 // to write to stdout
	wantError  byte = 3 // to write to stderr
	wantEnd    byte = 4 // nothing more: how it ended
	wantHead   byte = 5 // to take the head of a response
	wantUpload byte = 6 // to be asked for the body of a request from now on
)

// lookup asks the server for a program.
func (w *inside) lookup(name string) sandbox.Program {
	e := newEncoder(len(name) + 8)
	e.string(name)
	body, err := w.conn.call(context.Background(), kindLookup, e)
	if err != nil {
		return nil
	}
	d := decoder{b: body}
	if !d.bool() {
		return nil
	}
	p := &remoteProgram{w: w, usage: sandbox.Usage{Name: d.string(), Synopsis: d.string(), Summary: d.string(), Kind: d.string(), SHA256: d.string()}}
	if d.end() != nil {
		return nil
	}
	return p
}

// Usage implements [sandbox.Program].
func (r *remoteProgram) Usage() sandbox.Usage { return r.usage }

// Run implements [sandbox.Program].
func (r *remoteProgram) Run(ctx context.Context, p *sandbox.Proc) error {
	call := uint64(r.w.called.Add(1))
	e := newEncoder(1024)
	e.uint(uint64(runOf(ctx)))
	e.uint(call)
	e.string(r.usage.Name)
	e.strings(p.Args)
	e.strings(p.Env)
	e.string(p.Dir)
	e.bool(p.Shown)
	body, err := r.w.conn.call(ctx, kindCall, e)
	for err == nil {
		d := decoder{b: body}
		next := newEncoder(64)
		next.uint(uint64(runOf(ctx)))
		next.uint(call)
		switch want := d.byte(); want {
		case wantEnd:
			err := d.error()
			if bad := d.end(); bad != nil {
				return bad
			}
			return err
		case wantInput:
			buf := make([]byte, d.small(window/4))
			n, err := p.Stdin.Read(buf)
			next.bytes(buf[:n])
			next.bool(err != nil && err != io.EOF)
			next.bool(err == io.EOF)
		default:
			out := p.Stdout
			if want == wantError {
				out = p.Stderr
			}
			_, err := out.Write(d.bytes())
			next.bytes(nil)
			next.bool(err != nil)
			next.bool(false)
		}
		if d.err != nil {
			return d.err
		}
		body, err = r.w.conn.call(ctx, kindStep, next)
	}
	// This program was stopped, and perhaps nothing else of the line.
	stop := newEncoder(16)
	stop.uint(uint64(runOf(ctx)))
	stop.uint(call)
	go r.w.conn.call(context.Background(), kindDone, stop) // whose answer says nothing
	return err
}

var _ sandbox.Program = (*remoteProgram)(nil)

// counter numbers the calls of a worker.
type counter = atomic.Uint64
