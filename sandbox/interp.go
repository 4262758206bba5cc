package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// interpEvaluator is the evaluator on mvdan/sh's interp. Its files are named
// interp_*.go. interp was made to run scripts of its own user: it reaches the
// host round its hooks, recurses without bound and panics on some scripts. So
// every hook is set here, texts are rewritten before it sees them (see
// rewriter), and builtins that would ask the host are replaced (see
// interpShell.call).
type interpEvaluator struct{}

// An interpShell is one runner of interp with all that its hooks need.
type interpShell struct {
	h     *host
	sc    *script
	in    *interpStdin
	base  int // frames of the stack below the runner
	texts *textSet

	mu      sync.Mutex
	sources map[string]string // rewritten texts that source is about to read
	calls   uint32
}

func (interpEvaluator) eval(ctx context.Context, h *host, sc script) (int, error) {
	if len(sc.text) == 0 {
		return 0, nil
	}
	sh := &interpShell{h: h, sc: &sc, base: stackDepth(), texts: &textSet{}, sources: map[string]string{}}
	file, err := sh.prepare(ctx, sc.text, sc.name)
	if err != nil {
		return 0, err
	}
	if sh.in, err = newInterpStdin(ctx, sc.stdin); err != nil {
		return 0, h.stop(err)
	}
	defer sh.in.close()
	env := newInterpEnv(sc.env, sc.dir)
	r, err := interp.New(
		interp.Env(env),
		interp.Dir("/"), // a folder that every host has; replaced below
		interp.StdIO(sh.in.file, orDiscard(sc.stdout), orDiscard(sc.stderr)),
		interp.CallHandler(sh.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return sh.exec }), // never next: it starts host programs
		interp.OpenHandler(sh.open),
		interp.ReadDirHandler2(sh.readDir),
		interp.StatHandler(sh.stat),
		interp.AccessHandler(sh.access),
		interp.Params(append(interpOpts(sc.opts), sc.params...)...),
	)
	if err != nil {
		return 0, &ParseError{Name: sc.name, Line: 1, Col: 1, Msg: err.Error()}
	}
	r.Dir = sc.dir
	r.Reset()
	env.reset = true
	return sh.status(ctx, r.Run(ctx, file))
}

// interpOpts ends the options, so that no parameter is taken for one.
func interpOpts(opts []string) []string {
	return append(opts[:len(opts):len(opts)], "--")
}

// status maps what a runner returns.
func (sh *interpShell) status(ctx context.Context, err error) (int, error) {
	if cause := sh.h.cause(); cause != nil {
		return 0, cause
	}
	var st interp.ExitStatus
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &st):
		return int(st), nil
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	return 0, sh.h.stop(&Fault{Name: "the shell", Detail: err.Error(), Err: err})
}

// prepare parses and rewrites a whole text.
func (sh *interpShell) prepare(ctx context.Context, text, name string) (*syntax.File, error) {
	f, err := parse(ctx, text, "", sh.h.limits)
	if err != nil {
		return nil, err
	}
	rw := rewriter{texts: sh.texts}
	rw.file(f)
	if rw.err != nil {
		return nil, rw.err
	}
	f.Name = name // becomes $0
	return f, nil
}

// prepareText rewrites a text that interp will parse itself: the argument of
// eval, a trap, a sourced file.
func (sh *interpShell) prepareText(ctx context.Context, text string) (string, error) {
	f, err := parse(ctx, text, "", sh.h.limits)
	if err != nil {
		return "", err
	}
	rw := rewriter{texts: sh.texts}
	rw.file(f)
	switch {
	case rw.err != nil:
		return "", rw.err
	case !rw.changed:
		return text, nil
	}
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, f); err != nil {
		return "", err
	}
	return b.String(), nil
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// interpEnv is the environment below all variables of a shell. It answers
// whatever interp would otherwise ask the host for.
type interpEnv struct {
	vars  map[string]expand.Variable
	names []string
	reset bool // the runner has read TMPDIR for itself
}

func newInterpEnv(env []string, dir string) *interpEnv {
	e := &interpEnv{vars: map[string]expand.Variable{}}
	set := func(name string, v expand.Variable) {
		v.Set, v.Kind = true, expand.String
		if _, ok := e.vars[name]; !ok {
			e.names = append(e.names, name)
		}
		e.vars[name] = v
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		set(name, expand.Variable{Exported: true, Str: value})
	}
	set("HOME", expand.Variable{Exported: true, Str: getenv(env, "HOME")})
	set("PWD", expand.Variable{Exported: true, Str: dir})
	for name, value := range virtualVars {
		set(name, expand.Variable{Str: value, ReadOnly: value == virtualPID || value == virtualUID})
	}
	return e
}

const (
	virtualPID = "2"
	virtualUID = "1000"
	pidVar     = "__donax_pid"
	ppidVar    = "__donax_ppid"
	assignsVar = "__donax_assigns" // names assigned in front of a command
	jobVar     = "__donax_job"     // set inside background jobs
)

// virtualVars stand for what interp would take from the host.
var virtualVars = map[string]string{
	"UID": virtualUID, "EUID": virtualUID, "GID": virtualUID,
	pidVar: virtualPID, ppidVar: "1",
	"BASH_VERSION": "5.2.15(1)-release", "HOSTNAME": "donax", "OSTYPE": "linux-gnu", "SHLVL": "1",
	"HOSTTYPE": "x86_64", "MACHTYPE": "x86_64-pc-linux-gnu",
}

// tempDir is where interp believes its fifos to be. It opens any path there
// on the host with the script's flags; a folder with a NUL byte in its name
// can be no path of a script, and no host opens it.
const tempDir = "/\x00donax"

func (e *interpEnv) Get(name string) expand.Variable {
	if name == "TMPDIR" && !e.reset {
		return expand.Variable{Set: true, Kind: expand.String, Str: tempDir}
	}
	if user, ok := strings.CutPrefix(name, "HOME "); ok { // ~user: never the host's users
		return expand.Variable{Set: true, Kind: expand.String, Str: "~" + user}
	}
	return e.vars[name]
}

func (e *interpEnv) Each(f func(string, expand.Variable) bool) {
	for _, n := range e.names {
		if !f(n, e.vars[n]) {
			return
		}
	}
}

// interpStdin is the stdin of a shell. interp needs an OS pipe; what the pipe
// is fed from is only read when a builtin reads, and handed to programs as it
// is, so that a line which does not read its stdin does not swallow it.
type interpStdin struct {
	ctx  context.Context
	file *os.File
	own  *os.File // the other end, when the pipe is ours

	mu  sync.Mutex
	src io.Reader // nil: file is all there is
}

func newInterpStdin(ctx context.Context, in io.Reader) (*interpStdin, error) {
	if f, ok := in.(*os.File); ok {
		return &interpStdin{ctx: ctx, file: f}, nil
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if in == nil {
		_ = pw.Close()
	}
	return &interpStdin{ctx: ctx, file: pr, own: pw, src: in}, nil
}

// is reports whether a stream of the shell is this stdin.
func (s *interpStdin) is(f io.Reader) bool {
	file, ok := f.(*os.File)
	return ok && file == s.file
}

// reader is what a program gets whose stdin is f.
func (s *interpStdin) reader(f io.Reader) io.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.src != nil && s.is(f) {
		return s.src
	}
	return f
}

// pump starts to feed the pipe: a builtin is about to read from f.
func (s *interpStdin) pump(f io.Reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.src == nil || !s.is(f) {
		return
	}
	src := s.src
	s.src = nil
	go func() {
		defer s.own.Close()
		end := newPipeEnd(s.ctx, s.own)
		defer end.close()
		_, _ = io.Copy(struct{ io.Writer }{end}, struct{ io.Reader }{src})
	}()
}

func (s *interpStdin) close() {
	if s.own == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.file.Close()
	if s.src != nil {
		_ = s.own.Close()
	}
}
