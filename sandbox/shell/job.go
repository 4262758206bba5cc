package shell

import (
	"context"
	"fmt"
	"strings"
)

// A job is a background command.
type job struct {
	id     int
	pid    int
	proc   *process
	text   string
	done   chan struct{}
	status int // valid once done is closed
	told   bool
	gone   bool // waited for, or disowned
}

func (j *job) finished() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// async starts f in a fork as a job; prepare may change its descriptors.
func (sh *shell) async(text string, prepare func(*shell), f func(*shell)) *job {
	sh.addJob()
	sub := sh.fork()
	sub.background = true
	if text != "" {
		sub.proc.text.Store(&text)
	}
	sub.loops = 0
	ctx, cancel := context.WithCancelCause(sh.run.ctx)
	sub.ctx = ctx
	sub.proc.cancel = cancel
	sub.proc.group = sub.proc
	sub.jobs = nil
	if prepare != nil {
		prepare(sub)
	}
	j := &job{pid: sub.pid, proc: sub.proc, text: text, done: make(chan struct{})}
	sh.run.spawn(func() {
		defer func() {
			cancel(nil)
			sh.run.endJob()
			close(j.done)
		}()
		defer sub.end()
		j.status = 125
		j.status = sub.subshellRun(func() { f(sub) })
		if sub.proc.dead.Load() {
			j.status = 128 + int(sub.proc.deadBy.Load())
		}
	})
	return j
}

// startJob runs a statement in the background.
func (sh *shell) startJob(s *stmt) {
	body := *s
	body.bg = false
	if c, ok := body.cmd.(*subshellCmd); ok && !body.neg {
		body.cmd = &blockCmd{body: c.body} // the job is the subshell: $! is who sets its traps
	}
	j := sh.async(s.text, func(sub *shell) {
		if !sh.opts.has(optMonitor) {
			sub.setFd(0, sub.textFile("")) // as bash does: no reading of the script's input
			sub.ignore(sigINT, sigQUIT)
		}
	}, func(sub *shell) { sub.runStmt(&body) })
	sh.addToJobs(j)
	sh.status = 0
}

func (sh *shell) addToJobs(j *job) {
	live := 0
	for _, o := range sh.jobs {
		if !o.finished() {
			live++
		}
	}
	if live >= sh.run.lim.Jobs {
		throw(&LimitError{What: itoa(sh.run.lim.Jobs) + " background jobs"})
	}
	id := 0
	keep := sh.jobs[:0:0]
	for _, o := range sh.jobs {
		if o.gone || len(sh.jobs) > 4*sh.run.lim.Jobs && o.finished() {
			continue
		}
		keep = append(keep, o)
		if !o.finished() || !o.told {
			id = max(id, o.id)
		}
	}
	j.id = id + 1
	sh.jobs = append(keep, j)
	sh.lastBg = j.pid
}

// waitJob waits for j; interrupted tells that a trapped signal came first.
func (sh *shell) waitJob(j *job) (interrupted bool) {
	for {
		select {
		case <-j.done:
			return false
		default:
		}
		select {
		case <-j.done:
			return false
		case <-sh.proc.wake:
			if sh.proc.pending.Load() != 0 {
				return true
			}
		case <-sh.ctx.Done():
			sh.tick()
			throw(&cmdError{quiet: true, kind: errExit, status: 128 + int(sh.proc.deadBy.Load())})
		}
	}
}

// findJob resolves %1, %+, %-, %name, %?text.
func (sh *shell) findJob(spec string) *job {
	var live []*job
	for _, j := range sh.jobs {
		if !j.gone {
			live = append(live, j)
		}
	}
	s := strings.TrimPrefix(spec, "%")
	switch {
	case s == "" || s == "+" || s == "%":
		if len(live) > 0 {
			return live[len(live)-1]
		}
		return nil
	case s == "-":
		if len(live) > 0 {
			return live[max(0, len(live)-2)]
		}
		return nil
	}
	if n, ok := atoi(s); ok {
		for _, j := range live {
			if j.id == int(n) {
				return j
			}
		}
		return nil
	}
	for _, j := range live {
		if strings.HasPrefix(s, "?") && strings.Contains(j.text, s[1:]) || strings.HasPrefix(j.text, s) {
			return j
		}
	}
	return nil
}

// describe is a line of the jobs builtin.
func (j *job) describe(mark string, long bool) string {
	state, amp := "Running", " &"
	if j.finished() {
		amp = ""
		switch {
		case j.status == 0:
			state = "Done"
		case j.status > 128 && signalName(j.status-128) != "":
			state = signalText(j.status - 128)
		default:
			state = fmt.Sprintf("Exit %d", j.status)
		}
	}
	if long {
		return fmt.Sprintf("[%d]%s %5d %-23s %s%s\n", j.id, mark, j.pid, state, j.text, amp)
	}
	return fmt.Sprintf("[%d]%s  %-22s  %s%s\n", j.id, mark, state, j.text, amp)
}
