package upstream

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
)

// Confirm says what a person has to do with calls that the policy allows.
type Confirm string

// The modes, from the most to the least restrictive.
const (
	Block     Confirm = "block"      // no call
	AskAlways Confirm = "ask_always" // a person agrees to each call
	AskOnce   Confirm = "ask_once"   // a person agrees once; what exactly that holds for, see Server.Remember. The default
	Trust     Confirm = "trust"      // nobody is asked
)

// Confirms returns the modes, the most restrictive first.
func Confirms() []Confirm { return []Confirm{Block, AskAlways, AskOnce, Trust} }

// ParseConfirm reads a mode, also with - for _.
func ParseConfirm(s string) (Confirm, error) {
	c := Confirm(strings.ReplaceAll(s, "-", "_"))
	if !slices.Contains(Confirms(), c) {
		return "", fmt.Errorf("want block, ask_always, ask_once or trust, not %q", s)
	}
	return c, nil
}

// A Rule is the confirm mode of the tools that a glob matches.
type Rule struct {
	Tools string
	Mode  Confirm
}

// confirm returns the mode of a tool: that of the longest glob that matches
// its own name, and of the most restrictive among those.
func (s *Server) confirm(tool string) Confirm {
	best, found := Rule{Mode: s.Default}, false
	if best.Mode == "" {
		best.Mode = AskOnce
	}
	for _, r := range s.Confirm {
		if ok, err := path.Match(r.Tools, tool); !ok || err != nil {
			continue
		}
		stricter := slices.Index(Confirms(), r.Mode) < slices.Index(Confirms(), best.Mode)
		if !found || len(r.Tools) > len(best.Tools) || len(r.Tools) == len(best.Tools) && stricter {
			best, found = r, true
		}
	}
	return best.Mode
}

// errRefused is what is wrong with a call that a person did not agree to.
var errRefused = errors.New("nobody agreed to this call")

// confirmed reports whether a call that the policy allows may go on by the
// mode of its tool. An error says why not.
func (m *Manager) confirmed(ctx context.Context, s *server, a policy.Action) error {
	mode := Confirm(a.Tool.Confirm)
	d := policy.Decision{Effect: policy.Ask, Reasons: []policy.Reason{{Msg: fmt.Sprintf("the configuration of the upstream server %s says %s", s.name, mode), Rule: "confirm"}}}
	ask := m.cfg.Approve
	switch mode {
	case Trust:
		return nil
	case AskAlways:
	case AskOnce:
		ask = m.once
		if s.cfg.Remember == RememberTool {
			ctx = context.WithValue(ctx, wholeKey{}, a)
			t := *a.Tool
			t.Arguments = nil // not part of what is remembered
			a.Tool = &t
		}
	default:
		return errors.New("blocked by the confirm mode of the tool in the upstream configuration")
	}
	if ask == nil {
		return fmt.Errorf("needs a person's approval (confirm mode %s), and nobody can be asked here", mode)
	}
	if err := ask(ctx, a, d); err != nil {
		return errRefused
	}
	return context.Cause(ctx) // a yes to a command that has ended is void
}

type wholeKey struct{}

// approveWhole shows the person the whole call also where less of it is
// remembered.
func approveWhole(f policy.Approver) policy.Approver {
	return func(ctx context.Context, a policy.Action, d policy.Decision) error {
		if whole, ok := ctx.Value(wholeKey{}).(policy.Action); ok {
			a = whole
		}
		return f(ctx, a, d)
	}
}
