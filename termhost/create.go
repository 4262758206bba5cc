package termhost

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Spec asks for a terminal.
type Spec struct {
	Line    string        // a command line; not with Args
	Args    []string      // an argv: the program and its arguments, which no shell reads
	Cwd     string        // absolute, inside the sandbox; "" means the runner's default
	Env     []string      // NAME=VALUE, added to the runner's environment
	Timeout time.Duration // wall time, then status 124; 0 means none but the policy's
	Running int           // commands of the principal that may run at a time; 0, and more than Limits.Running, mean that
	Output  int           // bytes of output to keep; 0 means Limits.Output, negative keeps none; capped by Limits.OutputMax

	// Session names a shell of the principal that is kept between commands:
	// the current folder, variables and functions stay. It is opened at its
	// first use and runs one command at a time; a command in it that is stopped
	// leaves it as it was before. "" means a shell of its own.
	Session string

	// Approve asks a person about a command for which the policy says
	// [policy.Ask]. An error of it is Create's own. Without Approve nobody can be
	// asked: the command is denied.
	Approve policy.Approver

	// Midway, when set, lets what the command does while it runs wait for a person
	// as well: it is put to [Terminal.Question], through the Approver that Midway
	// makes of the one it is given. Set it only where somebody looks there.
	Midway func(policy.Approver) policy.Approver
}

func (s Spec) command() (policy.Command, error) {
	c := policy.Command{Text: s.Line, Cwd: s.Cwd, Environ: slices.Clone(s.Env)}
	switch {
	case s.Args != nil && s.Line != "":
		return c, errors.New("a command is a line or an argv, not both")
	case s.Args != nil:
		if len(s.Args) == 0 || s.Args[0] == "" {
			return c, errors.New("the command is empty")
		}
		c.Args, c.Text = slices.Clone(s.Args), quote(s.Args)
	case strings.TrimSpace(s.Line) == "":
		return c, errors.New("the command is empty")
	}
	for _, kv := range s.Env {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return c, errors.New("a variable of the environment has no name")
		}
		c.Env = append(c.Env, name)
	}
	if s.Timeout < 0 {
		return c, errors.New("the time limit is negative")
	}
	if s.Timeout > 0 {
		c.Limits.TimeoutMS = max(1, s.Timeout.Milliseconds())
	}
	return c, nil
}

// Create inspects a command, asks the engine about it and, when it is
// allowed, starts it; it does not wait for its end. The context gives the
// [policy.Subject] and its values to the command, and its end stops Create
// but not a command that has started.
//
// The error is a [*policy.DeniedError] when the command was denied, matches
// [ErrTooMany] when too many run, and otherwise says what is wrong with the
// command. After an error nothing runs.
func (h *Host) Create(ctx context.Context, s Spec) (*Terminal, error) {
	subject := policy.SubjectFrom(ctx)
	if subject.Principal.Sub == "" {
		return nil, ErrNoPrincipal
	}
	cmd, err := s.command()
	if err != nil {
		return nil, err
	}
	o := ownerOf(subject.Principal)
	open, err := h.admit(o, s.Running)
	if err != nil {
		return nil, err
	}
	id := newID()
	runner, free := h.runner, func(bool) {}
	started := false
	defer func() {
		if !started {
			free(true)
			h.leave(o)
		}
	}()
	if s.Session != "" {
		sh, err := h.lend(ctx, o, s.Session, id)
		if err != nil {
			return nil, err
		}
		runner, free = sh, func(keep bool) { h.giveBack(o, s.Session, sh, keep) }
	}

	subject.Terminal = policy.Terminal{ID: id, Cwd: cmd.Cwd, Grants: subject.Terminal.Grants}
	decision, cmd, err := h.decide(ctx, runner, &subject, cmd, int64(open), s.Approve)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // nobody would learn the id
	}

	run := policy.WithSubject(context.WithoutCancel(ctx), subject)
	t := &Terminal{
		id:       subject.Terminal.ID,
		host:     h,
		runner:   runner,
		free:     free,
		owner:    o,
		subject:  subject,
		command:  cmd,
		warnings: decision.Warnings,
		created:  time.Now(),
		asked:    s.Output,
		meter:    &policy.Meter{Open: func() int64 { return h.others(o) }},
		done:     make(chan struct{}),
		out:      newBuffer(h.keep(s.Output)),
	}
	if err := t.redact(decision.Redact); err != nil {
		return nil, &policy.DeniedError{Decision: policy.Decision{ID: decision.ID, Reasons: []policy.Reason{{Msg: "its output cannot be redacted as the policy wants: " + err.Error()}}}}
	}
	t.seen.Store(t.created.UnixNano())
	if s.Midway != nil {
		run = policy.WithPerson(policy.WithApprover(run, s.Midway(t.questions.ask)), t.questions.ask)
	}
	run = policy.WithMeter(run, t.meter)
	run, t.cancel = context.WithCancelCause(run)
	evicted, err := h.add(t)
	if err != nil {
		t.cancel(nil)
		return nil, err
	}
	started = true
	for _, old := range evicted {
		old.Release()
	}
	go t.run(run)
	return t, nil
}

// decide fills in what only a parse can tell, and asks the engine, and a
// person if the engine says so.
func (h *Host) decide(ctx context.Context, runner Runner, subject *policy.Subject, cmd policy.Command, open int64, approve policy.Approver) (policy.Decision, policy.Command, error) {
	limited, cancel := context.WithTimeout(ctx, h.limits.InspectLimit)
	defer cancel()
	asked := cmd.Limits
	cmd, err := inspect(policy.WithSubject(limited, *subject), runner, cmd)
	if err != nil {
		return policy.Decision{}, cmd, fmt.Errorf("command refused: %w", err)
	}
	cmd.Limits = cmd.Limits.Least(asked)
	if subject.Terminal.Cwd == "" {
		subject.Terminal.Cwd = cmd.Cwd
	}
	facts := cmd // a copy: an engine that records may keep it
	action := policy.Action{
		Kind:    policy.KindCommand,
		Subject: *subject,
		Usage:   policy.Usage{TerminalsOpen: open},
		Command: &facts,
	}
	d, err := policy.Check(limited, h.engine, action)
	var denied *policy.DeniedError
	if errors.As(err, &denied) && denied.Err == nil && d.Effect == policy.Ask && approve != nil {
		// Not within the limit of the inspection: it takes as long as a person does.
		if d, err = policy.Approve(ctx, action, d, approve); err == nil && d.Effect != policy.Allow {
			err = &policy.DeniedError{Action: action, Decision: d}
		}
	}
	if err != nil {
		if errors.Is(err, policy.ErrDenied) {
			h.mu.Lock()
			h.stats.Denied++
			h.mu.Unlock()
		}
		return d, cmd, err
	}
	cmd.Oblige(d)
	return d, cmd, nil
}

// inspect contains a panic of the parser: hostile text must not end the host.
func inspect(ctx context.Context, r Runner, c policy.Command) (_ policy.Command, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &FaultError{fmt.Errorf("panic while inspecting: %v", p)}
		}
	}()
	return r.Inspect(ctx, c)
}

// keep is how many bytes of output a terminal keeps.
func (h *Host) keep(asked int) int {
	switch {
	case asked == 0:
		return h.limits.Output
	case asked < 0:
		return 0
	}
	return min(asked, h.limits.OutputMax)
}

// newID names a terminal with 128 random bits, so that nobody guesses one.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process instead
	return "t_" + hex.EncodeToString(b[:])
}
