package sandbox

import (
	"fmt"
	"time"
)

// Limits bounds one run. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Timeout  time.Duration // wall time; negative means none
	Memory   int64         // bytes of one program instance
	Output   int64         // bytes written to stdout and stderr in all
	Source   int64         // bytes of source text, also of eval and source
	Nesting  int           // nesting of the source text
	Depth    int           // functions, eval, source, subshells inside each other
	Commands int64         // programs started
	Jobs     int64         // background jobs alive at a time
	Stages   int           // stages of pipelines alive at a time
	Files    int           // files open at a time
}

// DefaultLimits is the one place where defaults live.
var DefaultLimits = Limits{
	Timeout:  30 * time.Second,
	Memory:   256 << 20,
	Output:   1 << 30,
	Source:   1 << 20,
	Nesting:  200,
	Depth:    1000,
	Commands: 1_000_000,
	Jobs:     256,
	Stages:   1000,
	Files:    256,
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
}

func (e *LimitError) Error() string {
	if e.Flag == "" {
		return "limit: " + e.What
	}
	return fmt.Sprintf("limit: %s (raise with %s)", e.What, e.Flag)
}
