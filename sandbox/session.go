package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/shell"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// Config is what a [Session] is made of. Only FS is required.
type Config struct {
	FS       vfs.FS                    // all files: a *vfs.Mount, or what becomes the root of one
	Programs []Program                 // the commands; names must differ. sh and bash are there always
	Lookup   func(name string) Program // finds programs that come and go, for names that are not in Programs; called often; may be nil
	Policy   policy.Engine             // asked before anything takes effect; nil denies everything
	Network  Network                   // makes the requests of programs; nil: there is no network
	// Relay makes them elsewhere instead, and there they are admitted and counted.
	Relay  func(context.Context, Fetch) (*Response, error)
	Limits Limits   // zero fields take the value of DefaultLimits
	Env    []string // NAME=VALUE of every shell; nothing is inherited from the process
	Dir    string   // working folder, absolute; "" means /

	// Load makes a program of a WebAssembly module that lies in the session's
	// files and is about to be started. Nil: such modules are not run.
	Load func(context.Context, Module) (Program, error)

	RC     string // text that each fresh shell of a Run reads first, as if sourced; the policy is asked to admit it so
	RCName string // what RC is called in messages and in that question
	Posix  bool   // the lines run in bash's POSIX mode, as those of sh do

	// Raise says, in a message about a limit, how to raise what the flag of
	// the donax command sets; lowered means that the limit is lower than the
	// session's own. Nil names the flag, or the policy.
	Raise func(flag string, lowered bool) string
}

// A Session is one sandbox. It is safe for concurrent use: each Run has a
// shell of its own over the shared files.
type Session struct {
	cfg      Config
	fs       *vfs.Mount
	programs map[string]Program

	mu    sync.Mutex
	calls map[caller]*atomic.Int64 // tool calls; guarded by mu
}

// caller is whose tool calls are counted together, whichever terminals make
// them.
type caller struct{ sub, tenant, auth string }

func (s *Session) toolCalls(p policy.Principal) *atomic.Int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := caller{p.Sub, p.Tenant, p.Auth}
	if s.calls[k] == nil {
		s.calls[k] = new(atomic.Int64)
	}
	return s.calls[k]
}

// New returns a Session. It fails when the configuration makes no sense.
func New(cfg Config) (*Session, error) {
	if cfg.FS == nil {
		return nil, errors.New("sandbox: no file system")
	}
	s := &Session{cfg: cfg, programs: make(map[string]Program, len(cfg.Programs)), calls: map[caller]*atomic.Int64{}}
	fsys, ok := cfg.FS.(*vfs.Mount)
	if !ok {
		var err error
		if fsys, err = vfs.NewMount(vfs.MountPoint{Path: "/", FS: cfg.FS, Mode: vfs.ReadWrite}); err != nil {
			return nil, err
		}
	}
	s.fs = fsys
	for _, p := range cfg.Programs {
		name := p.Usage().Name
		if name == "" || strings.ContainsAny(name, "/\x00\n ") {
			return nil, fmt.Errorf("sandbox: %q cannot be the name of a program", name)
		}
		if s.programs[name] != nil {
			return nil, fmt.Errorf("sandbox: two programs are named %q", name)
		}
		s.programs[name] = p
	}
	for _, p := range cfg.Programs {
		for _, alias := range p.Usage().Aliases {
			if s.programs[alias] == nil {
				s.programs[alias] = p
			}
		}
	}
	for _, kv := range cfg.Env {
		if err := checkVar(kv); err != nil {
			return nil, err
		}
	}
	if s.cfg.Dir = cmp.Or(cfg.Dir, "/"); !path.IsAbs(s.cfg.Dir) {
		return nil, fmt.Errorf("sandbox: the working folder %q is not absolute", cfg.Dir)
	}
	s.cfg.Dir = path.Clean(s.cfg.Dir)
	if err := checkText(cfg.RC); err != nil {
		return nil, fmt.Errorf("sandbox: %s: %w", cmp.Or(cfg.RCName, "RC"), err)
	}
	s.cfg.Limits = cfg.Limits.orDefault()
	return s, nil
}

// checkVar refuses what is no NAME=VALUE.
func checkVar(kv string) error {
	name, value, ok := strings.Cut(kv, "=")
	if !ok || !validName(name) {
		return fmt.Errorf("sandbox: %q is no variable: want NAME=VALUE", name)
	}
	if strings.ContainsRune(value, 0) {
		return fmt.Errorf("sandbox: the value of %s holds a NUL byte", name)
	}
	return nil
}

func validName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// Run runs c, which [Session.Inspect] has completed and the caller admitted,
// in a fresh shell over the session's files: c.Text (or the argv c.Args, if
// there is one) in c.Cwd (the session's
// folder when empty) with c.Environ added to the session's variables and
// c.Name and c.Params as $0, $1 and so on. c.Limits lower the session's.
//
// A nil in is empty. A line that does not read in leaves it alone, but for
// what the read builtins take ahead. What the line leaves in the background
// ends with it. Writes to out and errw never overlap,
// also when they are one writer, and stop when Run returns.
//
// err is nil when the script ended by itself. Otherwise the script was ended
// and what went wrong has been said on errw: a [*LimitError], the context's
// error, a [*ParseError], a [*Fault], or an error of c itself. status is then
// 124, 125, 2 or 137. A syntax error is the script's own: the lines before it
// run, and the status is 2. All that was started ends before Run returns; a
// program, or a writer of the caller, that does not return soon after ctx
// ended is abandoned, without its streams and files, and err then matches
// [ErrAbandoned].
func (s *Session) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (status int, err error) {
	return s.run(ctx, c, nil, in, out, errw)
}

// run is Run, in a shell whose state is kept when k is there.
func (s *Session) run(ctx context.Context, c policy.Command, k *kept, in io.Reader, out, errw io.Writer) (status int, err error) {
	r := newRun(ctx, s, c, out, errw)
	defer r.close()
	sc, err := s.script(r, c, k)
	if err == nil {
		sc.stdin, sc.stdout, sc.stderr = r.stdin(in), r.out, r.err
		status, err = r.wait(func() (int, error) {
			return r.guardedEval(r.ctx, &host{run: r, pid: virtualPID, mounts: c.Mounts}, sc)
		})
	}
	if err != nil {
		status = r.explain(err, status)
	}
	return status, err
}

// script checks c and turns it into what the evaluator runs.
func (s *Session) script(r *run, c policy.Command, k *kept) (script, error) {
	sc := script{text: c.Text, config: shell.Config{Name: r.name, Params: c.Params, Script: c.Script, RC: s.cfg.RC, RCFile: s.cfg.RCName, Posix: s.cfg.Posix}, dir: s.cfg.Dir, pid: virtualPID, main: true, kept: k}
	resumed := k != nil && k.before != nil
	if len(c.Args) > 0 {
		var err error
		if sc.text, err = quoteArgs(c.Args); err != nil {
			return sc, err
		}
	}
	if err := checkText(sc.text); err != nil {
		return sc, err
	}
	switch {
	case c.Cwd != "":
		sc.dir = c.Cwd
	case resumed:
		sc.dir = k.before.Dir()
	}
	if !resumed || sc.dir != k.before.Dir() { // the folder in which a shell is may have been removed
		if err := s.checkDir(r.caller, sc.dir); err != nil {
			return sc, err
		}
	}
	dir := sc.dir
	sc.dir = path.Clean(dir)
	for _, kv := range c.Environ {
		if err := checkVar(kv); err != nil {
			return sc, err
		}
	}
	if sc.env = c.Environ; !resumed {
		var pwd []string
		if real := realDir(r.caller, dir); real != "" { // as the shell would find out
			sc.dir, pwd = real, []string{"PWD=" + real}
		}
		sc.env = mergeEnv(baseEnv, pwd, s.cfg.Env, c.Environ)
	}
	sc.env, sc.config.Unset = withoutVars(sc.env, c.UnsetEnv), c.UnsetEnv
	return sc, nil
}

// baseEnv is what every shell starts from.
var baseEnv = []string{"PATH=/bin", "HOME=/workspace", "USER=user", "LOGNAME=user", "SHELL=/bin/bash", "LANG=C.UTF-8", "TMPDIR=/tmp"}

// mergeEnv joins lists of NAME=VALUE; later ones win.
func mergeEnv(lists ...[]string) []string {
	at := map[string]int{}
	var env []string
	for _, l := range lists {
		for _, kv := range l {
			name, _, _ := strings.Cut(kv, "=")
			if i, ok := at[name]; ok {
				env[i] = kv
				continue
			}
			at[name] = len(env)
			env = append(env, kv)
		}
	}
	return env
}

// withoutVars returns env without the variables with these names.
func withoutVars(env, names []string) []string {
	if len(names) == 0 {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// A knownDir is a folder that was looked up already.
type knownDir struct{ dir, real string }

type dirKey struct{}

// WithDir returns a context in which Inspect and Run believe that dir is a
// folder and that its path without symlinks is real: who calls has just looked,
// where that costs less.
func WithDir(ctx context.Context, dir, real string) context.Context {
	return context.WithValue(ctx, dirKey{}, knownDir{dir, real})
}

// realDir is what WithDir says of dir, or "".
func realDir(ctx context.Context, dir string) string {
	if k, ok := ctx.Value(dirKey{}).(knownDir); ok && k.dir == dir {
		return k.real
	}
	return ""
}

// checkDir refuses a working folder that is not there.
func (s *Session) checkDir(ctx context.Context, dir string) error {
	if !path.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return fmt.Errorf("cannot start in %q: the folder must be absolute", dir)
	}
	if realDir(ctx, dir) != "" {
		return nil
	}
	fi, err := s.fs.Stat(path.Clean(dir))
	if err != nil {
		return fmt.Errorf("cannot start in %s: %w", dir, bareError(err))
	}
	if !fi.IsDir() {
		return fmt.Errorf("cannot start in %s: not a directory", dir)
	}
	return nil
}
