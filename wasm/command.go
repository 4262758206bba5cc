package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm/box"
	"github.com/donax-sh/donax/wasm/wasi"
)

// command is one command of the box.
type command struct {
	rt  *Runtime
	mod *module
	cmd box.Command
	sum string
}

var (
	_ sandbox.Program = (*command)(nil)
	_ sandbox.Loader  = (*command)(nil)
)

// commandSum identifies a command: which box, and which command in it.
func commandSum(tier, name string) string {
	sum := sha256.Sum256([]byte(tier + "\x00" + name))
	return hex.EncodeToString(sum[:])
}

// Usage describes the command.
func (p *command) Usage() sandbox.Usage {
	return sandbox.Usage{
		Name:     p.cmd.Name,
		Synopsis: p.cmd.Synopsis,
		Summary:  p.cmd.Summary,
		Kind:     "box",
		SHA256:   p.sum,
		Aliases:  p.cmd.Aliases,
	}
}

var errNoArgs = errors.New("wasm: a program without arguments: not even its own name")

// statusGoFatal is the status with which Go's runtime ends a program that
// cannot go on: out of memory, deadlock, a panic outside of the command's own
// goroutine.
const statusGoFatal = 2

// Load implements [sandbox.Loader].
func (p *command) Load(ctx context.Context) error { return p.mod.load(ctx) }

// Run runs the command.
func (p *command) Run(ctx context.Context, proc *sandbox.Proc) error {
	if len(proc.Args) == 0 {
		return errNoArgs
	}
	if p.mod.fresh {
		job := *proc
		job.Env = overlay(proc.Env, []string{"PWD=" + proc.Dir}) // wasi-libc knows no working directory
		return p.rt.run(ctx, p.mod, p.cmd.Name, &job, proc.Args, preopens(nil, proc), func(ctx context.Context, mc *machine, mt *meter) (uint64, error) {
			return mc.call(ctx, mt, "_start")
		})
	}
	// The guest finds the command by its canonical name, whatever it was called
	// by.
	args := append([]string{p.cmd.Name, proc.Dir}, proc.Args...)
	return p.rt.run(ctx, p.mod, p.cmd.Name, proc, args, nil, func(ctx context.Context, mc *machine, mt *meter) (uint64, error) {
		if mc.fresh {
			if _, err := mc.call(ctx, mt, "_initialize"); err != nil {
				return 0, err
			}
			// Go's start-up asks for streams that do not wait. Machines that are
			// reset never ran it, and commands write to streams that do.
			wasi.BlockStdio(ctx)
		}
		status, err := mc.call(ctx, mt, "box_run")
		var exit *wasi.Exit
		if errors.As(err, &exit) && exit.Code == statusGoFatal {
			err = &trapError{"the program's own runtime gave up"}
		}
		return status, err
	})
}

// run runs a job in a machine of m and says how it ended, as
// sandbox.Program.Run does.
func (r *Runtime) run(ctx context.Context, m *module, name string, proc *sandbox.Proc, args []string, pre []wasi.Preopen, start func(context.Context, *machine, *meter) (uint64, error)) (err error) {
	if err := m.load(ctx); err != nil {
		return err
	}
	if err := r.enter(); err != nil {
		return err
	}
	defer r.active.Done()
	defer func() {
		if p := recover(); p != nil { // a bug here is one command's end, not the server's
			err = fault(proc, name, fmt.Sprintf("internal error: %v", p))
		}
	}()
	limit := r.memory
	if proc.Memory > 0 {
		limit = min(max(proc.Memory, pageSize), maxMemory)
	}
	stderr := proc.Stderr
	var last *lastWords
	if m.what == "box" && stderr != nil {
		last = &lastWords{w: stderr}
		stderr = last
	}
	mt := &meter{limit: r.cpu}
	mt.budget, _ = ctx.Value(budgetKey{}).(*Budget)
	job := wasi.NewJob(wasi.Config{
		Args: args,
		Env:  proc.Env,
		FS:   proc.FS,

		Preopens: pre,

		Stdin:  proc.Stdin,
		Stdout: proc.Stdout,
		Stderr: stderr,
		Spawn:  proc.Spawn,
		Fetch:  proc.Fetch,
		Umask:  proc.Umask,
		Spend:  mt.spend,
		Epoch:  r.epoch,
	})
	jobCtx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel() // children that outlive the command end with it
		job.Close()
	}()
	jobCtx = wasi.With(context.WithValue(jobCtx, meterKey{}, mt), job)
	mc, err := m.pool.take(jobCtx, uint64(limit)/pageSize*pageSize)
	if err != nil {
		return err
	}
	give := sync.OnceFunc(func() { m.pool.give(mc) })
	defer give()
	if last != nil {
		last.alloc.Store(mc.alloc)
	}
	status, err := start(jobCtx, mc, mt)
	out := mc.outcome(proc, name, status, err)
	if d := job.Linger(); d > 0 && out == nil {
		give()
		rest := time.NewTimer(d)
		defer rest.Stop()
		select {
		case <-rest.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil { // whatever the guest made of it
		return context.Cause(ctx)
	}
	return out
}

// lastWords keeps back what Go's runtime says when it dies for want of
// memory: pages of its own frames, which tell nobody anything. The limit that
// was reached is reported instead.
type lastWords struct {
	w     io.Writer
	alloc atomic.Pointer[allocator]
}

func (l *lastWords) Write(p []byte) (int, error) {
	if a := l.alloc.Load(); a != nil && a.refused.Load() {
		return len(p), nil
	}
	return l.w.Write(p)
}

// outcome turns what a call into a guest gave into what Program.Run returns.
func (mc *machine) outcome(proc *sandbox.Proc, name string, status uint64, err error) error {
	var exit *wasi.Exit
	var stop *wasi.Stop
	switch {
	case errors.As(err, &stop):
		return stop.Err
	case errors.As(err, &exit):
		status = uint64(exit.Code)
	case err != nil && mc.alloc.refused.Load():
		return mc.alloc.err()
	case err != nil:
		return fault(proc, name, trapText(err))
	}
	if status&0xff != 0 {
		return sandbox.ExitCode(status & 0xff)
	}
	return nil
}

// trapError is a trap that is not wazero's.
type trapError struct{ msg string }

func (e *trapError) Error() string { return e.msg }

// trapText is the first line of a trap, without the frames below it, which
// tell nobody anything.
func trapText(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = strings.TrimPrefix(line, "wasm error: ")
	return "trap: " + strings.TrimSuffix(line, " (recovered by wazero)")
}

// fault says on the command's stderr why it ended, and returns its status.
func fault(proc *sandbox.Proc, name, why string) error {
	if proc.Stderr != nil {
		io.WriteString(proc.Stderr, name+": "+why+"\n")
	}
	return sandbox.ExitCode(sandbox.StatusFault)
}
