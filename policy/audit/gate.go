package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Gate returns a gate that lets pass what g does, which may be nil, and
// records each call before the tool knows of it and again when it has ended.
// Calls that are harmless are recorded once, at their end. A call that cannot
// be recorded is refused.
func (r *Recorder) Gate(g policy.Gate) policy.Gate { return &gate{r, g} }

type gate struct {
	r     *Recorder
	inner policy.Gate
}

var _ policy.GateWitness = (*gate)(nil)

// Enter implements [policy.Gate].
func (g *gate) Enter(ctx context.Context, c policy.ToolCall) (func(policy.Outcome), error) {
	leave := func(policy.Outcome) {}
	if g.inner != nil {
		var err error
		if leave, err = g.inner.Enter(ctx, c); err != nil {
			return nil, named(err, g.Refused(ctx, c, err))
		}
	}
	id, start := newID(), time.Now()
	custom := g.r.call(ctx, c)
	if !c.Harmless {
		if err := g.r.write(ctx, &record{Type: TypeCall, DecisionID: id, Result: &Result{Effect: "allow"}, Custom: custom}, false); err != nil {
			leave(policy.OutcomeFault)
			return nil, &policy.RefusedError{Msg: "the call cannot be recorded, so it must not happen", Hint: "tell the operator of this server", ID: id}
		}
		custom = map[string]any{"tool": c.Tool}
	}
	return func(o policy.Outcome) {
		leave(o)
		end := maps.Clone(custom)
		end["outcome"] = string(o)
		ctx := context.WithoutCancel(ctx) // how it ended is told also of a call that was cancelled
		_ = g.r.write(ctx, &record{Type: TypeCallEnd, DecisionID: id, Custom: end, Metrics: map[string]int64{"timer_call_ns": time.Since(start).Nanoseconds()}}, false)
	}, nil
}

// named gives a refusal the id under which it is recorded.
func named(err error, id string) error {
	var r *policy.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	out := *r
	out.ID = id
	return &out
}

// Refused implements [policy.GateWitness].
func (g *gate) Refused(ctx context.Context, c policy.ToolCall, err error) string {
	id, msg := newID(), err.Error()
	var r *policy.RefusedError
	if errors.As(err, &r) {
		msg = r.Msg
	}
	_ = g.r.write(ctx, &record{
		Type: TypeCall, DecisionID: id, Custom: g.r.call(ctx, c),
		Result: &Result{Effect: policy.Deny.String(), Reasons: []policy.Reason{{Msg: msg}}},
	}, true) // it is refused in any case, and the failure has been reported
	return id
}

// call is what is recorded of a call: the arguments as a digest, because
// whatever they lead to is recorded as an action of its own.
func (r *Recorder) call(ctx context.Context, c policy.ToolCall) map[string]any {
	sum := sha256.Sum256(c.Arguments)
	name, _ := r.mask.text(c.Tool, nil)
	custom := map[string]any{"tool": name, "arguments_sha256": hex.EncodeToString(sum[:])}
	s := policy.SubjectFrom(ctx).Session
	custom["session_id"], custom["transport"] = s.ID, s.Transport
	var args struct {
		TerminalID string `json:"terminalId"`
	}
	if len(c.Arguments) < 4096 && json.Unmarshal(c.Arguments, &args) == nil && len(args.TerminalID) <= 64 {
		if args.TerminalID != "" {
			custom["terminal_id"] = args.TerminalID
		}
	}
	return custom
}

// A Runner runs commands, as package termhost says.
type Runner interface {
	Inspect(ctx context.Context, c policy.Command) (policy.Command, error)
	Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (status int, err error)
}

// Runner returns a runner that runs commands on next, and records that each
// is about to run, and how it ended.
func (r *Recorder) Runner(next Runner) Runner { return &runner{next, r} }

type runner struct {
	Runner
	r *Recorder
}

// Run implements [Runner].
func (x *runner) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (status int, err error) {
	terminal, start := policy.SubjectFrom(ctx).Terminal.ID, time.Now()
	if err := x.r.write(ctx, &record{Type: TypeStart, Custom: map[string]any{"terminal_id": terminal}}, false); err != nil {
		return 125, err
	}
	x.r.mask.start(terminal)
	var written atomic.Int64
	defer func() {
		p := recover()
		custom := map[string]any{"terminal_id": terminal, "status": status, "output_bytes": written.Load()}
		switch {
		case p != nil:
			custom["error"] = "panic"
		case err != nil:
			custom["error"], _ = x.r.mask.text(err.Error(), x.r.mask.known(terminal))
			if cause := context.Cause(ctx); cause != nil {
				custom["cause"] = cause.Error()
			}
		}
		_ = x.r.write(context.WithoutCancel(ctx), &record{Type: TypeEnd, Custom: custom, Metrics: map[string]int64{"timer_run_ns": time.Since(start).Nanoseconds()}}, false)
		x.r.mask.forget(terminal)
		if p != nil {
			panic(p)
		}
	}()
	return x.Runner.Run(ctx, c, in, counter{out, &written}, counter{errw, &written})
}

// counter counts what is written.
type counter struct {
	io.Writer
	n *atomic.Int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n.Add(int64(n))
	return n, err
}
