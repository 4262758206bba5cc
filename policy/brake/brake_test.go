package brake_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/brake"
)

func ctxOf(sub, session string) context.Context {
	return policy.WithSubject(context.Background(), policy.Subject{Principal: policy.Principal{Sub: sub}, Session: policy.Session{ID: session}})
}

func act(ctx context.Context, k policy.Kind) policy.Action {
	a := policy.Action{Kind: k, Subject: policy.SubjectFrom(ctx)}
	switch k {
	case policy.KindCommand:
		a.Command = &policy.Command{Text: "ls"}
	case policy.KindExec:
		a.Exec = &policy.Exec{Name: "ls", Kind: "box"}
	}
	return a
}

func TestSwitch(t *testing.T) {
	var s brake.Switch
	ctx := ctxOf("a", "")
	check := func(ok bool) {
		t.Helper()
		for _, k := range policy.Kinds() {
			_, err := policy.Check(ctx, policy.Stack(&s, policy.AllowAll{}), act(ctx, k))
			if (err == nil) != (ok || k == policy.KindOutput) || err != nil && !strings.Contains(err.Error(), "the brake is on: smoke") {
				t.Errorf("%s: %v", k, err)
			}
			if _, constant := s.Constant(k); constant != (ok || k == policy.KindOutput) {
				t.Errorf("%s: constant %v", k, constant)
			}
		}
		_, err := policy.Enter(ctx, &s, policy.ToolCall{Tool: "terminal_create"})
		if (err == nil) != ok {
			t.Error(err)
		}
		if _, err := policy.Enter(ctx, &s, policy.ToolCall{Tool: "terminal_output", Harmless: true}); err != nil {
			t.Errorf("what was written cannot be read: %v", err)
		}
	}
	check(true)
	if st, first := s.On("smoke"); !first || !st.On || st.Reason != "smoke" || st.Since.IsZero() {
		t.Errorf("%+v", st)
	}
	if st, first := s.On("another"); first || st.Reason != "smoke" {
		t.Errorf("the first reason is lost: %+v", st)
	}
	check(false)
	if was := s.Off(); was.Reason != "smoke" {
		t.Errorf("%+v", was)
	}
	check(true)
}

// Threats: BR-4.
func TestGrant(t *testing.T) {
	ctx := policy.WithOrigin(ctxOf("a", ""), policy.Origin{Isolation: policy.IsolationSession})
	soon := time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		g    brake.Grant
		want string // kinds that are admitted, and whether the tool is
	}{
		"zero":           {brake.Grant{}, "file output"},
		"commands":       {brake.Grant{Commands: []string{"ls"}, Until: soon}, "command exec file output"},
		"other command":  {brake.Grant{Commands: []string{"cat"}}, "command file output"},
		"all":            {brake.Grant{Commands: []string{brake.Any}, Tools: []string{brake.Any}, Outside: []policy.Kind{"net", "tool", "module"}}, "command exec file net tool module output call"},
		"tool":           {brake.Grant{Tools: []string{"x"}}, "file output call"},
		"expired":        {brake.Grant{Commands: []string{brake.Any}, Tools: []string{brake.Any}, Until: time.Now()}, "output"},
		"less isolation": {brake.Grant{Commands: []string{brake.Any}, Tools: []string{brake.Any}, Isolation: policy.IsolationTerminal}, "output"},
		"isolation":      {brake.Grant{Commands: []string{brake.Any}, Tools: []string{"x"}, Isolation: policy.IsolationSession}, "command exec file output call"},
		"no such level":  {brake.Grant{Commands: []string{brake.Any}, Isolation: "vault"}, "output"},
	} {
		var got []string
		bound := policy.Bind(ctx, c.g)
		for _, k := range policy.Kinds() {
			_, err := policy.Check(bound, policy.AllowAll{}, act(bound, k))
			if err == nil {
				got = append(got, string(k))
			} else if !errors.Is(err, policy.ErrDenied) || !strings.Contains(err.Error(), "rule grant") {
				t.Errorf("%s: %s: %v", name, k, err)
			}
			// A constant answer is the true one.
			if d, ok := policy.ConstantOf(bound, policy.AllowAll{}, k); ok && (d.Effect == policy.Allow) != (err == nil) {
				t.Errorf("%s: %s: constant %v, asked %v", name, k, d.Effect, err)
			}
		}
		if _, err := policy.Enter(bound, nil, policy.ToolCall{Tool: "x"}); err == nil {
			got = append(got, "call")
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	d, err := policy.Check(policy.Bind(ctx, brake.Grant{Commands: []string{"ls"}, Limits: policy.Limits{Commands: 3}}), policy.AllowAll{}, act(ctx, policy.KindCommand))
	if err != nil || d.Limits.Commands != 3 {
		t.Errorf("limits of a grant: %+v %v", d, err)
	}
}

// stuck runs until its context ends.
type stuck struct{}

func (stuck) Inspect(_ context.Context, c policy.Command) (policy.Command, error) { return c, nil }
func (stuck) Run(ctx context.Context, _ policy.Command, _ io.Reader, out, _ io.Writer) (int, error) {
	io.WriteString(out, "0123456789")
	<-ctx.Done()
	return 137, ctx.Err()
}

// Case S108: a command does not outlive the grant that it was started under.
// Threats: BR-4.
func TestExpiryEndsWhatRuns(t *testing.T) {
	ctx := policy.Bind(ctxOf("a", ""), brake.Grant{Until: time.Now().Add(30 * time.Millisecond)})
	status, err := brake.Run(stuck{}, nil).Run(ctx, policy.Command{}, nil, io.Discard, io.Discard)
	var ended *brake.EndedError
	if status != 137 || !errors.As(err, &ended) || ended.Why != "the grant has expired" {
		t.Errorf("%d %v", status, err)
	}
}

// Threats: BR-5.
func TestBreakersOfCalls(t *testing.T) {
	now := time.Unix(1000, 0)
	var trips []brake.Trip
	b, err := brake.NewBreakers(brake.BreakersConfig{
		Principal: brake.Limits{brake.Calls: {N: 3, Every: time.Minute}},
		Run:       brake.Limits{brake.Repeats: {N: 2}, brake.Errors: {N: 1, Every: time.Minute}},
		Report:    func(_ context.Context, t brake.Trip) { trips = append(trips, t) },
		Clock:     func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	call := func(ctx context.Context, args string, o policy.Outcome) error {
		leave, err := policy.Enter(ctx, b, policy.ToolCall{Tool: "x", Arguments: []byte(args)})
		if err == nil {
			leave(o)
		}
		return err
	}
	want := func(err error, text string) {
		t.Helper()
		if (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	alice, other := ctxOf("alice", "s1"), ctxOf("bob", "s2")
	want(call(alice, "1", policy.OutcomeAsked), "")
	want(call(alice, "1", policy.OutcomeAsked), "")
	now = now.Add(59 * time.Second)
	want(call(alice, "1", policy.OutcomeAsked), "repeats of this run, limit 2")
	now = now.Add(time.Second)
	if len(trips) != 1 || trips[0].What != brake.Repeats || trips[0].Run != "s1" || trips[0].Principal != "alice" {
		t.Fatalf("%+v", trips)
	}
	if d, _ := b.Decide(alice, act(alice, policy.KindCommand)); d.Effect != policy.Deny {
		t.Error("an open breaker admits a command")
	}
	want(call(other, "1", policy.OutcomeOK), "")
	want(call(alice, "2", policy.OutcomeOK), "") // another call closes it
	want(call(alice, "3", policy.OutcomeError), "")
	want(call(alice, "4", policy.OutcomeOK), "")
	want(call(alice, "5", policy.OutcomeOK), "calls of this principal, limit 3 in 1m0s")
	want(call(other, "2", policy.OutcomeOK), "") // another principal is not touched
	now = now.Add(time.Minute)
	want(call(alice, "6", policy.OutcomeError), "")
	want(call(alice, "7", policy.OutcomeFault), "")
	want(call(alice, "8", policy.OutcomeOK), "errors of this run, limit 1 in 1m0s")
	if _, err := policy.Enter(alice, b, policy.ToolCall{Tool: "terminal_kill", Harmless: true}); err != nil {
		t.Errorf("nothing can be ended: %v", err)
	}
	b.Reset()
	want(call(alice, "9", policy.OutcomeOK), "")
	var m strings.Builder
	b.WriteMetrics(&m)
	if !strings.Contains(m.String(), `donax_breaker_trips_total{breaker="errors"} 1`) {
		t.Error(m.String())
	}
}

// Threats: BR-5.
func TestBreakersEndCommands(t *testing.T) {
	var used time.Duration
	meter := func(ctx context.Context) (context.Context, func() time.Duration) {
		return ctx, func() time.Duration { used += time.Second; return used }
	}
	for name, l := range map[string]brake.Limits{
		"bytes": {brake.Bytes: {N: 5}},
		"cpu":   {brake.CPU: {N: int64(2 * time.Second)}},
	} {
		tripped := make(chan brake.Trip, 1)
		b, err := brake.NewBreakers(brake.BreakersConfig{Principal: l, Meter: meter, Report: func(_ context.Context, t brake.Trip) { tripped <- t }})
		if err != nil {
			t.Fatal(err)
		}
		ctx := ctxOf("a", "s")
		status, err := brake.Run(stuck{}, b).Run(ctx, policy.Command{}, nil, io.Discard, io.Discard)
		var ended *brake.EndedError
		if status != 137 || !errors.As(err, &ended) || !strings.Contains(ended.Why, name+" of this principal") {
			t.Errorf("%s: %d %v", name, status, err)
		}
		if got := <-tripped; string(got.What) != name {
			t.Errorf("%+v", got)
		}
		if _, err := policy.Check(ctx, b, act(ctx, policy.KindCommand)); err == nil {
			t.Errorf("%s: the next command is admitted", name)
		}
		// What was admitted just before the breaker opened does not start.
		if _, err := brake.Run(stuck{}, b).Run(ctx, policy.Command{}, nil, io.Discard, io.Discard); !errors.As(err, &ended) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]brake.BreakersConfig{
		"unknown":  {Run: brake.Limits{"speed": {N: 1}}},
		"zero":     {Run: brake.Limits{brake.Calls: {}}},
		"no meter": {Principal: brake.Limits{brake.CPU: {N: 1}}},
	} {
		if _, err := brake.NewBreakers(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
