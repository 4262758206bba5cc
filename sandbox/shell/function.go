package shell

import "strings"

func (c *funcCmd) run(sh *shell) { sh.define(c) }

// define binds a function.
func (sh *shell) define(c *funcCmd) {
	if sh.funcs.readonly[c.name] {
		failf(errCommand, 1, "%s: readonly function", c.name)
	}
	if sh.opts.has(optPosix) {
		switch {
		case sh.isSpecialBuiltin(c.name):
			failf(errExit, 2, "`%s': is a special builtin", c.name)
		case !isName(c.name):
			failf(errExit, 2, "`%s': not a valid identifier", c.name)
		}
	}
	if strings.ContainsAny(c.name, "$`\\\"' ") {
		failf(errCommand, 1, "`%s': not a valid identifier", c.name)
	}
	t := sh.ownFuncs()
	fn := *c.fn
	fn.source = sh.sourceName()
	if old := t.m[c.name]; old != nil {
		sh.charge(-funcCost(old))
	}
	sh.charge(funcCost(&fn))
	t.m[c.name] = &fn
	sh.status = 0
}

// funcCost is about what a function takes in memory: its tree is larger than
// its text.
func funcCost(f *function) int64 { return int64(len(f.text))*10 + 1024 }

// sourceName is the file that is being read.
func (sh *shell) sourceName() string {
	if sh.frame != nil {
		return sh.frame.source
	}
	if sh.script {
		return sh.mainSource
	}
	if sh.commandString {
		return "environment"
	}
	return "main"
}

// call runs a function.
func (sh *shell) call(fn *function, args []string) {
	sh.checkDepth()
	sh.depth++
	sh.scopes++
	f := &frame{up: sh.frame, fn: fn, name: fn.name, source: fn.source, line: sh.line, depth: sh.scopes, temp: sh.callTemp, params: sh.params, loops: sh.loops}
	sh.callTemp = 0
	sh.frame = f
	sh.params = args[1:]
	sh.loops = 0
	restore := sh.hideTraps(sh.funcs.traced[fn.name])
	defer func() {
		restore()
		if f.opts != nil {
			sh.opts = *f.opts
		}
		sh.popLocals(f.names, f.depth)
		sh.params, sh.frame, sh.loops = f.params, f.up, f.loops
		sh.depth--
		sh.scopes--
	}()
	line := sh.line
	if sh.traps.active(sigDEBUG) {
		sh.line = fn.line
		sh.debugTrap(sh.command)
	}
	sh.runStmt(fn.body)
	if sh.flow == flowReturn {
		sh.flow = flowNone
		sh.status = sh.ret
	}
	if sh.flow == flowBreak || sh.flow == flowContinue {
		sh.flow = flowNone
	}
	if sh.flow == flowNone {
		sh.returnTrap()
	}
	sh.line = line
}
