package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
)

// simple runs a simple command: words, then redirections, then assignments.
func (sh *shell) simple(c *simpleCmd, redirs []*redir) {
	sh.line = c.line
	sh.substDone = false
	if sh.inTrap == 0 {
		sh.command = c.text
	}
	prev := sh.status
	if len(c.words) == 0 {
		sh.bare(c, redirs, prev)
		return
	}
	var args []string
	decls := false
	if d := c.words[0]; d.isLit && isDeclName(d.lit) {
		for _, w := range c.words[1:] {
			decls = decls || w.decl != nil
		}
	}
	if decls {
		args = []string{c.words[0].lit}
	} else {
		args = sh.fields(c.words)
		if len(args) == 0 {
			sh.bare(c, redirs, prev)
			return
		}
	}
	sh.status = prev
	if sh.traps.active(sigDEBUG) {
		sh.debugTrap(c.text)
		if sh.flow != flowNone {
			return
		}
	}
	if args[0] == "exec" && sh.funcs.m["exec"] == nil {
		sh.execCommand(args, c, redirs)
		return
	}
	if sh.expandsInChild(args[0], redirs) {
		// bash expands the redirections of a program in its process: what they
		// assign is lost.
		sub := sh.fork()
		defer sub.end()
		sub.isSubshell, sub.subshell = sh.isSubshell, sh.subshell
		st := sub.subshellRun(func() {
			sub.traps = newTraps()
			sub.command1(c, args, redirs, decls)
		})
		sh.adopt(sub)
		sh.status = st
		sh.lastArg = args[len(args)-1]
		return
	}
	sh.command1(c, args, redirs, decls)
}

// expandsInChild tells whether name is a program and its redirections hold
// expansions.
func (sh *shell) expandsInChild(name string, redirs []*redir) bool {
	if len(redirs) == 0 || sh.funcs.m[name] != nil || sh.builtin(name) != nil {
		return false
	}
	for _, r := range redirs {
		for _, w := range []*word{r.word, r.hdoc} {
			if w != nil && !w.isLit && !pureParts(w.parts) {
				return true
			}
		}
	}
	return false
}

// command1 runs a command whose words are expanded.
func (sh *shell) command1(c *simpleCmd, args []string, redirs []*redir, decls bool) {
	fn := sh.funcs.m[args[0]]
	special := sh.isSpecial(args[0])
	if special {
		fn = nil
	}
	undo := nothing
	if len(redirs) > 0 {
		var ok bool
		if undo, ok = sh.redirect(redirs); !ok {
			undo()
			if special && sh.flow == flowNone {
				sh.flow = flowExit
			}
			return
		}
	}
	defer undo()
	switch {
	case special: // they stay
		for _, a := range c.assigns {
			sh.assign(a)
		}
	case len(c.assigns) > 0:
		defer sh.tempEnv(c.assigns)()
		if sh.flow != flowNone {
			return
		}
	}
	switch {
	case fn != nil:
		sh.traceArgs(args)
		sh.callTemp = 0
		if len(c.assigns) > 0 {
			sh.callTemp = sh.scopes
		}
		sh.call(fn, args)
	case decls:
		sh.declCommand(c)
	default:
		sh.traceArgs(args)
		b := c.builtin // found when the command was read, or now
		if b == nil || sh.disabled[args[0]] {
			b = sh.builtin(args[0])
		}
		if b != nil {
			sh.runBuiltin(b, args)
		} else {
			sh.external(args, c.assigns)
		}
	}
	if n := len(args); n > 0 && !decls {
		sh.lastArg = args[n-1]
	}
}

func nothing() {}

// isSpecial tells whether name is a builtin that POSIX mode treats as
// special: no function hides it, assignments before it stay, and its misuse
// ends the shell.
func (sh *shell) isSpecial(name string) bool {
	return sh.opts.has(optPosix) && sh.isSpecialBuiltin(name) && sh.builtin(name) != nil
}

// bare runs a command without a name: assignments and redirections only.
func (sh *shell) bare(c *simpleCmd, redirs []*redir, prev int) {
	if !sh.substDone {
		sh.status = prev
	}
	if st := sh.status; sh.traps.active(sigDEBUG) && len(c.assigns) > 0 {
		sh.debugTrap(c.text)
		sh.status = st
	}
	for _, a := range c.assigns {
		sh.assign(a)
	}
	failed := false
	if len(redirs) > 0 {
		st := sh.status
		undo, ok := sh.redirect(redirs)
		undo()
		if sh.flow != flowNone {
			return
		}
		failed = !ok
		if ok {
			sh.status = st
		}
	}
	if failed {
		sh.status = 1
	} else if !sh.substDone {
		sh.status = 0
	}
	sh.lastArg = ""
}

// tempEnv makes the assignments in front of a command: variables of a scope
// of their own that are exported while it runs.
func (sh *shell) tempEnv(as []*assign) func() {
	sh.scopes++
	depth := sh.scopes
	var names []string
	for _, a := range as {
		if a.isArray || a.sub != nil {
			continue
		}
		val := sh.str(a.value)
		sh.traceAssign(a, val)
		name := sh.resolved(a.name)
		old := sh.lookup(name)
		if old.has(attrReadonly) {
			sh.errorf("%s: readonly variable", name)
			if sh.opts.has(optPosix) {
				sh.flow, sh.status = flowExit, 1
			}
			continue
		}
		if a.app {
			prev, _ := old.scalar()
			val = prev + val
		}
		if old.has(attrInteger) {
			val = itoa64(sh.arithString(val))
		}
		s := sh.own()
		s.m[name] = &variable{attr: attrSet | attrExport | attrTemp, str: val, depth: depth, prev: old, owner: s, epoch: s.epoch.Load()}
		names = append(names, name)
		sh.varChanged(name)
	}
	return func() {
		if len(names) > 0 {
			s := sh.own()
			for _, n := range names {
				if v := s.m[n]; v != nil && v.depth == depth {
					if v.prev == nil {
						delete(s.m, n)
					} else {
						s.m[n] = v.prev
					}
					if isSpecialName(n) {
						sh.varChanged(n)
					}
				}
			}
		}
		sh.scopes--
	}
}

func (sh *shell) runBuiltin(b *builtin, args []string) {
	if len(args) > 1 && args[1] == "--help" && !strings.Contains(" : true false echo test [ ", " "+args[0]+" ") {
		builtinHelp(sh, call{sh: sh, args: []string{"help"}, rest: args[:1]})
		sh.status = 2
		return
	}
	// A builtin's own errors fail the builtin only; status 2 is misuse.
	sh.status = sh.invoke(b, args)
	if sh.status == 2 && sh.flow == flowNone && args[0] != "eval" && args[0] != "." && args[0] != "source" && sh.isSpecial(args[0]) {
		sh.flow = flowExit
	}
}

// external runs a program.
func (sh *shell) external(args []string, assigns []*assign) {
	path, err := sh.findCommand(args[0])
	if err != nil {
		if h := sh.funcs.m["command_not_found_handle"]; h != nil && errors.Is(err, ErrNotFound) && args[0] != "" {
			sub := sh.fork()
			defer sub.end()
			sh.status = sub.subshellRun(func() { sub.call(h, append([]string{h.name}, args...)) })
			sh.adopt(sub)
			return
		}
		sh.status = sh.execError(args[0], err)
		return
	}
	var names []string
	for _, a := range assigns {
		names = append(names, a.name)
	}
	sh.status = sh.execProgram(path, args, names, sh.environ())
}

func (sh *shell) execProgram(path string, args, assigns, env []string) int {
	sh.checkDepth() // sh -c that runs sh -c ...
	c := &Command{Path: sh.abs(path), Args: args, Env: env, Dir: sh.dir, Assigns: assigns,
		Background: sh.background, Depth: sh.depth + 1, Origin: sh.origin, PID: sh.run.procs.nextPID(), Umask: uint32(sh.mask)}
	if m := sh.proc.traps.Load(); m != nil {
		c.Ignored = m.ignored
	}
	c.Files = make(map[int]*File, len(sh.fds))
	for i, f := range sh.fds {
		if f != nil {
			c.Files[i] = f
		}
	}
	if f := sh.fd(0); f != nil {
		c.Stdin = f.Stream().(io.Reader)
	}
	if f := sh.fd(1); f != nil {
		c.Stdout = f.Stream()
	}
	if f := sh.fd(2); f != nil {
		c.Stderr = f.Stream()
	}
	return sh.execError(args[0], sh.run.host.Exec(sh.ctx, c))
}

// execError turns the end of a program into a status.
func (sh *shell) execError(name string, err error) int {
	if err == nil {
		return 0
	}
	var st ExitStatus
	if errors.As(err, &st) {
		return int(st)
	}
	if errors.Is(err, ErrDenied) {
		sh.errorf("%s: %v", name, err)
		return 126
	}
	if errors.Is(err, ErrNotFound) {
		if strings.Contains(name, "/") {
			sh.errorf("%s: No such file or directory", name)
		} else {
			sh.errorf("%s: command not found", name)
		}
		sh.hint(name)
		return 127
	}
	if sh.proc.dead.Load() && !sh.run.stop.Load() {
		return 128 + int(sh.proc.deadBy.Load())
	}
	if sh.ctx.Err() != nil && sh.run.ctx.Err() == nil && !sh.run.stop.Load() {
		// The job around it was killed, though this shell traps or ignores
		// the signal: it goes with the job, and the script goes on.
		sh.proc.deadBy.Store(sigKILL)
		sh.proc.dead.Store(true)
		return 128 + sigKILL
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		if pe.Op == "exec" && pe.Path != "" {
			name = pe.Path
		}
		sh.errorf("%s: %s", name, errText(err))
		if errors.Is(err, fs.ErrNotExist) {
			sh.hint(name)
			return 127
		}
		return 126
	}
	if ctxErr := context.Cause(sh.run.ctx); ctxErr != nil && !isFatal(err) {
		err = ctxErr
	}
	throw(fatalErr{err})
	return 125
}

// hint says what there is instead of a command that was not found.
func (sh *shell) hint(name string) {
	if line := sh.run.host.Absent(name); line != "" {
		sh.stderr(line + "\n")
	}
}

// A fatalErr is an error of the host that ends the whole script.
type fatalErr struct{ error }

func (e fatalErr) Unwrap() error { return e.error }

// findCommand resolves a name to the path of a program.
func (sh *shell) findCommand(name string) (string, error) {
	if name == "" {
		return "", ErrNotFound
	}
	if strings.Contains(name, "/") {
		p := sh.abs(name)
		fi, err := sh.run.host.Stat(sh.ctx, p)
		if err != nil {
			return "", &fs.PathError{Op: "exec", Path: name, Err: unwrapErrno(err)}
		}
		if fi.IsDir() {
			return "", &fs.PathError{Op: "exec", Path: name, Err: textError("Is a directory")}
		}
		if err := sh.run.host.Access(sh.ctx, p, 1); err != nil {
			return "", &fs.PathError{Op: "exec", Path: name, Err: syscall.EACCES}
		}
		return p, nil
	}
	if h, ok := sh.hash[name]; ok {
		h.hits++
		sh.hash[name] = h
		return h.path, nil
	}
	found, denied := sh.searchPath(name, false)
	if len(found) == 0 {
		if denied != "" {
			return "", &fs.PathError{Op: "exec", Path: denied, Err: syscall.EACCES}
		}
		return "", ErrNotFound
	}
	sh.remember(name, hashEntry{path: found[0], hits: 1})
	return found[0], nil
}

type hashEntry struct {
	path string
	hits int
}

type textError string

func (e textError) Error() string { return string(e) }

func unwrapErrno(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}

// searchPath lists the programs called name on PATH; denied is a file that
// may not be executed.
func (sh *shell) searchPath(name string, all bool) (found []string, denied string) {
	p, ok := sh.getSet("PATH")
	if !ok {
		return nil, ""
	}
	for _, d := range strings.Split(p, ":") {
		if d == "" {
			d = "."
		}
		full := sh.abs(d + "/" + name)
		fi, err := sh.run.host.Stat(sh.ctx, full)
		if err != nil || fi.IsDir() {
			continue
		}
		if sh.run.host.Access(sh.ctx, full, 1) != nil {
			if denied == "" {
				denied = d + "/" + name
			}
			continue
		}
		if d == "." || !strings.HasPrefix(d, "/") {
			full = d + "/" + name
		}
		found = append(found, full)
		if !all {
			return found, ""
		}
	}
	return found, denied
}
