package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// A Host is everything that an evaluator may know of the outside. All paths
// are absolute, clean and virtual. Methods may be called from several
// goroutines, and must return soon after ctx ends.
//
// File errors are [*fs.PathError]s over [syscall.Errno]; their paths may be
// shown to the script. An error that matches [ErrDenied] means that a policy
// said no: its text is shown and the command's status is 126. A
// [*LimitError], and the context's own error, end the whole script wherever
// they come from.
type Host interface {
	// Open opens a file for a redirection or builtin. flag holds os.O_* bits.
	Open(ctx context.Context, name string, flag int, perm fs.FileMode) (vfs.File, error)
	// Stat follows a last symlink, Lstat does not.
	Stat(ctx context.Context, name string) (fs.FileInfo, error)
	Lstat(ctx context.Context, name string) (fs.FileInfo, error)
	// Readlink reads a symlink.
	Readlink(ctx context.Context, name string) (string, error)
	// ReadDir lists a folder, in any order.
	ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error)
	// Access tells whether the file may be used in each way of mode, a sum
	// of 4 (read), 2 (write) and 1 (execute or search).
	Access(ctx context.Context, name string, mode int) error

	// Exec runs a program and waits for it. It returns nil for status 0, an
	// [ExitStatus] for any other status of the program's own, an error that
	// matches [ErrDenied] (126) or [ErrNotFound] (127), and any other error
	// when the whole script must stop.
	Exec(ctx context.Context, c *Command) error
	// Admit is asked before a builtin that runs other text or replaces the
	// shell: eval, source, ., exec. c has the expanded words of the command,
	// the working folder and stderr; text is what will run. A denial makes
	// the builtin fail with status 126.
	Admit(ctx context.Context, c *Command, text string) error

	// Absent returns a line for who tried a command that was not found, as it
	// was typed; "" when there is nothing to say beyond that.
	Absent(name string) string

	// Spend accounts for a resource; n may be negative for what is given
	// back. It returns a [*LimitError] when there is no more.
	Spend(r Resource, n int64) error

	// Now is the clock of $SECONDS, $EPOCHSECONDS, printf %(...)T and time.
	Now() time.Time
	// Random feeds $SRANDOM and seeds $RANDOM.
	Random() uint32
}

// Resource names what [Host.Spend] accounts for.
type Resource int

// The resources.
const (
	Memory Resource = iota // live bytes of variables and expansions
	Jobs                   // background jobs, pipeline stages and substitutions alive
)

// A Command is a program that the shell asks its host to run.
type Command struct {
	Path       string   // absolute, as found in PATH
	Args       []string // Args[0] is the name as typed
	Env        []string // NAME=VALUE: the exported variables
	Dir        string
	Assigns    []string // names of variables assigned in front of the command
	Background bool     // started with &
	Depth      int      // shells, functions and sources around it; goes into Config.Depth of a shell it becomes
	Origin     string   // what asked: "", eval, source, trap, exec, ...
	PID        int      // virtual
	Ignored    uint64   // signals that the shell ignores, bit n for number n; goes into Config.Ignored
	Umask      uint32   // bits that its new files do not get

	// Streams of descriptors 0, 1 and 2; nil when closed. A stream that is a
	// plain file is its vfs.File.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Files holds every open descriptor, for /dev/fd/N. The shell closes them.
	Files map[int]*File
}

// ExitStatus is the error of a program that ended with a status other than 0.
type ExitStatus uint8

func (e ExitStatus) Error() string { return "exit status " + itoa(int(e)) }

// Errors that a [Host] may return; matched with errors.Is.
var (
	ErrDenied   = errors.New("denied by policy")
	ErrNotFound = errors.New("command not found")
)

// A LimitError reports that a limit was reached. It ends the whole script.
type LimitError struct {
	What string // what was limited, with its value
	Flag string // what raises it; may be ""
}

func (e *LimitError) Error() string { return "limit: " + e.What }

// A Fault reports a bug of the evaluator: a panic that was recovered. Detail
// holds the stack and must not be shown to the script's owner.
type Fault struct {
	Cause  string
	Detail string
}

func (e *Fault) Error() string { return "internal error in the shell" }
