package shell

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// run runs the stages of a pipe, each in a subshell.
func (c *pipeCmd) run(sh *shell) {
	n := len(c.stages)
	last := sh.opts.has(optLastpipe) && !sh.opts.has(optMonitor)
	status := make([]int, n)
	var wg sync.WaitGroup
	var in *File
	var lastSub *shell
	start := func(i int) {
		defer func() { // a limit while starting must not leave stages waiting
			if p := recover(); p != nil {
				in.release()
				panic(p)
			}
		}()
		if c.stages[i].cmd != nil && !sh.opts.has(optFunctrace) && sh.traps.active(sigDEBUG) {
			if _, ok := c.stages[i].cmd.(*simpleCmd); ok {
				sh.line = c.stages[i].line
				sh.debugTrap(sh.command)
			}
		}
		var out *File
		var next *File
		if i < n-1 {
			next, out = newPipe(sh.ctx)
			sh.addJob()
		}
		sub := sh.fork()
		sub.loops = 0
		sub.pipeStatus = nil
		if in != nil {
			sub.setFd(0, in)
		}
		in = nil
		if out != nil {
			sub.setFd(1, out)
		}
		st := c.stages[i]
		if i == n-1 {
			lastSub = sub
			return
		}
		in = next
		wg.Add(1)
		sh.run.spawn(func() {
			defer wg.Done()
			defer sh.run.endJob()
			defer sub.end()
			status[i] = sub.subshellRun(func() { sub.runStmt(st) })
			if sub.proc.dead.Load() {
				status[i] = 128 + int(sub.proc.deadBy.Load())
			}
		})
	}
	stages := n
	if last {
		stages = n - 1
	}
	for i := 0; i < stages; i++ {
		start(i)
	}
	if last {
		old := sh.fd(0)
		if old != nil {
			old.ref()
		}
		sh.setFd(0, in)
		sh.noErr++
		sh.runStmt(c.stages[n-1])
		sh.noErr--
		status[n-1] = sh.status
		sh.setFd(0, old)
	} else {
		status[n-1] = lastSub.subshellRun(func() { lastSub.runStmt(c.stages[n-1]) })
		lastSub.end()
		sh.adopt(lastSub)
	}
	wg.Wait()
	if sh.run.stop.Load() {
		throw(sh.run.cause())
	}
	sh.pipeStatus = status
	if sh.flow != flowNone && last {
		return
	}
	sh.status = status[n-1]
	if sh.opts.has(optPipefail) {
		for _, s := range status {
			if s != 0 {
				sh.status = s
			}
		}
	}
}

// cmdSubst runs $(...) and returns its output without the last newlines.
func (sh *shell) cmdSubst(p *cmdSubPart) string {
	if p.file != nil {
		return sh.substFile(p.file)
	}
	if p.fsub || p.reply {
		failf(errDiscard, 1, "${ ...; }: bad substitution")
	}
	sub := sh.fork()
	sub.loops = 0
	sub.line = p.line
	sub.indirection++
	if !sh.opts.has(optInheritErrexit) && !sh.opts.has(optPosix) {
		sub.opts.set(optErrexit, false)
	}
	out := &capture{max: sh.run.lim.Expansion, fatal: sh.run.fatal, spend: sh.run.charge, done: make(chan struct{})}
	sub.setFd(1, newFile(&File{buf: out, ctx: sh.ctx}))
	st := func() int {
		defer sub.end()
		return sub.subshellRun(func() { sub.runList(p.body) })
	}()
	sh.adopt(sub)
	if sub.flow == flowFatal {
		throw(fatalErr{sh.run.cause()})
	}
	// Background jobs may still write: wait until nobody can.
	select {
	case <-out.done:
	case <-sh.ctx.Done():
		sh.tick()
		throw(context.Cause(sh.ctx))
	}
	sh.status = st
	sh.substDone = true
	s := sh.captured(out.b)
	if err := sh.run.charge(-int64(len(out.b))); err != nil {
		throw(err)
	}
	return s
}

// captured turns output into a value: no NUL bytes, no newlines at the end.
func (sh *shell) captured(b []byte) string {
	s := string(b)
	if strings.IndexByte(s, 0) >= 0 {
		sh.errorf("warning: command substitution: ignored null byte in input")
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.TrimRight(s, "\n")
}

func (sh *shell) substFile(w *word) string {
	sh.substDone = true
	var file *File
	if !sh.protect(func() { file = sh.openFile(sh.redirTarget(w), 0, false) }) {
		if sh.flow == flowFatal {
			throw(fatalErr{sh.run.cause()})
		}
		return ""
	}
	defer file.release()
	buf, err := sh.readAll(file, sh.run.lim.Expansion, "expansion")
	if isFatal(err) {
		throw(err)
	}
	sh.status = 0
	return sh.captured(buf)
}

// procSubst starts <(...) or >(...) and returns the path of its pipe.
func (sh *shell) procSubst(p *procPart) string {
	r, w := newPipe(sh.ctx)
	mine, theirs, at := r, w, 1
	if p.out {
		mine, theirs, at = w, r, 0
	}
	n := 63
	for n > 9 && sh.fd(n) != nil {
		n--
	}
	if n == 9 {
		n = sh.freeFd(64)
	}
	j := sh.async("", func(sub *shell) { sub.setFd(at, theirs) }, func(sub *shell) { sub.runList(p.body) })
	sh.lastBg = j.pid
	sh.substJobs = append(slices.DeleteFunc(slices.Clone(sh.substJobs), (*job).finished), j)
	sh.setFd(n, mine)
	sh.substFds = append(sh.substFds, n)
	return "/dev/fd/" + itoa(n)
}

// closeSubsts closes the pipes of process substitutions that the command
// before mark made. Output ones are waited for, so that their effects are
// there when the next command runs.
func (sh *shell) closeSubsts(mark int) {
	for len(sh.substFds) > mark {
		k := len(sh.substFds) - 1
		sh.setFd(sh.substFds[k], nil)
		sh.substFds = sh.substFds[:k]
	}
}

// run starts a coprocess.
func (c *coprocCmd) run(sh *shell) {
	name := "COPROC"
	if c.name != nil {
		name = sh.str(c.name)
	}
	if !isName(name) {
		failf(errCommand, 1, "`%s': not a valid identifier", name)
	}
	inR, inW := newPipe(sh.ctx)
	outR, outW := newPipe(sh.ctx)
	body := *c.body
	j := sh.async(body.text, func(sub *shell) {
		sub.setFd(0, inR)
		sub.setFd(1, outW)
	}, func(sub *shell) { sub.runStmt(&body) })
	rfd := sh.freeFd(10)
	sh.setFd(rfd, outR)
	wfd := sh.freeFd(10)
	sh.setFd(wfd, inW)
	sh.addToJobs(j)
	sh.assignArray(name, []element{{val: itoa(rfd)}, {val: itoa(wfd)}}, false)
	sh.assignTo(name+"_PID", nil, itoa(j.pid), false)
	sh.status = 0
}
