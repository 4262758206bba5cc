// Package awk is awk: goawk, which is POSIX awk, with the functions of gawk
// that are in common use.
//
// goawk starts processes itself, which a sandbox has none of. So the program
// is rewritten before it is parsed: system(), pipes and getline from commands
// become calls that run the command through the sandbox, with files in
// between. A command that is written to runs when it is closed or the program
// ends; one that is read from has ended before its first line is read. Loops
// over arrays go through the keys in order, numbers before strings, or as
// PROCINFO["sorted_in"] says. What only gawk has and goawk cannot do
// (IGNORECASE, RT, FPAT, ...) is refused.
package awk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/benhoyt/goawk/interp"
	"github.com/benhoyt/goawk/lexer"
	"github.com/benhoyt/goawk/parser"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is awk.
var Command = command("awk", "run an awk program over lines")

// Gawk is awk under its GNU name.
var Gawk = command("gawk", "awk under the name of GNU awk")

func command(name, summary string) *applet.Command {
	return &applet.Command{
		Name:     name,
		Synopsis: "[-F FS] [-v VAR=VALUE]... {PROGRAM | -f FILE...} [FILE | VAR=VALUE]...",
		Summary:  summary,
		Help: `  -F, --field-separator=FS  how fields are separated
  -v, --assign=VAR=VALUE    set a variable before the program begins
  -f, --file=FILE           the program is in FILE
  -e, --source=TEXT         program text
      --csv                 the input is comma-separated values
      --posix, --traditional  no effect
`,
		Run: run,
	}
}

const failed = 2 // the status of an error

func run(c *applet.Ctx) int {
	var vars, files, texts []string
	fs, csv := "", false
	haveFS := false
	var bad error
	refuse := func(what string) func() {
		return func() { bad = errors.New(what + " is not supported") }
	}
	operands, status, ok := c.Parse(failed,
		applet.StopAtOperand(),
		applet.Func(func(v string) error { fs, haveFS = v, true; return nil }, 'F', "field-separator"),
		applet.Func(func(v string) error {
			name, val, ok := strings.Cut(v, "=")
			if !ok || !isName(name) {
				bad = errors.New("`" + v + "' argument to `-v' not in `var=value' form")
				return nil
			}
			if u, err := lexer.Unescape(val); err == nil {
				val = u
			}
			vars = append(vars, name, val)
			return nil
		}, 'v', "assign"),
		applet.Func(func(v string) error { files = append(files, v); return nil }, 'f', "file"),
		applet.Func(func(v string) error { texts = append(texts, v); return nil }, 'e', "source"),
		applet.Bool(&csv, 'k', "csv"),
		applet.Do(func() {}, 0, "posix"),
		applet.Do(func() {}, 0, "traditional"),
		applet.Do(func() {}, 'r', "re-interval"),
		applet.Do(refuse("--sandbox"), 0, "sandbox"),
		applet.Do(refuse("--lint"), 0, "lint"),
		applet.Do(refuse("--non-decimal-data"), 'n', "non-decimal-data"),
		applet.Do(refuse("--characters-as-bytes"), 'b', "characters-as-bytes"),
		applet.Func(func(string) error { refuse("-i")(); return nil }, 'i', "include"),
	)
	if !ok {
		return status
	}
	if bad != nil {
		c.Warn(bad.Error())
		return failed
	}
	src := ""
	for _, f := range files {
		data, err := read(c, f)
		if err != nil {
			c.Warn("fatal: cannot open source file `", f, "' for reading: ", applet.Reason(err))
			return failed
		}
		src += string(data) + "\n"
	}
	for _, t := range texts {
		src += t + "\n"
	}
	if len(files) == 0 && len(texts) == 0 {
		if len(operands) == 0 {
			io.WriteString(c.Stderr, "Usage: awk "+c.Cmd.Synopsis+"\n")
			return failed
		}
		src, operands = operands[0], operands[1:]
	}
	if haveFS {
		if fs == "t" { // POSIX: -Ft is a tab
			fs = "\t"
		} else if u, err := lexer.Unescape(fs); err == nil {
			fs = u
		}
		vars = append([]string{"FS", fs}, vars...)
	}
	return execute(c, src, operands, vars, csv)
}

func read(c *applet.Ctx, name string) ([]byte, error) {
	if name == "-" || name == "/dev/stdin" {
		return io.ReadAll(c.Stdin)
	}
	return os.ReadFile(name)
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !('a' <= r|0x20 && r|0x20 <= 'z') && (i == 0 || !('0' <= r && r <= '9')) {
			return false
		}
	}
	return s != ""
}

func execute(c *applet.Ctx, src string, args, vars []string, csv bool) int {
	rw, err := rewrite(src)
	if err != nil {
		c.Warn(err.Error())
		return failed
	}
	host := newHost(c)
	defer host.cleanup()
	funcs := host.functions()
	prog, err := parser.ParseProgram([]byte(rw), &parser.ParserConfig{Funcs: funcs})
	if err != nil {
		var pe *parser.ParseError
		if errors.As(err, &pe) {
			line := min(pe.Position.Line, 1+strings.Count(src, "\n"))
			text := strings.Split(src, "\n")[line-1]
			c.Warn("cmd. line:", itoa(line), ": ", text)
			c.Warn("cmd. line:", itoa(line), ": syntax error: ", pe.Message)
			return failed
		}
		c.Warn(err.Error())
		return failed
	}
	config := &interp.Config{
		Stdin: c.Stdin, Output: c.Stdout, Error: c.Stderr, Argv0: c.Cmd.Name, Args: args, Vars: vars,
		Funcs: funcs, NoExec: true, Environ: environ(), Chars: true,
	}
	if csv {
		config.InputMode = interp.CSVMode
	}
	status, err := interp.ExecProgram(prog, config)
	if err != nil {
		c.Flush()
		c.Warn(reason(err))
		status = failed
	}
	if s := host.finish(); err == nil && s != 0 && status == 0 {
		return s
	}
	return status
}

// reason rewords an error of goawk.
func reason(err error) string {
	msg := err.Error()
	if name, ok := strings.CutPrefix(msg, "file \""); ok && strings.HasSuffix(msg, "\" not found") {
		return "cannot open \"" + strings.TrimSuffix(name, "\" not found") + "\" (No such file or directory)"
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		return "cannot open \"" + pe.Path + "\" (" + applet.Reason(pe.Err) + ")"
	}
	return msg
}

// environ is the environment as goawk wants it.
func environ() []string {
	out := []string{}
	for _, kv := range os.Environ() {
		if k, v, ok := strings.Cut(kv, "="); ok {
			out = append(out, k, v)
		}
	}
	return out
}

func itoa(n int) string {
	var b bytes.Buffer
	if n < 0 {
		b.WriteByte('-')
		n = -n
	}
	if n >= 10 {
		b.WriteString(itoa(n / 10))
	}
	b.WriteByte(byte('0' + n%10))
	return b.String()
}
