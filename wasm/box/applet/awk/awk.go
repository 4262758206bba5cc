// Package awk is awk: goawk with the command line of POSIX and gawk's
// commonly used functions.
package awk

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/benhoyt/goawk/interp"
	"github.com/benhoyt/goawk/lexer"
	"github.com/benhoyt/goawk/parser"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is awk; Gawk is the same under the name that scripts for GNU
// systems use.
var (
	Command = command("awk")
	Gawk    = command("gawk")
)

func command(name string) *applet.Command {
	return &applet.Command{
		Name:     name,
		Synopsis: "[-F FS] [-v VAR=VALUE]... {'PROGRAM' | -f PROGFILE}... [FILE]...",
		Summary:  "scan files for patterns and process what matches",
		Help: `  -F, --field-separator=FS   fields are separated by FS
  -v, --assign=VAR=VALUE     set VAR before the program begins
  -f, --file=PROGFILE        read the program from PROGFILE; may be repeated
  -b, --characters-as-bytes  count bytes, not characters
Of gawk's functions there are gensub, strftime, systime, mktime, strtonum, and, or, xor, compl, lshift and rshift.
system() runs a command line in the sandbox; pipes to and from commands inside the program are not available.`,
		Run: run,
	}
}

// statusError is what awk ends with after an error of its own.
const statusError = 2

func run(c *applet.Ctx) int {
	fs, bytes := " ", false
	var files, assigns []string
	args, status, ok := c.Parse(statusError,
		applet.StopAtOperand(),
		applet.String(&fs, 'F', "field-separator"),
		applet.Func(func(v string) error {
			if name, _, ok := strings.Cut(v, "="); !ok || !isName(name) {
				return errors.New(applet.Quote(v) + " argument to `-v' not in `var=value' form")
			}
			assigns = append(assigns, v)
			return nil
		}, 'v', "assign"),
		applet.Func(func(v string) error { files = append(files, v); return nil }, 'f', "file"),
		applet.Bool(&bytes, 'b', "characters-as-bytes"),
	)
	if !ok {
		return status
	}
	source, args, err := program(c, files, args)
	if err != nil {
		return complain(c, err)
	}
	if source == nil {
		return c.Usage("no program text") - 1 + statusError
	}
	host := &host{c: c}
	prog, err := parser.ParseProgram(rewrite(source), &parser.ParserConfig{Funcs: host.funcs()})
	if err != nil {
		return complain(c, err)
	}
	in, err := interp.New(prog)
	if err != nil {
		return complain(c, err)
	}
	cfg := &interp.Config{
		Stdin: c.Stdin, Output: c.Out(), Error: c.Stderr,
		Argv0: c.Cmd.Name, Args: args, Chars: !bytes,
		NoExec: true, // there is no process to start from in here; system() goes through Procs
		Funcs:  host.funcs(),
		Vars:   []string{"FS", separator(fs)},
	}
	for _, a := range assigns {
		name, value, _ := strings.Cut(a, "=")
		if v, err := lexer.Unescape(value); err == nil {
			value = v
		}
		cfg.Vars = append(cfg.Vars, name, value)
	}
	status, err = in.Execute(cfg)
	if err != nil {
		return complain(c, err)
	}
	return status
}

// program returns the program's text, and the operands that are left.
func program(c *applet.Ctx, files, args []string) ([]byte, []string, error) {
	if len(files) == 0 {
		if len(args) == 0 {
			return nil, nil, nil
		}
		return []byte(args[0]), args[1:], nil
	}
	var source []byte
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			return nil, nil, errors.New("can't open file " + name + ": " + applet.Reason(err))
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, nil, errors.New(name + ": " + applet.Reason(err))
		}
		source = append(append(source, text...), '\n')
	}
	return source, args, nil
}

// separator is the value that -F gives FS: "t" alone means a tab, as POSIX
// has it, and escapes are read.
func separator(fs string) string {
	if fs == "t" {
		return "\t"
	}
	if v, err := lexer.Unescape(fs); err == nil {
		return v
	}
	return fs
}

// complain writes an error of awk and returns its status. A broken pipe ends
// quietly, as SIGPIPE would end it.
func complain(c *applet.Ctx, err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return 128 + 13
	}
	msg := err.Error()
	var pe *os.PathError
	switch {
	case strings.Contains(msg, "NoExec"):
		msg = "pipes to and from commands are not available in the sandbox: use the shell's own pipes, or system()"
	case errors.As(err, &pe):
		msg = "cannot open " + `"` + pe.Path + `" (` + applet.Reason(err) + ")"
	}
	c.Flush()
	c.Warn(msg)
	return statusError
}

func isName(s string) bool {
	for i := range len(s) {
		b := s[i] | 0x20
		if s[i] != '_' && (b < 'a' || b > 'z') && (i == 0 || s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}
