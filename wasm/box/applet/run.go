package applet

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
)

// Run runs c's command and flushes its output: what whoever runs commands
// calls. A failed write ends as GNU commands end: one line and status 1; or
// quietly with status 141, as killed by SIGPIPE, when nobody reads the output
// any more.
func Run(c *Ctx) int {
	status := c.Cmd.Run(c)
	err := c.Flush()
	switch {
	case err == nil:
		return status
	case errors.Is(err, syscall.EPIPE):
		return 128 + 13
	}
	c.Warn("write error: ", Reason(err))
	return 1
}

// Out returns Stdout as a concrete type, for loops where a call through an
// interface counts. What is written to it and to Stdout keeps its order.
func (c *Ctx) Out() *bufio.Writer {
	if w, ok := c.Stdout.(*bufio.Writer); ok {
		return w
	}
	w := bufio.NewWriterSize(c.Stdout, BufSize)
	c.Stdout = w
	return w
}

// Open opens a file for reading; "-" is Stdin, which Close leaves open.
func (c *Ctx) Open(name string) (io.ReadCloser, error) {
	if name == "-" {
		if f, ok := c.Stdin.(*os.File); ok {
			return stdin{f}, nil
		}
		return io.NopCloser(c.Stdin), nil
	}
	return os.Open(name)
}

// stdin is the standard input as a file that Close leaves open.
type stdin struct{ *os.File }

func (stdin) Close() error { return nil }

// WarnName writes "command: NAME: why".
func (c *Ctx) WarnName(name string, err error) { c.Warn(Name(name), ": ", Reason(err)) }

// Bare parses the command line of a command that has no options but --help
// and --version.
func (c *Ctx) Bare() (operands []string, status int, ok bool) { return c.Parse(1) }

// ExtraOperand complains about an operand too many and returns 1.
func (c *Ctx) ExtraOperand(arg string) int { return c.Usage("extra operand ", Curly(arg)) }

// MissingOperand complains about a missing operand, after the last one given
// if there is one, and returns 1.
func (c *Ctx) MissingOperand(given []string) int {
	if len(given) == 0 {
		return c.Usage("missing operand")
	}
	return c.Usage("missing operand after ", Curly(given[len(given)-1]))
}

// Files calls f for each named file, or for Stdin when there is none. A file
// that cannot be opened or read is complained about and makes the result
// false; the others are still read.
func (c *Ctx) Files(names []string, f func(name string, r io.Reader) error) bool {
	if len(names) == 0 {
		names = []string{"-"}
	}
	ok := true
	for _, name := range names {
		r, err := c.Open(name)
		if err == nil {
			err = f(name, r)
			r.Close()
		}
		if err != nil {
			c.WarnName(name, err)
			ok = false
		}
	}
	return ok
}

// Status is 0 for true and 1 for false.
func Status(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// Ask writes a question to Stderr and reads the answer, a line that begins
// with y for yes, from Stdin, as the -i options do.
func (c *Ctx) Ask(question ...string) bool {
	io.WriteString(c.Stderr, c.Cmd.Name+": "+strings.Join(question, "")+" ")
	var first, b [1]byte
	for n := 0; ; n++ {
		// By the byte: what follows the line is the next question's answer.
		if k, err := c.Stdin.Read(b[:]); k == 0 || err != nil || b[0] == '\n' {
			break
		}
		if n == 0 {
			first = b
		}
	}
	return first[0]|32 == 'y'
}
