package shell

import (
	"strings"
)

func builtinJobs(sh *shell, args []string) int {
	o := newGetopt(args, "lnprsx")
	long, pids, running, stopped := false, false, false, false
	for o.next() {
		switch o.opt {
		case 'l':
			long = true
		case 'p':
			pids = true
		case 'r':
			running = true
		case 's':
			stopped = true
		case 'n':
		default:
			return sh.usage(o, "jobs [-lnprs] [jobspec ...] or jobs -x command [args]")
		}
	}
	var list []*job
	st := 0
	if r := o.rest(); len(r) > 0 {
		for _, s := range r {
			j := sh.findJob(s)
			if j == nil {
				st = sh.builtinError("jobs", "%s: no such job", s)
				continue
			}
			list = append(list, j)
		}
	} else {
		list = sh.jobs
	}
	var b strings.Builder
	cur, prev := sh.findJob("%+"), sh.findJob("%-")
	for _, j := range list {
		if j.gone || running && j.finished() || stopped {
			continue
		}
		fin := j.finished()
		if pids {
			b.WriteString(itoa(j.pid) + "\n")
			continue
		}
		mark := " "
		switch j {
		case cur:
			mark = "+"
		case prev:
			mark = "-"
		}
		b.WriteString(j.describe(mark, long))
		if fin {
			j.gone = true
		}
	}
	sh.out(b.String())
	return st
}

func builtinWait(sh *shell, args []string) int {
	o := newGetopt(args, "fnp:")
	next, pvar := false, ""
	for o.next() {
		switch o.opt {
		case 'n':
			next = true
		case 'p':
			pvar = o.arg
			if !validRef(pvar) {
				return sh.builtinError("wait", "`%s': not a valid identifier", pvar)
			}
		case 'f':
		default:
			return sh.usage(o, "wait [-fn] [-p var] [id ...]")
		}
	}
	rest := o.rest()
	if pvar != "" {
		sh.unsetVar(pvar)
	}
	if next {
		return sh.waitNext(rest, pvar)
	}
	if len(rest) == 0 {
		for _, j := range sh.jobs {
			if j.gone {
				continue
			}
			if sh.waitJob(j) {
				return sh.interrupted()
			}
			j.told, j.gone = true, true
		}
		for _, j := range sh.substJobs {
			if j.pid == sh.lastBg && sh.waitJob(j) {
				return sh.interrupted()
			}
		}
		return 0
	}
	st := 0
	for _, s := range rest {
		var j *job
		if strings.HasPrefix(s, "%") {
			if j = sh.findJob(s); j == nil {
				st = 127
				sh.errorf("wait: %s: no such job", s)
				continue
			}
		} else {
			n, ok := atoi(s)
			if !ok || n < 0 {
				st = 1
				sh.errorf("wait: `%s': not a pid or valid job spec", s)
				continue
			}
			if j = sh.jobByPid(int(n)); j == nil {
				for _, k := range sh.substJobs {
					if k.pid == int(n) {
						j = k
					}
				}
			}
			if j == nil {
				st = 127
				sh.errorf("wait: pid %s is not a child of this shell", s)
				continue
			}
		}
		if sh.waitJob(j) {
			return sh.interrupted()
		}
		j.told, j.gone = true, true
		st = j.status
		if pvar != "" {
			sh.assignTo(pvar, nil, itoa(j.pid), false)
		}
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
func (sh *shell) waitNext(ids []string, pvar string) int {
	var list []*job
	if len(ids) == 0 {
		for _, j := range sh.jobs {
			if !j.gone {
				list = append(list, j)
			}
		}
	}
	for _, s := range ids {
		var j *job
		if strings.HasPrefix(s, "%") {
			j = sh.findJob(s)
		} else if n, ok := atoi(s); ok {
			j = sh.jobByPid(int(n))
		}
		if j == nil {
			sh.errorf("wait: %s: no such job", s)
			continue
		}
		list = append(list, j)
	}
	if len(list) == 0 {
		return 127
	}
	any := make(chan *job, len(list))
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
				any <- j
			case <-stop:
			case <-sh.run.ctx.Done():
			}
		})
	}
	for {
		select {
		case j := <-any:
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

func (sh *shell) took(j *job, pvar string) int {
	j.told, j.gone = true, true
	if pvar != "" {
		sh.assignTo(pvar, nil, itoa(j.pid), false)
	}
	return j.status
}

func builtinKill(sh *shell, args []string) int {
	const use = "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n"
	sig := sigTERM
	rest := args[1:]
	if len(rest) == 0 {
		sh.stderr(use)
		return 2
	}
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		a := rest[0]
		switch {
		case a == "--":
			rest = rest[1:]
			goto pids
		case a == "-l" || a == "-L":
			return sh.killList(rest[1:])
		case a == "-s" || a == "-n":
			if len(rest) < 2 {
				sh.errorf("kill: %s: option requires an argument", a)
				return 1
			}
			n, ok := signalNumber(rest[1], true)
			if !ok {
				return sh.builtinError("kill", "%s: invalid signal specification", rest[1])
			}
			sig = n
			rest = rest[2:]
			goto pids
		default:
			spec := a[1:]
			if len(spec) > 1 && (spec[0] == 's' || spec[0] == 'n') {
				if n, ok := signalNumber(spec[1:], true); ok {
					sig = n
					rest = rest[1:]
					goto pids
				}
			}
			n, ok := signalNumber(spec, true)
			if !ok {
				return sh.builtinError("kill", "%s: invalid signal specification", spec)
			}
			sig = n
			rest = rest[1:]
			goto pids
		}
	}
pids:
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		sh.stderr(use)
		return 2
	}
	st := 1
	for _, s := range rest {
		if sh.killOne(s, sig) {
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

func (sh *shell) killOne(s string, sig int) bool {
	t := &sh.run.procs
	if strings.HasPrefix(s, "%") {
		j := sh.findJob(s)
		if j == nil || j.finished() {
			sh.errorf("kill: %s: no such job", s)
			return false
		}
		t.signal(j.proc, sig)
		return true
	}
	n, ok := atoi(s)
	if !ok {
		sh.errorf("kill: %s: arguments must be process or job IDs", s)
		return false
	}
	if n == 0 || n == -1 {
		// Everything of this script, and nothing else, is in reach.
		for _, p := range t.all() {
			t.signal(p, sig)
		}
		return true
	}
	if n < 0 {
		n = -n
	}
	p := t.find(int(n))
	if p == nil {
		sh.errorf("kill: (%s) - No such process", s)
		return false
	}
	t.signal(p, sig)
	return true
}

func (sh *shell) killList(args []string) int {
	if len(args) == 0 {
		return listSignals(sh, nil)
	}
	st := 0
	for _, a := range args {
		if n, ok := atoi(a); ok && n >= 0 {
			if n > 128 {
				n -= 128
			}
			name := signalName(int(n))
			if name == "" || n >= sigDEBUG && n < 64 {
				st = sh.builtinError("kill", "%s: invalid signal specification", a)
				continue
			}
			sh.out(name + "\n")
			continue
		}
		n, ok := signalNumber(a, true)
		if !ok {
			st = sh.builtinError("kill", "%s: invalid signal specification", a)
			continue
		}
		sh.out(itoa(n) + "\n")
	}
	return st
}

func builtinDisown(sh *shell, args []string) int {
	o := newGetopt(args, "ahr")
	all := false
	for o.next() {
		switch o.opt {
		case 'a', 'r':
			all = true
		case 'h':
		default:
			return sh.usage(o, "disown [-h] [-ar] [jobspec ... | pid ...]")
		}
	}
	if all {
		for _, j := range sh.jobs {
			j.gone = true
		}
		return 0
	}
	rest := o.rest()
	if len(rest) == 0 {
		rest = []string{"%+"}
	}
	st := 0
	for _, s := range rest {
		j := sh.findJob(s)
		if n, ok := atoi(s); ok {
			j = sh.jobByPid(int(n))
		}
		if j == nil {
			st = sh.builtinError("disown", "%s: no such job", s)
			continue
		}
		j.gone = true
	}
	return st
}

// builtinFgBg is fg and bg: a job can be brought to the foreground, which
// waits for it; jobs never stop, so bg has nothing to do.
func builtinFgBg(sh *shell, args []string) int {
	if !sh.opts.has(optMonitor) {
		return sh.builtinError(args[0], "no job control")
	}
	spec := "%+"
	if len(args) > 1 {
		spec = args[1]
	}
	j := sh.findJob(spec)
	if j == nil {
		if len(args) < 2 {
			spec = "current"
		}
		return sh.builtinError(args[0], "%s: no such job", spec)
	}
	if args[0] == "bg" {
		return sh.builtinError("bg", "job %d already in background", j.id)
	}
	sh.out(j.text + "\n")
	if sh.waitJob(j) {
		return sh.interrupted()
	}
	j.gone = true
	return j.status
}
