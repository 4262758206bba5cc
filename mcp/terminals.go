package mcp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// terminals implements the five tools.
type terminals struct {
	host     *termhost.Host
	limits   Limits
	remember func(policy.Approver) policy.Approver
	raw      bool // terminal sequences are shown
}

// outputTool is the one of the five whose results are large.
const outputTool = "terminal_output"

// terminalTools returns the five tools in the order in which they are used.
func terminalTools(s *Server) []Tool {
	t := &terminals{s.host, s.limits, s.remember, s.raw}
	return []Tool{{
		Name: "terminal_create", Title: "Start a command",
		Description: "Start a bash command line in the sandbox and return a terminalId at once. Then: terminal_wait_for_exit, terminal_output, terminal_release. " +
			freshNote(s.host.HasShells()) + " The command has no input. " + idleNote(s.host.Limits().Idle),
		InputSchema: createSchema(s.host.HasShells()), OutputSchema: schema(createOutput),
		Hints: Hints{},
		Call:  t.create,
	}, {
		Name: outputTool, Title: "Read a command's output",
		Description: "Return what a command wrote so far, stdout and stderr together, and exitStatus once it has ended. " +
			fmt.Sprintf("Without offset: the end of the output, up to %d KiB or the outputByteLimit of the terminal. ", s.limits.Result>>10) +
			"To read the rest, call again with offset 0 and then with each nextOffset until it equals bytesWritten.",
		InputSchema: schema(outputInput), OutputSchema: schema(outputOutput),
		Hints: Hints{ReadOnly: true, Idempotent: true, ClosedWorld: true},
		Call:  t.output, harmless: true,
	}, {
		Name: "terminal_wait_for_exit", Title: "Wait for a command",
		Description: fmt.Sprintf("Wait until a command has ended, %d seconds at most unless timeoutMs says otherwise, and return its exitStatus. ", int(s.limits.Wait.Seconds())) +
			"When it still runs, running is true: call again, or terminal_kill. Waiting again is safe. Output comes from terminal_output.",
		InputSchema: schema(waitInput), OutputSchema: schema(waitOutput),
		Hints: Hints{ReadOnly: true, Idempotent: true, ClosedWorld: true},
		Call:  t.wait, harmless: true,
	}, {
		Name: "terminal_kill", Title: "Stop a command",
		Description: "Stop a command and everything it started. Its output can still be read; release it afterwards. A command that has ended is left as it is.",
		InputSchema: schema(terminalInput), OutputSchema: schema(killOutput),
		Hints: Hints{Idempotent: true, ClosedWorld: true},
		Call:  t.kill, harmless: true,
	}, {
		Name: "terminal_release", Title: "Free a terminal",
		Description: "Free a terminal: stop its command if it still runs, and drop its output. The terminalId is invalid afterwards. Do this for every terminal when you have read what you need.",
		InputSchema: schema(terminalInput), OutputSchema: schema(releaseOutput),
		Hints: Hints{ClosedWorld: true},
		Call:  t.release, harmless: true,
	}}
}

func freshNote(shells bool) string {
	if shells {
		return "Each call is a fresh shell unless session names one; files stay, variables and the current folder do not."
	}
	return "Each call is a fresh shell; files stay, variables and the current folder do not."
}

func idleNote(d time.Duration) string {
	if d < 0 {
		return "A terminal lives until it is released or the server ends."
	}
	return fmt.Sprintf("A terminal that nobody asks about for %v is stopped and released.", d)
}

type exitJSON struct {
	ExitCode *int    `json:"exitCode"`
	Signal   *string `json:"signal"`
	Reason   string  `json:"reason"`
	Detail   string  `json:"detail,omitempty"`
}

func exitOf(e *termhost.Exit) *exitJSON {
	if e == nil {
		return nil
	}
	x := &exitJSON{ExitCode: e.Code, Reason: string(e.Reason), Detail: e.Detail}
	if e.Signal != "" {
		x.Signal = &e.Signal
	}
	return x
}

const (
	maxCommand = 1 << 20              // bytes of a command line, or of an argv in all
	maxTimeout = 365 * 24 * time.Hour // what is longer was a mistake
)

func (t *terminals) create(ctx context.Context, c *Call) (*Result, error) {
	known := []string{"command", "args", "cwd", "env", "outputByteLimit", "timeoutMs"}
	if t.host.HasShells() {
		known = append(known, "session")
	}
	a := decodeArguments(c.Arguments, known...)
	a.require("command")
	command := a.str("command")
	spec := termhost.Spec{
		Cwd:     a.str("cwd"),
		Env:     a.env("env"),
		Session: a.str("session"),
		Running: c.terminals,
		Output:  int(a.wish("outputByteLimit", 0, int64(t.host.Limits().OutputMax), -1)),
		Timeout: time.Duration(a.integer("timeoutMs", 1, maxTimeout.Milliseconds(), 0)) * time.Millisecond,
	}
	size := len(command)
	if a.has("args") {
		spec.Args = append([]string{command}, a.strs("args")...)
		for _, s := range spec.Args[1:] {
			size += len(s) + 1
		}
	} else {
		spec.Line = command
	}
	switch {
	case a.err() != nil:
		return nil, a.err()
	case size > maxCommand:
		return nil, fmt.Errorf("the command is longer than %d bytes; write it to a file first and run that", maxCommand)
	case a.has("session") && spec.Session == "":
		return nil, errors.New(`"session" is empty; leave it out for a fresh shell`)
	case a.has("cwd") && !path.IsAbs(spec.Cwd):
		return nil, fmt.Errorf("%q must be an absolute path inside the sandbox, such as /workspace", "cwd")
	}
	switch { // the host writes "the default" and "none" the other way round
	case spec.Output < 0:
		spec.Output = 0
	case spec.Output == 0:
		spec.Output = -1
	}
	spec.Approve = t.remember(func(ctx context.Context, a policy.Action, d policy.Decision) (policy.Approval, error) {
		err := c.Ask(ctx, policy.Question(a, d))
		if errors.Is(err, errMute) {
			err = fmt.Errorf("%w\n  %w", &policy.DeniedError{Action: a, Decision: d}, err)
		}
		if err != nil {
			return policy.Refused, err
		}
		return policy.ApprovedForSession, nil
	})
	if c.canAsk {
		spec.Midway = t.remember // put by terminal_wait_for_exit and terminal_output
	}
	term, err := t.host.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	out := struct {
		TerminalID string   `json:"terminalId"`
		Warnings   []string `json:"warnings,omitempty"`
	}{TerminalID: term.ID()}
	for _, w := range term.Warnings() {
		out.Warnings = append(out.Warnings, w.Msg)
	}
	return &Result{Structured: out}, nil
}

// find returns the terminal that the arguments name.
func (t *terminals) find(c *Call, a *arguments) (*termhost.Terminal, error) {
	a.require("terminalId")
	id := a.str("terminalId")
	if a.err() != nil {
		return nil, a.err()
	}
	return t.host.Get(c.Subject.Principal, id)
}

// endLimit is how long kill and release wait for a command to be gone.
const endLimit = 5 * time.Second

// gone waits until the command has ended, so that a result never says so too
// early.
func gone(ctx context.Context, term *termhost.Terminal) (termhost.Exit, error) {
	limit, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	exit, err := term.Wait(limit)
	if err != nil && ctx.Err() == nil {
		return exit, errors.New("the command was told to stop but has not ended yet; call terminal_wait_for_exit")
	}
	return exit, err
}

func (t *terminals) kill(ctx context.Context, c *Call) (*Result, error) {
	term, err := t.find(c, decodeArguments(c.Arguments, "terminalId"))
	if err != nil {
		return nil, err
	}
	term.Kill()
	exit, err := gone(ctx, term)
	if err != nil {
		return nil, err
	}
	return &Result{Structured: struct {
		ExitStatus *exitJSON `json:"exitStatus"`
	}{exitOf(&exit)}}, nil
}

func (t *terminals) release(ctx context.Context, c *Call) (*Result, error) {
	term, err := t.find(c, decodeArguments(c.Arguments, "terminalId"))
	if err != nil {
		return nil, err
	}
	term.Release()
	// A place is free again once the command is gone; that it takes longer is no failure of the release.
	_, _ = gone(ctx, term)
	return &Result{Structured: struct {
		Released bool `json:"released"`
	}{true}}, nil
}
