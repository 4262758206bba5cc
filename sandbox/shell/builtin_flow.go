package shell

import (
	"errors"
	"io/fs"
	"strings"
)

func builtinExit(sh *shell, c call) int {
	st := int64(sh.status)
	n, ok := c.number(st)
	if !ok {
		n = 2
	}
	sh.flow = flowExit
	return int(n & 255)
}

func builtinLogout(sh *shell, c call) int { return c.fail("not login shell: use `exit'") }

func builtinReturn(sh *shell, c call) int {
	n, ok := c.number(int64(sh.status))
	if !ok {
		n = 2
	}
	if sh.frame == nil && sh.inTrap == 0 {
		c.fail("can only `return' from a function or sourced script")
		return 2
	}
	sh.flow, sh.ret = flowReturn, int(n&255)
	return sh.ret
}

// builtinBreak is break and continue.
func builtinBreak(sh *shell, c call) int {
	if sh.loops == 0 {
		c.fail("only meaningful in a `for', `while', or `until' loop")
		return 0
	}
	n, ok := c.number(1)
	switch {
	case !ok:
		sh.flow = flowExit
		return 128
	case n < 1:
		sh.flow, sh.flowN = flowBreak, sh.loops
		return c.fail("%d: loop count out of range", n)
	}
	sh.flow = flowBreak
	if c.args[0] == "continue" {
		sh.flow = flowContinue
	}
	sh.flowN = int(min(n, int64(sh.loops)))
	return 0
}

func builtinShift(sh *shell, c call) int {
	n, ok := c.number(1)
	switch {
	case !ok:
		return 1
	case n < 0:
		return c.fail("%d: shift count out of range", n)
	case n > int64(len(sh.params)):
		if sh.opts.has(optShiftVerbose) {
			c.fail("%d: shift count out of range", n)
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

func builtinEval(sh *shell, c call) int {
	text := strings.Join(c.rest, " ")
	if err := sh.admit(c.args, text); err != nil {
		return sh.execError("eval", err)
	}
	if strings.Trim(text, " \t\n") == "" {
		return 0
	}
	defer sh.deeper()()
	src := sh.newSource("", text)
	src.line = max(sh.line-1, 0)
	sh.status = 0
	sh.runText(src, "eval")
	return sh.status
}

func builtinSource(sh *shell, c call) int {
	if len(c.rest) == 0 {
		return c.misuse("filename argument required")
	}
	name := c.rest[0]
	if !strings.Contains(name, "/") && sh.opts.has(optSourcepath) {
		found := false
		for _, d := range strings.Split(sh.get("PATH"), ":") {
			full := d + "/" + name
			if fi, err := sh.run.host.Stat(sh.ctx, sh.abs(full)); d != "" && err == nil && fi.Mode().IsRegular() {
				name, found = full, true
				break
			}
		}
		if !found && sh.opts.has(optPosix) { // there the working folder is not searched
			sh.flow = flowExit
			return c.fail("%s: file not found", name)
		}
	}
	return sh.sourceFile(name, c.rest, c.args)
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
		f.names = sh.frame.names
	}
	if len(args) > 1 {
		sh.params = args[1:]
	}
	sh.frame = f
	line, src := sh.line, sh.newSource(name, text)
	defer func() {
		if f.up != nil {
			f.up.names = f.names
		}
		sh.frame = f.up
		sh.scopes--
		sh.line = line
		if len(args) > 1 {
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
	b, err := sh.readAll(f, int64(sh.run.lim.Source), "source text")
	return string(b), err
}

// builtinExec is exec by another way than its name: builtin exec, command exec.
func builtinExec(sh *shell, c call) int {
	sh.exec(c, nil)
	return sh.status
}

// execCommand is exec as a command of its own, whose redirections stay.
func (sh *shell) execCommand(args []string, cmd *simpleCmd, redirs []*redir) {
	sh.traceArgs(args)
	for _, r := range redirs {
		if !sh.protect(func() { sh.redirectOne(r, func(int) {}) }) {
			if sh.flow == flowNone {
				sh.status = 1
				if sh.opts.has(optPosix) {
					sh.flow = flowExit
				}
			}
			return
		}
	}
	c := call{sh: sh, args: args, rest: args[1:]}
	if !c.options(sh.run.builtins["exec"].opts) {
		sh.status = 2
		return
	}
	sh.exec(c, cmd.assigns)
}

// exec runs a program instead of the shell.
func (sh *shell) exec(c call, assigns []*assign) {
	if len(c.rest) == 0 {
		sh.status = 0
		for _, a := range assigns {
			sh.assign(a)
		}
		return
	}
	if err := sh.admit(c.args, strings.Join(c.rest, " ")); err != nil {
		sh.status = sh.execError("exec", err)
		return
	}
	if len(assigns) > 0 {
		defer sh.tempEnv(assigns)()
	}
	p, err := sh.findCommand(c.rest[0])
	if err != nil {
		text := errText(err)
		if errors.Is(err, ErrNotFound) {
			text = "not found"
		}
		c.fail("%s: %s", c.rest[0], text)
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
	if c.has('c') {
		env = nil
	}
	argv := append([]string(nil), c.rest...)
	if name, ok := c.arg('a'); ok && name != "" {
		argv[0] = name
	}
	old := sh.origin
	sh.origin = "exec"
	sh.status = sh.execProgram(p, argv, nil, env)
	sh.origin = old
	delete(sh.traps.m, sigEXIT) // the shell is gone: its traps do not run
	sh.flow = flowExit
}

func builtinCaller(sh *shell, c call) int {
	n := int64(0)
	if len(c.rest) > 0 {
		var ok bool
		if n, ok = atoi(c.rest[0]); !ok || n < 0 {
			return c.fail("%s: invalid number", c.rest[0])
		}
	}
	lines, names, files := sh.callStack("BASH_LINENO"), sh.callStack("FUNCNAME"), sh.callStack("BASH_SOURCE")
	if int(n) >= len(lines) || int(n)+1 > len(files) || sh.frame == nil {
		return 1
	}
	line, src := lines[n], "NULL"
	if int(n)+1 < len(files) {
		src = files[n+1]
	}
	if len(c.rest) > 0 {
		if int(n)+1 >= len(names) {
			return 1
		}
		line += " " + names[n+1]
	}
	sh.out(line + " " + src + "\n")
	return 0
}
