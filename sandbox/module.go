package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/donax-sh/donax/policy"
)

// A Module is a WebAssembly module in the session's files.
type Module struct {
	// Name is the path of the file, canonical and absolute: a name without a
	// slash could pass for one of the session's programs in a policy.
	Name string
	Code []byte

	// Admit asks the policy whether it may be loaded. When its error is not nil
	// there must be no program.
	Admit func(context.Context, policy.Module) error
}

// maxModule is how many bytes a module in the session's files may have.
const maxModule = 64 << 20

// module loads the module in the file at. That the file is read is not asked
// about: the module and the exec are.
func (h *host) module(ctx context.Context, c *command, at string) (target, error) {
	e := &ExecError{Name: c.args[0], Status: StatusDenied, Err: syscall.ENOEXEC}
	if h.session.cfg.Load == nil {
		e.Msg = "WebAssembly modules in the session's files are not run: add the program to the sandbox"
		return target{}, e
	}
	m, err := h.readModule(at)
	if err != nil {
		e.Msg, e.Err = reason(err), errnoOf(err)
		return target{}, e
	}
	m.Admit = func(ctx context.Context, facts policy.Module) error {
		d, err := h.ask(ctx, policy.Action{Kind: policy.KindModule, Module: &facts})
		for _, w := range d.Warnings {
			if err == nil && c.stderr != nil {
				_, _ = fmt.Fprintf(c.stderr, "donax: warning: %s: %s\n", m.Name, w.Msg)
			}
		}
		return err
	}
	p, err := h.session.cfg.Load(ctx, m)
	var denied *policy.DeniedError
	switch {
	case err == nil:
		u := p.Usage()
		return target{name: m.Name, kind: u.Kind, sha256: u.SHA256, args: c.args, program: p}, nil
	case h.cause() != nil:
		return target{}, h.cause()
	case ctx.Err() != nil:
		return target{}, context.Cause(ctx)
	case errors.As(err, &denied):
		return target{}, denied
	}
	e.Msg = err.Error()
	return target{}, e
}

func (h *host) readModule(at string) (m Module, err error) {
	l, err := h.session.fs.Resolve(at, true)
	if err != nil {
		return m, err
	}
	f, err := l.Open(os.O_RDONLY, 0)
	if err != nil {
		return m, err
	}
	defer f.Close()
	m.Name = l.Path
	if m.Code, err = io.ReadAll(io.LimitReader(f, maxModule+1)); err == nil && len(m.Code) > maxModule {
		err = syscall.EFBIG
	}
	return m, err
}
