// Package applet is what every command of the box is made of: the command
// table's entry, its streams, GNU option parsing and GNU error texts.
//
// A command is ordinary Go on package os and runs in two ways from the same
// source: natively in tests, and inside wasm where os is the sandbox's file
// system. Its own folder below this one holds it. Commands of the core tier
// import neither fmt nor regexp nor encoding/json, which would double the
// size of that tier; this package does not either.
package applet

import (
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// A Command is one command of the box. Help, `donax commands` and the
// README's table are made from it.
type Command struct {
	Name     string // canonical name
	Synopsis string // the arguments: "[-n] [FILE]..."
	Summary  string // one line, lower case, without a full stop
	Help     string // the options, a line each, as --help prints them; "" when there are none
	Run      func(*Ctx) int

	Aliases   []string // other names of the same program
	NamedHint bool     // the hint to try --help begins with the name, as diffutils have it
	UsageHint bool     // a line with the synopsis stands before it, as grep has it
}

// Called returns the command as it is when name calls it, the path of a file or
// its base: what it says begins with that name. Nil: that is no name of it.
func (c *Command) Called(name string) *Command {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if name == c.Name {
		return c
	}
	for _, alias := range c.Aliases {
		if name == alias {
			other := *c
			other.Name = alias
			return &other
		}
	}
	return nil
}

// Ctx is one run of a command.
type Ctx struct {
	Cmd    *Command
	Args   []string // without the name
	Stdin  io.Reader
	Stdout io.Writer // buffered: flushed after Run, and by Flush
	Stderr io.Writer // not buffered

	// Procs starts other commands, through the sandbox and its policy. It is
	// nil where there is no sandbox; native tests set their own.
	Procs Procs

	// Web makes HTTP requests; nil where there is no sandbox. See Fetch.
	Web Web

	// Hash goes on with a hash by means of the host: state, as Go's package for
	// it marshals it, becomes that after data. False: the host does not know
	// how. It is nil where there is no sandbox.
	Hash func(state, data []byte) bool

	// Deflate compresses a part of a stream by means of the host, in the format of
	// RFC 1951, and appends it to out: in holds dict bytes of what came before and
	// then the part, at most 32 and 64 KiB. last ends the stream. False: the host
	// does not do that. It is nil where there is no sandbox.
	Deflate func(out []byte, level int, in []byte, dict int, last bool) ([]byte, bool)

	// Linger has the command end so long after Run has returned 0, when nothing
	// of it takes memory any more; nil where there is no sandbox.
	Linger func(time.Duration)
}

// Procs starts and waits for other commands.
type Procs interface {
	// Start starts c. The error is syscall.ENOENT when there is no such
	// command and syscall.EACCES when it may not run; the reason of a denial is
	// then already on c's Stderr.
	Start(c Child) (pid int, err error)
	// Wait waits for the child pid, or for any child when pid is -1, at most
	// timeoutNS nanoseconds when that is positive: past it the error is
	// syscall.ETIMEDOUT and the child still runs. status is as a shell's $?.
	Wait(pid int, timeoutNS int64) (ended, status int, err error)
	// Kill sends a signal: 15 and 9 end the child with status 128+signal.
	Kill(pid, signal int) error
}

// Child is a command that a command starts.
type Child struct {
	Args []string
	Env  []string // NAME=VALUE; nil means the parent's
	Dir  string   // "" means the parent's

	// Stdin is the child's input: nil means empty, os.Stdin passes the
	// parent's on. Stdout and Stderr: nil means the parent's.
	Stdin, Stdout, Stderr *os.File
}

// Spawn runs a command and returns its status: 127 when there is no such
// command, 126 when it may not run, after saying so.
func (c *Ctx) Spawn(ch Child) int {
	pid, status := c.StartChild(ch, Curly(ch.Args[0]))
	if pid == 0 {
		return status
	}
	_, status, err := c.Procs.Wait(pid, 0)
	if err != nil {
		c.Warn(ch.Args[0], ": ", Reason(err))
		return 125
	}
	return status
}

// StartChild starts a command. When it cannot be started pid is 0, the reason
// has been said after text, and status is what the caller should end with: 127
// or 126.
func (c *Ctx) StartChild(ch Child, text string) (pid, status int) {
	if c.Procs == nil {
		c.Warn("cannot run ", Quote(ch.Args[0]), ": not inside the sandbox")
		return 0, 126
	}
	c.Flush()
	pid, err := c.Procs.Start(ch)
	if err == nil {
		return pid, 0
	}
	if err != syscall.EACCES { // a denial has already been explained
		c.Warn(text, ": ", Reason(err))
	}
	if err == syscall.ENOENT {
		return 0, 127
	}
	return 0, 126
}

// Flush writes what is buffered for Stdout. Commands that take turns with a
// child or a slow reader call it.
func (c *Ctx) Flush() error {
	if f, ok := c.Stdout.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// Warn writes one line to Stderr after the command's name: "cat: " and the
// parts.
func (c *Ctx) Warn(parts ...string) {
	io.WriteString(c.Stderr, c.Cmd.Name+": "+strings.Join(parts, "")+"\n")
}

// Usage writes a usage error as GNU commands do, the message and the hint to
// try --help, and returns 1, the status of most of them.
func (c *Ctx) Usage(parts ...string) int {
	if len(parts) > 0 {
		c.Warn(parts...)
	}
	name := ""
	if c.Cmd.NamedHint {
		name = c.Cmd.Name + ": "
	}
	if c.Cmd.UsageHint {
		name += "Usage: " + c.Cmd.Name + " " + c.Cmd.Synopsis + "\n"
	}
	io.WriteString(c.Stderr, name+"Try '"+c.Cmd.Name+" --help' for more information.\n")
	return 1
}

// ShowHelp prints the command's help, as --help does.
func (c *Ctx) ShowHelp() { io.WriteString(c.Stdout, c.Cmd.helpText()) }

// ShowVersion prints what --version does: scripts look there whether they have
// GNU commands.
func (c *Ctx) ShowVersion() {
	product, version := family(c.Cmd.Name)
	io.WriteString(c.Stdout, c.Cmd.Name+" (donax; behaves as "+product+") "+version+"\n")
}

// helpText is what --help prints.
func (cmd *Command) helpText() string {
	var b strings.Builder
	b.WriteString("Usage: " + cmd.Name)
	if cmd.Synopsis != "" {
		b.WriteString(" " + cmd.Synopsis)
	}
	s := cmd.Summary
	if s != "" {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if s != "" {
		b.WriteString("\n" + s + ".\n")
	}
	if cmd.Help != "" {
		b.WriteString("\n" + strings.TrimRight(cmd.Help, "\n") + "\n")
	}
	return b.String()
}
