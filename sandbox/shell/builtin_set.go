package shell

import (
	"fmt"
	"sort"
	"strings"
)

func builtinSet(sh *shell, args []string) int {
	if len(args) == 1 {
		var names []string
		for n := range sh.vars.m {
			names = append(names, n)
		}
		sort.Strings(names)
		var b strings.Builder
		for _, n := range names {
			if v := sh.vars.m[n]; v.attr&(attrSet|attrArray|attrAssoc|attrDynamic) != 0 && (v.attr&attrDynamic == 0 || v.attr&attrArray == 0 || len(sh.dynamicList(n, v)) > 0) {
				b.WriteString(sh.setString(n, v))
			}
		}
		sh.out(b.String())
		if !sh.opts.has(optPosix) {
			sh.listFuncs(false)
		}
		return 0
	}
	i := 1
	for ; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			sh.params = append([]string(nil), args[i+1:]...)
			return 0
		}
		if a == "-" {
			sh.opts.set(optXtrace, false)
			sh.opts.set(optVerbose, false)
			if i+1 < len(args) {
				sh.params = append([]string(nil), args[i+1:]...)
			}
			return 0
		}
		if a == "+" {
			continue
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		on := a[0] == '-'
		for k := 1; k < len(a); k++ {
			c := a[k]
			if c == 'o' {
				if i+1 >= len(args) {
					return sh.listOptions(on)
				}
				i++
				x, ok := findOption(args[i], false)
				if !ok {
					sh.errorf("set: %s: invalid option name", args[i])
					return 2
				}
				sh.setOption(x, on)
				continue
			}
			x, ok := optionLetter(c)
			if !ok {
				sh.errorf("set: %c%c: invalid option", a[0], c)
				sh.stderr("set: usage: set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]\n")
				return 2
			}
			sh.setOption(x, on)
		}
	}
	if i < len(args) {
		sh.params = append([]string(nil), args[i:]...)
	}
	return 0
}

func (sh *shell) setOption(x option, on bool) {
	sh.opts.set(x, on)
	switch x {
	case optVi:
		if on {
			sh.opts.set(optEmacs, false)
		}
	case optEmacs:
		if on {
			sh.opts.set(optVi, false)
		}
	case optPosix:
		if on {
			sh.opts.set(optExpandAliases, true)
			sh.setStr("POSIXLY_CORRECT", "y")
		} else {
			sh.unsetVar("POSIXLY_CORRECT")
		}
	}
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// sortedOptions are the option names in the order that set -o prints.
func sortedOptions(shopt bool) []option {
	t := optionTable()
	lo, hi := option(0), firstShopt
	if shopt {
		lo, hi = firstShopt+1, numOptions
	}
	var out []option
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	sort.Slice(out, func(i, j int) bool { return t[out[i]].name < t[out[j]].name })
	return out
}

func (sh *shell) listOptions(human bool) int {
	t := optionTable()
	var b strings.Builder
	for _, x := range sortedOptions(false) {
		if human {
			fmt.Fprintf(&b, "%-15s\t%s\n", t[x].name, onOff(sh.opts.has(x)))
			continue
		}
		sign := "+"
		if sh.opts.has(x) {
			sign = "-"
		}
		b.WriteString("set " + sign + "o " + t[x].name + "\n")
	}
	sh.out(b.String())
	return 0
}

func builtinShopt(sh *shell, args []string) int {
	o := newGetopt(args, "psuqo")
	set, unset, quiet, print, setO := false, false, false, false, false
	for o.next() {
		switch o.opt {
		case 's':
			set = true
		case 'u':
			unset = true
		case 'q':
			quiet = true
		case 'p':
			print = true
		case 'o':
			setO = true
		default:
			return sh.usage(o, "shopt [-pqsu] [-o] [optname ...]")
		}
	}
	if set && unset {
		return sh.builtinError("shopt", "cannot set and unset shell options simultaneously")
	}
	rest := o.rest()
	t := optionTable()
	line := func(x option) string {
		on := sh.opts.has(x)
		switch {
		case print && setO:
			return "set " + map[bool]string{true: "-", false: "+"}[on] + "o " + t[x].name + "\n"
		case print:
			return "shopt " + map[bool]string{true: "-s", false: "-u"}[on] + " " + t[x].name + "\n"
		case setO:
			return fmt.Sprintf("%-15s\t%s\n", t[x].name, onOff(on))
		}
		return fmt.Sprintf("%-15s\t%s\n", t[x].name, onOff(on))
	}
	if len(rest) == 0 {
		var b strings.Builder
		for _, x := range sortedOptions(!setO) {
			if set && !sh.opts.has(x) || unset && sh.opts.has(x) {
				continue
			}
			b.WriteString(line(x))
		}
		if !quiet {
			sh.out(b.String())
		}
		return 0
	}
	st := 0
	for _, n := range rest {
		x, ok := findOption(n, !setO)
		if !ok {
			if setO {
				sh.errorf("shopt: %s: invalid option name", n)
			} else {
				sh.errorf("shopt: %s: invalid shell option name", n)
			}
			st = 1
			continue
		}
		switch {
		case set:
			sh.setOption(x, true)
		case unset:
			sh.setOption(x, false)
		default:
			if !sh.opts.has(x) {
				st = 1
			}
			if !quiet {
				sh.out(line(x))
			}
		}
	}
	return st
}

func builtinAlias(sh *shell, args []string) int {
	o := newGetopt(args, "p")
	print := len(args) == 1
	for o.next() {
		if o.opt != 'p' {
			return sh.usage(o, "alias [-p] [name[=value] ... ]")
		}
		print = true
	}
	if print {
		var names []string
		for n := range sh.aliases {
			names = append(names, n)
		}
		sort.Strings(names)
		for _, n := range names {
			sh.out(aliasLine(n, sh.aliases[n]))
		}
	}
	st := 0
	for _, a := range o.rest() {
		n, v, has := strings.Cut(a, "=")
		if has && n != "" {
			if strings.ContainsAny(n, " \t\n/$`'\"\\;&|<>()") {
				st = sh.builtinError("alias", "`%s': invalid alias name", n)
				continue
			}
			sh.charge(int64(len(a)) + elementCost)
			if sh.aliases == nil {
				sh.aliases = map[string]string{}
			}
			sh.aliases[n] = v
			continue
		}
		val, ok := sh.aliases[a]
		if !ok {
			st = sh.builtinError("alias", "%s: not found", a)
			continue
		}
		sh.out(aliasLine(a, val))
	}
	return st
}

func aliasLine(n, v string) string {
	q := singleQuote(v)
	if v == "'" {
		q = `''\'''`
	}
	if strings.HasPrefix(n, "-") {
		n = "-- " + n
	}
	return "alias " + n + "=" + q + "\n"
}

func builtinUnalias(sh *shell, args []string) int {
	o := newGetopt(args, "a")
	for o.next() {
		if o.opt != 'a' {
			return sh.usage(o, "unalias [-a] name [name ...]")
		}
		sh.aliases = map[string]string{}
		return 0
	}
	if len(o.rest()) == 0 {
		sh.stderr("unalias: usage: unalias [-a] name [name ...]\n")
		return 2
	}
	st := 0
	for _, n := range o.rest() {
		if _, ok := sh.aliases[n]; !ok {
			st = sh.builtinError("unalias", "%s: not found", n)
			continue
		}
		delete(sh.aliases, n)
	}
	return st
}

func builtinGetopts(sh *shell, args []string) int {
	o := newGetopt(args, "")
	for o.next() {
		return sh.usage(o, "getopts optstring name [arg ...]")
	}
	rest := o.rest()
	if len(rest) < 2 {
		sh.errorf("getopts: usage: getopts optstring name [arg ...]")
		return 2
	}
	spec, name := rest[0], rest[1]
	params := sh.params
	if len(rest) > 2 {
		params = rest[2:]
	}
	ind, _ := decimal(sh.get("OPTIND"))
	if ind < 1 {
		ind = 1
		sh.optPos = 0
	}
	silent := strings.HasPrefix(spec, ":")
	quiet := silent || sh.get("OPTERR") == "0"
	setVar := func(n, v string) int {
		if !isName(n) {
			return sh.builtinError("getopts", "`%s': not a valid identifier", n)
		}
		sh.assignTo(n, nil, v, false)
		return 0
	}
	setInd := func(n int64) {
		pos := sh.optPos
		sh.setStr("OPTIND", itoa64(n))
		sh.optPos = pos
	}
	done := func() int {
		sh.optPos = 0
		setInd(ind)
		sh.unsetVar("OPTARG")
		setVar(name, "?")
		return 1
	}
	if sh.optPos == 0 {
		if ind > int64(len(params)) {
			ind = int64(len(params)) + 1
			return done()
		}
		a := params[ind-1]
		if a == "--" {
			ind++
			return done()
		}
		if len(a) < 2 || a[0] != '-' {
			return done()
		}
		sh.optPos = 1
	}
	if ind > int64(len(params)) || sh.optPos >= len(params[ind-1]) {
		sh.optPos = 0
		return done()
	}
	a := params[ind-1]
	c := a[sh.optPos]
	sh.optPos++
	last := sh.optPos >= len(a)
	k := strings.IndexByte(spec, c)
	if c == ':' || k < 0 {
		if last {
			ind++
			sh.optPos = 0
		}
		setInd(ind)
		if silent {
			setVar("OPTARG", string(rune(c)))
		} else {
			sh.unsetVar("OPTARG")
			if !quiet {
				sh.stderr(sh.name0 + ": illegal option -- " + string(rune(c)) + "\n")
			}
		}
		return setVar(name, "?")
	}
	if k+1 < len(spec) && spec[k+1] == ':' {
		arg := ""
		switch {
		case !last:
			arg = a[sh.optPos:]
			ind++
		case ind < int64(len(params)):
			arg = params[ind]
			ind += 2
		default:
			ind++
			sh.optPos = 0
			setInd(ind)
			if silent {
				setVar("OPTARG", string(rune(c)))
				return setVar(name, ":")
			}
			sh.unsetVar("OPTARG")
			if !quiet {
				sh.stderr(sh.name0 + ": option requires an argument -- " + string(rune(c)) + "\n")
			}
			return setVar(name, "?")
		}
		sh.optPos = 0
		setInd(ind)
		setVar("OPTARG", arg)
		return setVar(name, string(rune(c)))
	}
	if last {
		ind++
		sh.optPos = 0
	}
	setInd(ind)
	sh.unsetVar("OPTARG")
	return setVar(name, string(rune(c)))
}
