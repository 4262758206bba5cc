package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Variables whose value is made when they are read.

func isSpecialName(name string) bool {
	if name[0] >= 'a' && name[0] <= 'z' {
		return false
	}
	switch name {
	case "IFS", "PATH", "OPTIND", "RANDOM", "SECONDS", "POSIXLY_CORRECT", "HOME", "BASH_ARGV0":
		return true
	}
	return false
}

// varChanged keeps what the shell caches of variables.
func (sh *shell) varChanged(name string) {
	switch name {
	case "IFS":
		sh.ifsVal, sh.ifsSet = sh.vars.m["IFS"].scalar()
	case "PATH":
		sh.hash = nil
	case "OPTIND":
		sh.optPos = 0
	case "POSIXLY_CORRECT":
		_, on := sh.vars.m[name].scalar()
		sh.opts.set(optPosix, on)
		if on {
			sh.opts.set(optExpandAliases, true)
		}
	}
}

var dynamicScalars = []string{"RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID",
	"LINENO", "BASH_COMMAND", "BASH_SUBSHELL", "SHELLOPTS", "BASHOPTS", "_", "BASH_ARGV0", "HISTCMD"}

var dynamicLists = []string{"FUNCNAME", "BASH_SOURCE", "BASH_LINENO", "PIPESTATUS", "GROUPS", "DIRSTACK"}

func (sh *shell) initDynamic() {
	s := sh.own()
	for _, n := range dynamicScalars {
		s.m[n] = &variable{attr: attrDynamic, owner: s}
	}
	for _, n := range dynamicLists {
		s.m[n] = &variable{attr: attrDynamic | attrArray, arr: &indexed{}, owner: s}
	}
	s.m["SHELLOPTS"].attr |= attrReadonly
	s.m["BASHOPTS"].attr |= attrReadonly
	s.m["RANDOM"].attr |= attrInteger
	s.m["SECONDS"].attr |= attrInteger
}

func (sh *shell) dynamic(name string, v *variable) (string, bool) {
	if v.attr&attrArray != 0 {
		l := sh.dynamicList(name, v)
		if len(l) == 0 {
			return "", false
		}
		return l[0], true
	}
	switch name {
	case "RANDOM":
		return strconv.Itoa(sh.random()), true
	case "SRANDOM":
		return strconv.FormatUint(uint64(sh.run.host.Random()), 10), true
	case "SECONDS":
		return strconv.FormatInt(int64(sh.run.host.Now().Sub(sh.secondsFrom)/time.Second), 10), true
	case "EPOCHSECONDS":
		return strconv.FormatInt(sh.run.host.Now().Unix(), 10), true
	case "EPOCHREALTIME":
		t := sh.run.host.Now()
		return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000), true
	case "BASHPID":
		return strconv.Itoa(sh.pid), true
	case "LINENO":
		return strconv.Itoa(sh.line), true
	case "BASH_COMMAND":
		return sh.command, true
	case "BASH_SUBSHELL":
		return strconv.Itoa(sh.subshell), true
	case "SHELLOPTS":
		return strings.Join(sh.opts.names(false), ":"), true
	case "BASHOPTS":
		return strings.Join(sh.opts.names(true), ":"), true
	case "_":
		return sh.lastArg, true
	case "BASH_ARGV0":
		return sh.name0, true
	case "HISTCMD":
		return "1", true
	}
	return "", false
}

func (sh *shell) dynamicList(name string, v *variable) []string {
	switch name {
	case "FUNCNAME", "BASH_SOURCE", "BASH_LINENO":
		return sh.callStack(name)
	case "PIPESTATUS":
		if sh.pipeStatus == nil {
			return []string{strconv.Itoa(sh.pipeLast)}
		}
		out := make([]string, len(sh.pipeStatus))
		for i, s := range sh.pipeStatus {
			out[i] = strconv.Itoa(s)
		}
		return out
	case "GROUPS":
		return []string{strconv.Itoa(sh.run.ids.GID)}
	case "DIRSTACK":
		return sh.shortDirs()
	}
	s, ok := sh.dynamic(name, v)
	if !ok {
		return nil
	}
	return []string{s}
}

// setDynamic assigns to a dynamic variable; false means it becomes plain.
func (sh *shell) setDynamic(name, val string) bool {
	switch name {
	case "RANDOM":
		sh.seed = uint32(sh.arithString(val))
		sh.seeded = true
	case "SECONDS":
		n, _ := decimal(val)
		sh.secondsFrom = sh.run.host.Now().Add(-time.Duration(n) * time.Second)
	case "BASH_ARGV0":
		sh.name0 = val
	}
	return true
}

// random is $RANDOM: the minimal standard generator, folded to 15 bits.
func (sh *shell) random() int {
	if !sh.seeded {
		sh.seed, sh.seeded = sh.run.host.Random(), true
	}
	for {
		s := sh.seed
		if s == 0 {
			s = 123459876
		}
		h, l := int64(s)/127773, int64(s)%127773
		t := 16807*l - 2836*h
		if t < 0 {
			t += 0x7fffffff
		}
		sh.seed = uint32(t)
		n := int(sh.seed>>16^sh.seed&65535) & 32767
		if n != sh.lastRandom {
			sh.lastRandom = n
			return n
		}
	}
}

// callStack makes FUNCNAME, BASH_SOURCE and BASH_LINENO.
func (sh *shell) callStack(name string) []string {
	var out []string
	add := func(fn, source, line string) {
		out = append(out, map[string]string{"FUNCNAME": fn, "BASH_SOURCE": source, "BASH_LINENO": line}[name])
	}
	for f := sh.frame; f != nil; f = f.up {
		add(f.name, f.source, itoa(f.line))
	}
	if sh.script && (sh.frame != nil || name != "FUNCNAME") {
		add("main", sh.mainSource, "0")
	}
	return out
}
