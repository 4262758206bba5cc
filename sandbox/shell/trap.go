package shell

import (
	"fmt"
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
	t := sh.traps
	t.listed = nil
	if reset {
		delete(t.m, sig)
	} else {
		sh.charge(int64(len(action)))
		t.m[sig] = action
	}
	delete(t.hidden, sig)
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
	t.hidden = map[int]bool{}
	for k, v := range old {
		t.hidden[k] = v
	}
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
	src.command = true
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
func builtinTrap(sh *shell, args []string) int {
	print := false
	o := newGetopt(args, "lp")
	for o.next() {
		switch o.opt {
		case 'l':
			return listSignals(sh, nil)
		case 'p':
			print = true
		default:
			return sh.usage(o, "trap [-lp] [[arg] signal_spec ...]")
		}
	}
	rest := o.rest()
	if print || len(rest) == 0 {
		return sh.printTraps(rest)
	}
	action, reset := rest[0], false
	sigs := rest[1:]
	if n, ok := atoi(action); len(sigs) == 0 || ok && n >= 0 && action[0] != '+' {
		// A lone signal, or a number first, resets.
		if len(sigs) == 0 || ok {
			if len(sigs) == 0 && !ok {
				if _, known := signalNumber(action, true); !known && action != "-" || action == "-" {
					sh.stderr("trap: usage: trap [-lp] [[arg] signal_spec ...]\n")
					return 2
				}
			}
			sigs, reset = rest, true
		}
	}
	if action == "-" {
		reset = true
		sigs = rest[1:]
	}
	st := 0
	for _, s := range sigs {
		n, ok := signalNumber(s, true)
		if !ok {
			sh.errorf("trap: %s: invalid signal specification", s)
			st = 1
			continue
		}
		sh.setTrap(n, action, reset)
	}
	return st
}

func (sh *shell) printTraps(names []string) int {
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
	st := 0
	if len(names) == 0 {
		for n := 0; n <= sigRETURN; n++ {
			show(n)
		}
	}
	for _, s := range names {
		n, ok := signalNumber(s, true)
		if !ok {
			sh.errorf("trap: %s: invalid signal specification", s)
			st = 1
			continue
		}
		show(n)
	}
	sh.out(b.String())
	return st
}

func listSignals(sh *shell, _ []string) int {
	var b strings.Builder
	col := 0
	for n := 1; n <= 64; n++ {
		if !signalNameReal(n) {
			continue
		}
		if sh.opts.has(optPosix) {
			b.WriteString(signalName(n) + map[bool]string{true: "\n", false: " "}[n == 64])
			continue
		}
		name := signalName(n)
		switch n {
		case 61, 62, 63:
			name = "RTMAX-" + itoa(64-n)
		}
		fmt.Fprintf(&b, "%2d) SIG%s", n, name)
		if col++; col%5 == 0 || n == 64 {
			b.WriteByte('\n')
		} else {
			b.WriteByte('\t')
		}
	}
	sh.out(b.String())
	return 0
}
