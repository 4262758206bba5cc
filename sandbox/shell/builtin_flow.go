package shell

import (
	"errors"
	"io"
	"io/fs"
	"strings"
)

// tooMany drops what is being read, as bash does for arguments too many.
func tooMany(name string) { failf(errDiscard, 1, "%s: too many arguments", name) }

func builtinExit(sh *shell, args []string) int {
	if args[0] == "logout" {
		return sh.builtinError("logout", "not login shell: use `exit'")
	}
	st := sh.status
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		n, ok := atoi(strings.Trim(rest[0], " \t\n"))
		switch {
		case !ok:
			sh.errorf("%s: %s: numeric argument required", args[0], rest[0])
			st = 2
		case len(rest) > 1:
			tooMany(args[0])
		default:
			st = int(n & 255)
		}
	}
	sh.flow = flowExit
	return st
}

func builtinReturn(sh *shell, args []string) int {
	st := sh.status
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		n, ok := atoi(strings.Trim(rest[0], " \t\n"))
		if !ok {
			sh.errorf("return: %s: numeric argument required", rest[0])
			n = 2
		} else if len(rest) > 1 {
			tooMany("return")
		}
		st = int(n & 255)
	}
	if sh.frame == nil && sh.inTrap == 0 {
		sh.errorf("return: can only `return' from a function or sourced script")
		return 2
	}
	sh.flow, sh.ret = flowReturn, st
	return st
}

func builtinBreak(sh *shell, args []string) int {
	if sh.loops == 0 {
		sh.errorf("%s: only meaningful in a `for', `while', or `until' loop", args[0])
		return 0
	}
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	n := int64(1)
	if len(rest) > 0 {
		var ok bool
		if n, ok = atoi(strings.Trim(rest[0], " \t\n")); !ok {
			sh.errorf("%s: %s: numeric argument required", args[0], rest[0])
			sh.flow = flowExit
			return 128
		}
		if len(rest) > 1 {
			tooMany(args[0])
		}
		if n < 1 {
			sh.errorf("%s: %s: loop count out of range", args[0], rest[0])
			sh.flow, sh.flowN = flowBreak, sh.loops
			return 1
		}
	}
	sh.flow = flowBreak
	if args[0] == "continue" {
		sh.flow = flowContinue
	}
	sh.flowN = int(min(n, int64(sh.loops)))
	return 0
}

func builtinShift(sh *shell, args []string) int {
	n := int64(1)
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		var ok bool
		if n, ok = atoi(strings.Trim(rest[0], " \t\n")); !ok {
			return sh.builtinError("shift", "%s: numeric argument required", rest[0])
		}
		if len(rest) > 1 {
			tooMany("shift")
		}
	}
	if n < 0 {
		return sh.builtinError("shift", "%s: shift count out of range", rest[0])
	}
	if n > int64(len(sh.params)) {
		if sh.opts.has(optShiftVerbose) {
			sh.errorf("shift: %s: shift count out of range", rest[0])
		}
		return 1
	}
	sh.params = sh.params[n:]
	return 0
}

// deeper bounds the nesting of eval, source and command.
func (sh *shell) deeper() func() {
	sh.checkDepth()
	sh.depth++
	return func() { sh.depth-- }
}

// admit asks the host before a builtin runs text.
func (sh *shell) admit(args []string, text string) error {
	c := &Command{Args: args, Dir: sh.dir, Background: sh.background, Depth: sh.depth + 1, Origin: sh.origin}
	if f := sh.fd(2); f != nil {
		c.Stderr = f
	}
	return sh.run.host.Admit(sh.ctx, c, text)
}

func builtinEval(sh *shell, args []string) int {
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	} else if len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		sh.errorf("eval: %s: invalid option", rest[0][:2])
		sh.stderr("eval: usage: eval [arg ...]\n")
		return 2
	}
	text := strings.Join(rest, " ")
	if err := sh.admit(args, text); err != nil {
		return sh.execError("eval", err)
	}
	if strings.Trim(text, " \t\n") == "" {
		return 0
	}
	defer sh.deeper()()
	src := sh.newSource("", text)
	src.command = true
	src.line = max(sh.line-1, 0)
	sh.status = 0
	sh.runText(src, "eval")
	return sh.status
}

func builtinSource(sh *shell, args []string) int {
	o := newGetopt(args, "")
	if o.next() {
		return sh.usage(o, args[0]+" filename [arguments]")
	}
	rest := o.rest()
	if len(rest) == 0 {
		sh.errorf("%s: filename argument required", args[0])
		sh.stderr(args[0] + ": usage: " + args[0] + " filename [arguments]\n")
		return 2
	}
	name := rest[0]
	if !strings.Contains(name, "/") && sh.opts.has(optSourcepath) {
		found := false
		p, _ := sh.getSet("PATH")
		for _, d := range strings.Split(p, ":") {
			if d == "" {
				continue
			}
			full := d + "/" + name
			if fi, err := sh.run.host.Stat(sh.ctx, sh.abs(full)); err == nil && fi.Mode().IsRegular() {
				name, found = full, true
				break
			}
		}
		if !found && sh.opts.has(optPosix) { // there the working folder is not searched
			sh.flow = flowExit
			return sh.builtinError(args[0], "%s: file not found", name)
		}
	}
	return sh.sourceFile(name, rest, args)
}

// sourceFile runs a file in this shell. args[1:] are its parameters, asked
// the words of the builtin that the host is asked about.
func (sh *shell) sourceFile(name string, args, asked []string) int {
	defer sh.deeper()()
	text, err := sh.readFile(name)
	if err != nil {
		if isFatal(err) {
			throw(err)
		}
		if errors.Is(err, ErrDenied) {
			return sh.execError(name, err)
		}
		sh.errorf("%s: %s", name, errText(err))
		if sh.opts.has(optPosix) {
			sh.flow = flowExit
		}
		return 1
	}
	return sh.sourceText(name, text, args, asked)
}

// sourceText is sourceFile for a text that was read.
func (sh *shell) sourceText(name, text string, args, asked []string) int {
	if err := sh.admit(asked, text); err != nil {
		return sh.execError(asked[0], err)
	}
	sh.scopes++
	f := &frame{up: sh.frame, name: "source", source: name, line: sh.line, depth: sh.depthVar(), sourced: true, params: sh.params, loops: sh.loops}
	if sh.frame != nil {
		f.depth = sh.frame.depth
		f.names = sh.frame.names
	}
	if len(args) > 1 {
		sh.params = args[1:]
	}
	restoreParams := len(args) > 1
	mine := sh.params
	sh.frame = f
	line, src := sh.line, sh.newSource(name, text)
	defer func() {
		if f.up != nil {
			f.up.names = f.names
		}
		sh.frame = f.up
		sh.scopes--
		sh.line = line
		if restoreParams && len(mine) > 0 {
			sh.params = f.params
		}
	}()
	sh.status = 0
	sh.runText(src, "source")
	if sh.flow == flowReturn {
		sh.flow, sh.status = flowNone, sh.ret
	}
	if sh.flow == flowNone {
		sh.returnTrap()
	}
	return sh.status
}

// readFile reads a script.
func (sh *shell) readFile(name string) (string, error) {
	f, err := sh.open(name, 0, false)
	if err != nil {
		return "", err
	}
	defer f.release()
	if f.file != nil {
		if fi, err := f.file.Stat(); err == nil && fi.IsDir() {
			return "", textError("is a directory")
		}
	}
	var b []byte
	var chunk [8192]byte
	for {
		sh.tick()
		n, err := f.read(sh.ctx, chunk[:])
		b = append(b, chunk[:n]...)
		if len(b) > sh.run.lim.Source {
			return "", &LimitError{What: "source text of " + size(int64(sh.run.lim.Source))}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if err != nil || n == 0 {
			return string(b), nil
		}
	}
}

// execBuiltin is exec: redirections that stay, or a program instead of the
// shell.
func (sh *shell) execBuiltin(args []string, c *simpleCmd, redirs []*redir) {
	for _, r := range redirs {
		ok := false
		sh.protect(func() {
			sh.redirectOne(r, func(int) {})
			ok = true
		})
		if !ok {
			if sh.flow == flowNone {
				sh.status = 1
				if sh.opts.has(optPosix) {
					sh.flow = flowExit
				}
			}
			return
		}
	}
	// The descriptors that exec opened on process substitutions stay.
	name0, clear := "", false
	o := newGetopt(args, "cla:")
	for o.next() {
		switch o.opt {
		case 'c':
			clear = true
		case 'l':
		case 'a':
			name0 = o.arg
		default:
			sh.status = sh.usage(o, "exec [-cl] [-a name] [command [argument ...]] [redirection ...]")
			return
		}
	}
	rest := o.rest()
	if len(rest) == 0 {
		sh.status = 0
		for _, a := range c.assigns {
			sh.assign(a)
		}
		return
	}
	if err := sh.admit(args, strings.Join(rest, " ")); err != nil {
		sh.status = sh.execError("exec", err)
		return
	}
	pop := nothing
	if len(c.assigns) > 0 {
		pop = sh.tempEnv(c.assigns)
	}
	defer pop()
	p, err := sh.findCommand(rest[0])
	if err != nil {
		sh.errorf("exec: %s: %s", rest[0], notFoundText(err))
		sh.status = 127
		var pe *fs.PathError
		if errors.As(err, &pe) && !errors.Is(err, fs.ErrNotExist) {
			sh.status = 126
		}
		if !sh.opts.has(optExecfail) {
			sh.flow = flowExit
		}
		return
	}
	env := sh.environ()
	if clear {
		env = nil
	}
	argv := append([]string(nil), rest...)
	if name0 != "" {
		argv[0] = name0
	}
	old := sh.origin
	sh.origin = "exec"
	sh.status = sh.execProgram(p, argv, nil, env)
	sh.origin = old
	delete(sh.traps.m, sigEXIT) // the shell is gone: its traps do not run
	sh.flow = flowExit
}

func notFoundText(err error) string {
	if errors.Is(err, ErrNotFound) {
		return "not found"
	}
	return errText(err)
}

func builtinCaller(sh *shell, args []string) int {
	n := int64(0)
	plain := len(args) < 2
	if !plain {
		var ok bool
		if n, ok = atoi(args[1]); !ok || n < 0 {
			return sh.builtinError("caller", "%s: invalid number", args[1])
		}
	}
	lines, names, files := sh.callStack("BASH_LINENO"), sh.callStack("FUNCNAME"), sh.callStack("BASH_SOURCE")
	if int(n) >= len(lines) || int(n)+1 > len(files) || sh.frame == nil {
		return 1
	}
	src := "NULL"
	if int(n)+1 < len(files) {
		src = files[n+1]
	}
	if plain {
		sh.out(lines[n] + " " + src + "\n")
		return 0
	}
	if int(n)+1 >= len(names) {
		return 1
	}
	sh.out(lines[n] + " " + names[n+1] + " " + src + "\n")
	return 0
}
