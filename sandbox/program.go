// Package sandbox runs shell command lines against a virtual file system and
// a fixed set of programs. Nothing it runs can reach the host: it starts no
// host program, dials nothing, and touches no file it was not given.
//
// A [Session] is one sandbox: its files and programs, its policy and limits.
// Each [Session.Run] gets a shell of its own over the session's files.
package sandbox

import (
	"context"
	"fmt"
	"io"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// A Program is one command of the sandbox.
//
// Run returns nil for status 0, an [ExitCode] for another status of the
// program's own, and any other error when the whole script must stop (a
// limit, the context's end, a fault of the sandbox). It must return soon
// after ctx ends.
type Program interface {
	Run(ctx context.Context, p *Proc) error
	Usage() Usage
}

// A Loader is a Program that takes time before it can run. Load returns when it
// can, or with the reason why it never will, or when ctx ends. The time that a
// policy leaves to one program counts from then.
type Loader interface {
	Load(ctx context.Context) error
}

// Usage describes a Program: --help, `donax commands`, the README's table and
// the hints given to models are made from it.
type Usage struct {
	Name     string // canonical name: what a policy sees
	Synopsis string // the arguments, as in "[-n NUM] [FILE]..."
	Summary  string // one line
	Kind     string // policy.Exec.Kind: box, wasm or tool
	SHA256   string // hex digest of the code that runs

	// Aliases are more names to call it by. To a policy it is Name all the same.
	Aliases []string
}

// Proc is everything that a running Program may touch.
type Proc struct {
	Args []string // Args[0] is the name it was called by
	Env  []string // NAME=VALUE
	Dir  string   // absolute

	// Reads and writes fail soon after the context of Run ends. A write to a
	// pipe without reader fails with syscall.EPIPE. A stream that is a file of
	// FS is its vfs.File. All of them may be used by several goroutines at once:
	// a program hands its own to the children that it runs side by side.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	FS     vfs.FS
	Umask  *uint32 // bits that new files do not get; nil means 022
	Memory int64   // bytes that one instance may use; 0 means the default

	// Shown says that Stdout is the output of the whole run, which a person or
	// a model reads, rather than a pipe, a file or a substitution.
	Shown bool

	// Admit asks the session's policy about something that the program is about
	// to do beyond running, such as calling an upstream tool, and counts it. The
	// subject and the usage of the action are filled in. An error is a
	// [*policy.DeniedError], or the end of ctx.
	Admit func(ctx context.Context, a policy.Action) (policy.Decision, error)

	// Spawn runs another program with the session's admission and returns as
	// Program.Run does. It may be called from several goroutines.
	Spawn func(ctx context.Context, c Child) error

	// Fetch makes an HTTP request with the session's admission, as Network.Do
	// does: what a denial is there is a NetError here. It may be called from
	// several goroutines.
	Fetch func(ctx context.Context, r Request) (*Response, error)
}

// Child is a program that another program starts.
type Child struct {
	Args   []string
	Env    []string
	Dir    string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	// Started, if set, is called once when the child has been found and
	// admitted, just before it runs. A Spawn that returns without having called
	// it ran nothing: its error is then matched by syscall.ENOENT when there is
	// no such program, and by syscall.EACCES or policy.ErrDenied when it may not
	// run.
	Started func()
}

// ExitCode is the error of a program that ended by itself with a status
// other than 0.
type ExitCode uint8

func (c ExitCode) Error() string { return fmt.Sprintf("exit status %d", uint8(c)) }
