package shell

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
)

// Run runs src as bash would run it and returns its exit status. err is nil
// when the script ended by itself; otherwise it is what ended it: a
// [*LimitError], a [*Fault], the context's cause or a host's fatal error.
// When Run returns, nothing of the script is running any more.
func Run(ctx context.Context, c Config, src string) (status int, err error) {
	status, _, err = runFrom(ctx, &c, nil, src, false)
	return status, err
}

// runFrom runs src in a shell that goes on from s, if there is one, and makes
// the state after it when it is to be kept.
func runFrom(ctx context.Context, c *Config, s *State, src string, keep bool) (status int, next *State, err error) {
	r := newRun(ctx, c)
	sh := newShell(r, c, s)
	done := make(chan struct{})
	status = 125
	r.spawn(func() {
		defer close(done)
		status = sh.top(c, s, src)
	})
	<-done
	if c.KillJobs {
		if err = r.ended(); err == nil {
			r.cancel(context.Canceled)
		}
	}
	r.wg.Wait()
	// That jobs were killed here is no end of the script.
	if last := r.ended(); !c.KillJobs || !errors.Is(last, context.Canceled) {
		err = last
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	var fe fatalErr
	if errors.As(err, &fe) {
		err = fe.error
	}
	r.cancel(context.Canceled)
	if n := r.mem.Swap(0); n != 0 {
		_ = c.Host.Spend(Memory, n)
	}
	if keep && err == nil && !sh.proc.dead.Load() {
		next, err = sh.leave(s)
	}
	return status, next, err
}

// ended is what ended the script, if anything did.
func (r *run) ended() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

func newShell(r *run, c *Config, s *State) *shell {
	sh := &shell{run: r, vars: newStore(), traps: newTraps(), script: c.Script, commandString: !c.Script && !c.fromStdin,
		fromStdin: c.fromStdin, depth: c.Depth}
	sh.kept = kept{funcs: newFuncTable(), opts: defaultOptions(), params: c.Params, name0: firstOf(c.Name, "bash"), dir: c.Dir, mask: 0o022, secondsFrom: r.start}
	sh.mainSource = firstOf(c.Path, sh.name0)
	if c.Umask != nil {
		sh.mask = int(*c.Umask & 0o777)
	}
	if !strings.HasPrefix(sh.dir, "/") {
		sh.dir = "/"
	}
	sh.proc = r.procs.add(nil, r.host.Now())
	sh.pid = sh.proc.pid
	sh.ctx, sh.proc.cancel = context.WithCancelCause(r.ctx)
	for sig := 1; sig < sigDEBUG; sig++ {
		if c.Ignored>>sig&1 != 0 {
			sh.ignore(sig)
		}
	}
	if s != nil {
		sh.resume(s, c)
	} else {
		sh.initVars(c)
	}
	stream := func(r io.Reader, w io.Writer, name string) *File {
		if f, ok := r.(*File); ok && f != nil {
			return f.ref()
		}
		if f, ok := w.(*File); ok && f != nil {
			return f.ref()
		}
		return newFile(&File{r: r, w: w, ctx: sh.run.ctx, name: name})
	}
	if c.Stdin != nil {
		sh.setFd(0, stream(c.Stdin, nil, "stdin"))
	} else {
		sh.setFd(0, stream(strings.NewReader(""), nil, "stdin"))
	}
	for fd, w := range []io.Writer{1: c.Stdout, 2: c.Stderr} {
		switch {
		case fd == 0:
		case w == nil:
			sh.setFd(fd, stream(nil, io.Discard, "stdout"))
		case fd == 2 && w == c.Stdout:
			sh.setFd(2, sh.fds[1].ref())
		default:
			sh.setFd(fd, stream(nil, w, "stdout"))
		}
	}
	for n, f := range c.Files {
		if n > 2 && n < r.lim.Files && f != nil {
			sh.setFd(n, f.ref())
		}
	}
	return sh
}

// initVars makes the first variables: the environment and bash's own.
func (sh *shell) initVars(c *Config) {
	sh.initDynamic()
	s := sh.own()
	for _, kv := range c.Env {
		n, v, ok := strings.Cut(kv, "=")
		if fn, isFn := strings.CutPrefix(n, "BASH_FUNC_"); isFn && strings.HasSuffix(fn, "%%") {
			sh.importFunc(strings.TrimSuffix(fn, "%%"), v)
			continue
		}
		if !ok || !isName(n) {
			continue
		}
		if d := s.m[n]; d.has(attrDynamic) {
			if n == "SHELLOPTS" || n == "BASHOPTS" {
				d.attr |= attrExport
				for _, o := range strings.Split(v, ":") {
					if x, ok := findOption(o, n == "BASHOPTS"); ok {
						sh.opts.set(x, true)
					}
				}
			}
			continue
		}
		s.m[n] = &variable{attr: attrSet | attrExport, str: v, owner: s}
	}
	def := func(n, v string, a attr) {
		if s.m[n] == nil {
			s.m[n] = &variable{attr: a | attrSet, str: v, owner: s}
		}
	}
	force := func(n, v string, a attr) { s.m[n] = &variable{attr: a | attrSet, str: v, owner: s} }
	def("PATH", defaultPath, 0)
	force("IFS", " \t\n", 0)
	force("OPTIND", "1", 0)
	force("OPTERR", "1", 0)
	def("PS4", "+ ", 0)
	force("PPID", itoa(sh.run.ids.PPID), attrReadonly|attrInteger)
	force("UID", itoa(sh.run.ids.UID), attrReadonly|attrInteger)
	force("EUID", itoa(sh.run.ids.UID), attrReadonly|attrInteger)
	force("BASH_VERSION", "5.2.15(1)-release", 0)
	force("BASH", "/bin/bash", 0)
	def("HOSTNAME", firstOf(sh.run.ids.Host, "sandbox"), 0)
	def("HOSTTYPE", "x86_64", 0)
	def("MACHTYPE", "x86_64-pc-linux-gnu", 0)
	def("OSTYPE", "linux-gnu", 0)
	def("TERM", "dumb", 0)
	if c.Posix {
		sh.opts.set(optPosix, true)
		sh.opts.set(optExpandAliases, true)
		force("POSIXLY_CORRECT", "y", 0)
	}
	vi := &variable{attr: attrArray | attrReadonly, arr: &indexed{vals: []string{"5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"}}, owner: s}
	s.m["BASH_VERSINFO"] = vi
	lvl := int64(0)
	if v := s.m["SHLVL"]; v != nil {
		lvl, _ = decimal(v.str)
	}
	force("SHLVL", itoa64(lvl+1), attrExport)
	// PWD is believed only when it names the working folder.
	switch p := s.m["PWD"]; {
	case p != nil && p.str == sh.dir:
	case p != nil && strings.HasPrefix(p.str, "/") && path.Clean(p.str) == p.str && sh.realPath(p.str) == sh.realPath(sh.dir):
		sh.dir = p.str
	default:
		sh.dir = sh.realPath(sh.dir)
	}
	force("PWD", sh.dir, attrExport)
	if s.m["OLDPWD"] == nil {
		s.m["OLDPWD"] = &variable{attr: attrExport, owner: s}
	}
	sh.varChanged("IFS")
	for _, o := range c.Options {
		name, on := strings.CutPrefix(o, "-")
		if x, ok := findOption(name, false); ok {
			sh.opts.set(x, !on)
		} else if x, ok := findOption(name, true); ok {
			sh.opts.set(x, !on)
		}
	}
}

// top runs the whole script in the main shell.
func (sh *shell) top(c *Config, s *State, text string) int {
	defer sh.end()
	switch {
	case s != nil:
		sh.protect(func() { sh.enter(s, c) })
	case c.RC != "":
		sh.protect(func() { sh.sourceText(c.RCFile, c.RC, nil, []string{"source", c.RCFile}) })
		if sh.flow == flowNone {
			sh.status = 0
		}
	}
	if sh.flow == flowNone {
		sh.protect(func() {
			src := sh.newSource(sh.mainSource, text)
			if c.fromStdin {
				src.text, src.patched = "", ""
				src.more = sh.stdinLines()
			}
			sh.runText(src, "")
		})
	}
	if sh.flow == flowReturn {
		sh.status = sh.ret
	}
	sh.finish()
	if sh.proc.dead.Load() && sh.flow != flowFatal {
		sh.status = 128 + int(sh.proc.deadBy.Load())
	}
	return sh.status & 255
}

// stdinLines reads a script from descriptor 0, taking no more than whole
// lines, so that its commands can read the rest.
func (sh *shell) stdinLines() func() (string, error) {
	return func() (string, error) {
		f := sh.fd(0)
		if f == nil {
			return "", io.EOF
		}
		b, err := f.readUntil(sh.ctx, nil, '\n', sh.run.lim.Source)
		if len(b) > 0 {
			if b[len(b)-1] != '\n' {
				b = append(b, '\n')
			}
			return strings.ReplaceAll(string(b), "\x00", ""), nil
		}
		return "", err
	}
}

// runText runs a source to its end in this shell.
func (sh *shell) runText(src *source, origin string) {
	old := sh.origin
	deeper := 0
	if origin != "" {
		sh.origin = origin
		if !sh.exiting { // bash shows the EXIT trap as the line's own
			deeper = 1
		}
	}
	sh.indirection += deeper
	defer func() { sh.origin = old; sh.indirection -= deeper }()
	err := src.each(sh, func(list []*stmt) bool {
		sh.runList(list)
		if sh.flow == flowDiscard {
			sh.flow = flowNone
			if sh.status == 0 {
				sh.status = 1
			}
			if sh.opts.has(optErrexit) && sh.noErr == 0 {
				sh.flow = flowExit
			}
		}
		return sh.flow == flowNone
	})
	if err != nil {
		sh.report(err, origin)
		sh.status = 2
		if origin == "" || origin == "eval" && sh.opts.has(optPosix) {
			sh.flow = flowExit
		}
	}
}
