package shell

// runList runs statements until a flow stops them.
func (sh *shell) runList(list []*stmt) {
	for _, s := range list {
		sh.runStmt(s)
		if sh.flow != flowNone {
			return
		}
	}
}

// runStmt runs one statement.
func (sh *shell) runStmt(s *stmt) {
	if sh.run.stop.Load() {
		sh.flow, sh.status = flowFatal, 137
		return
	}
	if sh.proc.dead.Load() {
		sh.flow, sh.status = flowExit, 128+int(sh.proc.deadBy.Load())
		return
	}
	if sh.proc.pending.Load() != 0 {
		sh.runPending()
		if sh.flow != flowNone {
			return
		}
	}
	if sh.opts.has(optNoexec) {
		return
	}
	sh.line = s.line
	if s.bg {
		sh.protect(func() { sh.startJob(s) })
		return
	}
	if s.neg {
		sh.noErr++
		sh.runPlain(s)
		sh.noErr--
		if sh.flow == flowNone {
			sh.status = int(b2i(sh.status == 0))
		}
		return
	}
	sh.runPlain(s)
	if sh.status != 0 && sh.flow == flowNone && sh.noErr == 0 && s.cmd != nil {
		switch s.cmd.(type) {
		case *simpleCmd, *pipeCmd, *subshellCmd, *arithCmd, *testCmd:
			sh.failed()
		}
	}
}

// failed is called after a command failed where errexit and ERR count.
func (sh *shell) failed() {
	st := sh.status
	sh.protect(sh.errTrap)
	if sh.flow != flowNone {
		return
	}
	sh.status = st
	if sh.opts.has(optErrexit) {
		sh.flow = flowExit
	}
}

// runPlain runs a statement without its ! and &.
func (sh *shell) runPlain(s *stmt) {
	fds, held := len(sh.substFds), sh.held
	sh.runPlain1(s)
	if len(sh.substFds) > fds {
		sh.closeSubsts(fds)
	}
	if sh.held > held {
		sh.protect(func() { sh.unhold(held) })
	}
}

func (sh *shell) runPlain1(s *stmt) {
	if c, ok := s.cmd.(*simpleCmd); ok {
		sh.protect(func() { sh.simple(c, s.redirs) })
		sh.pipeStatus, sh.pipeLast = nil, sh.status
		return
	}
	if len(s.redirs) > 0 {
		undo, ok := sh.redirect(s.redirs)
		if ok {
			sh.runCommand(s.cmd)
		} else if sh.flow == flowNone && sh.noErr == 0 {
			switch s.cmd.(type) {
			case *subshellCmd, *pipeCmd, *arithCmd, *testCmd:
			default:
				sh.failed()
			}
		}
		undo()
		return
	}
	sh.runCommand(s.cmd)
}

func (sh *shell) runCommand(c command) {
	sh.protect(func() { c.run(sh) })
	switch c.(type) {
	case *arithCmd, *testCmd:
		sh.pipeStatus, sh.pipeLast = nil, sh.status
	}
}

func (c *simpleCmd) run(sh *shell) { sh.simple(c, nil) }

func (c *blockCmd) run(sh *shell) { sh.runList(c.body) }

func (c *andOrList) run(sh *shell) {
	n := len(c.rest)
	sh.noErr++
	sh.runStmt(c.first)
	sh.noErr--
	for i, l := range c.rest {
		if sh.flow != flowNone {
			return
		}
		if (sh.status == 0) == l.or {
			continue
		}
		if i < n-1 {
			sh.noErr++
			sh.runStmt(l.s)
			sh.noErr--
		} else {
			sh.runStmt(l.s)
		}
	}
}

func (c *subshellCmd) run(sh *shell) {
	sub := sh.fork()
	sub.loops = 0
	defer sub.end()
	st := sub.subshellRun(func() { sub.runList(c.body) })
	sh.adopt(sub)
	sh.status = st
}

// adopt takes over what a synchronous subshell leaves behind: only its end.
func (sh *shell) adopt(sub *shell) {
	if sub.flow == flowFatal {
		sh.flow = flowFatal
	}
}

func (c *ifCmd) run(sh *shell) {
	for _, b := range c.branches {
		if !b.isElse {
			sh.noErr++
			sh.runList(b.cond)
			sh.noErr--
			if sh.flow != flowNone {
				return
			}
			if sh.status != 0 {
				continue
			}
		}
		sh.runList(b.body)
		return
	}
	sh.status = 0
}

// loopDone handles break and continue after a turn; true ends the loop.
func (sh *shell) loopDone() bool {
	switch sh.flow {
	case flowNone:
		return false
	case flowBreak:
		if sh.flowN--; sh.flowN == 0 {
			sh.flow = flowNone
		}
		return true
	case flowContinue:
		if sh.flowN--; sh.flowN == 0 {
			sh.flow = flowNone
			return false
		}
		return true
	}
	return true
}

func (c *whileCmd) run(sh *shell) {
	sh.loops++
	defer func() { sh.loops-- }()
	st := 0
	for {
		sh.noErr++
		sh.runList(c.cond)
		sh.noErr--
		if sh.flow != flowNone {
			if sh.loopDone() {
				if sh.flow == flowNone {
					sh.status = st
				}
				return
			}
			continue
		}
		if (sh.status == 0) == c.until {
			break
		}
		sh.runList(c.body)
		st = sh.status
		if sh.loopDone() {
			return
		}
	}
	sh.status = st
}

func (c *forCmd) run(sh *shell) {
	if c.sel {
		sh.runSelect(c)
	} else {
		sh.runFor(c)
	}
}

func (sh *shell) runFor(c *forCmd) {
	var items []string
	if !sh.protect(func() { items = sh.loopItems(c) }) {
		return
	}
	if !isName(c.name) {
		sh.errorf("`%s': not a valid identifier", c.name)
		sh.status = 1
		return
	}
	sh.loops++
	defer func() { sh.loops-- }()
	sh.status = 0
	for _, it := range items {
		sh.line = c.line
		if !sh.protect(func() {
			sh.tick()
			sh.traceHead(c.text)
			sh.debugTrap(c.text)
			sh.setLoopVar(c.name, it)
		}) || sh.flow != flowNone {
			return
		}
		sh.runList(c.body)
		if sh.loopDone() {
			return
		}
	}
}

// loopItems are the words that for and select go over.
func (sh *shell) loopItems(c *forCmd) []string {
	if c.in {
		return sh.fields(c.items)
	}
	return sh.params
}

// setLoopVar assigns the variable of a for loop; a nameref is pointed anew.
func (sh *shell) setLoopVar(name, val string) {
	v := sh.lookup(name)
	if v.has(attrNameref) {
		sh.checkWritable(name)
		if !validRef(val) {
			failf(errDiscard, 1, "`%s': invalid variable name for name reference", val)
		}
		m := sh.mutable(name)
		m.str = val
		m.attr |= attrSet
		return
	}
	sh.assignTo(name, nil, val, false)
}

func (c *arithForCmd) run(sh *shell) {
	eval := func(a *arith) (n int64, ok bool) {
		ok = sh.protect(func() {
			sh.line = c.line
			if !a.empty {
				sh.debugTrap("((" + a.raw + "))")
			}
			sh.traceArith(a)
			defer sh.arithErrors("((: ")
			n = sh.arith(a)
		})
		if !ok && sh.flow == flowNone {
			sh.status = 1
		}
		return n, ok && sh.flow == flowNone
	}
	sh.loops++
	defer func() { sh.loops-- }()
	if !c.init.empty {
		if _, ok := eval(c.init); !ok {
			return
		}
	}
	sh.status = 0
	for {
		if !c.cond.empty {
			st := sh.status
			n, ok := eval(c.cond)
			if !ok {
				return
			}
			sh.status = st
			if n == 0 {
				return
			}
		}
		sh.runList(c.body)
		if sh.run.stop.Load() {
			sh.flow = flowFatal
		}
		if sh.loopDone() {
			return
		}
		if !c.post.empty {
			st := sh.status
			if _, ok := eval(c.post); !ok {
				return
			}
			sh.status = st
		}
	}
}

func (c *caseCmd) run(sh *shell) {
	s := sh.str(c.word)
	sh.traceHead(c.text)
	sh.debugTrap(c.text)
	sh.status = 0
	fall := false
	for _, it := range c.items {
		hit := fall
		for _, p := range it.patterns {
			if hit {
				break
			}
			sh.tick()
			hit = sh.compilePattern(sh.pattern(p)).match(s)
		}
		if !hit {
			continue
		}
		sh.runList(it.body)
		if sh.flow != flowNone {
			return
		}
		switch it.op.String() {
		case ";&":
			fall = true
		case ";;&":
			fall = false
		default:
			return
		}
	}
}

func (c *arithCmd) run(sh *shell) {
	sh.line = c.line
	sh.debugTrap(c.text)
	sh.traceArith(c.x)
	defer sh.arithErrors("((: ")
	sh.status = int(b2i(sh.arith(c.x) == 0))
}

// arithErrors, deferred, makes arithmetic errors fail the command only.
func (sh *shell) arithErrors(prefix string) {
	p := recover()
	if a, ok := p.(abort); ok {
		if ce, ok := a.err.(*cmdError); ok && ce.kind == errDiscard {
			ne := *ce
			ne.kind = errCommand
			ne.msg = prefix + ce.msg
			throw(&ne)
		}
	}
	if p != nil {
		panic(p)
	}
}
