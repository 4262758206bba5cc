package sandbox

import (
	"cmp"
	"fmt"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Limits bounds one run. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Timeout  time.Duration // wall time; negative means none
	Memory   int64         // bytes of one program instance
	Session  int64         // bytes of the variables and expansions of all shells; 0 means the default, or five eighths of Memory if that is more
	Output   int64         // bytes written to stdout and stderr in all
	Source   int64         // bytes of source text, also of eval and source
	Nesting  int           // nesting of the source text
	Depth    int           // functions, eval, source, subshells inside each other
	Commands int64         // programs started
	Jobs     int64         // background jobs alive at a time
	Stages   int           // stages of pipelines alive at a time
	Files    int           // files open at a time
	Net      int64         // bytes of the bodies of requests and responses in all
	State    int64         // bytes that a [Shell] keeps from one run to the next
}

// DefaultLimits is the one place where defaults live.
var DefaultLimits = Limits{
	Timeout:  30 * time.Second,
	Memory:   256 << 20,
	Session:  160 << 20,
	Output:   1 << 30,
	Source:   1 << 20,
	Nesting:  200,
	Depth:    1000,
	Commands: 1_000_000,
	Jobs:     256,
	Stages:   1000,
	Files:    256,
	Net:      256 << 20,
	State:    16 << 20,
}

// Exit statuses that the sandbox itself gives; all others are the script's.
const (
	StatusTimeout  = 124 // the time limit was reached
	StatusFault    = 125 // the sandbox itself failed
	StatusDenied   = 126 // denied by policy
	StatusNotFound = 127 // no such command
	StatusKilled   = 137 // killed, or any limit but time
)

// A LimitError ends a whole script: a limit was reached.
type LimitError struct {
	What string // what was limited, with its value: "output 1 GiB"
	Flag string // what raises it: "--output"; "" when nothing does

	How  string // what was said of Flag where the limit was reached; "" is said from Flag
	Time bool   // it is a limit of time: the status is 124
}

func (e *LimitError) Error() string {
	switch {
	case e.How != "":
		return fmt.Sprintf("limit: %s (%s)", e.What, e.How)
	case e.Flag != "":
		return fmt.Sprintf("limit: %s (raise with %s)", e.What, e.Flag)
	}
	return "limit: " + e.What
}

// lowers reports whether l has less than whole of what the flag gives.
func (l Limits) lowers(whole Limits, flag string) bool {
	switch flag {
	case "--timeout":
		return l.Timeout > 0 && (whole.Timeout <= 0 || l.Timeout < whole.Timeout)
	case "--memory":
		return l.Memory < whole.Memory || l.Session < whole.Session
	case "--output":
		return l.Output < whole.Output
	}
	return false
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	return Limits{
		Timeout:  cmp.Or(l.Timeout, d.Timeout),
		Memory:   cmp.Or(l.Memory, d.Memory),
		Session:  cmp.Or(l.Session, max(d.Session, l.Memory/8*5)),
		Output:   cmp.Or(l.Output, d.Output),
		Source:   cmp.Or(l.Source, d.Source),
		Nesting:  cmp.Or(l.Nesting, d.Nesting),
		Depth:    cmp.Or(l.Depth, d.Depth),
		Commands: cmp.Or(l.Commands, d.Commands),
		Jobs:     cmp.Or(l.Jobs, d.Jobs),
		Stages:   cmp.Or(l.Stages, d.Stages),
		Files:    cmp.Or(l.Files, d.Files),
		Net:      cmp.Or(l.Net, d.Net),
		State:    cmp.Or(l.State, d.State),
	}
}

// lowered returns l with the limits of p where those are lower.
func (l Limits) lowered(p policy.Limits) Limits {
	if d := time.Duration(p.TimeoutMS) * time.Millisecond; d > 0 && (l.Timeout <= 0 || d < l.Timeout) {
		l.Timeout = d
	}
	if p.MemoryBytes > 0 && p.MemoryBytes < l.Memory { // what Inspect told of l itself lowers nothing
		l.Session = min(l.Session, p.MemoryBytes)
	}
	least := l.policy().Least(p)
	l.Output, l.Memory, l.Commands = least.OutputBytes, least.MemoryBytes, least.Commands
	return l
}

// expansion is how long one expansion or substitution may become.
func (l Limits) expansion() int64 { return max(1, min(l.Memory/4, l.Session/10*3)) }

// policy is the part of l that policies know.
func (l Limits) policy() policy.Limits {
	return policy.Limits{
		TimeoutMS:   max(0, l.Timeout.Milliseconds()),
		OutputBytes: l.Output,
		MemoryBytes: l.Memory,
		Commands:    l.Commands,
	}
}
