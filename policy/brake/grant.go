package brake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Any, in a list of a [Grant], stands for everything.
const Any = "*"

// A Grant says what a client may do at all, whatever the rules say. The zero
// Grant allows nothing. It is bound to a context with [policy.Bind], or stands
// before the rules in a [policy.Stack].
type Grant struct {
	Tools    []string      // names of the tools that may be called; Any for all
	Commands []string      // canonical names of the programs that may run; Any for all
	Outside  []policy.Kind // of net, tool, module: what may be reached beside programs and files; the rules decide the rest

	// Isolation is the least that must separate the terminals of the server; "" wants nothing. Where
	// the server has less, nothing is admitted.
	Isolation policy.Isolation

	// Until ends the grant; zero means never. A command that runs then is denied its next action.
	// Times made with time.Now hold whatever is done to the clock.
	Until time.Time

	Limits policy.Limits // of each command
	Name   string        // names the grant in denials; may be ""
}

var (
	_ policy.Constanter = Grant{}
	_ policy.Gate       = Grant{}
)

const (
	ruleGrant = "grant"
	hintGrant = "ask the operator of this server for a wider grant"
)

// refuses says why nothing at all is granted under ctx; "" when something is.
func (g Grant) refuses(ctx context.Context) string {
	if !g.Until.IsZero() && !time.Now().Before(g.Until) {
		return "the grant has expired"
	}
	if have := policy.OriginFrom(ctx).Isolation; !have.AtLeast(g.Isolation) {
		if have == "" {
			have = policy.IsolationNone
		}
		return fmt.Sprintf("the grant requires isolation %q, and this server has %q", g.Isolation, have)
	}
	return ""
}

func (g Grant) denied(format string, args ...any) policy.Decision {
	msg := fmt.Sprintf(format, args...)
	if g.Name != "" {
		msg = g.Name + ": " + msg
	}
	return policy.Decision{Reasons: []policy.Reason{{Msg: msg, Rule: ruleGrant, Hint: hintGrant}}}
}

// Decide implements [policy.Engine]. What it allows the rules may still deny.
func (g Grant) Decide(ctx context.Context, a policy.Action) (policy.Decision, error) {
	if why := g.refuses(ctx); why != "" && a.Kind != policy.KindOutput { // what was written can still be read
		return g.denied("%s", why), nil
	}
	allowed := policy.Decision{Effect: policy.Allow}
	switch a.Kind {
	case policy.KindCommand:
		allowed.Limits = g.Limits
		if len(g.Commands) == 0 {
			return g.denied("no command is granted"), nil
		}
	case policy.KindExec:
		// A shell is no program: what it starts is asked about by itself.
		if x := a.Exec; x == nil || x.Kind != "shell" && !granted(g.Commands, x.Name) {
			name := ""
			if x != nil {
				name = x.Name
			}
			return g.denied("%s is not granted; granted: %s", name, strings.Join(g.Commands, ", ")), nil
		}
	case policy.KindFile, policy.KindOutput:
	default:
		if !slices.Contains(g.Outside, a.Kind) {
			return g.denied("%s is not granted", a.Kind), nil
		}
	}
	return allowed, nil
}

// Constant implements [policy.Constanter]: a grant without end or demand
// never changes its mind about what it does not look into.
func (g Grant) Constant(k policy.Kind) (policy.Decision, bool) {
	switch {
	case k == policy.KindOutput:
		return policy.Decision{Effect: policy.Allow}, true
	case !g.Until.IsZero() || g.Isolation != "":
		return policy.Decision{}, false
	}
	switch k {
	case policy.KindFile:
		return policy.Decision{Effect: policy.Allow}, true
	case policy.KindExec:
		return policy.Decision{Effect: policy.Allow}, slices.Contains(g.Commands, Any)
	}
	return policy.Decision{}, false
}

// Enter implements [policy.Gate].
func (g Grant) Enter(ctx context.Context, c policy.ToolCall) (func(policy.Outcome), error) {
	why := g.refuses(ctx)
	switch {
	case c.Harmless && why != "": // what was started can be looked at and ended after the grant
		return leave, nil
	case why == "" && !granted(g.Tools, c.Tool):
		why = fmt.Sprintf("the tool %s is not granted", c.Tool)
	}
	if why != "" {
		return nil, &policy.RefusedError{Msg: why, Hint: hintGrant}
	}
	return leave, nil
}

func granted(list []string, name string) bool {
	return slices.Contains(list, Any) || slices.Contains(list, name)
}
