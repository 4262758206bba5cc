package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// ownPrefix marks a command as a builtin of ours: interp knows none of that
// name, so it comes to exec.
const ownPrefix = "\x01donax:"

// framesPerDepth is how many stack frames interp takes for one function,
// eval or substitution, seen at most in ordinary scripts.
const framesPerDepth = 14

// call sees every simple command but declarations before it runs, and
// changes those that interp must not run as they are.
func (sh *interpShell) call(ctx context.Context, args []string) ([]string, error) {
	if err := sh.h.cause(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// A Go stack that overflows ends the process: recursion must end before.
	// Now and then is enough, as long as no script can tell when.
	if rand.Uint32()%8 == 0 && deeperThan(sh.base+sh.h.limits.Depth*framesPerDepth) {
		return nil, sh.h.stop(&LimitError{What: fmt.Sprintf("depth %d of functions, eval, source and substitutions", sh.h.limits.Depth)})
	}
	args = unwrapBuiltin(args)
	if sh.texts.hasFunc(args[0]) {
		return args, nil // interp looks for functions first
	}
	hc := interp.HandlerCtx(ctx)
	switch args[0] {
	case "eval":
		return sh.callEval(ctx, hc, args)
	case "source", ".":
		return sh.callSource(ctx, hc, args)
	case "exec":
		return sh.callExec(ctx, hc, args)
	case "trap":
		return sh.callTrap(ctx, hc, args)
	case "alias":
		return sh.callAlias(ctx, hc, args)
	case "command":
		return callCommand(args), nil
	case "set":
		return sh.callSet(hc, args)
	case "test", "[":
		return sh.callTest(hc, args)
	case "unset":
		return sh.callUnset(hc, args)
	case "shift", "exit", "return", "break", "continue":
		return sh.callNumber(hc, args)
	case "getopts":
		return callGetopts(args), nil
	case "cd":
		return callCd(args), nil
	case "mapfile", "readarray":
		sh.in.pump(hc.Stdin)
	case "echo", "printf", "read", "pwd", "type", "hash", "kill", "jobs", "umask", "ulimit", "times":
		return own(args), nil
	}
	return args, nil
}

func own(args []string) []string {
	return append([]string{ownPrefix + args[0]}, args[1:]...)
}

// ended makes the command fail with a status after its message was written.
func ended(status int) []string { return []string{ownPrefix + "status", strconv.Itoa(status)} }

// refuse writes a message and fails the command.
func (sh *interpShell) refuse(hc interp.HandlerContext, status int, format string, args ...any) ([]string, error) {
	_ = sh.fail(hc, uint8(status), format, args...)
	return ended(status), nil
}

// unwrapBuiltin strips builtin and command from builtins, so that what they
// hide is looked at like anything else.
func unwrapBuiltin(args []string) []string {
	for len(args) > 1 && (args[0] == "builtin" || args[0] == "command") {
		rest := args[1:]
		if rest[0] == "--" {
			rest = rest[1:]
		}
		if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
			return args
		}
		if rest[0] != "command" && rest[0] != "builtin" && !interp.IsBuiltin(rest[0]) {
			return args
		}
		args = rest
	}
	return args
}

// prepared rewrites a text for interp's own parser, or writes why it cannot
// run.
func (sh *interpShell) prepared(ctx context.Context, hc interp.HandlerContext, what, text string) (string, []string, error) {
	out, err := sh.prepareText(ctx, text)
	var pe *ParseError
	switch {
	case err == nil:
		return out, nil, nil
	case errors.As(err, &pe):
		repl, err := sh.refuse(hc, 2, "%s: %v", what, pe)
		return "", repl, err
	}
	return "", nil, sh.h.stop(err)
}

func (sh *interpShell) callEval(ctx context.Context, hc interp.HandlerContext, args []string) ([]string, error) {
	words := args[1:]
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	text := strings.Join(words, " ")
	if err := sh.h.admitText(ctx, args, text, hc.Dir, hc.Stderr); err != nil {
		return sh.denied(hc, "eval", err)
	}
	out, repl, err := sh.prepared(ctx, hc, "eval", text)
	if repl != nil || err != nil {
		return repl, err
	}
	return []string{"eval", out}, nil
}

// denied is the replacement for a builtin that the policy refused.
func (sh *interpShell) denied(hc interp.HandlerContext, name string, err error) ([]string, error) {
	var st interp.ExitStatus
	if err := sh.execError(hc, name, err); !errors.As(err, &st) {
		return nil, err
	}
	return ended(int(st)), nil
}

// callSource reads the file itself: interp would look for it on the host, and
// parse it without bound.
func (sh *interpShell) callSource(ctx context.Context, hc interp.HandlerContext, args []string) ([]string, error) {
	words := args[1:]
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return sh.refuse(hc, 2, "%s: filename argument required", args[0])
	}
	c := &command{env: exported(hc.Env), dir: hc.Dir}
	var text []byte
	var err error
	if isStdin(words[0]) {
		streams := streamSet{ctx: ctx}
		text, err = readText(streams.reader(sh.in.reader(hc.Stdin)), sh.h.limits.Source)
		streams.close()
	} else {
		text, err = sh.h.readFile(ctx, sh.h.scriptPath(c, words[0]))
	}
	if err != nil {
		var ee *ExecError
		if !errors.As(sh.h.textError(words[0], err), &ee) {
			return nil, sh.h.cause()
		}
		return sh.refuse(hc, 1, "%s: %s", words[0], ee.Msg)
	}
	if err := sh.h.admitText(ctx, append([]string{args[0]}, words...), string(text), hc.Dir, hc.Stderr); err != nil {
		return sh.denied(hc, args[0], err)
	}
	out, repl, err := sh.prepared(ctx, hc, words[0], string(text))
	if repl != nil || err != nil {
		return repl, err
	}
	return append([]string{"source", sh.putSource(out)}, words[1:]...), nil
}

// putSource keeps a text until interp opens it. A name with a NUL byte is one
// that interp cannot find on the host.
func (sh *interpShell) putSource(text string) string {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.calls++
	name := "/\x00source/" + strconv.Itoa(int(sh.calls))
	sh.sources[name] = text
	return name
}

func (sh *interpShell) takeSource(name string) (string, bool) {
	if !strings.HasPrefix(name, "/\x00") {
		return "", false
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	text, ok := sh.sources[name]
	delete(sh.sources, name)
	return text, ok
}

func (sh *interpShell) callExec(ctx context.Context, hc interp.HandlerContext, args []string) ([]string, error) {
	words := args[1:]
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return []string{"exec"}, nil
	}
	if strings.HasPrefix(words[0], "-") {
		return sh.refuse(hc, 2, "exec: %s: not supported yet", words[0])
	}
	if err := sh.h.admitText(ctx, append([]string{"exec"}, words...), strings.Join(words, " "), hc.Dir, hc.Stderr); err != nil {
		return sh.denied(hc, "exec", err)
	}
	return append([]string{"exec"}, words...), nil
}

// unheard are signals that nobody can send to a script here: a trap for them
// is accepted and never runs.
var unheard = []string{"HUP", "INT", "QUIT", "TERM", "PIPE", "ALRM", "USR1", "USR2", "CHLD", "CONT", "TSTP", "WINCH", "1", "2", "3", "13", "14", "15"}

func (sh *interpShell) callTrap(ctx context.Context, hc interp.HandlerContext, args []string) ([]string, error) {
	words := args[1:]
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return args[:1], nil
	}
	if len(words[0]) > 1 && words[0][0] == '-' {
		return sh.refuse(hc, 2, "trap: %s: not supported yet", words[0])
	}
	if len(words) == 1 {
		words = []string{"-", words[0]}
	}
	out := []string{"trap", "--", words[0]}
	if words[0] != "-" {
		text, repl, err := sh.prepared(ctx, hc, "trap", words[0])
		if repl != nil || err != nil {
			return repl, err
		}
		out[2] = text
	}
	for _, sig := range words[1:] {
		name := strings.TrimPrefix(strings.ToUpper(sig), "SIG")
		switch {
		case name == "0" || name == "EXIT":
			out = append(out, "EXIT")
		case name == "ERR":
			out = append(out, "ERR")
		case slices.Contains(unheard, name):
		default:
			return sh.refuse(hc, 1, "trap: %s: not supported yet", sig)
		}
	}
	if len(out) == 3 {
		return ended(0), nil
	}
	return out, nil
}

func (sh *interpShell) callAlias(ctx context.Context, hc interp.HandlerContext, args []string) ([]string, error) {
	out := []string{"alias"}
	for _, a := range args[1:] {
		name, text, ok := strings.Cut(a, "=")
		if !ok {
			out = append(out, a)
			continue
		}
		fixed, repl, err := sh.prepared(ctx, hc, "alias "+name, text)
		if repl != nil || err != nil {
			return repl, err
		}
		if fixed != text {
			return sh.refuse(hc, 1, "alias: %s: a value like this is not supported yet", name)
		}
		out = append(out, a)
	}
	return out, nil
}

// callCommand keeps interp from looking for commands on the host.
func callCommand(args []string) []string {
	if len(args) > 1 && len(args[1]) > 1 && args[1][0] == '-' {
		return own(args)
	}
	return args
}

// callSet leaves out flags that change nothing here and refuses those that
// interp does not know: it would drop all flags silently.
func (sh *interpShell) callSet(hc interp.HandlerContext, args []string) ([]string, error) {
	out := []string{"set"}
	words := args[1:]
	for len(words) > 0 {
		w := words[0]
		if len(w) < 2 || w[0] != '-' && w[0] != '+' || w == "--" {
			return append(out, words...), nil
		}
		words = words[1:]
		keep := w[:1]
		for i := 1; i < len(w); i++ {
			switch f := w[i]; {
			case strings.IndexByte("aefnux", f) >= 0:
				keep += string(f)
			case strings.IndexByte("EThB", f) >= 0:
				// ERR and DEBUG traps in functions, hashing, braces.
			case f == 'o':
				if len(words) == 0 {
					return append(out, w), nil
				}
				name := words[0]
				words = words[1:]
				switch name {
				case "errtrace", "functrace", "hashall", "braceexpand":
				case "allexport", "errexit", "noexec", "noglob", "nounset", "xtrace", "pipefail":
					out = append(out, w[:1]+"o", name)
				default:
					return sh.refuse(hc, 2, "set: %s: not supported yet", name)
				}
			default:
				return sh.refuse(hc, 2, "set: %c%c: not supported yet", w[0], f)
			}
		}
		if len(keep) > 1 {
			out = append(out, keep)
		}
	}
	if len(out) == 1 && len(args) > 1 {
		return ended(0), nil
	}
	return out, nil
}

// callTest replaces the tests that would ask the host or panic.
func (sh *interpShell) callTest(hc interp.HandlerContext, args []string) ([]string, error) {
	out := slices.Clone(args)
	for i := 1; i < len(out); i++ {
		last := i+1 >= len(out) || args[0] == "[" && i+2 >= len(out)
		before := i == 1 || slices.Contains([]string{"!", "-a", "-o", "("}, out[i-1])
		if out[i] == "-ef" && !before && !last {
			return sh.refuse(hc, 2, "%s: -ef: not supported yet", args[0])
		}
		if !before || last {
			continue
		}
		switch out[i] {
		case "-O", "-G":
			out[i] = "-e"
		case "-t":
			out[i], out[i+1] = "-n", ""
		case "-N":
			return sh.refuse(hc, 2, "%s: -N: not supported yet", args[0])
		case "-v", "-R":
			if out[i+1] == "" {
				out[i] = "-n"
			}
		}
	}
	return out, nil
}

func (sh *interpShell) callUnset(hc interp.HandlerContext, args []string) ([]string, error) {
	for _, a := range args[1:] {
		name, sub, ok := strings.Cut(a, "[")
		if a == "" || strings.ContainsAny(name, " \t\n") {
			return sh.refuse(hc, 1, "unset: `%s': not a valid identifier", a)
		}
		// A subscript is a text that interp parses and expands.
		if ok && strings.ContainsAny(sub, "$`(<>") {
			return sh.refuse(hc, 1, "unset: %s: a computed subscript is not supported yet", a)
		}
	}
	return args, nil
}

// callNumber checks the argument of shift, exit and their like: interp
// panics on some and takes others for a wish to clear all.
func (sh *interpShell) callNumber(hc interp.HandlerContext, args []string) ([]string, error) {
	if len(args) < 2 {
		if args[0] == "return" { // with the status of the last command
			return []string{"return", strconv.Itoa(hc.LastExitStatus)}, nil
		}
		return args, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(args[1]))
	switch {
	case args[0] == "shift" && err == nil && n < 0:
		return sh.refuse(hc, 1, "shift: %s: shift count out of range", args[1])
	case (args[0] == "break" || args[0] == "continue") && err == nil && n < 1:
		return sh.refuse(hc, 1, "%s: %s: loop count out of range", args[0], args[1])
	case err == nil:
		return append([]string{args[0], strconv.Itoa(n)}, args[2:]...), nil
	}
	return args, nil
}

func callCd(args []string) []string {
	out := []string{"cd"}
	for i, a := range args[1:] {
		if a == "--" {
			return append(out, args[i+2:]...)
		}
		if a != "-L" && a != "-P" && a != "-e" && a != "-@" {
			return append(out, args[i+1:]...)
		}
	}
	return out
}
