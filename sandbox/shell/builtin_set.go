package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func builtinSet(sh *shell, c call) int {
	if len(c.rest) == 0 {
		var b strings.Builder
		for _, n := range slices.Sorted(maps.Keys(sh.vars.m)) {
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
	for rest := c.rest; len(rest) > 0; {
		a := rest[0]
		dash := a == "-"
		if dash {
			sh.opts.set(optXtrace, false)
			sh.opts.set(optVerbose, false)
		}
		if dash || a == "--" {
			rest = rest[1:]
		}
		switch {
		case dash && len(rest) == 0:
			return 0
		case dash || a == "--" || a == "" || a[0] != '-' && a[0] != '+':
			sh.params = append([]string(nil), rest...)
			return 0
		}
		rest = rest[1:]
		on := a[0] == '-'
		for k := 1; k < len(a); k++ {
			x, ok := optionLetter(a[k])
			if a[k] == 'o' {
				if len(rest) == 0 {
					sh.listOptions(on)
					return 0
				}
				if x.option, ok = findOption(rest[0], false); !ok {
					c.fail("%s: invalid option name", rest[0])
					return 2
				}
				rest = rest[1:]
			} else if !ok {
				return c.misuse("%c%c: invalid option", a[0], a[k])
			}
			sh.setOption(x.option, on)
		}
	}
	return 0
}

func (sh *shell) setOption(x option, on bool) {
	sh.opts.set(x, on)
	switch {
	case x == optVi && on:
		sh.opts.set(optEmacs, false)
	case x == optEmacs && on:
		sh.opts.set(optVi, false)
	case x == optPosix && on:
		sh.opts.set(optExpandAliases, true)
		sh.setStr("POSIXLY_CORRECT", "y")
	case x == optPosix:
		sh.unsetVar("POSIXLY_CORRECT")
	}
}

// optionLine shows an option to people, or as the command that sets it.
func (sh *shell) optionLine(x namedOption, human bool) string {
	pick := func(on, off string) string {
		if sh.opts.has(x.option) {
			return on
		}
		return off
	}
	switch {
	case human:
		return fmt.Sprintf("%-15s\t%s\n", x.name, pick("on", "off"))
	case x.option >= firstShopt:
		return "shopt " + pick("-s ", "-u ") + x.name + "\n"
	}
	return "set " + pick("-o ", "+o ") + x.name + "\n"
}

func (sh *shell) listOptions(human bool) {
	var b strings.Builder
	for _, x := range namedOptions(false) {
		b.WriteString(sh.optionLine(x, human))
	}
	sh.out(b.String())
}

func builtinShopt(sh *shell, c call) int {
	set, unset, quiet, shopt := c.has('s'), c.has('u'), c.has('q'), !c.has('o')
	if set && unset {
		return c.fail("cannot set and unset shell options simultaneously")
	}
	if len(c.rest) == 0 && !quiet {
		var b strings.Builder
		for _, x := range namedOptions(shopt) {
			if on := sh.opts.has(x.option); !(set && !on) && !(unset && on) {
				b.WriteString(sh.optionLine(x, !c.has('p')))
			}
		}
		sh.out(b.String())
	}
	st := 0
	for _, n := range c.rest {
		x, ok := findOption(n, shopt)
		switch {
		case !ok && shopt:
			st = c.fail("%s: invalid shell option name", n)
		case !ok:
			st = c.fail("%s: invalid option name", n)
		case set || unset:
			sh.setOption(x, set)
		default:
			if !sh.opts.has(x) {
				st = 1
			}
			if !quiet {
				sh.out(sh.optionLine(namedOption{option: x, name: n}, !c.has('p')))
			}
		}
	}
	return st
}

func builtinAlias(sh *shell, c call) int {
	if c.has('p') || len(c.rest) == 0 {
		for _, n := range slices.Sorted(maps.Keys(sh.aliases)) {
			sh.out(aliasLine(n, sh.aliases[n]))
		}
	}
	st := 0
	for _, a := range c.rest {
		n, v, has := strings.Cut(a, "=")
		val, known := sh.aliases[a]
		switch {
		case has && n != "" && strings.ContainsAny(n, " \t\n/$`'\"\\;&|<>()"):
			st = c.fail("`%s': invalid alias name", n)
		case has && n != "":
			sh.charge(int64(len(a)) + elementCost)
			if sh.aliases == nil {
				sh.aliases = map[string]string{}
			}
			sh.aliases[n] = v
		case known:
			sh.out(aliasLine(a, val))
		default:
			st = c.fail("%s: not found", a)
		}
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

func builtinUnalias(sh *shell, c call) int {
	if c.has('a') {
		sh.aliases = nil
		return 0
	}
	if len(c.rest) == 0 {
		return c.misuse("")
	}
	st := 0
	for _, n := range c.rest {
		if _, ok := sh.aliases[n]; !ok {
			st = c.fail("%s: not found", n)
		}
		delete(sh.aliases, n)
	}
	return st
}
