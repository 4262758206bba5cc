package policy

import (
	"errors"
	"fmt"
)

// Classes of [Failure]. They are all that a model learns about a failure.
const (
	FailTimeout   = "timeout"            // the rules did not end in time
	FailCancelled = "cancelled"          // the command ended before the answer
	FailEval      = "evaluation error"   // a rule failed: conflict, builtin error
	FailUndefined = "undefined"          // the rules gave no answer at all
	FailType      = "wrong type"         // the answer has the wrong shape
	FailTooLarge  = "input too large"    // the facts exceed what rules are given
	FailStopped   = "engine stopped"     // too many evaluations did not end
	FailAction    = "malformed action"   // the action's facts do not fit its kind
	FailPanic     = "engine panicked"    // a bug
	FailNone      = "no policy engine"   // nobody to ask
	FailAudit     = "cannot be recorded" // the audit log cannot be written
	FailOther     = "engine error"       // anything else
)

// A Failure is the error of an engine that could not decide. It always
// denies. Class is safe to show to anyone; Err may quote rules and data and is
// for the operator alone.
type Failure struct {
	Class string
	Err   error
}

// Error returns class and cause, for the operator.
func (f *Failure) Error() string {
	if f.Err == nil {
		return f.Class
	}
	return fmt.Sprintf("%s: %v", f.Class, f.Err)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// failureClass names the class of err without quoting it.
func failureClass(err error) string {
	var f *Failure
	if errors.As(err, &f) && f.Class != "" {
		return f.Class
	}
	return FailOther
}
