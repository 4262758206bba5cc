// Package wasi is the host side of the programs in the sandbox: our own
// wasi_snapshot_preview1 over a vfs.FS, and the module donax, which has what
// preview 1 lacks: permissions, and starting other programs.
//
// All state belongs to a [Job], which travels in the context of the call into
// the guest; none is kept with the instance, so that an instance can be reset
// and used again. Error numbers are true ones (EPIPE, ENOSPC, EDQUOT, EXDEV).
// Whatever may block ends when the context does. Pointers, lengths and
// descriptors are a guest's word: each is checked before it is used.
package wasi

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Names of the two host modules.
const (
	Module      = "wasi_snapshot_preview1"
	DonaxModule = "donax"
)

// Exit is the error with which proc_exit ends a call into the guest.
type Exit struct{ Code uint32 }

func (e *Exit) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// Stop is the error with which a host function ends the whole run: the
// context is over, or a limit was reached.
type Stop struct{ Err error }

func (s *Stop) Error() string { return s.Err.Error() }

// Unwrap returns the reason.
func (s *Stop) Unwrap() error { return s.Err }

// stop ends the call into the guest.
func (j *Job) stop(err error) { panic(&Stop{err}) }

type jobKey struct{}

// With returns a context for calls into a guest that runs as j.
func With(ctx context.Context, j *Job) context.Context { return context.WithValue(ctx, jobKey{}, j) }

// BlockStdio makes the standard streams of the job of ctx wait again, where
// their guest has set them not to (FDFLAGS nonblock).
func BlockStdio(ctx context.Context) {
	j, ok := ctx.Value(jobKey{}).(*Job)
	if !ok {
		return
	}
	for n := range uint32(3) {
		if d, e := j.get(n); e == 0 {
			d.flags &^= flagNonblock
		}
	}
}

var errNoJob = errors.New("wasi: a guest was called without a job")

// call is one call of a host function.
type call struct {
	*Job
	ctx context.Context
	mem memory
	p   []uint64 // parameters
}

func (c *call) u32(i int) uint32 { return uint32(c.p[i]) }

// alive ends the run when its context is over.
func (c *call) alive() {
	if c.ctx.Err() != nil {
		c.stop(context.Cause(c.ctx))
	}
}

// function is one host function: its parameters as one letter each, i for
// i32 and I for i64, and what it does. The result is an error number.
type function struct {
	params string
	do     func(*call) errno
}

// Serves reports whether the host has a function for guests to import.
func Serves(module, name string) bool {
	var fns map[string]function
	switch module {
	case Module:
		fns = preview1()
	case DonaxModule:
		fns = donax()
	}
	_, ok := fns[name]
	return ok
}

// Instantiate makes the two host modules available to the guests of r.
func Instantiate(ctx context.Context, r wazero.Runtime) error {
	for name, fns := range map[string]map[string]function{Module: preview1(), DonaxModule: donax()} {
		b := r.NewHostModuleBuilder(name)
		for fn, f := range fns {
			results := []api.ValueType{api.ValueTypeI32}
			if fn == "proc_exit" || fn == "create_mode" {
				results = nil
			}
			b.NewFunctionBuilder().WithGoModuleFunction(f.host(len(results)), types(f.params), results).Export(fn)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("wasi: %w", err)
		}
	}
	return nil
}

func types(params string) []api.ValueType {
	t := make([]api.ValueType, len(params))
	for i, p := range params {
		t[i] = api.ValueTypeI32
		if p == 'I' {
			t[i] = api.ValueTypeI64
		}
	}
	return t
}

func (f function) host(results int) api.GoModuleFunc {
	return func(ctx context.Context, m api.Module, stack []uint64) {
		j, _ := ctx.Value(jobKey{}).(*Job)
		if j == nil {
			panic(errNoJob)
		}
		c := call{Job: j, ctx: ctx, mem: memory{m.Memory()}, p: stack}
		c.alive()
		n := f.do(&c)
		if results == 1 {
			stack[0] = uint64(n)
		}
	}
}
