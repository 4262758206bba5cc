package applet

import (
	"bufio"
	"errors"
	"io"
	"os"
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
		return io.NopCloser(c.Stdin), nil
	}
	return os.Open(name)
}

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
