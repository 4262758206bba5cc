package shell

import (
	"fmt"
	"maps"
	"strings"
)

// A trapTable holds the traps of one shell. An empty action ignores.
type trapTable struct {
	m      map[int]string
	listed map[int]string // of the parent shell: still shown by trap -p
	hidden map[int]bool   // DEBUG, ERR, RETURN inside functions that do not inherit them
	any    bool           // DEBUG, ERR or RETURN is set
	ran    map[int]bool   // running now
}

func newTraps() *trapTable {
	return &trapTable{m: map[int]string{}, hidden: map[int]bool{}, ran: map[int]bool{}}
}

func (t *trapTable) active(sig int) bool {
	if !t.any {
		return false
	}
	a, ok := t.m[sig]
	return ok && a != "" && !t.hidden[sig]
}

// forFork gives what a subshell inherits: ignored signals, and the traps that
// options say to inherit.
func (t *trapTable) forFork(errtrace, functrace bool) *trapTable {
	if len(t.m) == 0 && t.listed == nil {
		return newTraps()
	}
	n := newTraps()
	n.listed = map[int]string{}
	for s, a := range t.m {
		n.listed[s] = a
		switch {
		case a == "" && s != sigEXIT,
			s == sigERR && errtrace, (s == sigDEBUG || s == sigRETURN) && functrace:
			n.m[s] = a
			n.any = n.any || s >= sigDEBUG
			n.hidden[s] = t.hidden[s]
			n.ran[s] = t.ran[s]
		}
	}
	if len(t.m) == 0 {
		n.listed = t.listed
	}
	return n
}

// setTrap sets, or with reset removes, the action of sig.
func (sh *shell) setTrap(sig int, action string, reset bool) {
	if sh.run.ignored>>sig&1 != 0 {
		return // as POSIX has it: who started the shell said so
	}
	t := sh.traps
	t.listed = nil
	old := int64(len(t.m[sig]))
	if reset {
		sh.charge(-old)
		delete(t.m, sig)
	} else {
		sh.charge(int64(len(action)) - old)
		t.m[sig] = action
	}
	delete(t.hidden, sig)
	sh.tellSenders()
}

// ignore makes a subshell ignore signals that its parent does not.
func (sh *shell) ignore(sigs ...int) {
	for _, sig := range sigs {
		sh.traps.m[sig] = ""
		if sh.traps.listed != nil {
			sh.traps.listed[sig] = ""
		}
	}
	sh.tellSenders()
}

// tellSenders lets those who send signals know what becomes of them.
func (sh *shell) tellSenders() {
	t := sh.traps
	t.any = false
	m := &trapMask{}
	for s, a := range t.m {
		switch {
		case s >= sigDEBUG:
			t.any = true
		case s > 0 && a == "":
			m.ignored |= 1 << s
		case s > 0:
			m.trapped |= 1 << s
		}
	}
	sh.proc.traps.Store(m)
}

// hideTraps hides DEBUG, ERR and RETURN in a function that does not inherit
// them.
func (sh *shell) hideTraps(traced bool) func() {
	t := sh.traps
	if !t.any {
		return func() {}
	}
	old := t.hidden
	t.hidden = maps.Clone(old)
	if !traced && !sh.opts.has(optFunctrace) {
		t.hidden[sigDEBUG], t.hidden[sigRETURN] = true, true
	}
	if !sh.opts.has(optErrtrace) {
		t.hidden[sigERR] = true
	}
	return func() { t.hidden = old }
}

// runTrap runs the action of sig and keeps $?.
func (sh *shell) runTrap(sig int, action string) {
	if sh.traps.ran[sig] {
		return
	}
	sh.traps.ran[sig] = true
	st, line, ps, pl := sh.status, sh.line, sh.pipeStatus, sh.pipeLast
	noErr := sh.noErr
	sh.inTrap++
	src := sh.newSource("", action)
	src.line = max(line-1, 0)
	if sig == sigEXIT || sig < sigDEBUG {
		src.line = 0
	}
	sh.runText(src, "trap")
	sh.inTrap--
	sh.noErr = noErr
	delete(sh.traps.ran, sig)
	if sh.flow == flowReturn && sh.frame == nil && sig >= sigDEBUG {
		sh.flow = flowNone // there is nothing to return from
	}
	if sh.flow == flowNone || sh.flow == flowReturn && sig >= sigDEBUG {
		if sh.flow == flowNone {
			sh.status = st
		}
		sh.line, sh.pipeStatus, sh.pipeLast = line, ps, pl
	}
}

// exitTrap runs the EXIT trap, once.
func (sh *shell) exitTrap() {
	a, ok := sh.traps.m[sigEXIT]
	if !ok || a == "" || sh.exiting {
		return
	}
	sh.exiting = true
	delete(sh.traps.m, sigEXIT)
	sh.noErr = 0
	st := sh.status
	sh.runTrap(sigEXIT, a)
	switch sh.flow {
	case flowExit:
	case flowReturn:
		sh.status = sh.ret
	default:
		sh.status = st
	}
}

func (sh *shell) errTrap() {
	if sh.traps.active(sigERR) && !sh.traps.ran[sigERR] {
		sh.runTrap(sigERR, sh.traps.m[sigERR])
	}
}

func (sh *shell) returnTrap() {
	if sh.traps.active(sigRETURN) {
		sh.runTrap(sigRETURN, sh.traps.m[sigRETURN])
	}
}

// debugTrap runs the DEBUG trap before a command.
func (sh *shell) debugTrap(cmd string) {
	if sh.inTrap > 0 {
		return
	}
	sh.command = cmd
	if !sh.traps.active(sigDEBUG) || sh.traps.ran[sigDEBUG] {
		return
	}
	sh.runTrap(sigDEBUG, sh.traps.m[sigDEBUG])
}

// runPending runs the traps of signals that came.
func (sh *shell) runPending() {
	p := sh.proc.pending.Swap(0)
	for s := 1; s < sigDEBUG && p != 0; s++ {
		if p>>s&1 == 0 {
			continue
		}
		if a, ok := sh.traps.m[s]; ok && a != "" {
			sh.protect(func() { sh.runTrap(s, a) })
			if sh.flow != flowNone {
				return
			}
		}
	}
}

// builtinTrap is trap [-lp] [[action] signal...].
func builtinTrap(sh *shell, c call) int {
	if c.has('l') {
		return sh.listSignals()
	}
	if c.has('p') || len(c.rest) == 0 {
		return sh.printTraps(&c)
	}
	action, sigs := c.rest[0], c.rest[1:]
	n, number := atoi(action)
	reset := action == "-" || number && n >= 0 && action[0] != '+'
	if len(sigs) == 0 { // a lone signal is reset
		if _, known := signalNumber(action); !known {
			return c.misuse("")
		}
		reset = true
	}
	if reset && action != "-" {
		sigs = c.rest
	}
	st := 0
	for _, s := range sigs {
		if n, ok := signalNumber(s); ok {
			sh.setTrap(n, action, reset)
		} else {
			st = c.fail("%s: invalid signal specification", s)
		}
	}
	return st
}

func (sh *shell) printTraps(c *call) int {
	m := sh.traps.m
	if sh.traps.listed != nil {
		m = sh.traps.listed
	}
	var b strings.Builder
	show := func(n int) {
		a, ok := m[n]
		if !ok {
			return
		}
		name := signalName(n)
		if n > 0 && n < sigDEBUG && !sh.opts.has(optPosix) {
			name = "SIG" + name
		}
		fmt.Fprintf(&b, "trap -- %s %s\n", singleQuote(a), name)
	}
	if len(c.rest) == 0 {
		for n := 0; n <= sigRETURN; n++ {
			show(n)
		}
	}
	st := 0
	for _, s := range c.rest {
		if n, ok := signalNumber(s); ok {
			show(n)
		} else {
			st = c.fail("%s: invalid signal specification", s)
		}
	}
	sh.out(b.String())
	return st
}

// listSignals prints all signals, as trap -l and kill -l do.
func (sh *shell) listSignals() int {
	var b strings.Builder
	col := 0
	for n := 1; n <= 64; n++ {
		name := signalName(n)
		switch {
		case name == "":
			continue
		case n >= sigDEBUG && n < 64: // the pseudo signals have these numbers
			name = "RTMAX-" + itoa(64-n)
		}
		end := "\n"
		if sh.opts.has(optPosix) {
			if n < 64 {
				end = " "
			}
			b.WriteString(name + end)
			continue
		}
		if col++; col%5 != 0 && n < 64 {
			end = "\t"
		}
		fmt.Fprintf(&b, "%2d) SIG%s%s", n, name, end)
	}
	sh.out(b.String())
	return 0
}
