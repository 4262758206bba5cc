package upstream

import (
	"context"
	"errors"
	"fmt"
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
		if ok, err := matchTool(r.Tools, tool); !ok || err != nil {
			continue
		}
		stricter := slices.Index(Confirms(), r.Mode) < slices.Index(Confirms(), best.Mode)
		if !found || len(r.Tools) > len(best.Tools) || len(r.Tools) == len(best.Tools) && stricter {
			best, found = r, true
		}
	}
	return best.Mode
}

// confirmed reports whether a call that the policy allows may go on by the
// mode of its tool. An error says why not.
func (m *Manager) confirmed(ctx context.Context, s *server, a policy.Action) error {
	mode := Confirm(a.Tool.Confirm)
	d := policy.Decision{Effect: policy.Ask, Reasons: []policy.Reason{{Msg: fmt.Sprintf("the configuration of the upstream server %s says %s", s.name, mode), Rule: "confirm"}}}
	ask := policy.PersonFrom(ctx, m.cfg.Approve)
	switch mode {
	case Trust:
		return nil
	case AskAlways:
	case AskOnce:
		if s.cfg.Remember == RememberTool {
			whole, person := a, ask
			if ask != nil {
				ask = func(ctx context.Context, _ policy.Action, d policy.Decision) (policy.Approval, error) {
					return person(ctx, whole, d)
				}
			}
			t := *a.Tool
			t.Arguments = nil // shown to the person, not part of what is remembered
			a.Tool = &t
		}
		ask = m.cfg.Remember(ask)
	default:
		return errors.New("blocked by the confirm mode of the tool in the upstream configuration")
	}
	d, err := policy.Approve(ctx, a, d, ask)
	switch {
	case err == nil && d.Effect == policy.Allow:
		return nil
	case errors.Is(err, policy.ErrNobody):
		return fmt.Errorf("needs a person's approval (confirm mode %s), and nobody can be asked here\n  try: a client that can ask (elicitation), or let the operator approve it: \"confirm\" of the tool in the upstream configuration", mode)
	case err == nil:
		return errors.New("the person who was asked said no")
	}
	return fmt.Errorf("needs a person's approval (confirm mode %s), and there was no answer", mode)
}
