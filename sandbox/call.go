package sandbox

import (
	"context"
	"io"

	"github.com/donax-sh/donax/policy"
)

// A Call is one program that runs here for a line that runs elsewhere.
type Call struct {
	Args, Env []string
	Dir       string
	Shown     bool
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	Mounts    []policy.MountRule // what the policy takes from mounts
}

// Call runs a program with the session's files, policy and limits, as a line
// of the session would. No shell is involved. Whether the program may start,
// the caller has asked; what it does is asked about here. The error is that of
// the program.
func (s *Session) Call(ctx context.Context, p Program, c Call) error {
	r := newRun(ctx, s, policy.Command{}, c.Stdout, c.Stderr)
	defer r.close()
	u := p.Usage()
	cmd := &command{args: c.Args, env: c.Env, dir: c.Dir, stdin: r.stdin(c.Stdin), stderr: r.err}
	cmd.stdout = r.out
	if !c.Shown {
		cmd.stdout = notShown{r.out}
	}
	h := &host{run: r, pid: virtualPID, depth: 1, mounts: c.Mounts}
	return h.program(r.ctx, cmd, target{name: u.Name, kind: u.Kind, sha256: u.SHA256, args: c.Args, program: p}, policy.Limits{})
}

// notShown is output that nobody reads directly.
type notShown struct{ io.Writer }
