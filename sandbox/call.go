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
	return h.program(r.ctx, cmd, target{name: u.Name, kind: u.Kind, sha256: u.SHA256, args: c.Args, program: p})
}

// notShown is output that nobody reads directly.
type notShown struct{ io.Writer }

// A Fetch is a request with what is known of the program that makes it.
type Fetch struct {
	Request
	By     string       // the program, as a policy sees it
	Used   policy.Usage // programs, output and CPU time of the line so far
	Stderr io.Writer    // is told what the policy warns of
}

// A Fetcher makes the requests of one line that runs elsewhere, as if it ran
// here. It is safe for concurrent use.
type Fetcher struct{ h *host }

// Fetcher returns one for the command c. Its requests end with ctx, which says
// who asks and counts for them. Close it when the line has ended.
func (s *Session) Fetcher(ctx context.Context, c policy.Command) *Fetcher {
	r := newRun(ctx, s, c, nil, nil)
	if r.timer != nil {
		r.timer.Stop() // the line's time is kept where the line runs
	}
	return &Fetcher{&host{run: r}}
}

// Do makes a request with the session's admission and limits. Its error is what
// [Proc.Fetch] would return.
func (f *Fetcher) Do(ctx context.Context, r Fetch) (*Response, error) {
	if err := f.h.cause(); err != nil {
		return nil, err
	}
	return f.h.fetchHere(ctx, r, func() policy.Usage {
		u := f.h.meter.Usage(r.Used.Execs, r.Used.OutputBytes)
		u.CPUMS += r.Used.CPUMS
		return u
	})
}

// Close ends what is left of the requests.
func (f *Fetcher) Close() error {
	f.h.close()
	return nil
}
