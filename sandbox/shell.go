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

	"github.com/donax-sh/donax/policy"
)

// shellArgs is what the command line of sh or bash asks for.
type shellArgs struct {
	text   string
	name   string
	params []string
	opts   []string
	stdin  bool // the text came from stdin: nothing of it is left
}

// shellTarget makes the target for `sh ...`: the session's own shell, under
// the same admission as every program.
func (h *host) shellTarget(ctx context.Context, c *command, name string, args []string) (target, error) {
	fail := func(msg string, status ExitCode, err error) (target, error) {
		return target{}, &ExecError{Name: name, Msg: msg, Status: status, Err: err}
	}
	sh := shellArgs{name: args[0]}
	rest := args[1:]
	command, fromStdin := false, false
options:
	for len(rest) > 0 {
		a := rest[0]
		switch {
		case a == "--" || a == "-":
			rest = rest[1:]
			break options
		case a == "--norc" || a == "--noprofile" || a == "--login":
			// There are no start-up files to leave out or to read.
		case strings.HasPrefix(a, "--"):
			return fail(a+": invalid option", 2, syscall.EINVAL)
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			for i := 1; i < len(a); i++ {
				switch f := a[i]; {
				case f == 'c' && a[0] == '-':
					command = true
				case f == 's' && a[0] == '-':
					fromStdin = true
				case f == 'l' && a[0] == '-':
				case f == 'o':
					if len(rest) < 2 {
						return fail(a+": option requires an argument", 2, syscall.EINVAL)
					}
					sh.opts = append(sh.opts, a[:1]+"o", rest[1])
					rest = rest[1:]
				case strings.IndexByte("aefnux", f) >= 0:
					sh.opts = append(sh.opts, a[:1]+string(f))
				default:
					return fail(a+": invalid option", 2, syscall.EINVAL)
				}
			}
		default:
			break options
		}
		rest = rest[1:]
	}
	switch {
	case command:
		if len(rest) == 0 {
			return fail("-c: option requires an argument", 2, syscall.EINVAL)
		}
		sh.text = rest[0]
		if len(rest) > 1 {
			sh.name, sh.params = rest[1], rest[2:]
		}
	case len(rest) > 0 && !fromStdin && !isStdin(rest[0]):
		t, err := h.scriptFile(ctx, name, sh.opts, h.scriptPath(c, rest[0]), rest)
		var e *ExecError
		if errors.As(err, &e) {
			e.Name = name + ": " + rest[0]
			if errors.Is(e.Err, syscall.ENOENT) {
				e.Status = StatusNotFound
			}
			return target{}, e
		}
		t.args = args
		return t, err
	default:
		streams := streamSet{ctx: ctx}
		text, err := readText(streams.reader(c.stdin), h.limits.Source)
		streams.close()
		if len(rest) > 0 && !fromStdin {
			sh.name, rest = rest[0], rest[1:]
		}
		if err != nil {
			return target{}, h.textError(name, err)
		}
		sh.text, sh.params, sh.stdin = string(text), rest, true
	}
	return target{name: name, kind: "shell", sha256: digest(sh.text), args: args, shell: sh}, nil
}

func isStdin(name string) bool { return name == "/dev/stdin" || name == "/dev/fd/0" }

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

// scriptFile makes the target for the script file at, run by the shell name.
// args[0] is the file as it was called.
func (h *host) scriptFile(ctx context.Context, name string, opts []string, at string, args []string) (target, error) {
	text, err := h.readFile(ctx, at)
	if err != nil {
		return target{}, h.textError(args[0], err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if bytes.IndexByte(line, 0) >= 0 || bytes.HasPrefix(text, []byte(boxMagic)) {
		return target{}, &ExecError{Name: args[0], Msg: "cannot execute binary file", Status: StatusDenied, Err: syscall.ENOEXEC}
	}
	return target{
		name:   name,
		kind:   "shell",
		sha256: digest(string(text)),
		args:   append([]string{name}, args...),
		shell:  shellArgs{text: string(text), name: args[0], params: args[1:], opts: opts},
	}, nil
}

// readFile reads a script, asking the policy as for any file of the shell.
func (h *host) readFile(ctx context.Context, at string) ([]byte, error) {
	f, err := h.files(ctx).Open(at, os.O_RDONLY, 0)
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
		err = &LimitError{What: "source text of " + bytesText(limit)}
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
	return &ExecError{Name: name, Msg: reason(err), Status: StatusDenied, Err: errnoOf(err)}
}

// shell runs the session's own shell for sh, bash or a script file.
func (h *host) shell(ctx context.Context, c *command, t target) error {
	sc := script{
		text:   t.shell.text,
		name:   t.shell.name,
		params: t.shell.params,
		opts:   t.shell.opts,
		env:    c.env,
		dir:    c.dir,
		stdin:  c.stdin,
		stdout: c.stdout,
		stderr: c.stderr,
	}
	if t.shell.stdin {
		sc.stdin = nil
	}
	status, err := h.guardedEval(ctx, h, sc)
	var pe *ParseError
	switch {
	case errors.As(err, &pe) && h.cause() == nil:
		if c.stderr != nil {
			_, _ = io.WriteString(c.stderr, sc.name+": "+pe.Error()+"\n")
		}
		return ExitCode(2)
	case err != nil && ctx.Err() != nil && h.cause() == nil:
		return err
	case err != nil:
		return h.stop(err)
	case status != 0:
		return ExitCode(status)
	}
	return nil
}

// admitText asks about a builtin that runs other text, or that replaces the
// shell: eval, source, . and exec.
func (h *host) admitText(ctx context.Context, args []string, text, dir string, stderr io.Writer) error {
	_, err := h.admit(ctx, policy.Exec{Name: args[0], Args: args[1:], Kind: "shell", SHA256: digest(text), Cwd: dir}, stderr)
	return err
}
