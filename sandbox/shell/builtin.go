package shell

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A builtin is one command of the shell itself.
type builtin struct {
	run     func(sh *shell, c call) int
	opts    string // option letters, as getopts takes them; "" leaves all words to run, ":" knows none
	usage   string // what stands behind the name in a message about misuse
	special bool   // what POSIX calls special
}

const (
	declareUsage = "[-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]"
	compOptions  = "[-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix]"
	mapfileUsage = "[-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]"
)

// allBuiltins are all of them by name, made once: every line begins with them.
var allBuiltins = sync.OnceValue(func() map[string]*builtin {
	success := func(*shell, call) int { return 0 }
	failure := func(*shell, call) int { return 1 }
	return map[string]*builtin{
		".":         {builtinSource, ":", "filename [arguments]", true},
		":":         {success, "", "", true},
		"[":         {builtinTest, "", "", false},
		"alias":     {builtinAlias, "p", "[-p] [name[=value] ... ]", false},
		"bg":        {builtinFgBg, "", "", false},
		"bind":      {builtinBind, "", "", false},
		"break":     {builtinBreak, "", "", true},
		"builtin":   {builtinBuiltin, ":", "[shell-builtin [arg ...]]", false},
		"caller":    {builtinCaller, "", "", false},
		"cd":        {builtinCd, "LPe@", "[-L|[-P [-e]] [-@]] [dir]", false},
		"command":   {builtinCommand, "pvV", "[-pVv] command [arg ...]", false},
		"compgen":   {builtinCompgen, "abcdefgjksuvo:A:G:W:F:C:X:P:S:V:", compOptions + " [word]", false},
		"complete":  {builtinComplete, "abcdefgjksuvprDEIo:A:G:W:F:C:X:P:S:", compOptions + " [-pr] [-DEI] [name ...]", false},
		"compopt":   {builtinCompopt, "", "", false},
		"continue":  {builtinBreak, "", "", true},
		"declare":   {builtinDeclare, "", declareUsage, false},
		"dirs":      {builtinDirs, "", "[-clpv] [+N] [-N]", false},
		"disown":    {builtinDisown, "ahr", "[-h] [-ar] [jobspec ... | pid ...]", false},
		"echo":      {builtinEcho, "", "", false},
		"enable":    {builtinEnable, "anps", "[-a] [-dnps] [-f filename] [name ...]", false},
		"eval":      {builtinEval, ":", "[arg ...]", true},
		"exec":      {builtinExec, "cla:", "[-cl] [-a name] [command [argument ...]] [redirection ...]", true},
		"exit":      {builtinExit, "", "", true},
		"export":    {builtinDeclare, "", "[-fn] [name[=value] ...] or export -p", true},
		"false":     {failure, "", "", false},
		"fc":        {builtinFc, "", "", false},
		"fg":        {builtinFgBg, "", "", false},
		"getopts":   {builtinGetopts, ":", "optstring name [arg ...]", false},
		"hash":      {builtinHash, "dlp:rt", "[-lr] [-p pathname] [-dt] [name ...]", false},
		"help":      {builtinHelp, "", "", false},
		"history":   {builtinHistory, "", "", false},
		"jobs":      {builtinJobs, "lnprsx", "[-lnprs] [jobspec ...] or jobs -x command [args]", false},
		"kill":      {builtinKill, "", "[-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]", false},
		"let":       {builtinLet, "", "", false},
		"local":     {builtinDeclare, "", "[option] name[=value] ...", false},
		"logout":    {builtinLogout, "", "", false},
		"mapfile":   {builtinMapfile, "d:n:O:s:tu:C:c:", mapfileUsage, false},
		"popd":      {builtinPushd, "", "[-n] [+N | -N]", false},
		"printf":    {builtinPrintf, "v:", "[-v var] format [arguments]", false},
		"ps":        {builtinPs, "", "", false},
		"pushd":     {builtinPushd, "", "[-n] [+N | -N | dir]", false},
		"pwd":       {builtinPwd, "LP", "[-LP]", false},
		"read":      {builtinRead, "ersa:d:i:n:N:p:t:u:", "[-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]", false},
		"readarray": {builtinMapfile, "d:n:O:s:tu:C:c:", mapfileUsage, false},
		"readonly":  {builtinDeclare, "", "[-aAf] [name[=value] ...] or readonly -p", true},
		"return":    {builtinReturn, "", "", true},
		"set":       {builtinSet, "", "[-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]", true},
		"shift":     {builtinShift, "", "", true},
		"shopt":     {builtinShopt, "psuqo", "[-pqsu] [-o] [optname ...]", false},
		"source":    {builtinSource, ":", "filename [arguments]", true},
		"suspend":   {builtinSuspend, "", "", false},
		"test":      {builtinTest, "", "", false},
		"times":     {builtinTimes, ":", "", true},
		"trap":      {builtinTrap, "lp", "[-lp] [[arg] signal_spec ...]", true},
		"true":      {success, "", "", false},
		"type":      {builtinType, "aftpP", "[-afptP] name [name ...]", false},
		"typeset":   {builtinDeclare, "", declareUsage, false},
		"ulimit":    {builtinUlimit, "HSabcdefiklmnpqrstuvxPRT", "[-SHabcdefiklmnpqrstuvxPRT] [limit]", false},
		"umask":     {builtinUmask, "pS", "[-p] [-S] [mode]", false},
		"unalias":   {builtinUnalias, "a", "[-a] name [name ...]", false},
		"unset":     {builtinUnset, "fvn", "[-f] [-v] [-n] [name ...]", true},
		"wait":      {builtinWait, "fnp:", "[-fn] [-p var] [id ...]", false},
	}
})

const keywordNames = "if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc"

func isKeyword(s string) bool { return slices.Contains(strings.Fields(keywordNames), s) }

func isDeclName(s string) bool {
	switch s {
	case "declare", "typeset", "local", "export", "readonly":
		return true
	}
	return false
}

// IsBuiltin reports whether the shell has a builtin of this name.
func IsBuiltin(name string) bool { return allBuiltins()[name] != nil }

// builtin finds an enabled builtin.
func (sh *shell) builtin(name string) *builtin {
	if sh.disabled[name] {
		return nil
	}
	return sh.run.builtins[name]
}

func (sh *shell) builtinNames() []string { return slices.Sorted(maps.Keys(sh.run.builtins)) }

func (sh *shell) isSpecialBuiltin(name string) bool {
	b := sh.run.builtins[name]
	return b != nil && b.special
}

// A call is one use of a builtin.
type call struct {
	sh   *shell
	args []string // the words, the name first
	rest []string // those that are no options
	opts []calledOption
}

type calledOption struct {
	letter byte
	arg    string
}

// invoke runs a builtin after its options have been read.
func (sh *shell) invoke(b *builtin, args []string) int {
	c := call{sh: sh, args: args, rest: args[1:]}
	if b.opts != "" && !c.options(b.opts) {
		return 2
	}
	return b.run(sh, c)
}

// options takes the options in spec from the front of c.rest; false means
// that they were wrong and the message is out.
func (c *call) options(spec string) bool {
	for len(c.rest) > 0 {
		a := c.rest[0]
		if len(a) < 2 || a[0] != '-' {
			return true
		}
		c.rest = c.rest[1:]
		if a == "--" {
			return true
		}
		for i := 1; i < len(a); i++ {
			k := strings.IndexByte(spec, a[i])
			if k < 0 || a[i] == ':' {
				c.misuse("-%c: invalid option", a[i])
				return false
			}
			o := calledOption{letter: a[i]}
			if k+1 < len(spec) && spec[k+1] == ':' {
				if o.arg = a[i+1:]; o.arg == "" {
					if len(c.rest) == 0 {
						c.misuse("-%c: option requires an argument", a[i])
						return false
					}
					o.arg, c.rest = c.rest[0], c.rest[1:]
				}
				i = len(a)
			}
			c.opts = append(c.opts, o)
		}
	}
	return true
}

// has tells whether an option was given.
func (c *call) has(letter byte) bool { return c.last(string(letter)) != 0 }

// last is the last option given of those in letters; 0 is none.
func (c *call) last(letters string) byte {
	for i := len(c.opts) - 1; i >= 0; i-- {
		if strings.IndexByte(letters, c.opts[i].letter) >= 0 {
			return c.opts[i].letter
		}
	}
	return 0
}

// arg is the argument of an option; "" when it was not given.
func (c *call) arg(letter byte) (arg string, given bool) {
	for i := len(c.opts) - 1; i >= 0; i-- {
		if c.opts[i].letter == letter {
			return c.opts[i].arg, true
		}
	}
	return "", false
}

// fail prints "name: message"; the status is 1.
func (c *call) fail(format string, args ...any) int {
	c.sh.errorf(c.args[0]+": "+format, args...)
	return 1
}

// misuse is fail with the usage; the status is 2.
func (c *call) misuse(format string, args ...any) int {
	if format != "" {
		c.fail(format, args...)
	}
	if usage := c.sh.run.builtins[c.args[0]].usage; usage != "" {
		c.sh.stderr(c.args[0] + ": usage: " + c.args[0] + " " + usage + "\n")
	}
	return 2
}

// number is the number that may be given to exit, return, shift, break and
// continue. More than one drops what is being read, as bash does.
func (c *call) number(or int64) (n int64, ok bool) {
	if len(c.rest) > 0 && c.rest[0] == "--" {
		c.rest = c.rest[1:]
	}
	if len(c.rest) == 0 {
		return or, true
	}
	if n, ok = atoi(strings.Trim(c.rest[0], " \t\n")); !ok {
		c.fail("%s: numeric argument required", c.rest[0])
	} else if len(c.rest) > 1 {
		failf(errDiscard, 1, "%s: too many arguments", c.args[0])
	}
	return n, ok
}

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
