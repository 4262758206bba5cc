package worker

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// A worker asks before each effect, but one that was taken over need not. So
// the server looks again before it does anything for a worker: what the run has
// asked for and was allowed goes on, and all else is asked about now.

// effect is what a decision was about.
type effect struct{ op, path, to string }

func effectOf(a policy.Action) effect {
	switch {
	case a.File != nil:
		return effect{a.File.Op, a.File.Path, a.File.To}
	case a.Exec != nil:
		return effect{"exec", a.Exec.Name, strings.Join(a.Exec.Args, "\x00")}
	}
	return effect{}
}

// maxLeave is how many effects a run may have leave for and not have used. Past
// that it starts afresh, which costs questions and nothing else.
const maxLeave = 4096

// leave is what a run was allowed.
type leave struct {
	mu   sync.Mutex
	kept map[effect]permit
}

type permit struct {
	epoch uint64 // of the policy; one of another epoch is void
	times int    // how often it may be used
	holds bool   // as often as the run likes, since asking again would change nothing
}

func (l *leave) give(f effect, epoch uint64, holds bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil || len(l.kept) >= maxLeave {
		l.kept = map[effect]permit{}
	}
	old := l.kept[f]
	if old.epoch != epoch {
		old = permit{epoch: epoch}
	}
	l.kept[f] = permit{epoch, old.times + 1, old.holds || holds}
}

// take uses up a permit and reports whether there was one.
func (l *leave) take(f effect, epoch uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	have, ok := l.kept[f]
	switch {
	case !ok || have.epoch != epoch:
		return false
	case have.holds:
	case have.times > 1:
		have.times--
		l.kept[f] = have
	default:
		delete(l.kept, f)
	}
	return true
}

// admits reports whether the policy allows a run this.
func (r *serverRun) admits(a policy.Action) bool {
	engine := r.p.cfg.Policy
	if d, ok := policy.ConstantOf(r.ctx, engine, a.Kind); ok && d.Effect == policy.Allow {
		return true
	}
	if r.leave.take(effectOf(a), r.p.epoch()) {
		return true
	}
	a.Subject, a.Usage = policy.SubjectFrom(r.ctx), policy.MeterFrom(r.ctx).Usage(0, 0)
	_, err := policy.Check(r.ctx, engine, a)
	return err == nil
}

// admitFile says why an effect on files may not be. The runs of a process reach
// each other's memory, so what one of them may do all may. Without a run, what
// one has left behind reaches nothing.
func (p *process) admitFile(f policy.File, mode vfs.MountMode, changes bool) error {
	var refused error = syscall.EIO
	f.By = "shell" // which reads the head of a file that it is to start without asking
	for _, r := range p.underWay() {
		switch {
		case changes && sandbox.Lowered(r.command.Mounts, mode, f.Path, f.To):
			refused = syscall.EROFS
		case r.admits(policy.Action{Kind: policy.KindFile, File: &f}):
			return nil
		default:
			refused = syscall.EACCES
		}
	}
	return refused
}

// freeFiles reports whether a run may do everything that the mounts grant.
func (p *process) freeFiles() bool {
	return slices.ContainsFunc(p.underWay(), func(r *serverRun) bool {
		d, ok := policy.ConstantOf(r.ctx, p.cfg.Policy, policy.KindFile)
		return ok && d.Effect == policy.Allow && len(r.command.Mounts) == 0
	})
}

// underWay returns the runs, the oldest first.
func (p *process) underWay() []*serverRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	runs := make([]*serverRun, 0, len(p.runs))
	for _, id := range slices.Sorted(maps.Keys(p.runs)) {
		runs = append(runs, p.runs[id])
	}
	return runs
}
