package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/donax-sh/donax/policy"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// prefix is how the shell begins a message, as bash does.
func (sh *interpShell) prefix(pos syntax.Pos) string {
	if line := pos.Line(); line > 0 {
		return fmt.Sprintf("%s: line %d: ", sh.sc.name, line)
	}
	return sh.sc.name + ": "
}

// fail is how a builtin ends with a message.
func (sh *interpShell) fail(hc interp.HandlerContext, status uint8, format string, args ...any) error {
	_, _ = io.WriteString(hc.Stderr, sh.prefix(hc.Pos)+fmt.Sprintf(format, args...)+"\n")
	return exitStatus(int(status))
}

// exitStatus is the error for a status, nil for 0: interp takes no 0.
func exitStatus(n int) error {
	if n == 0 {
		return nil
	}
	return interp.ExitStatus(uint8(n))
}

// exec runs every command that is neither a function nor a builtin of interp.
func (sh *interpShell) exec(ctx context.Context, args []string) error {
	if err := sh.h.cause(); err != nil {
		return err
	}
	hc := interp.HandlerCtx(ctx)
	if name, ok := strings.CutPrefix(args[0], ownPrefix); ok {
		return sh.builtin(ctx, hc, name, args[1:])
	}
	err := sh.h.exec(ctx, &command{
		args:       args,
		env:        exported(hc.Env),
		dir:        hc.Dir,
		assigns:    assigned(hc.Env),
		background: hc.Env.Get(jobVar).IsSet(),
		stdin:      sh.in.reader(hc.Stdin),
		stdout:     sh.output(hc),
		stderr:     unmark(hc.Stderr),
	})
	return sh.execError(hc, args[0], err)
}

// execError says what went wrong and turns it into a status.
func (sh *interpShell) execError(hc interp.HandlerContext, name string, err error) error {
	var code ExitCode
	var de *policy.DeniedError
	var ee *ExecError
	switch {
	case err == nil:
		return nil
	case sh.h.cause() != nil:
		return err
	case errors.As(err, &ee):
		return sh.fail(hc, uint8(ee.Status), "%s", ee.Error())
	case errors.As(err, &de):
		_, _ = io.WriteString(hc.Stderr, denial(name, de)+"\n")
		return exitStatus(StatusDenied)
	case errors.As(err, &code):
		return exitStatus(int(code))
	}
	return err
}

// exported returns the environment of a program.
func exported(env expand.Environ) []string {
	at := map[string]int{}
	var list []string
	for name, v := range env.Each {
		i, seen := at[name]
		keep := v.IsSet() && v.Exported && v.Kind == expand.String && name != assignsVar && name != jobVar
		switch {
		case keep && seen:
			list[i] = name + "=" + v.Str
		case keep:
			at[name] = len(list)
			list = append(list, name+"="+v.Str)
		case seen: // unset, or no longer exported, in an inner scope
			delete(at, name)
			list[i] = ""
		}
	}
	n := 0
	for _, kv := range list {
		if kv != "" {
			list[n] = kv
			n++
		}
	}
	return list[:n]
}

func assigned(env expand.Environ) []string {
	v := env.Get(assignsVar)
	if !v.IsSet() {
		return nil
	}
	return strings.Split(v.Str, ",")
}

// output is where a command of the shell writes.
func (sh *interpShell) output(hc interp.HandlerContext) io.Writer {
	w := unmark(hc.Stdout)
	if b, ok := w.(buffer); ok {
		return &capture{h: sh.h, buf: b, limit: sh.h.limits.Memory / 4}
	}
	return w
}

// buffer is what interp collects the output of a substitution in.
type buffer interface {
	io.Writer
	Len() int
}

// A capture bounds what a substitution holds in memory.
type capture struct {
	h     *host
	buf   buffer
	limit int64
}

func (c *capture) Write(p []byte) (int, error) {
	if int64(c.buf.Len()+len(p)) > c.limit {
		return 0, c.h.stop(&LimitError{What: "command substitution of " + bytesText(c.limit), Flag: "--memory"})
	}
	if err := c.h.cause(); err != nil {
		return 0, err
	}
	return c.buf.Write(p)
}
