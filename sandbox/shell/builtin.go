package shell

import (
	"errors"
	"strings"
	"syscall"
)

// builtin finds an enabled builtin.
func (sh *shell) builtin(name string) builtinFunc {
	b := builtinFor(name)
	if b != nil && sh.disabled[name] {
		return nil
	}
	return b
}

// builtinFor finds a builtin by name.
func builtinFor(name string) builtinFunc {
	switch name {
	case ":", "true":
		return func(*shell, []string) int { return 0 }
	case "false":
		return func(*shell, []string) int { return 1 }
	case ".", "source":
		return builtinSource
	case "[", "test":
		return builtinTest
	case "alias":
		return builtinAlias
	case "bg", "fg":
		return builtinFgBg
	case "bind":
		return builtinBind
	case "break", "continue":
		return builtinBreak
	case "builtin":
		return builtinBuiltin
	case "caller":
		return builtinCaller
	case "cd":
		return builtinCd
	case "command":
		return builtinCommand
	case "compgen":
		return builtinCompgen
	case "complete", "compopt":
		return builtinComplete
	case "declare", "typeset", "local", "export", "readonly":
		return builtinDeclare
	case "dirs":
		return builtinDirs
	case "disown":
		return builtinDisown
	case "echo":
		return builtinEcho
	case "enable":
		return builtinEnable
	case "eval":
		return builtinEval
	case "exec":
		return func(sh *shell, args []string) int {
			sh.execBuiltin(args, &simpleCmd{line: sh.line}, nil)
			return sh.status
		}
	case "exit", "logout":
		return builtinExit
	case "fc":
		return builtinFc
	case "getopts":
		return builtinGetopts
	case "hash":
		return builtinHash
	case "help":
		return builtinHelp
	case "history":
		return builtinHistory
	case "jobs":
		return builtinJobs
	case "kill":
		return builtinKill
	case "let":
		return builtinLet
	case "mapfile", "readarray":
		return builtinMapfile
	case "popd", "pushd":
		return builtinPushd
	case "printf":
		return builtinPrintf
	case "ps":
		return builtinPs
	case "pwd":
		return builtinPwd
	case "read":
		return builtinRead
	case "return":
		return builtinReturn
	case "set":
		return builtinSet
	case "shift":
		return builtinShift
	case "shopt":
		return builtinShopt
	case "suspend":
		return func(sh *shell, _ []string) int { sh.errorf("suspend: cannot suspend: no job control"); return 1 }
	case "times":
		return builtinTimes
	case "trap":
		return builtinTrap
	case "type":
		return builtinType
	case "ulimit":
		return builtinUlimit
	case "umask":
		return builtinUmask
	case "unalias":
		return builtinUnalias
	case "unset":
		return builtinUnset
	case "wait":
		return builtinWait
	}
	return nil
}

const builtinNames = ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait"

func isSpecialBuiltin(name string) bool {
	switch name {
	case ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "source", "times", "trap", "unset":
		return true
	}
	return false
}

func isDeclName(s string) bool {
	switch s {
	case "declare", "typeset", "local", "export", "readonly":
		return true
	}
	return false
}

func isKeyword(s string) bool {
	switch s {
	case "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then", "time", "until", "while":
		return true
	}
	return false
}

const keywordNames = "if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc"

// out writes to descriptor 1. A pipe nobody reads ends the shell as SIGPIPE
// would.
func (sh *shell) out(s string) {
	if s == "" {
		return
	}
	f := sh.fd(1)
	if f == nil || !f.writable() {
		throw(&cmdError{msg: "write error: Bad file descriptor", status: 1})
	}
	if _, err := f.WriteString(sh.ctx, s); err != nil {
		sh.writeError(err)
	}
}

func (sh *shell) writeError(err error) {
	if errors.Is(err, syscall.EPIPE) {
		if m := sh.proc.traps.Load(); m == nil || (m.ignored|m.trapped)>>sigPIPE&1 == 0 {
			throw(&cmdError{quiet: true, kind: errExit, status: 128 + sigPIPE})
		}
		sh.run.procs.signal(sh.proc, sigPIPE)
		throw(&cmdError{msg: "write error: Broken pipe", status: 1})
	}
	if isFatal(err) {
		if sh.proc.dead.Load() {
			sh.tick()
		}
		throw(err)
	}
	throw(&cmdError{msg: "write error: " + errText(err), status: 1})
}

// A getopt walks the options of a builtin.
type getopt struct {
	args []string
	spec string
	i    int
	pos  int
	opt  byte
	arg  string
	bad  byte // an unknown option
	miss bool // the option lacks its argument
	plus bool // +x
	hasP bool
}

func newGetopt(args []string, spec string) *getopt {
	return &getopt{args: args, spec: spec, i: 1}
}

func (o *getopt) next() bool {
	if o.bad != 0 || o.miss {
		return false
	}
	if o.pos == 0 {
		if o.i >= len(o.args) {
			return false
		}
		a := o.args[o.i]
		if a == "--" {
			o.i++
			return false
		}
		if len(a) < 2 || a[0] != '-' && (a[0] != '+' || !o.hasP) {
			return false
		}
		o.plus = a[0] == '+'
		o.pos = 1
	}
	a := o.args[o.i]
	o.opt = a[o.pos]
	o.pos++
	k := strings.IndexByte(o.spec, o.opt)
	if k < 0 || o.opt == ':' {
		o.bad = o.opt
		o.opt = '?'
		return true
	}
	if k+1 < len(o.spec) && o.spec[k+1] == ':' {
		if o.pos < len(a) {
			o.arg = a[o.pos:]
		} else if o.i+1 < len(o.args) {
			o.i++
			o.arg = o.args[o.i]
		} else {
			o.miss = true
			o.bad = o.opt
			o.opt = '?'
			return true
		}
		o.i++
		o.pos = 0
		return true
	}
	if o.pos == len(a) {
		o.i++
		o.pos = 0
	}
	return true
}

func (o *getopt) rest() []string { return o.args[min(o.i, len(o.args)):] }

// usage reports a wrong option.
func (sh *shell) usage(o *getopt, text string) int {
	sign := "-"
	if o.plus {
		sign = "+"
	}
	if o.miss {
		sh.errorf("%s: %s%c: option requires an argument", o.args[0], sign, o.bad)
	} else {
		sh.errorf("%s: %s%c: invalid option", o.args[0], sign, o.bad)
	}
	sh.stderr(o.args[0] + ": usage: " + text + "\n")
	return 2
}

// builtinError prints "name: message".
func (sh *shell) builtinError(name, format string, args ...any) int {
	sh.errorf(name+": "+format, args...)
	return 1
}
