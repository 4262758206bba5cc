// Package awk is awk as GNU awk has it, without coprocesses, arrays of arrays,
// @include and the network.
//
// The parser makes closures of a program: each expression can be asked for a
// number, a text, a truth or a value. Records are parts of what was read, and
// fields parts of records, found when they are asked for.
//
// A command that is written to runs when it is closed or the program ends; one
// that is read from has ended before its first line is read. Loops over arrays
// go through the keys in order, numbers before texts, or as
// PROCINFO["sorted_in"] says.
package awk

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is awk.
var Command = &applet.Command{
	Name:     "awk",
	Aliases:  []string{"gawk", "mawk", "nawk"},
	Synopsis: "[-F FS] [-v VAR=VALUE]... {PROGRAM | -f FILE...} [FILE | VAR=VALUE]...",
	Summary:  "run an awk program over lines",
	Help: `  -F, --field-separator=FS  how fields are separated
  -v, --assign=VAR=VALUE    set a variable before the program begins
  -f, --file=FILE           the program is in FILE
  -e, --source=TEXT         program text
      --csv                 the input is comma-separated values
      --posix, --traditional  no effect
`,
	Run: run,
}

const failed = 2 // the status of an error

func run(c *applet.Ctx) int {
	var vars, files, texts []string
	csv := false
	var bad error
	refuse := func(what string) func() {
		return func() { bad = errors.New(what + " is not supported") }
	}
	operands, status, ok := c.Parse(failed,
		applet.StopAtOperand(),
		applet.Func(func(v string) error {
			vars = append(vars, "FS", v)
			return nil
		}, 'F', "field-separator"),
		applet.Func(func(v string) error {
			name, val, ok := strings.Cut(v, "=")
			if !ok || !isName(name) {
				bad = errors.New("`" + v + "' argument to `-v' not in `var=value' form")
				return nil
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
	p, bad := parse(src)
	for _, w := range p.warnings {
		c.Warn(w)
	}
	if bad != nil {
		at := min(bad.pos, len(src))
		start := strings.LastIndexByte(src[:at], '\n') + 1
		line, _, _ := strings.Cut(src[start:], "\n")
		where := "cmd. line:" + itoa(1+strings.Count(src[:start], "\n")) + ": "
		c.Warn(where, line)
		c.Warn(where, strings.Repeat(" ", at-start), "^ ", bad.msg)
		return 1
	}
	m := newMachine(c, p, args)
	defer m.cleanup()
	if csv {
		m.split = splitter{how: ','}
	}
	for i := 0; i < len(vars); i += 2 {
		m.setVariable(vars[i], vars[i+1])
	}
	return m.run()
}
