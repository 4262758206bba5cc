package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/sandbox/shell"
)

// shellTarget makes the target for `sh ...`: the session's own shell, under
// the same admission as every program. What is wrong with the command line is
// said where sh itself would say it.
func (h *host) shellTarget(ctx context.Context, c *command, name string, args []string) (target, error) {
	inv, msg := shell.Parse(shell.Config{}, args)
	if msg != "" {
		return target{}, say(c, args[0]+": "+msg, 2)
	}
	t := target{name: name, kind: "shell", args: args, shell: inv, text: inv.Text}
	var err error
	switch {
	case inv.Version:
	case inv.File != "":
		if t, err = h.scriptFile(ctx, c, name, nil, h.scriptPath(c, inv.File), append([]string{inv.File}, inv.Config.Params...)); err != nil {
			var e *ExecError
			if !errors.As(err, &e) {
				return target{}, err
			}
			if e.Status == StatusNotFound {
				return target{}, say(c, args[0]+": "+e.Error(), StatusNotFound)
			}
			return target{}, say(c, e.Name+": "+e.Error(), e.Status)
		}
		t.args, t.shell = args, inv
	case inv.Stdin:
		// All of it is read before it is decided about. What its commands
		// read from stdin is the text that follows them.
		text, err := readText(boundReader(ctx, c.stdin), h.limits.Source)
		if err != nil {
			return target{}, h.textError(name, err)
		}
		t.text = string(text)
	}
	t.sha256 = digest(t.text)
	return t, nil
}

// say writes a message where the command would have and is how it ends.
func say(c *command, line string, status ExitCode) error {
	if c.stderr != nil {
		_, _ = io.WriteString(c.stderr, line+"\n")
	}
	return status
}

// scriptPath finds the file of `sh FILE`: in the working folder, else in PATH.
func (h *host) scriptPath(c *command, name string) string {
	at := joinPath(c.dir, name)
	if strings.Contains(name, "/") {
		return at
	}
	if _, err := h.session.fs.Stat(at); err == nil {
		return at
	}
	for _, dir := range strings.Split(getenv(c.env, "PATH"), ":") {
		p := joinPath(c.dir, path.Join(dir, name))
		if fi, err := h.session.fs.Stat(p); err == nil && fi.Mode().IsRegular() {
			return p
		}
	}
	return at
}

// scriptFile makes the target for the script file at, run by the shell name
// with options opts. args[0] is the file as it was called.
func (h *host) scriptFile(ctx context.Context, c *command, name string, opts []string, at string, args []string) (target, error) {
	text, err := h.readFile(ctx, c, at)
	if err != nil {
		return target{}, h.textError(args[0], err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if bytes.IndexByte(line, 0) >= 0 || bytes.HasPrefix(text, []byte(boxMagic)) {
		return target{}, &ExecError{Name: args[0], Msg: "cannot execute binary file", Status: StatusDenied, Err: syscall.ENOEXEC}
	}
	argv := append(append([]string{name}, opts...), args...)
	inv, msg := shell.Parse(shell.Config{}, argv)
	switch {
	case msg == "" && inv.File != args[0]: // its first line asks for another text
		msg = strings.Join(opts, " ") + ": invalid option"
		fallthrough
	case msg != "":
		return target{}, say(c, name+": "+msg, 2)
	}
	return target{name: name, kind: "shell", sha256: digest(string(text)), args: argv, shell: inv, text: string(text)}, nil
}

// readFile reads a script, asking the policy as for any file of the shell.
func (h *host) readFile(ctx context.Context, c *command, at string) ([]byte, error) {
	std := stdio{ctx: ctx, in: boundReader(ctx, c.stdin), err: c.stderr, files: c.files}
	f, err := h.filesOf(ctx, "shell", std).Open(at, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil {
		return nil, err
	} else if fi.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: at, Err: syscall.EISDIR}
	}
	return readText(f, h.limits.Source)
}

// readText reads all of r, one byte more than the limit at most.
func readText(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = sourceLimit(limit)
	}
	return text, err
}

// textError is the error of a script that could not be read.
func (h *host) textError(name string, err error) error {
	var le *LimitError
	if errors.As(err, &le) {
		return h.stop(err)
	}
	if cause := h.cause(); cause != nil {
		return cause
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := &ExecError{Name: name, Msg: reason(err), Status: StatusDenied, Err: errnoOf(err)}
	if errors.Is(e.Err, syscall.ENOENT) {
		e.Status = StatusNotFound
	}
	return e
}

// shell runs the session's own shell for sh, bash or a script file.
func (h *host) shell(ctx context.Context, c *command, t target) error {
	if t.shell.Version {
		if c.stdout != nil {
			_, _ = io.WriteString(c.stdout, shell.Version+"\n")
		}
		return nil
	}
	sc := script{
		text:   t.text,
		config: t.shell.Config,
		env:    c.env,
		dir:    c.dir,
		files:  c.files,
		pid:    c.pid,
		depth:  c.depth,
		umask:  c.umask,
		stdin:  c.stdin,
		stdout: c.stdout,
		stderr: c.stderr,
	}
	sc.config.Ignored = c.ignored
	if t.shell.Stdin {
		sc.text, sc.stdin = "", strings.NewReader(t.text)
	}
	status, err := h.guardedEval(ctx, h, sc)
	switch {
	case err != nil && ctx.Err() != nil && h.cause() == nil:
		return err
	case err != nil:
		return h.stop(err)
	case status != 0:
		return ExitCode(status)
	}
	return nil
}
