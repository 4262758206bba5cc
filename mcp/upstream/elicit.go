package upstream

import (
	"context"
	"fmt"

	"github.com/donax-sh/donax/mcp/client"
	"github.com/donax-sh/donax/policy"
)

// ElicitName is the name under which a policy sees a server's question to the
// person.
const ElicitName = "elicitation/create"

type askerKey struct{}

// asker can put a server's question to the person during one call.
type asker struct {
	s     *server
	admit func(context.Context, policy.Action) (policy.Decision, error)
}

func withAsker(ctx context.Context, s *server, admit func(context.Context, policy.Action) (policy.Decision, error)) context.Context {
	return context.WithValue(ctx, askerKey{}, asker{s, admit})
}

// elicit relays a question of a server: only where its configuration says so,
// the policy allows it, and only a plain yes or no. What the person sees names
// the server.
func elicit(ctx context.Context, e client.Elicitation) bool {
	k, ok := ctx.Value(askerKey{}).(asker)
	ask := policy.PersonFrom(ctx, nil)
	if ok && ask == nil {
		ask = k.s.m.cfg.Approve
	}
	if !ok || ask == nil || e.Fields || e.URL != "" {
		return false
	}
	message := line(k.s.hide(e.Message), 500)
	a := policy.Action{Kind: policy.KindTool, Subject: policy.SubjectFrom(ctx), Tool: &policy.Tool{
		Server: k.s.cfg.Name, Name: ElicitName, Arguments: map[string]any{"message": message}, Confirm: string(AskAlways),
	}}
	if _, err := k.admit(ctx, a); err != nil {
		return false
	}
	d := policy.Decision{Effect: policy.Ask, Reasons: []policy.Reason{{Msg: fmt.Sprintf("the upstream server %s asks, in its own words: %s", k.s.name, message)}}}
	d, err := policy.Approve(ctx, a, d, ask)
	return err == nil && d.Effect == policy.Allow
}
