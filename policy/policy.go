// Package policy is the vocabulary of admission: an [Action] asks, an
// [Engine] answers with a [Decision].
//
// It is a leaf: it imports nothing but the standard library, so every other
// room may speak it. Engines live in subpackages (policy/rego is the one on
// OPA). Whatever goes wrong is a denial: a missing engine, an error, a panic,
// an undefined answer and the zero [Decision] all deny; see [Check].
package policy

import (
	"slices"
	"strings"
)

// Kind says what an [Action] would do. Its value is also the name of the
// object that carries the facts in the input document.
type Kind string

// The seven kinds of action.
const (
	KindCommand Kind = "command" // a whole command line, once per terminal, before anything runs
	KindExec    Kind = "exec"    // one program with its expanded arguments
	KindFile    Kind = "file"    // opening, removing, renaming or linking a file
	KindNet     Kind = "net"     // one connection
	KindTool    Kind = "tool"    // one call of an upstream MCP tool
	KindModule  Kind = "module"  // loading a user's WebAssembly module
	KindOutput  Kind = "output"  // releasing output to the client
)

// An Action is one thing the sandbox is asked to do. It is all that an
// engine sees. Exactly one of the pointers is set: the one that Kind names.
type Action struct {
	Kind Kind `json:"action"`
	Subject
	Usage Usage `json:"usage"`

	Command *Command `json:"command,omitempty"`
	Exec    *Exec    `json:"exec,omitempty"`
	File    *File    `json:"file,omitempty"`
	Net     *Net     `json:"net,omitempty"`
	Tool    *Tool    `json:"tool,omitempty"`
	Module  *Module  `json:"module,omitempty"`
	Output  *Output  `json:"output,omitempty"`
}

// Kinds returns the kinds of action in the order of the manual.
func Kinds() []Kind {
	return []Kind{KindCommand, KindExec, KindFile, KindNet, KindTool, KindModule, KindOutput}
}

// Command is the facts of a whole command line before it runs. What is only
// known at run time (a computed name, an expanded argument) is marked
// dynamic here and decided at exec time.
type Command struct {
	Text     string   `json:"text"`     // the line as it will be parsed
	Args     []string `json:"args"`     // the argv, when one was given instead of a line; Text is then its quoted form
	Name     string   `json:"-"`        // $0 of the script; "" means the shell's default
	Script   bool     `json:"-"`        // the text is a script file's rather than a -c line's: some exit statuses differ
	Params   []string `json:"params"`   // $1, $2, ... of the script
	Cwd      string   `json:"cwd"`      // absolute, inside the sandbox
	Env      []string `json:"env"`      // names of the variables given to the session and the line; values are never shown to a policy
	Environ  []string `json:"-"`        // those given to the line as NAME=VALUE, for the shell
	Static   bool     `json:"static"`   // every command name and argument is literal
	Calls    []Call   `json:"calls"`    // simple commands in the text, in order, also those inside functions, substitutions and literal eval, sh -c, xargs, env, timeout
	Features []string `json:"features"` // sorted: pipe, subshell, cmdsubst, procsubst, background, function, loop, heredoc, redirect, eval, source, glob, arithmetic, unparsed
	Limits   Limits   `json:"limits"`   // limits in force

	// What the decision about the command obliges whoever runs it to; see [Command.Oblige].
	UnsetEnv []string    `json:"-"` // variables that it must not see
	Mounts   []MountRule `json:"-"` // mounts that grant it less
}

// Oblige adds the obligations of d that are for whoever runs c.
func (c *Command) Oblige(d Decision) {
	c.Limits = c.Limits.Least(d.Limits)
	c.UnsetEnv = union(c.UnsetEnv, d.UnsetEnv, strings.Compare)
	c.Mounts = StrictestMounts(append(slices.Clone(c.Mounts), d.Mounts...))
}

// Call is one simple command of a line, as far as the text shows it.
type Call struct {
	Name      string     `json:"name"`      // "" when computed at run time
	Args      []string   `json:"args"`      // without the name; "" for a computed one
	Dynamic   []int      `json:"dynamic"`   // indexes into Args of computed arguments
	Assigns   []string   `json:"assigns"`   // names of variables assigned in front of the command
	Redirects []Redirect `json:"redirects"` // files and descriptors
	Line      int        `json:"line"`      // 1-based line in the text
}

// Redirect is one redirection of a [Call].
type Redirect struct {
	Op     string `json:"op"`     // as written: > >> < <> >| &> <<< ...
	Target string `json:"target"` // "" when computed at run time
}

// Exec is the facts of one program about to start, after expansion.
type Exec struct {
	Name       string   `json:"name"`       // canonical: a copy, a link or another name of /bin/rm is "rm"
	Args       []string `json:"args"`       // without the name
	Kind       string   `json:"kind"`       // box, wasm, tool or shell
	SHA256     string   `json:"sha256"`     // of the code that will run; hex
	Cwd        string   `json:"cwd"`        // absolute
	Depth      int      `json:"depth"`      // 0 from the line itself, 1 from a program it started, and so on
	Ancestors  []string `json:"ancestors"`  // canonical names of the programs that led here, outermost first
	Assigns    []string `json:"assigns"`    // names of variables assigned in front of the command
	Background bool     `json:"background"` // started with &
}

// File is the facts of one file operation.
type File struct {
	Op        string `json:"op"`        // read, write, create, remove, rename, chmod, link or list
	Path      string `json:"path"`      // canonical: absolute, symlinks resolved
	Requested string `json:"requested"` // as asked for, made absolute, before symlinks were resolved
	To        string `json:"to"`        // canonical target of a rename or link; "" otherwise
	Mount     string `json:"mount"`     // where the mount that holds Path is mounted
	By        string `json:"by"`        // canonical name of the program that asks; "shell" for a redirection or builtin
}

// Limits are bounds that a policy may lower and never raise. Zero means not
// set.
type Limits struct {
	TimeoutMS   int64 `json:"timeout_ms,omitempty"`   // wall time of the whole command
	OutputBytes int64 `json:"output_bytes,omitempty"` // bytes written in all
	MemoryBytes int64 `json:"memory_bytes,omitempty"` // of one program instance
	Commands    int64 `json:"commands,omitempty"`     // programs started
}

// Least returns the smaller of each limit that is set in l or m.
func (l Limits) Least(m Limits) Limits {
	least := func(a, b int64) int64 {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	return Limits{
		TimeoutMS:   least(l.TimeoutMS, m.TimeoutMS),
		OutputBytes: least(l.OutputBytes, m.OutputBytes),
		MemoryBytes: least(l.MemoryBytes, m.MemoryBytes),
		Commands:    least(l.Commands, m.Commands),
	}
}
