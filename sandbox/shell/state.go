package shell

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// A State is what a shell leaves for the shell of a later script: its working
// folder, variables, functions, aliases, options, traps but EXIT, positional
// parameters, umask and $?. Descriptors and jobs end with the script. A State
// never changes, so that a script which is ended from outside leaves the one
// it began with.
type State struct {
	kept
	vars  *store
	traps map[int]string

	bytes int64 // that it holds, about
}

// Dir is the working folder.
func (s *State) Dir() string { return s.dir }

// Renames reports whether a name may stand for something that the text of a
// script does not show: there are functions or aliases.
func (s *State) Renames() bool { return len(s.funcs.m) > 0 || len(s.aliases) > 0 }

// RunFrom runs src as [Run] does, in a shell that goes on from s; a nil s is
// a fresh shell. It returns the state after it, or nil when the script was
// ended from outside or killed itself: s is still good then. With a state
// c.Env is assigned and exported, c.Dir, if any, becomes the working folder,
// and c.Params, if any, the positional parameters; Config.RC is not read.
// exit ends the script only. A state that would hold more than Limits.State
// is a [*LimitError].
func (s *State) RunFrom(ctx context.Context, c Config, src string) (status int, next *State, err error) {
	return runFrom(ctx, &c, s, src, true)
}

// resume makes sh go on from s.
func (sh *shell) resume(s *State, c *Config) {
	sh.vars.release()
	sh.vars = s.vars.share()
	s.funcs.shared.Store(true)
	params := sh.params
	sh.kept = s.kept
	sh.aliases = maps.Clone(s.aliases)
	sh.varChanged("IFS")
	sh.optPos = s.optPos
	if params != nil {
		sh.params = params
	}
}

// enter does what needs a running shell: it charges what the state holds,
// sets the traps and follows the configuration. The state's status survives.
func (sh *shell) enter(s *State, c *Config) {
	sh.charge(s.bytes)
	for sig, action := range s.traps {
		sh.setTrap(sig, action, false)
	}
	if c.Dir != "" && c.Dir != sh.dir {
		if err := sh.chdir(c.Dir, false); err != nil {
			sh.errorf("%s: %s", c.Dir, errText(err))
			sh.status, sh.flow = 1, flowExit
			return
		}
	}
	for _, name := range c.Unset { // also readonly ones: who runs the shell decides
		sh.unsetVar(name)
	}
	for _, kv := range c.Env {
		name, val, _ := strings.Cut(kv, "=")
		if !isName(name) {
			continue
		}
		sh.assignTo(name, nil, val, false)
		sh.mutable(name).attr |= attrExport
	}
	sh.status = s.status
}

// leave makes the state that sh, which went on from s, leaves. Nothing of the
// script may run any more.
func (sh *shell) leave(from *State) (*State, error) {
	traps := maps.Clone(sh.traps.m)
	delete(traps, sigEXIT)
	s := &State{kept: sh.kept, vars: sh.vars.share(), traps: traps}
	s.opts.set(optNoexec, false) // nothing would ever run again
	s.status &= 255
	s.lastArg = strings.Clone(s.lastArg)
	s.weigh(from == nil || from.vars != sh.vars)
	if s.bytes > sh.run.lim.State {
		return nil, &LimitError{What: "variables and functions kept in a session " + size(sh.run.lim.State)}
	}
	return s, nil
}

// weigh counts the bytes of s. Strings are counted as their own, so those
// that came with this script are copied: a piece of a long text would keep
// all of it alive. changed says that the variables are not those of an older
// state, which others may be reading.
func (s *State) weigh(changed bool) {
	n := int64(len(s.lastArg) + len(s.dir))
	for name, v := range s.vars.m {
		for b := v; b != nil; b = b.prev {
			if changed && b.owner == s.vars {
				b.detach()
			}
			n += b.size() + varCost
		}
		n += int64(len(name))
		if changed {
			s.vars.m[strings.Clone(name)] = v // the copy takes the place of the key
		}
	}
	sources := map[*source]bool{}
	for name, f := range s.funcs.m {
		n += int64(len(name)) + funcCost(f)
		if f.from != nil && !sources[f.from] {
			sources[f.from] = true
			n += int64(len(f.from.text) + len(f.from.patched)) // its tree points into the text
		}
	}
	for k, v := range s.aliases {
		n += int64(len(k)+len(v)) + elementCost
	}
	for sig, v := range s.traps {
		s.traps[sig] = strings.Clone(v)
		n += int64(len(v)) + elementCost
	}
	s.params = slices.Clone(s.params)
	for i, p := range s.params {
		n += int64(len(p)) + elementCost
		s.params[i] = strings.Clone(p)
	}
	for k, v := range s.completions {
		n += int64(len(k)+len(v)) + elementCost
	}
	for _, d := range s.dirStack {
		n += int64(len(d)) + elementCost
	}
	n += int64(len(s.disabled)+len(s.limits)+len(s.pipeStatus)) * elementCost
	s.bytes = n
}

// detach copies the strings of v, which only one store has.
func (v *variable) detach() {
	v.str = strings.Clone(v.str)
	if v.arr != nil {
		v.arr = v.arr.clone() // at its true length
		for i, s := range v.arr.vals {
			v.arr.vals[i] = strings.Clone(s)
		}
	}
	if v.assoc != nil {
		for k, e := range v.assoc.m {
			e.key, e.val = strings.Clone(k), strings.Clone(e.val)
			v.assoc.m[e.key] = e
		}
	}
}
