package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Effect is what a [Decision] says. The zero value denies.
type Effect uint8

// Effects, from the most to the least restrictive.
const (
	Deny Effect = iota
	Ask
	Allow
)

func (e Effect) String() string {
	switch e {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// A Reason is one message of a rule.
type Reason struct {
	Msg      string `json:"msg"`                // why, for people and models
	Rule     string `json:"rule,omitempty"`     // the name that the message gives itself
	Hint     string `json:"hint,omitempty"`     // what to try instead; may be ""
	Location string `json:"location,omitempty"` // file:line of the rule, for the operator only: never shown to a model
}

// A Decision answers an [Action]. The zero Decision denies.
type Decision struct {
	ID       string // names the decision in messages and in the audit log; may be "" when it allows
	Effect   Effect
	Reasons  []Reason // why it is not allowed, or what allowed it
	Warnings []Reason // shown, but not in the way

	// Obligations: what whoever carries out an allowed command must do while it runs. They come with the
	// decision about a command; all but redactions also with that about an exec, and hold for that program
	// and what it starts.
	Limits   Limits      // lower these limits
	Redact   []Redaction // redact the output
	UnsetEnv []string    // variables that the command must not see
	Mounts   []MountRule // lower these mounts

	// Unenforced is what the rules said, when the action goes on whatever they
	// say; see [DryRun].
	Unenforced *Decision
}

// Obliges reports whether d carries obligations.
func (d Decision) Obliges() bool {
	return d.Limits != Limits{} || len(d.Redact)+len(d.UnsetEnv)+len(d.Mounts) > 0
}

// An Engine decides. An error is a denial.
type Engine interface {
	Decide(ctx context.Context, a Action) (Decision, error)
}

// EngineFunc adapts a function to an [Engine].
type EngineFunc func(context.Context, Action) (Decision, error)

// Decide calls f.
func (f EngineFunc) Decide(ctx context.Context, a Action) (Decision, error) { return f(ctx, a) }

// A Constanter is an Engine that knows actions on which no rule can have an
// opinion. Constant returns the answer it would give to every action of kind
// k, and whether there is one; callers may then skip building the action. The
// answer may change when a policy is reloaded: ask again for each command, and
// do not keep it longer.
type Constanter interface {
	Constant(k Kind) (Decision, bool)
}

// A Repeater is an Engine that knows when its answer to a depends on nothing
// but the facts of a and who asks: not on what was used so far, nor on the
// clock or chance. Such an answer holds for the same facts until the policy is
// reloaded, and whoever asks may keep it until then.
type Repeater interface {
	Repeats(a Action) bool
}

// AllowAll allows everything that the sandbox itself allows.
type AllowAll struct{}

// Decide allows.
func (AllowAll) Decide(context.Context, Action) (Decision, error) {
	return Decision{Effect: Allow}, nil
}

// Constant allows.
func (AllowAll) Constant(Kind) (Decision, bool) { return Decision{Effect: Allow}, true }

// ErrDenied is matched by every [*DeniedError].
var ErrDenied = errors.New("denied by policy")

// A DeniedError reports an Action that was not allowed.
type DeniedError struct {
	Action   Action
	Decision Decision
	Err      error // set when the engine failed rather than decided
}

// Error returns what a model may see: message, rule, decision id and hint,
// never the rule's source or place. It is one line, and one more for each
// hint; text that the command could have chosen is made printable.
func (e *DeniedError) Error() string {
	var b strings.Builder
	b.WriteString("denied by policy")
	d := e.Decision
	reasons := d.Reasons
	switch {
	case e.Err != nil:
		// The engine's own words may quote rules or data: only the operator's log gets them.
		b.WriteString(": policy could not decide: " + failureClass(e.Err))
		reasons = nil
	case d.Effect == Ask:
		b.WriteString(": needs approval and nobody can be asked")
	case len(reasons) == 0:
		b.WriteString(": no rule allows it")
	}
	reasons, more := distinct(reasons)
	for i, r := range reasons {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(Plain(r.Msg))
	}
	if more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	var tags []string
	if len(reasons) > 0 && reasons[0].Rule != "" {
		tags = append(tags, "rule "+Plain(reasons[0].Rule))
	}
	if d.ID != "" {
		tags = append(tags, "decision "+Plain(d.ID))
	}
	if len(tags) > 0 {
		fmt.Fprintf(&b, " [%s]", strings.Join(tags, "; "))
	}
	for _, r := range reasons {
		if r.Hint != "" {
			b.WriteString("\n  try: " + Plain(r.Hint))
		}
	}
	return b.String()
}

// distinct returns the first few reasons with different messages, and how
// many it left out.
func distinct(rs []Reason) (out []Reason, more int) {
	seen := map[string]bool{}
	for _, r := range rs {
		switch {
		case seen[r.Msg]:
		case len(out) < maxReasons:
			out = append(out, r)
		default:
			more++
		}
		seen[r.Msg] = true
	}
	return out, more
}

// Is reports whether target is [ErrDenied].
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// Unwrap returns the engine's failure, if it failed.
func (e *DeniedError) Unwrap() error { return e.Err }

// Check asks what is bound to ctx, and then e, about a; see [Bind]. The error
// is nil only when the effect is Allow; otherwise it is a [*DeniedError]. A nil
// engine, an error and a panic deny.
func Check(ctx context.Context, e Engine, a Action) (d Decision, err error) {
	defer func() {
		if p := recover(); p != nil { // a bug in an engine must never become an allow
			err = &DeniedError{Action: a, Err: &Failure{Class: FailPanic, Err: fmt.Errorf("%v", p)}}
		}
	}()
	if e == nil {
		return Decision{}, &DeniedError{Action: a, Err: &Failure{Class: FailNone}}
	}
	d, err = decide(ctx, e, a)
	if err != nil {
		return Decision{ID: d.ID}, &DeniedError{Action: a, Decision: Decision{ID: d.ID}, Err: err}
	}
	if d.Effect != Allow {
		return d, &DeniedError{Action: a, Decision: d}
	}
	return d, nil
}
