package termhost_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// Case S107: a halt says that a command is gone only when it is, and nothing
// slips past it.
// Threats: BR-1.
func TestHalt(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	var terms []*termhost.Terminal
	for range 8 {
		terms = append(terms, create(t, h, "hang before"))
	}
	for _, term := range terms { // until each has written
		for until := time.Now().Add(time.Minute); term.Output().Written == 0 && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
	}
	asked, answered := make(chan struct{}), make(chan struct{})
	late := make(chan error, 1)
	asks := termhost.New(termhost.Config{Runner: &fake{}, Engine: policy.EngineFunc(func(context.Context, policy.Action) (policy.Decision, error) {
		return policy.Decision{Effect: policy.Ask}, nil
	})})
	defer asks.Close()
	go func() { // a question that a person answers with yes while the brake is pulled
		_, err := asks.Create(as("a"), termhost.Spec{Line: "echo hi", Approve: func(context.Context, policy.Action, policy.Decision) (policy.Approval, error) {
			close(asked)
			<-answered
			return policy.ApprovedOnce, nil
		}})
		late <- err
	}()
	<-asked
	if _, err := asks.Halt(t.Context(), "enough"); err != nil {
		t.Error(err)
	}
	close(answered)
	if err := <-late; !errors.Is(err, termhost.ErrHalted) {
		t.Errorf("an admitted command starts after the halt: %v", err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stopped, err := h.Halt(ctx, "enough")
	if err != nil || len(stopped) != 8 {
		t.Fatalf("%+v %v", stopped, err)
	}
	for _, s := range stopped {
		if !s.Ended || s.Command != "hang before" || s.Principal.Sub != "a" || s.ID == "" {
			t.Errorf("%+v", s)
		}
	}
	for _, term := range terms {
		if term.Running() {
			t.Fatal("it still runs")
		}
		if x := wait(t, term); x.Signal != "SIGKILL" || x.Reason != termhost.Killed || x.Detail != "enough" {
			t.Errorf("%+v", x)
		}
		if got := term.Output(); !strings.Contains(string(got.Data), "before") {
			t.Errorf("what was written is lost: %q", got.Data)
		}
	}
	if _, err := h.Halt(ctx, "another reason"); err != nil {
		t.Error(err)
	}
	if _, err := h.Create(as("a"), termhost.Spec{Line: "echo hi"}); !errors.Is(err, termhost.ErrHalted) || err.Error() != "enough" {
		t.Errorf("%v", err)
	}
	h.Resume()
	wait(t, create(t, h, "echo hi"))
}

// Threats: BR-1.
func TestHaltDoesNotClaimWhatItCannotProve(t *testing.T) {
	h := termhost.New(termhost.Config{Runner: &fake{}, Engine: policy.AllowAll{}, Limits: termhost.Limits{CloseLimit: 50 * time.Millisecond}})
	defer h.Close()
	create(t, h, "deaf")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	stopped, err := h.Halt(ctx, "enough")
	if err == nil || len(stopped) != 1 || stopped[0].Ended {
		t.Errorf("%+v %v", stopped, err)
	}
}
