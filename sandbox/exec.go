package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/shell"
)

// An ExecError says why a command could not be started. It matches
// [ExitCode] with errors.As, 126 or 127, and unwraps to a [syscall.Errno].
type ExecError struct {
	Name   string // as it was called
	Msg    string // as bash says it: "command not found"
	Status ExitCode
	Err    error // ENOENT, EACCES, ENOEXEC, EISDIR, ELOOP
}

func (e *ExecError) Error() string { return e.Name + ": " + e.Msg }

// Unwrap returns the errno.
func (e *ExecError) Unwrap() error { return e.Err }

// As lets errors.As find the status.
func (e *ExecError) As(target any) bool {
	c, ok := target.(*ExitCode)
	if ok {
		*c = e.Status
	}
	return ok
}

// A command is a program about to start, after expansion.
type command struct {
	args       []string
	path       string // where it was found; "" means still to be looked up
	env        []string
	dir        string
	assigns    []string
	background bool
	files      map[int]*shell.File // open descriptors; those from 3 on are handed on
	depth      int                 // functions, sources and shells around it
	pid        int
	ignored    uint64  // signals, bit n for number n
	umask      *uint32 // nil means 022
	started    func()  // called once before it runs; may be nil

	stdin          io.Reader // nil: empty
	stdout, stderr io.Writer
}

// exec runs a command after admission and waits for it. Every command goes
// through here: of the shell, of eval and source, of sh and script files, and
// of programs that start others.
//
// The error is nil for status 0, an [ExitCode] for another status of the
// command's own, an [*ExecError] or a [*policy.DeniedError] when it was not
// started, and anything else when the whole script must stop.
func (h *host) exec(ctx context.Context, c *command) error {
	if err := h.cause(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if n := h.commands.Add(1); n > h.limits.Commands {
		return h.stop(&LimitError{What: fmt.Sprintf("%d commands", h.limits.Commands)})
	}
	if err := h.allowance.starts(); err != nil {
		return err
	}
	if h.depth > h.limits.Depth {
		return h.stop(&LimitError{What: fmt.Sprintf("depth %d of commands that start commands", h.limits.Depth)})
	}
	t, err := h.find(ctx, c)
	if err != nil {
		return err
	}
	d, err := h.admit(ctx, t.facts(c), c.stderr)
	if err != nil {
		return err
	}
	if c.started != nil {
		c.started()
	}
	c.env = withoutVars(c.env, d.UnsetEnv)
	inner := &host{run: h.run, pid: c.pid, depth: h.depth + 1, ancestors: append(h.ancestors[:len(h.ancestors):len(h.ancestors)], t.name), mounts: h.mounts, allowance: h.allowance}
	if len(d.Mounts) > 0 {
		inner.mounts = policy.StrictestMounts(append(slices.Clone(h.mounts), d.Mounts...))
	}
	if t.program == nil {
		inner.pid = h.pid // it is the parent of the shell that follows
	}
	if d.Limits != (policy.Limits{}) {
		return inner.bounded(ctx, c, t, d.Limits)
	}
	return inner.start(ctx, c, t)
}

// facts is what the policy is asked about a command, and [host.admit] completes.
func (t target) facts(c *command) policy.Exec {
	return policy.Exec{
		Name:       t.name,
		Args:       t.args[1:],
		Kind:       t.kind,
		SHA256:     t.sha256,
		Cwd:        c.dir,
		Assigns:    c.assigns,
		Background: c.background,
	}
}

// start runs what was admitted.
func (h *host) start(ctx context.Context, c *command, t target) error {
	if t.program == nil {
		return h.shell(ctx, c, t)
	}
	return h.program(ctx, c, t)
}

// admit asks the policy about an exec and shows what it warns of.
func (h *host) admit(ctx context.Context, x policy.Exec, stderr io.Writer) (policy.Decision, error) {
	if d, ok := policy.ConstantOf(ctx, h.policy, policy.KindExec); ok && d.Effect == policy.Allow && len(d.Warnings) == 0 {
		return d, nil
	}
	x.Depth, x.Ancestors = h.depth, nonNil(h.ancestors)
	x.Args, x.Assigns = nonNil(x.Args), nonNil(x.Assigns)
	a := policy.Action{Kind: policy.KindExec, Subject: policy.SubjectFrom(h.caller), Exec: &x}
	a.Usage = h.usage()
	d, err := policy.Check(ctx, h.policy, a)
	if err != nil {
		if cause := h.cause(); cause != nil { // it was the end of the script that spoke, not the policy
			return d, cause
		}
		if ctx.Err() != nil { // or that of a job
			return d, context.Cause(ctx)
		}
		return d, err
	}
	for _, w := range d.Warnings {
		if stderr != nil {
			_, _ = fmt.Fprintf(stderr, "donax: warning: %s: %s\n", x.Name, w.Msg)
		}
	}
	return d, nil
}

// ask asks the policy about an effect of a program.
func (h *host) ask(ctx context.Context, a policy.Action) (policy.Decision, error) {
	if err := h.cause(); err != nil {
		return policy.Decision{}, err
	}
	a.Subject = policy.SubjectFrom(h.caller)
	a.Usage.Execs, a.Usage.OutputBytes = h.commands.Load(), h.output.Load()
	calls := h.session.toolCalls(a.Principal)
	a.Usage.ToolCalls = calls.Load()
	if a.Kind == policy.KindTool {
		a.Usage.ToolCalls = calls.Add(1) - 1 // counted first: calls at the same time must not all be the last one
	}
	d, err := policy.Check(ctx, h.policy, a)
	if err == nil {
		return d, nil
	}
	if a.Kind == policy.KindTool {
		calls.Add(-1)
	}
	if cause := h.cause(); cause != nil {
		return d, cause
	}
	if ctx.Err() != nil {
		return d, context.Cause(ctx)
	}
	return d, err
}

// program runs a Program.
func (h *host) program(ctx context.Context, c *command, t target) (err error) {
	p := &Proc{
		Args:   t.args,
		Env:    c.env,
		Dir:    c.dir,
		Stdin:  boundReader(ctx, c.stdin),
		Stdout: boundWriter(ctx, c.stdout),
		Stderr: boundWriter(ctx, c.stderr),
		Umask:  c.umask,
		Memory: h.allowance.lowered(h.limits).Memory,
		Shown:  h.shown(c.stdout),
		Admit:  h.ask,
	}
	p.FS = h.filesOf(ctx, t.name, stdio{ctx: ctx, in: p.Stdin, out: p.Stdout, err: p.Stderr, files: c.files})
	p.Spawn = func(ctx context.Context, ch Child) error { return h.spawn(ctx, p, c, ch) }
	p.Fetch = func(ctx context.Context, r Request) (*Response, error) { return h.fetch(ctx, t.name, p.Stderr, r) }
	defer func() {
		if v := recover(); v != nil {
			err = h.stop(newFault(t.name, v))
		}
	}()
	began := time.Now()
	err = t.program.Run(ctx, p)
	h.meter.Ran(time.Since(began))
	var code ExitCode
	switch {
	case err == nil, errors.As(err, &code) && code == 0:
		return nil
	case errors.As(err, &code):
		return code
	case ctx.Err() != nil && h.cause() == nil:
		return err // only this program's context ended: a parent's business
	}
	if le, ok := h.tooBig(err); ok {
		return say(c, t.name+": "+le.Error(), StatusKilled)
	}
	var le *LimitError
	if !errors.As(err, &le) && h.cause() == nil {
		f := &Fault{Name: t.name, Detail: err.Error(), Err: err}
		return h.stop(f)
	}
	return h.stop(err)
}

// spawn starts a command for a program.
func (h *host) spawn(ctx context.Context, p *Proc, parent *command, ch Child) error {
	if len(ch.Args) == 0 || ch.Args[0] == "" {
		return &ExecError{Msg: "command not found", Status: StatusNotFound, Err: syscall.ENOENT}
	}
	c := &command{args: ch.Args, env: ch.Env, dir: ch.Dir, files: parent.files, depth: parent.depth + 1, pid: parent.pid, ignored: parent.ignored, umask: parent.umask, started: ch.Started, stdin: ch.Stdin, stdout: ch.Stdout, stderr: ch.Stderr}
	if c.env == nil {
		c.env = p.Env
	}
	if c.dir == "" {
		c.dir = p.Dir
	}
	if c.stdout == nil {
		c.stdout = p.Stdout
	}
	if c.stderr == nil {
		c.stderr = p.Stderr
	}
	err := h.exec(ctx, c)
	var ee *ExecError
	if line := Absent(c.args[0]); errors.As(err, &ee) && ee.Status == StatusNotFound && line != "" {
		_, _ = fmt.Fprintln(c.stderr, line)
	}
	var de *policy.DeniedError
	if errors.As(err, &de) {
		// Said here, where the child would have written; the program that
		// asked only needs to know that it may not.
		_, _ = fmt.Fprintln(c.stderr, denial(c.args[0], de))
		return &ExecError{Name: c.args[0], Msg: "denied by policy", Status: StatusDenied, Err: syscall.EACCES}
	}
	return err
}

// denial is what stderr gets for a denied command.
func denial(name string, de *policy.DeniedError) string {
	if x := de.Action.Exec; x != nil && x.Name != name {
		name += " (" + x.Name + ")"
	}
	return name + ": " + de.Error()
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
