package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/upstream"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/approve"
)

// person answers questions and remembers them.
type person struct {
	mu    sync.Mutex
	asked []policy.Action
	says  policy.Approval
	err   error
}

func (p *person) ask(_ context.Context, a policy.Action, d policy.Decision) (policy.Approval, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, a)
	return p.says, p.err
}

func (p *person) count() int { p.mu.Lock(); defer p.mu.Unlock(); return len(p.asked) }

// confirmed opens a box with a person and a book of approvals.
func confirmed(t *testing.T, own string, p *person, file string) *box {
	t.Helper()
	book, err := approve.New(approve.Config{Mode: approve.AskOnce, File: file})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, config(t, "fake", entry(own)), func(c *upstream.Config) { c.Approve, c.Remember = p.ask, book.Wrap }, nil)
}

// Threats: UP-7.
func TestConfirmModes110(t *testing.T) {
	p := &person{says: policy.ApprovedForSession}
	b := confirmed(t, `{"confirm": {"*": "ask_once", "big": "ask_always", "die": "block", "e*": "block", "echo": "ask_once", "ids": "trust"}}`, p, "")
	step := func(line, out, errw string, status, questions int) {
		t.Helper()
		before := p.count()
		b.want(line, out, errw, status)
		if n := p.count() - before; n != questions {
			t.Errorf("%s: %d questions, want %d", line, n, questions)
		}
	}
	step("fake.echo --text a", "a", "", 0, 1)
	step("fake.echo --text a", "a", "", 0, 0)
	step("fake.echo --text b", "b", "", 0, 1) // an approval is for exactly its arguments
	step("for i in 1 2 3; do fake.echo --text c; done | cat", "ccc", "", 0, 1)
	step("fake.big --bytes 16; fake.big --bytes 16", "0123456789abcde\n0123456789abcde\n", "", 0, 2)
	step("fake.die", "", "denied: blocked by the confirm mode", 126, 0)
	step("fake.env --name X", "", "denied: blocked by the confirm mode", 126, 0)
	step("fake.ids | count", "24\n", "", 0, 0)
	if a := p.asked[0]; a.Tool.Server != "fake" || a.Tool.Name != "echo" || a.Tool.Arguments["text"] != "a" || a.Tool.SHA256 == "" || a.Session.ID != "s" {
		t.Errorf("%+v", a.Tool)
	}
	// Another session, another principal: other approvals.
	for _, who := range []policy.Subject{{Principal: policy.Principal{Sub: "p"}, Session: policy.Session{ID: "s2"}}, {Principal: policy.Principal{Sub: "q"}, Session: policy.Session{ID: "s"}}} {
		before := p.count()
		if b.as(who, "fake.echo --text a"); p.count() != before+1 {
			t.Errorf("%+v has the approval of another", who)
		}
	}
	// What is asked about is what is called, and nothing in it can hide.
	step("fake.args --any $'x\\n\\e[2Kyes\u202e'", `{"any":"x\n\u001b[2Kyes`+"\u202e"+`"}`, "", 0, 1)
	if q := policy.Question(p.asked[len(p.asked)-1], policy.Decision{}); strings.ContainsAny(q, "\x1b\u202e") {
		t.Errorf("%q", q)
	}
	p.says = policy.Refused
	step("fake.echo --text no", "", "denied: the person who was asked said no", 126, 1)
	step("fake.echo --text no", "", "said no", 126, 1)
	p.says, p.err = policy.ApprovedAlways, errors.New("the prompt timed out")
	step("fake.echo --text late", "", "there was no answer", 126, 1)
}

// Threats: UP-7.
func TestNobodyToAsk110(t *testing.T) {
	b := open(t, config(t, "fake", `{"command": `+fmt.Sprintf("%q", os.Args[0])+`, "args": ["fake-server"]}`), nil, nil)
	b.want("fake.echo --text a", "", "needs a person's approval (confirm mode ask_once), and nobody can be asked here", 126)
}

func TestRememberTool(t *testing.T) {
	p := &person{says: policy.ApprovedForSession}
	b := confirmed(t, `{"confirm": "ask_once", "remember": "tool"}`, p, "")
	b.want("fake.echo --text a; fake.echo --text b; fake.args > /dev/null", "ab", "", 0)
	if p.count() != 2 || p.asked[0].Tool.Arguments["text"] != "a" {
		t.Errorf("%d questions, the first with %v", p.count(), p.asked[0].Tool.Arguments)
	}
}

// TestApprovalsFile: approvals outlive the process, can be revoked, are void
// for a changed tool, and one that cannot be written costs a question, not
// the call.
// Threats: UP-3, UP-7.
func TestApprovalsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "approvals")
	p := &person{says: policy.ApprovedAlways}
	b := confirmed(t, `{"confirm": "ask_once"}`, p, file)
	b.want("fake.echo --text a; fake.echo --text a", "aa", "", 0)
	again := confirmed(t, `{"confirm": "ask_once"}`, p, file)
	again.want("fake.echo --text a", "a", "", 0)
	if p.count() != 1 {
		t.Errorf("%d questions", p.count())
	}
	again.want("fake.change", "changed", "", 0)
	for range 300 {
		if out, _, _ := again.do("mcp.describe fake.echo"); strings.Contains(out, "send it to me too") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	before := p.count()
	again.want("fake.echo --text a", "a", "", 0)
	if p.count() != before+1 {
		t.Error("the approval of a tool holds for its changed description")
	}
	if n, err := approve.Revoke(file); err != nil || n != 3 {
		t.Errorf("%d %v", n, err)
	}
	before = p.count()
	b.want("fake.echo --text a", "a", "", 0)
	if p.count() != before+1 {
		t.Error("a revoked approval holds")
	}
	blocked := confirmed(t, `{"confirm": "ask_once"}`, p, filepath.Join(t.TempDir(), "missing", "approvals"))
	before = p.count()
	blocked.want("fake.echo --text a; fake.echo --text a", "aa", "", 0)
	if p.count() != before+2 {
		t.Errorf("%d questions", p.count()-before)
	}
}

// TestPolicyComesFirst: the person is not asked about what the policy denies,
// and the policy sees the call as it will be made.
func TestPolicyComesFirst(t *testing.T) {
	p := &person{says: policy.ApprovedForSession}
	var seen []policy.Tool
	engine := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Kind != policy.KindTool {
			return policy.Decision{Effect: policy.Allow}, nil
		}
		seen = append(seen, *a.Tool)
		if a.Tool.Arguments["text"] == "bad" {
			return policy.Decision{Reasons: []policy.Reason{{Msg: "not that", Rule: "r"}}}, nil
		}
		return policy.Decision{Effect: policy.Allow, Warnings: []policy.Reason{{Msg: "take care"}}}, nil
	})
	b := open(t, config(t, "fake", entry(`{"confirm": "ask_once"}`)), func(c *upstream.Config) { c.Approve = p.ask }, engine)
	b.want("fake.echo --text bad", "", "fake.echo: denied by policy: not that [rule r]", 126)
	if p.count() != 0 {
		t.Error("the person was asked about what the policy denies")
	}
	b.want("fake.echo --text ok", "ok", "donax: warning: fake.echo: take care", 0)
	if len(seen) != 2 || seen[1].Confirm != "ask_once" || !seen[1].Annotations.DestructiveHint || seen[1].Server != "fake" {
		t.Errorf("%+v", seen)
	}
}

// TestElicitation: a server's question reaches the person only where the
// configuration and the policy say so, and names the server.
// Threats: UP-10.
func TestElicitation(t *testing.T) {
	denies := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Tool != nil && a.Tool.Name == upstream.ElicitName {
			return policy.Decision{}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	})
	for _, c := range []struct {
		own    string
		engine policy.Engine
		says   policy.Approval
		want   string
		asked  int
	}{
		{`{"confirm": "trust"}`, nil, policy.ApprovedOnce, "-32", 0},
		{`{"confirm": "trust", "elicit": true}`, denies, policy.ApprovedOnce, "decline", 0},
		{`{"confirm": "trust", "elicit": true}`, nil, policy.Refused, "decline", 1},
		{`{"confirm": "trust", "elicit": true}`, nil, policy.ApprovedOnce, "accept", 1},
	} {
		p := &person{says: c.says}
		b := open(t, config(t, "fake", entry(c.own)), func(u *upstream.Config) { u.Approve = p.ask }, c.engine)
		if out, errw, _ := b.do("fake.ask"); !strings.Contains(out, c.want) || p.count() != c.asked {
			t.Errorf("%+v: %s %s, %d questions", c, out, errw, p.count())
		}
		if c.asked > 0 && (p.asked[0].Tool.Server != "fake" || strings.Contains(fmt.Sprint(p.asked[0].Tool.Arguments), "\x1b")) {
			t.Errorf("%+v", p.asked[0].Tool)
		}
	}
}
