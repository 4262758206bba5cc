package worker

import (
	"github.com/donax-sh/donax/policy"
)

// How the vocabulary of policies goes over the wire. A list that was nil
// arrives empty.

func (e *encoder) limits(l policy.Limits) {
	e.int(l.TimeoutMS)
	e.int(l.OutputBytes)
	e.int(l.MemoryBytes)
	e.int(l.Commands)
}

func (d *decoder) limits() policy.Limits {
	return policy.Limits{TimeoutMS: d.int(), OutputBytes: d.int(), MemoryBytes: d.int(), Commands: d.int()}
}

// request writes what a caller sets of a command.
func (e *encoder) request(c policy.Command) {
	e.string(c.Text)
	e.strings(c.Args)
	e.string(c.Name)
	e.bool(c.Script)
	e.strings(c.Params)
	e.string(c.Cwd)
	e.strings(c.Environ)
	e.limits(c.Limits)
	e.strings(c.UnsetEnv)
	e.mounts(c.Mounts)
}

func (d *decoder) request() policy.Command {
	return policy.Command{
		Text: d.string(), Args: d.strings(), Name: d.string(), Script: d.bool(), Params: d.strings(),
		Cwd: d.string(), Environ: d.strings(), Limits: d.limits(), UnsetEnv: d.strings(), Mounts: d.mounts(),
	}
}

func (e *encoder) mounts(rules []policy.MountRule) {
	list(e, rules, func(m policy.MountRule) { e.string(m.Path); e.string(string(m.Mode)) })
}

func (d *decoder) mounts() []policy.MountRule {
	return many(d, 2, func() policy.MountRule { return policy.MountRule{Path: d.string(), Mode: policy.MountMode(d.string())} })
}

// facts writes what inspecting adds to a command.
func (e *encoder) facts(c policy.Command) {
	e.string(c.Text)
	e.string(c.Cwd)
	e.strings(c.Env)
	e.bool(c.Static)
	list(e, c.Calls, func(c policy.Call) {
		e.string(c.Name)
		e.strings(c.Args)
		list(e, c.Dynamic, func(i int) { e.int(int64(i)) })
		e.strings(c.Assigns)
		list(e, c.Redirects, func(r policy.Redirect) { e.string(r.Op); e.string(r.Target) })
		e.int(int64(c.Line))
	})
	e.strings(c.Features)
	e.limits(c.Limits)
}

func (d *decoder) facts() (c policy.Command) {
	c.Text, c.Cwd, c.Env, c.Static = d.string(), d.string(), d.strings(), d.bool()
	c.Calls = many(d, 6, func() policy.Call {
		return policy.Call{
			Name: d.string(), Args: d.strings(), Dynamic: many(d, 1, d.int32), Assigns: d.strings(),
			Redirects: many(d, 2, func() policy.Redirect { return policy.Redirect{Op: d.string(), Target: d.string()} }),
			Line:      d.int32(),
		}
	})
	c.Features, c.Limits = d.strings(), d.limits()
	return c
}

// Actions that a worker asks about. Those about commands are the server's own.
const (
	actExec byte = 1
	actFile byte = 2
)

// action writes the facts of a, and what was used so far last, so that all
// before it can name a decision.
func (e *encoder) action(a *policy.Action) bool {
	switch {
	case a.Kind == policy.KindExec && a.Exec != nil:
		x := a.Exec
		e.byte(actExec)
		e.string(x.Name)
		e.strings(x.Args)
		e.string(x.Kind)
		e.string(x.SHA256)
		e.string(x.Cwd)
		e.int(int64(x.Depth))
		e.strings(x.Ancestors)
		e.strings(x.Assigns)
		e.bool(x.Background)
	case a.Kind == policy.KindFile && a.File != nil:
		x := a.File
		e.byte(actFile)
		for _, s := range [...]string{x.Op, x.Path, x.Requested, x.To, x.Mount, x.By} {
			e.string(s)
		}
	default:
		return false
	}
	return true
}

func (d *decoder) action() (a policy.Action) {
	switch d.byte() {
	case actExec:
		a.Kind = policy.KindExec
		a.Exec = &policy.Exec{
			Name: d.string(), Args: d.strings(), Kind: d.string(), SHA256: d.string(), Cwd: d.string(),
			Depth: d.int32(), Ancestors: d.strings(), Assigns: d.strings(), Background: d.bool(),
		}
	case actFile:
		a.Kind = policy.KindFile
		a.File = &policy.File{Op: d.string(), Path: d.string(), Requested: d.string(), To: d.string(), Mount: d.string(), By: d.string()}
	default:
		d.fail("an action of unknown kind")
	}
	return a
}

// usage writes the counts that only the worker knows.
func (e *encoder) usage(u policy.Usage) { e.int(u.Execs); e.int(u.OutputBytes); e.int(u.CPUMS) }

func (d *decoder) usage() (u policy.Usage) {
	u.Execs, u.OutputBytes, u.CPUMS = d.int(), d.int(), d.int()
	return u
}

func (e *encoder) reasons(rs []policy.Reason) {
	list(e, rs, func(r policy.Reason) { e.string(r.Msg); e.string(r.Rule); e.string(r.Hint) })
}

func (d *decoder) reasons() []policy.Reason {
	return many(d, 3, func() policy.Reason { return policy.Reason{Msg: d.string(), Rule: d.string(), Hint: d.string()} })
}

// decision writes what a worker needs of a decision. Where a rule stands is
// for the operator and stays in the server.
func (e *encoder) decision(d policy.Decision) {
	e.byte(byte(d.Effect))
	e.string(d.ID)
	e.reasons(d.Reasons)
	e.reasons(d.Warnings)
	e.limits(d.Limits)
	e.strings(d.UnsetEnv)
	e.mounts(d.Mounts)
}

func (d *decoder) decision() (v policy.Decision) {
	v.Effect = policy.Effect(d.byte())
	if v.Effect > policy.Allow {
		d.fail("a decision")
	}
	v.ID, v.Reasons, v.Warnings, v.Limits = d.string(), d.reasons(), d.reasons(), d.limits()
	v.UnsetEnv, v.Mounts = d.strings(), d.mounts()
	return v
}

// A constant is the answer to every action of one kind in one run.
type constant struct {
	act      byte
	decision policy.Decision
}

func (c constant) kind() policy.Kind {
	if c.act == actExec {
		return policy.KindExec
	}
	return policy.KindFile
}

func (e *encoder) constants(known []constant) {
	list(e, known, func(c constant) { e.byte(c.act); e.decision(c.decision) })
}

func (d *decoder) constants() []constant {
	return many(d, 10, func() constant { return constant{d.byte(), d.decision()} })
}
