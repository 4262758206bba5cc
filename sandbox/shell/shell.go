package shell

import (
	"context"
	"maps"
	"sync/atomic"
	"time"
)

// A shell is one shell process: the main one or a subshell. Only its own
// goroutine touches it.
type shell struct {
	run  *run
	ctx  context.Context // ends when this shell is killed
	proc *process
	pid  int // $BASHPID

	kept
	vars     *store
	fds      []*File
	frame    *frame
	scopes   int // last scope depth given out
	callTemp int // scope of the assignments in front of the function being called
	traps    *trapTable
	hash     map[string]hashEntry
	jobs     []*job

	flow  flow
	flowN int
	ret   int // status of return

	lastBg    int
	substDone bool // a command substitution ran in this command
	line      int
	command   string // $BASH_COMMAND
	cur       *stmt

	noErr       int // > 0: errexit and the ERR trap are off here
	loops       int
	depth       int // functions, sources, evals, subshells around
	subshell    int // $BASH_SUBSHELL
	indirection int // substitutions, evals, sources and traps around, for set -x
	isSubshell  bool
	inTrap      int
	arithDepth  int
	condError   bool  // a regular expression of [[ ]] did not compile
	held        int64 // of charged: until the running command ends
	charged     int64 // memory charged by this shell, given back when it ends
	exiting     bool

	script        bool // runs a script file
	commandString bool // runs a -c string
	fromStdin     bool
	mainSource    string
	background    bool
	origin        string

	ifsVal    string
	ifsSet    bool
	substFds  []int // descriptors of process substitutions to close
	substJobs []*job

	history []string
}

// kept is what lives on in a [State] besides variables and traps.
type kept struct {
	funcs       *funcTable
	aliases     map[string]string
	opts        options
	params      []string
	name0       string
	dir         string   // logical working folder
	dirStack    []string // without it
	mask        int
	limits      map[byte]string // ulimit values
	disabled    map[string]bool // by enable -n
	completions map[string]string
	status      int
	pipeStatus  []int // of the last pipeline; nil when it was one command
	pipeLast    int
	lastArg     string
	optPos      int // position inside a cluster of getopts
	seed        uint32
	seeded      bool
	lastRandom  int
	secondsFrom time.Time
}

type flow uint8

const (
	flowNone flow = iota
	flowBreak
	flowContinue
	flowReturn
	flowExit
	flowDiscard // drop everything up to the reading loop
	flowFatal   // the whole script ends
)

// A frame is one running function or sourced file.
type frame struct {
	up      *frame
	fn      *function
	name    string
	source  string
	line    int // of the call
	depth   int // scope of its locals
	temp    int // scope of the assignments in front of the call
	names   []string
	sourced bool
	params  []string
	opts    *options // saved by local -
	loops   int
}

// A funcTable holds the functions; it is shared like a store.
type funcTable struct {
	m        map[string]*function
	exported map[string]bool
	readonly map[string]bool
	traced   map[string]bool
	shared   atomic.Bool // seen by two shells: neither changes it any more
}

func newFuncTable() *funcTable {
	return &funcTable{m: map[string]*function{}, exported: map[string]bool{}, readonly: map[string]bool{}, traced: map[string]bool{}}
}

func (sh *shell) ownFuncs() *funcTable {
	if !sh.funcs.shared.Load() {
		return sh.funcs
	}
	f := sh.funcs
	t := &funcTable{m: maps.Clone(f.m), exported: maps.Clone(f.exported), readonly: maps.Clone(f.readonly), traced: maps.Clone(f.traced)}
	sh.funcs = t
	return t
}

// tick is called in every loop: it ends the shell soon after its context.
func (sh *shell) tick() {
	if sh.run.stop.Load() {
		throw(sh.run.cause())
	}
	if sh.proc.dead.Load() {
		throw(&cmdError{quiet: true, kind: errExit, status: 128 + int(sh.proc.deadBy.Load())})
	}
}

// fork makes a subshell that shares nothing that can be seen to change.
func (sh *shell) fork() *shell {
	sh.checkDepth()
	c := &shell{}
	*c = *sh
	c.vars = sh.vars.share()
	sh.funcs.shared.Store(true)
	c.aliases = maps.Clone(sh.aliases)
	c.hash = nil
	c.substFds, c.substJobs = nil, nil
	c.fds = make([]*File, len(sh.fds))
	for i, f := range sh.fds {
		if f != nil {
			c.fds[i] = f.ref()
		}
	}
	c.dirStack = append([]string(nil), sh.dirStack...)
	c.jobs = append([]*job(nil), sh.jobs...)
	c.isSubshell = true
	c.subshell++
	c.depth++
	c.held, c.charged = 0, 0
	c.inTrap = 0
	c.exiting = false
	c.frame = sh.frame.clone()
	c.proc = sh.run.procs.add(sh.proc, sh.run.host.Now())
	c.pid = c.proc.pid
	c.traps = sh.traps.forFork(sh.opts.has(optErrtrace), sh.opts.has(optFunctrace))
	return c
}

// clone copies the chain of frames, whose lists of locals change.
func (f *frame) clone() *frame {
	if f == nil {
		return nil
	}
	c := *f
	c.names = append([]string(nil), f.names...)
	return &c
}

// end gives back what a subshell held.
func (sh *shell) end() {
	for _, f := range sh.fds {
		f.release()
	}
	sh.fds = nil
	sh.vars.release()
	if err := sh.run.charge(-sh.charged); err != nil {
		sh.run.fatal(err)
	}
	sh.run.procs.remove(sh.proc)
}

// checkDepth bounds the depth of everything that nests at run time.
func (sh *shell) checkDepth() {
	if sh.depth >= sh.run.lim.Depth {
		throw(&LimitError{What: "depth " + itoa(sh.run.lim.Depth) + " of nested functions, eval, source and subshells"})
	}
}

// subshellRun runs f in sh, which is a fork, to its end: flows, EXIT trap,
// status.
func (sh *shell) subshellRun(f func()) int {
	sh.protect(f)
	sh.finish()
	if sh.proc.dead.Load() && sh.flow != flowFatal {
		sh.status = 128 + int(sh.proc.deadBy.Load())
	}
	return sh.status
}

// finish ends a shell: pending flows are resolved and the EXIT trap runs.
func (sh *shell) finish() {
	if sh.flow == flowDiscard {
		sh.status = 1
	}
	if sh.flow == flowFatal || sh.run.stop.Load() {
		sh.flow = flowFatal
		return
	}
	killed := sh.proc.dead.Load()
	sh.flow = flowNone
	if !killed {
		sh.protect(func() {
			sh.runPending() // of signals that came during the last command
			sh.flow = flowNone
			sh.exitTrap()
		})
	}
	if sh.flow != flowFatal {
		sh.flow = flowNone
	}
}

// topSource is the file that error messages name; "environment" is that of a
// function of a -c string, as in bash.
func (sh *shell) topSource() string {
	for f := sh.frame; f != nil; f = f.up {
		if f.sourced {
			return f.source
		}
		if f.fn != nil {
			return f.fn.source
		}
	}
	return ""
}
