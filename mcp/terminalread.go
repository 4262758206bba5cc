package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

func (t *terminals) output(ctx context.Context, c *Call) (*Result, error) {
	a := decodeArguments(c.Arguments, "terminalId", "offset", "encoding")
	offset := a.integer("offset", 0, 1<<53, -1)
	encoding := a.oneOf("encoding", "text", "base64")
	term, err := t.find(c, a)
	if err != nil {
		return nil, err
	}
	if _, err := t.putQuestion(ctx, c, term); err != nil {
		return nil, err
	}
	size := t.limits.Result
	if asked := term.OutputAsked(); asked > 0 {
		size = min(asked, t.limits.ResultMax)
	}
	var s termhost.Snapshot
	if offset >= 0 {
		s = term.OutputFrom(offset, size)
		s.Data = s.Data[:fitHead(s.Data)]
		s.Truncated = s.Offset > offset
	} else {
		s = term.OutputFrom(int64(-size), size)
		n := len(s.Data) - fitTail(s.Data)
		s.Data, s.Offset = s.Data[n:], s.Offset+int64(n)
		if encoding == "text" {
			s = atCharacter(s)
		}
		s.Truncated = s.Offset > 0
	}
	out := struct {
		Output       string    `json:"output"`
		Truncated    bool      `json:"truncated"`
		Offset       int64     `json:"offset"`
		NextOffset   int64     `json:"nextOffset"`
		BytesWritten int64     `json:"bytesWritten"`
		Encoding     string    `json:"encoding"`
		Lossy        bool      `json:"lossy"`
		ExitStatus   *exitJSON `json:"exitStatus"`
	}{Truncated: s.Truncated, Offset: s.Offset, BytesWritten: s.Written, Encoding: encoding, ExitStatus: exitOf(s.Exit)}
	if s.Withheld != nil {
		return nil, s.Withheld
	}
	if encoding == "base64" {
		out.Output = base64.StdEncoding.EncodeToString(s.Data)
	} else {
		s.Data = t.whole(s)
		out.Output, out.Lossy = t.text(s.Data)
	}
	out.NextOffset = s.Offset + int64(len(s.Data))
	return &Result{Structured: out, size: len(out.Output) + len(out.Output)/8}, nil
}

func (t *terminals) wait(ctx context.Context, c *Call) (*Result, error) {
	a := decodeArguments(c.Arguments, "terminalId", "timeoutMs")
	ms := min(a.integer("timeoutMs", 0, maxTimeout.Milliseconds(), t.limits.Wait.Milliseconds()), t.limits.WaitMax.Milliseconds()) // waiting again is safe
	term, err := t.find(c, a)
	if err != nil {
		return nil, err
	}
	defer term.Watch()()
	limit := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer limit.Stop()
	var draining <-chan struct{}
	if l := linkFrom(ctx); l != nil {
		draining = l.draining
	}
	f := newFollower(t, c, term)
	for {
		var more <-chan struct{}
		var pace <-chan time.Time
		ended := !term.Running() // looked at first: all output is visible then
		if c.WantsProgress() {
			written, again, err := f.step(ctx)
			if err != nil {
				return nil, err
			}
			if again > 0 {
				ended = false // the rest is shown before the result
				pace = time.After(again)
			} else {
				more = term.Changed(written)
			}
		}
		if ended {
			return waited(term), nil
		}
		asked, err := t.putQuestion(ctx, c, term)
		if err != nil {
			return nil, err
		}
		done := term.Done()
		if pace != nil {
			done = nil // a chance to show the rest comes with pace
		}
		select {
		case <-done:
		case <-more:
		case <-asked:
		case <-pace:
		case <-limit.C:
			return waited(term), nil
		case <-draining:
			return waited(term), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// putQuestion puts what the command waits for to the person at the client, one
// question in one call. Its error is the tool's. The channel is closed when
// there may be another question.
func (t *terminals) putQuestion(ctx context.Context, c *Call, term *termhost.Terminal) (<-chan struct{}, error) {
	for {
		q, more := term.Question()
		if q == nil || !c.canAsk {
			return more, nil
		}
		err := c.Ask(ctx, policy.Question(q.Action, q.Decision))
		switch {
		case err == nil:
			q.Answer(policy.ApprovedForSession)
		case errors.Is(err, errRefused):
			q.Answer(policy.Refused)
		default:
			return nil, err
		}
		c.answers = nil // it was for this question and for no other
	}
}

// waited is the result of a wait: the exit, or that there is none yet.
func waited(term *termhost.Terminal) *Result {
	s := term.OutputFrom(0, 0)
	out := struct {
		Running      bool      `json:"running"`
		ExitStatus   *exitJSON `json:"exitStatus"`
		BytesWritten int64     `json:"bytesWritten"`
		Hint         string    `json:"hint,omitempty"`
	}{Running: s.Exit == nil, ExitStatus: exitOf(s.Exit), BytesWritten: s.Written}
	if out.Running {
		out.Hint = "still running: call terminal_wait_for_exit again, look at terminal_output, or stop it with terminal_kill"
	}
	return &Result{Structured: out}
}
