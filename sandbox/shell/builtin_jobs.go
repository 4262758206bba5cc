package shell

import (
	"strings"
)

func builtinJobs(sh *shell, c call) int {
	list, st := sh.jobs, 0
	if len(c.rest) > 0 {
		list = nil
		for _, s := range c.rest {
			if j := sh.findJob(s); j != nil {
				list = append(list, j)
			} else {
				st = c.fail("%s: no such job", s)
			}
		}
	}
	var b strings.Builder
	cur, prev := sh.findJob("%+"), sh.findJob("%-")
	for _, j := range list {
		fin := j.finished()
		switch {
		case j.gone || c.has('r') && fin || c.has('s'): // jobs never stop
		case c.has('p'):
			b.WriteString(itoa(j.pid) + "\n")
		default:
			mark := " "
			switch j {
			case cur:
				mark = "+"
			case prev:
				mark = "-"
			}
			b.WriteString(j.describe(mark, c.has('l')))
			j.gone = fin
		}
	}
	sh.out(b.String())
	return st
}

// child finds a job of this shell by its process id or, after %, as a job.
func (sh *shell) child(id string) *job {
	if strings.HasPrefix(id, "%") {
		return sh.findJob(id)
	}
	n, ok := atoi(id)
	if !ok {
		return nil
	}
	for _, list := range [][]*job{sh.jobs, sh.substJobs} {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].pid == int(n) {
				return list[i]
			}
		}
	}
	return nil
}

func builtinWait(sh *shell, c call) int {
	pvar, set := c.arg('p')
	if set {
		if !validRef(pvar) {
			return c.fail("`%s': not a valid identifier", pvar)
		}
		sh.unsetVar(pvar)
	}
	if c.has('n') {
		return sh.waitNext(&c, pvar)
	}
	if len(c.rest) == 0 {
		for _, j := range sh.jobs {
			if !j.gone {
				if sh.waitJob(j) {
					return sh.interrupted()
				}
				j.told, j.gone = true, true
			}
		}
		for _, j := range sh.substJobs {
			if j.pid == sh.lastBg && sh.waitJob(j) {
				return sh.interrupted()
			}
		}
		return 0
	}
	st := 0
	for _, s := range c.rest {
		j := sh.child(s)
		if j == nil {
			st = 127
			switch n, ok := atoi(s); {
			case strings.HasPrefix(s, "%"):
				c.fail("%s: no such job", s)
			case ok && n >= 0:
				c.fail("pid %s is not a child of this shell", s)
			default:
				st = c.fail("`%s': not a pid or valid job spec", s)
			}
			continue
		}
		if sh.waitJob(j) {
			return sh.interrupted()
		}
		st = sh.took(j, pvar)
	}
	return st
}

// interrupted is the status of a wait that a trapped signal ended.
func (sh *shell) interrupted() int {
	p := sh.proc.pending.Load()
	for s := 1; s < 64; s++ {
		if p>>s&1 != 0 {
			return 128 + s
		}
	}
	return 130
}

// waitNext is wait -n: the first job to end.
func (sh *shell) waitNext(c *call, pvar string) int {
	var list []*job
	if len(c.rest) == 0 {
		for _, j := range sh.jobs {
			if !j.gone {
				list = append(list, j)
			}
		}
	}
	for _, s := range c.rest {
		if j := sh.child(s); j != nil {
			list = append(list, j)
		} else {
			c.fail("%s: no such job", s)
		}
	}
	if len(list) == 0 {
		return 127
	}
	first := make(chan *job, len(list))
	stop := make(chan struct{})
	defer close(stop)
	for _, j := range list {
		if j.finished() {
			return sh.took(j, pvar)
		}
	}
	for _, j := range list {
		sh.run.spawn(func() {
			select {
			case <-j.done:
				first <- j
			case <-stop:
			case <-sh.run.ctx.Done():
			}
		})
	}
	for {
		select {
		case j := <-first:
			return sh.took(j, pvar)
		case <-sh.proc.wake:
			if sh.proc.pending.Load() != 0 {
				return sh.interrupted()
			}
		case <-sh.ctx.Done():
			sh.tick()
			throw(sh.run.cause())
		}
	}
}

// took is the status of a job that was waited for.
func (sh *shell) took(j *job, pvar string) int {
	j.told, j.gone = true, true
	if pvar != "" {
		sh.assignTo(pvar, nil, itoa(j.pid), false)
	}
	return j.status
}

func builtinKill(sh *shell, c call) int {
	spec := "TERM"
	if len(c.rest) > 0 && len(c.rest[0]) > 1 && c.rest[0][0] == '-' {
		a := c.rest[0]
		c.rest = c.rest[1:]
		switch {
		case a == "--":
		case a == "-l" || a == "-L":
			return sh.killList(&c)
		case a == "-s" || a == "-n":
			if len(c.rest) == 0 {
				return c.fail("%s: option requires an argument", a)
			}
			spec, c.rest = c.rest[0], c.rest[1:]
		default:
			spec = a[1:]
			if a[1] == 's' || a[1] == 'n' {
				if _, ok := signalNumber(a[2:]); ok {
					spec = a[2:]
				}
			}
		}
	}
	sig, ok := signalNumber(spec)
	if !ok {
		return c.fail("%s: invalid signal specification", spec)
	}
	if len(c.rest) > 0 && c.rest[0] == "--" {
		c.rest = c.rest[1:]
	}
	if len(c.rest) == 0 {
		return c.misuse("")
	}
	st := 1
	for _, s := range c.rest {
		if sh.killOne(&c, s, sig) {
			st = 0
		}
	}
	// A signal to the shell itself acts at once.
	if sh.proc.pending.Load() != 0 {
		sh.status = st
		sh.runPending()
		if sh.flow != flowNone {
			return sh.status
		}
	}
	return st
}

func (sh *shell) killOne(c *call, s string, sig int) bool {
	t := &sh.run.procs
	if strings.HasPrefix(s, "%") {
		j := sh.findJob(s)
		if j == nil || j.finished() {
			c.fail("%s: no such job", s)
			return false
		}
		t.signal(j.proc, sig)
		return true
	}
	n, ok := atoi(s)
	if !ok {
		c.fail("%s: arguments must be process or job IDs", s)
		return false
	}
	if n == 0 || n == -1 {
		// Everything of this script, and nothing else, is in reach.
		for _, p := range t.all() {
			t.signal(p, sig)
		}
		return true
	}
	p := t.find(int(max(n, -n)))
	if p == nil {
		c.fail("(%s) - No such process", s)
		return false
	}
	t.signal(p, sig)
	return true
}

// killList is kill -l.
func (sh *shell) killList(c *call) int {
	if len(c.rest) == 0 {
		sh.listSignals()
	}
	st := 0
	for _, a := range c.rest {
		text := ""
		if n, ok := atoi(a); ok && n >= 0 {
			if n > 128 {
				n -= 128
			}
			if n < sigDEBUG || n == 64 {
				text = signalName(int(n))
			}
		} else if n, ok := signalNumber(a); ok {
			text = itoa(n)
		}
		if text == "" {
			st = c.fail("%s: invalid signal specification", a)
			continue
		}
		sh.out(text + "\n")
	}
	return st
}

func builtinDisown(sh *shell, c call) int {
	if c.last("ar") != 0 {
		for _, j := range sh.jobs {
			j.gone = true
		}
		return 0
	}
	if len(c.rest) == 0 {
		c.rest = []string{"%+"}
	}
	st := 0
	for _, s := range c.rest {
		j := sh.child(s)
		if _, pid := atoi(s); j == nil && !pid {
			j = sh.findJob(s)
		}
		if j == nil {
			st = c.fail("%s: no such job", s)
			continue
		}
		j.gone = true
	}
	return st
}

// builtinFgBg is fg and bg: a job can be brought to the foreground, which
// waits for it; jobs never stop, so bg has nothing to do.
func builtinFgBg(sh *shell, c call) int {
	if !sh.opts.has(optMonitor) {
		return c.fail("no job control")
	}
	j, spec := sh.findJob("%+"), "current"
	if len(c.rest) > 0 {
		spec = c.rest[0]
		j = sh.findJob(spec)
	}
	if j == nil {
		return c.fail("%s: no such job", spec)
	}
	if c.args[0] == "bg" {
		return c.fail("job %d already in background", j.id)
	}
	sh.out(j.text + "\n")
	if sh.waitJob(j) {
		return sh.interrupted()
	}
	j.gone = true
	return j.status
}

func builtinSuspend(sh *shell, c call) int { return c.fail("cannot suspend: no job control") }
