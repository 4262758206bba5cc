package worker

import (
	"fmt"
	"strings"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// A LostError says that the process of a command died before the command had
// ended. Its text is fit for a model; the status of the command is 137.
type LostError struct {
	Why    string // "memory limit 512 MiB"
	Sig    string // "SIGKILL", when a signal ended the process that no limit explains
	Detail string // for the operator's log: the end of what the process wrote to stderr
}

func (e *LostError) Error() string { return "worker lost: " + e.Why }

// Reason returns the text for a model.
func (e *LostError) Reason() string { return e.Error() }

// Signal returns the name of the signal that ended the process, or "".
func (e *LostError) Signal() string { return e.Sig }

// An ending is what is known of a process that is gone.
type ending struct {
	code   int    // exit status; -1 after a signal
	signal string // "SIGKILL"
	stderr string // the end of it; written by hostile code, so it explains but decides nothing
	broke  bool   // the server killed it because it broke the protocol
	cpu    time.Duration
}

// lost explains an ending. raise says how to raise the limit on memory.
func (e ending) lost(l Limits, raise string) *LostError {
	out := &LostError{Detail: e.stderr}
	switch {
	case e.broke:
		out.Why = errProtocol.Error()
	case strings.Contains(e.stderr, "out of memory"), strings.Contains(e.stderr, "cannot allocate memory"), strings.Contains(e.stderr, "pthread_create failed"), strings.Contains(e.stderr, "failed to create new OS thread"):
		out.Why = "memory limit " + sizeText(l.Memory) + " (" + raise + ")"
	case strings.Contains(e.stderr, "stack overflow"), strings.Contains(e.stderr, "goroutine stack exceeds"):
		out.Why = "recursion limit: stack of " + sizeText(maxStack)
	// The system counts ticks for the limit and nanoseconds for us: a fifth less has been seen.
	case (e.signal == "SIGKILL" || e.signal == "SIGXCPU") && e.cpu >= l.CPU/4*3:
		out.Why = "CPU limit " + l.CPU.String()
	case e.signal != "":
		out.Why, out.Sig = "it was ended by "+e.signal, e.signal
	default:
		out.Why = fmt.Sprintf("it failed with status %d", e.code)
	}
	return out
}

// say is the line on the command's stderr.
func (e *LostError) say() string { return "donax: " + e.Error() + "\n" }

func sizeText(n int64) string {
	if n%(1<<30) == 0 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// statusLost is the status of a command whose process died.
const statusLost = sandbox.StatusKilled
