package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/donax-sh/donax/mcp/client"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// command is the program of one tool. It is made anew for each look-up and
// finds its tool when it runs.
type command struct {
	s    *server
	name string
	tool *Tool // nil while the tools of the server are not known

	operator bool // whoever runs it is the person that would be asked
}

// program returns the program of a command, or nil when the tools are known
// and it is none.
func (s *server) program(name string) sandbox.Program {
	s.lock()
	defer s.mu.Unlock()
	t := s.byCommand[name]
	switch {
	case s.cfg.Disabled || s.cfg.Err != nil && s.tools == nil:
		return nil
	case t == nil && (s.tools != nil || s.cfg.Group != ""):
		return nil
	}
	return &command{s: s, name: name, tool: t}
}

// Usage implements [sandbox.Program].
func (c *command) Usage() sandbox.Usage {
	u := sandbox.Usage{Name: c.name, Kind: "tool"}
	if c.tool != nil {
		u.Synopsis, u.Summary, u.SHA256 = c.tool.synopsis(), c.tool.Summary(), c.tool.SHA256
	}
	return u
}

// Run implements [sandbox.Program]. The order is that of the promise: the
// arguments are right, the policy agrees, the confirm mode is satisfied, and
// only then is the server called.
func (c *command) Run(ctx context.Context, p *sandbox.Proc) error {
	if c.tool == nil {
		if _, release, err := c.s.use(ctx); err != nil {
			return c.fail(ctx, p, 1, err)
		} else {
			release()
		}
		if c.tool = c.s.tool(c.name); c.tool == nil {
			return c.fail(ctx, p, sandbox.StatusNotFound, errors.New("command not found: `mcp.list "+c.s.name+"` lists the tools of the server"))
		}
	}
	t := c.tool
	req, err := parseArgs(t.schema, p.Args[1:], p.Stdin)
	if err != nil {
		return c.fail(ctx, p, 2, fmt.Errorf("%w\n  try: %s --help", err, c.name))
	}
	if req.help {
		return write(p.Stdout, t.help())
	}
	a := policy.Action{Kind: policy.KindTool, Tool: &policy.Tool{
		Server: c.s.cfg.Name, Name: t.Name, SHA256: t.SHA256, Arguments: req.arguments, Confirm: string(t.Confirm),
		Annotations: policy.Annotations{
			ReadOnlyHint: t.Annotations.ReadOnly, DestructiveHint: t.Annotations.Destructive,
			IdempotentHint: t.Annotations.Idempotent, OpenWorldHint: t.Annotations.OpenWorld,
		},
	}}
	d, err := p.Admit(ctx, a)
	if err != nil {
		return c.fail(ctx, p, sandbox.StatusDenied, err)
	}
	for _, w := range d.Warnings {
		_, _ = fmt.Fprintf(p.Stderr, "donax: warning: %s: %s\n", c.name, w.Msg)
	}
	a.Subject = policy.SubjectFrom(ctx)
	if err := c.s.m.confirmed(ctx, c.s, a); err != nil && !(c.operator && t.Confirm != Block) {
		return c.fail(ctx, p, sandbox.StatusDenied, err)
	}
	res, err := c.call(ctx, p, a)
	var de *refusal
	if errors.As(err, &de) {
		return c.fail(ctx, p, sandbox.StatusDenied, err)
	}
	if err != nil {
		return c.fail(ctx, p, 1, err)
	}
	return c.print(p, res, req.json)
}

// refusal is why a call that was agreed to is not made.
type refusal struct{ error }

// call makes the call that a describes.
func (c *command) call(ctx context.Context, p *sandbox.Proc, a policy.Action) (client.Result, error) {
	conn, release, err := c.s.use(ctx)
	if err != nil {
		return client.Result{}, err
	}
	defer release()
	// The list was compared when the connection was made, and after: what was
	// agreed to must still be what is called.
	if err := c.s.pinned(); err != nil {
		return client.Result{}, &refusal{err}
	}
	if now := c.s.tool(c.name); now == nil || now.SHA256 != a.Tool.SHA256 {
		return client.Result{}, &refusal{errors.New("the server has changed this tool since it was looked up: nothing was called; look at --help and run it again")}
	}
	timeout, cancel := context.WithTimeout(ctx, c.s.cfg.CallTimeout)
	defer cancel()
	timeout = withAsker(timeout, c.s, p.Admit)
	var progress func(string)
	if c.s.m.cfg.Progress {
		progress = func(m string) {
			_, _ = fmt.Fprintf(p.Stderr, "%s: %s\n", c.name, line(c.s.hide(m), 200))
		}
	}
	res, err := conn.Call(timeout, a.Tool.Name, a.Tool.Arguments, progress)
	switch {
	case err == nil || ctx.Err() != nil:
		return res, err
	case timeout.Err() != nil:
		return res, fmt.Errorf("no answer within %v, the call was cancelled", c.s.cfg.CallTimeout)
	}
	return res, fmt.Errorf("the call failed: %s", line(c.s.hide(strings.TrimPrefix(err.Error(), a.Tool.Name+": ")), 600))
}

// fail says why a command ended with a status; what ends the script is passed
// on.
func (c *command) fail(ctx context.Context, p *sandbox.Proc, status sandbox.ExitCode, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var de *policy.DeniedError
	var le *sandbox.LimitError
	if errors.As(err, &le) {
		return err
	}
	if status == sandbox.StatusDenied && !errors.As(err, &de) {
		err = fmt.Errorf("denied: %w", err)
	}
	_, _ = io.WriteString(p.Stderr, c.name+": "+clean(c.s.hide(err.Error()))+"\n")
	return status
}

// write writes to a stream; a reader that has gone is no fault of the
// sandbox.
func write(w io.Writer, s string) error {
	if _, err := io.WriteString(w, s); err != nil {
		return sandbox.ExitCode(1)
	}
	return nil
}
