package sandbox

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/shell"
)

// A script is one shell: of the whole line, or of a sh, bash or script file
// that it started.
type script struct {
	text   string
	config shell.Config // Name, Params, Options and their like
	env    []string     // NAME=VALUE
	dir    string
	files  map[int]*shell.File // descriptors from 3 on
	pid    int
	depth  int     // of functions, sources and shells around it
	umask  *uint32 // nil means 022
	main   bool    // of the whole line: what it leaves behind ends with it
	kept   *kept

	stdin          io.Reader // nil: empty
	stdout, stderr io.Writer
}

// A host is what one shell or program sees of the outside. The run behind it
// is shared by all of one [Session.Run].
type host struct {
	*run
	depth     int      // programs that led here
	ancestors []string // their canonical names, outermost first
	pid       int      // its own
	mounts    []policy.MountRule
	allowance *allowance // what policies leave to the programs that led here; nil: as much as the line has
}

// Ids that a script sees instead of the process's.
const (
	virtualPID  = 2
	virtualUID  = 1000
	virtualHost = "donax"
)

// eval runs a script. It returns the script's status; or an error when the
// script was ended from outside: a [*LimitError], a [*Fault] or the
// context's. All that it started has ended when it returns.
func (h *host) eval(ctx context.Context, sc script) (int, error) {
	s := &shellHost{host: h, stderr: sc.stderr}
	defer s.giveBack()
	l := h.limits
	c := sc.config
	c.Host, c.Env, c.Dir, c.Files, c.Depth, c.Umask, c.KillJobs = s, sc.env, sc.dir, sc.files, sc.depth, sc.umask, sc.main
	c.Stdin, c.Stdout, c.Stderr = unbound(sc.stdin), unboundWriter(sc.stdout), unboundWriter(sc.stderr)
	c.IDs = shell.IDs{PID: sc.pid, PPID: h.parent(sc.main), UID: virtualUID, GID: virtualUID, Host: virtualHost}
	c.Limits = shell.Limits{
		Source:    whole(l.Source),
		Nesting:   l.Nesting,
		Depth:     l.Depth,
		Expansion: l.expansion(),
		Jobs:      whole(l.Jobs),
		Stages:    l.Stages,
		Files:     l.Files,
		State:     l.State,
	}
	var status int
	var err error
	if sc.kept != nil {
		status, sc.kept.after, err = sc.kept.before.RunFrom(ctx, c, sc.text)
	} else {
		status, err = shell.Run(ctx, c, sc.text)
	}
	if cause := h.cause(); cause != nil {
		return 0, cause
	}
	var le *shell.LimitError
	var fe *shell.Fault
	switch {
	case errors.As(err, &le):
		err = h.stop(&LimitError{What: le.What, Flag: raises(le)})
	case errors.As(err, &fe):
		err = h.stop(&Fault{Name: "the shell", Detail: fe.Cause + "\n" + fe.Detail})
	}
	return status, err
}

// raises names the flag that raises a limit of the shell: texts in memory
// follow the memory limit.
func raises(e *shell.LimitError) string {
	for _, what := range []string{"expansion of ", "variable of ", "printf output of ", "line of "} {
		if strings.HasPrefix(e.What, what) {
			return "--memory"
		}
	}
	return e.Flag
}

// parent is the id of the process that started this one.
func (h *host) parent(main bool) int {
	if main {
		return virtualPID - 1
	}
	return h.pid
}

func whole(n int64) int { return int(min(n, math.MaxInt)) }
