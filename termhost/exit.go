package termhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Reason says in one word why a command ended.
type Reason string

// The reasons.
const (
	Exited   Reason = "exited"   // by itself: Code is its status
	Killed   Reason = "killed"   // by Kill
	Released Reason = "released" // by Release, or because nobody asked about it
	Closed   Reason = "closed"   // because the host was closed
	TimedOut Reason = "timeout"  // at its time limit: Code is 124
	Limited  Reason = "limit"    // at another limit: Code is 137
	Denied   Reason = "denied"   // by the policy, in a way that ended all of it: Code is 126
	Fault    Reason = "fault"    // the sandbox failed: Code is 125
	Crashed  Reason = "crashed"  // the process it ran in died: Signal says of what
)

// Exit says how a command ended. Exactly one of Code and Signal is set.
type Exit struct {
	Code   *int
	Signal string // as "SIGKILL"; "" when there was none
	Reason Reason
	Detail string // more about Reason, fit for a model: the limit that was reached
	Err    error  // the runner's error, for the operator's log only; may name host things
}

// A FaultError reports a failure of the sandbox itself.
type FaultError struct{ Err error }

func (e *FaultError) Error() string { return "the sandbox failed" }

// Unwrap returns the cause, which is for the operator.
func (e *FaultError) Unwrap() error { return e.Err }

const (
	statusTimeout = 124
	statusFault   = 125
	statusDenied  = 126
	statusKilled  = 137
)

// exitOf turns what a Runner returned into an Exit. cause is why the context
// ended, or nil. A command that ended by itself at the moment it was killed
// has ended by itself.
func exitOf(status int, err, cause error, l policy.Limits) Exit {
	code := func(n int, r Reason, detail string) Exit { return Exit{Code: &n, Reason: r, Detail: detail, Err: err} }
	var crash interface {
		error
		Signal() string // "SIGSEGV": what the process of the command died of
	}
	switch {
	case cause != nil && (err != nil || status >= 128 || status == statusTimeout):
		switch {
		case errors.Is(cause, errTimeLimit):
			return code(statusTimeout, TimedOut, fmt.Sprintf("time limit of %v", time.Duration(l.TimeoutMS)*time.Millisecond))
		case errors.Is(cause, errReleased), errors.Is(cause, errIdle):
			return Exit{Signal: "SIGKILL", Reason: Released, Detail: cause.Error(), Err: err}
		case errors.Is(cause, errClosing):
			return Exit{Signal: "SIGKILL", Reason: Closed, Detail: cause.Error(), Err: err}
		case errors.Is(cause, ErrHalted):
			return Exit{Signal: "SIGKILL", Reason: Killed, Detail: cause.Error(), Err: err}
		}
		return Exit{Signal: "SIGKILL", Reason: Killed, Err: err}
	case err == nil && status >= 0 && status <= 255:
		return code(status, Exited, "")
	case err == nil:
		return code(statusFault, Fault, "the sandbox returned an impossible status")
	case errors.As(err, &crash) && crash.Signal() != "":
		detail := "the process of the command died"
		var told interface {
			error
			Reason() string // fit for a model, which Error need not be
		}
		if errors.As(err, &told) {
			detail = told.Reason()
		}
		return Exit{Signal: crash.Signal(), Reason: Crashed, Detail: detail, Err: err}
	case errors.Is(err, policy.ErrDenied):
		return code(statusDenied, Denied, err.Error())
	case status == statusTimeout || errors.Is(err, context.DeadlineExceeded):
		return code(statusTimeout, TimedOut, "time limit")
	case status == statusKilled:
		return code(statusKilled, Limited, err.Error())
	}
	// The text of any other error may name things of the host.
	return code(statusFault, Fault, "the sandbox failed")
}
