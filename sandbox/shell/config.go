package shell

import (
	"cmp"
	"io"
)

// Config describes one run. Host must be set; the zero value of everything
// else is safe.
type Config struct {
	Host   Host
	Env    []string // NAME=VALUE; nothing else is inherited
	Unset  []string // variables that a state must not bring along
	Dir    string   // absolute working folder; "" means /
	Name   string   // $0 and the prefix of error messages; "" means bash
	Params []string // $1, $2, ...
	Script bool     // the text is a script file's rather than a -c string's
	Path   string   // BASH_SOURCE of a script file; "" means Name

	Stdin          io.Reader // nil reads as empty
	Stdout, Stderr io.Writer // nil discards
	Files          map[int]*File

	Options []string // set -o and shopt names switched on; "-name" switches off
	Posix   bool     // bash's posix mode
	RC      string   // read before the text as if sourced, where no state is resumed; the host is asked to admit it
	RCFile  string   // what RC is called
	Depth   int      // Command.Depth of the command that this shell is
	Ignored uint64   // Command.Ignored of it: signals that it cannot trap
	Umask   *uint32  // Command.Umask of it; nil means 022
	IDs     IDs
	Limits  Limits

	// KillJobs ends background jobs when the script ends. Otherwise Run
	// waits for them. Either way nothing runs when Run has returned.
	KillJobs bool

	// Stdin scripts: read commands from Stdin, one line at a time.
	fromStdin bool
}

// IDs are the virtual identities that a script sees.
type IDs struct {
	PID, PPID, UID, GID int
	Host                string // HOSTNAME
}

// Limits bounds one run. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Source    int   // bytes of one source text
	Nesting   int   // nesting of a source text
	Depth     int   // functions, eval, source, subshells inside each other
	Expansion int64 // bytes of the result of one expansion
	Words     int   // words that one command expands to
	Jobs      int   // background jobs alive
	Stages    int   // stages of one pipeline
	Files     int   // open descriptors of one shell
	Recursion int   // arithmetic values that name other values
	State     int64 // bytes that a [State] may hold
}

// DefaultLimits are the limits of a zero [Limits].
var DefaultLimits = Limits{
	Source:    1 << 20,
	Nesting:   200,
	Depth:     1000,
	Expansion: 48 << 20,
	Words:     2 << 20,
	Jobs:      256,
	Stages:    1000,
	Files:     256,
	Recursion: 1024,
	State:     16 << 20,
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	return Limits{
		Source:    cmp.Or(l.Source, d.Source),
		Nesting:   cmp.Or(l.Nesting, d.Nesting),
		Depth:     cmp.Or(l.Depth, d.Depth),
		Expansion: cmp.Or(l.Expansion, d.Expansion),
		Words:     cmp.Or(l.Words, d.Words),
		Jobs:      cmp.Or(l.Jobs, d.Jobs),
		Stages:    cmp.Or(l.Stages, d.Stages),
		Files:     cmp.Or(l.Files, d.Files),
		Recursion: cmp.Or(l.Recursion, d.Recursion),
		State:     cmp.Or(l.State, d.State),
	}
}
