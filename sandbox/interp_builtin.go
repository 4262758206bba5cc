package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// builtin runs a builtin of ours.
func (sh *interpShell) builtin(ctx context.Context, hc interp.HandlerContext, name string, args []string) error {
	switch name {
	case "status":
		n, _ := strconv.Atoi(args[0])
		return exitStatus(n)
	case "pwd":
		return sh.ownPwd(ctx, hc, args)
	case "echo":
		return sh.ownEcho(ctx, hc, args)
	case "printf":
		return sh.ownPrintf(ctx, hc, args)
	case "getopts":
		return sh.ownGetopts(ctx, hc, args)
	case "read":
		return sh.ownRead(ctx, hc, args)
	case "type", "command":
		return sh.ownType(ctx, hc, name, args)
	case "hash", "jobs":
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") || len(args) == 0 {
			return nil
		}
	case "umask":
		switch {
		case len(args) == 0:
			return sh.write(ctx, hc, "0022\n")
		case args[0] == "022" || args[0] == "0022":
			return nil
		}
	case "times":
		return sh.write(ctx, hc, "0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n")
	}
	return sh.fail(hc, 2, "%s: not supported yet", strings.TrimSpace(name+" "+strings.Join(args, " ")))
}

// write writes a builtin's output. A shell whose reader is gone ends as by
// SIGPIPE: a loop of builtins must not go on for ever.
func (sh *interpShell) write(ctx context.Context, hc interp.HandlerContext, s string) error {
	_, err := io.WriteString(sh.output(hc), s)
	if err == nil {
		return nil
	}
	if cause := sh.h.cause(); cause != nil {
		return cause
	}
	if errors.Is(pipeError(bareError(err)), syscall.EPIPE) {
		return hc.Builtin(ctx, []string{"exit", "141"})
	}
	return sh.fail(hc, 1, "write error: %s", reason(err))
}

func (sh *interpShell) ownPwd(ctx context.Context, hc interp.HandlerContext, args []string) error {
	dir := hc.Dir
	for _, a := range args {
		switch a {
		case "-P":
			l, err := sh.h.session.fs.Resolve(dir, true)
			if err != nil {
				return sh.fail(hc, 1, "pwd: %s", reason(err))
			}
			dir = l.Path
		case "-L":
		default:
			if strings.HasPrefix(a, "-") {
				return sh.fail(hc, 2, "pwd: %s: invalid option", a)
			}
		}
	}
	return sh.write(ctx, hc, dir+"\n")
}

func (sh *interpShell) ownEcho(ctx context.Context, hc interp.HandlerContext, args []string) error {
	newline, escapes := true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, f := range args[0][1:] {
			switch f {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	s := strings.Join(args, " ")
	if escapes {
		var stop bool
		if s, stop = echoEscapes(s); stop {
			newline = false
		}
	}
	if newline {
		s += "\n"
	}
	return sh.write(ctx, hc, s)
}

// eval runs a text of our own making in the calling shell.
func (sh *interpShell) eval(ctx context.Context, hc interp.HandlerContext, text string) error {
	return hc.Builtin(ctx, []string{"eval", text})
}

// assign sets a variable of the calling shell: a local one if there is one.
func (sh *interpShell) assign(ctx context.Context, hc interp.HandlerContext, name, value string) error {
	return sh.eval(ctx, hc, name+"="+dollarQuote(value)) // interp gets other quotes wrong when they meet
}

// isFunc asks the calling shell whether it has a function.
func (sh *interpShell) isFunc(ctx context.Context, hc interp.HandlerContext, name string) bool {
	return sh.texts.hasFunc(name) && sh.eval(ctx, hc, "declare -f "+dollarQuote(name)+" >/dev/null") == nil
}

// ownType answers type and command -v from the sandbox's own commands.
func (sh *interpShell) ownType(ctx context.Context, hc interp.HandlerContext, name string, args []string) error {
	mode := byte(0)
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		f := args[0]
		args = args[1:]
		if f == "--" {
			break
		}
		allowed := "tpPaf"
		if name == "command" {
			allowed = "vVp"
		}
		for i := 1; i < len(f); i++ {
			if strings.IndexByte(allowed, f[i]) < 0 {
				return sh.fail(hc, 2, "%s: -%c: invalid option", name, f[i])
			}
			if f[i] != 'a' && f[i] != 'f' && !(name == "command" && f[i] == 'p') {
				mode = f[i]
			}
		}
	}
	if name == "command" && mode == 0 {
		return sh.fail(hc, 2, "command: -p: not supported yet")
	}
	status := 0
	for _, a := range args {
		kind, where := sh.kindOf(ctx, hc, a, mode == 'P')
		var line string
		switch {
		case kind == "":
			status = 1
			if mode == 0 || mode == 'V' {
				_ = sh.fail(hc, 1, "%s: %s: not found", name, a)
			}
			continue
		case mode == 't':
			line = kind
		case mode == 'p' || mode == 'P':
			if line = where; line == "" {
				continue
			}
		case mode == 'v':
			if line = where; line == "" {
				line = a
			}
		case kind == "file":
			line = a + " is " + where
		case kind == "function":
			line = a + " is a function"
		default:
			line = a + " is a shell " + kind
		}
		if err := sh.write(ctx, hc, line+"\n"); err != nil {
			return err
		}
	}
	return exitStatus(status)
}

func (sh *interpShell) kindOf(ctx context.Context, hc interp.HandlerContext, name string, pathOnly bool) (kind, where string) {
	switch {
	case pathOnly:
	case syntax.IsKeyword(name):
		return "keyword", ""
	case sh.isFunc(ctx, hc, name):
		return "function", ""
	case interp.IsBuiltin(name):
		return "builtin", ""
	}
	c := &command{env: exported(hc.Env), dir: hc.Dir}
	if at, err := sh.h.lookPath(c, name); err == nil {
		return "file", at
	}
	return "", ""
}

// echoEscapes expands the escapes of echo -e; stop means \c.
func echoEscapes(s string) (out string, stop bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'c':
			return b.String(), true
		case '0':
			i = octal(&b, s, i+1, 3) - 1
		default:
			n, ok := escape(&b, s[i:])
			if !ok {
				b.WriteByte('\\')
				b.WriteByte(s[i])
				continue
			}
			i += n - 1
		}
	}
	return b.String(), false
}

// octal writes the byte of up to max octal digits at i and returns the index
// after them.
func octal(b *strings.Builder, s string, i, max int) int {
	v, n := 0, 0
	for n < max && i < len(s) && s[i] >= '0' && s[i] <= '7' {
		v = v*8 + int(s[i]-'0')
		i, n = i+1, n+1
	}
	b.WriteByte(byte(v))
	return i
}

// escape writes what the escape at the start of s, after the backslash,
// stands for, and returns its length.
func escape(b *strings.Builder, s string) (int, bool) {
	if i := strings.IndexByte("abefnrtvE\\", s[0]); i >= 0 {
		b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b\\"[i])
		return 1, true
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits == 0 {
		return 0, false
	}
	n := 1
	for n < len(s) && n <= digits && isHex(s[n]) {
		n++
	}
	if n == 1 {
		return 0, false
	}
	v, _ := strconv.ParseUint(s[1:n], 16, 32)
	if s[0] == 'x' {
		b.WriteByte(byte(v))
	} else {
		fmt.Fprintf(b, "%c", rune(v))
	}
	return n, true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
