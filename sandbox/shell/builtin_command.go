package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func builtinBuiltin(sh *shell, c call) int {
	if len(c.rest) == 0 {
		return 0
	}
	b := sh.run.builtins[c.rest[0]]
	if b == nil {
		return c.fail("%s: not a shell builtin", c.rest[0])
	}
	defer sh.deeper()()
	return sh.invoke(b, c.rest)
}

const defaultPath = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"

func builtinCommand(sh *shell, c call) int {
	if len(c.rest) == 0 {
		return 0
	}
	if how := c.last("vV"); how != 0 {
		st := 1
		for _, n := range c.rest {
			if sh.describe(n, describing{who: "command", brief: how == 'v'}) {
				st = 0
			}
		}
		return st
	}
	defer sh.deeper()()
	if b := sh.builtin(c.rest[0]); b != nil {
		return sh.invoke(b, c.rest)
	}
	if c.has('p') {
		old, had := sh.getSet("PATH")
		sh.setStr("PATH", defaultPath)
		defer func() {
			if had {
				sh.setStr("PATH", old)
			} else {
				sh.unsetVar("PATH")
			}
		}()
	}
	sh.external(c.rest, nil)
	return sh.status
}

// A describing says how type, command -v and command -V tell of a name.
type describing struct {
	who    string // the builtin
	brief  bool   // command -v
	all    bool   // -a: not only what would run
	noFunc bool   // -f: functions apart
	kind   bool   // -t: one word
}

// describe prints what name would run and tells whether there is such a thing.
func (sh *shell) describe(name string, d describing) bool {
	found := false
	// show reports whether that was enough.
	show := func(kind, short, long string) bool {
		found = true
		switch {
		case d.kind:
			sh.out(kind + "\n")
		case d.brief:
			sh.out(short + "\n")
		default:
			sh.out(long + "\n")
		}
		return !d.all
	}
	if v, ok := sh.aliases[name]; ok && sh.opts.has(optExpandAliases) && show("alias", strings.TrimSuffix(aliasLine(name, v), "\n"), name+" is aliased to `"+v+"'") {
		return true
	}
	if isKeyword(name) && show("keyword", name, name+" is a shell keyword") {
		return true
	}
	if f := sh.funcs.m[name]; f != nil && !d.noFunc && show("function", name, name+" is a function\n"+f.text) {
		return true
	}
	if sh.builtin(name) != nil {
		text := name + " is a shell builtin"
		if sh.isSpecial(name) {
			text = name + " is a special shell builtin"
		}
		if show("builtin", name, text) {
			return true
		}
	}
	if h, ok := sh.hash[name]; ok && !d.all && !strings.Contains(name, "/") {
		return show("file", h.path, name+" is hashed ("+h.path+")")
	}
	paths, denied := sh.programs(name, d.all)
	if len(paths) == 0 && denied != "" && d.who == "type" {
		paths = []string{denied}
	}
	for _, p := range paths {
		if show("file", p, name+" is "+p) {
			return true
		}
	}
	if !found && !d.brief && !d.kind {
		sh.errorf("%s: %s: not found", d.who, name)
	}
	return found
}

// programs lists the files that name may run: itself when it is a path, else
// what is on PATH.
func (sh *shell) programs(name string, all bool) (paths []string, denied string) {
	if !strings.Contains(name, "/") {
		return sh.searchPath(name, all)
	}
	if fi, err := sh.run.host.Stat(sh.ctx, sh.abs(name)); err == nil && !fi.IsDir() && sh.run.host.Access(sh.ctx, sh.abs(name), 1) == nil {
		return []string{name}, ""
	}
	return nil, ""
}

func builtinType(sh *shell, c call) int {
	d := describing{who: "type", all: c.has('a'), noFunc: c.has('f'), kind: c.has('t')}
	path := c.last("pP")
	st := 0
	for _, n := range c.rest {
		ok := false
		if path != 0 {
			_, isAlias := sh.aliases[n]
			if path == 'p' && (isAlias && sh.opts.has(optExpandAliases) || isKeyword(n) || sh.funcs.m[n] != nil && !d.noFunc || sh.builtin(n) != nil) {
				if ok = true; !d.all {
					continue
				}
			}
			paths, _ := sh.programs(n, d.all)
			for _, p := range paths {
				sh.out(p + "\n")
				ok = true
			}
		} else {
			ok = sh.describe(n, d)
		}
		if !ok {
			st = 1
		}
	}
	return st
}

// remember puts the path of a command into the hash table.
func (sh *shell) remember(name string, h hashEntry) {
	if sh.hash == nil {
		sh.hash = map[string]hashEntry{}
	}
	if _, known := sh.hash[name]; !known {
		sh.charge(int64(len(name)+len(h.path)) + elementCost)
	}
	sh.hash[name] = h
}

func builtinHash(sh *shell, c call) int {
	list := c.has('l')
	if c.has('r') {
		sh.hash = nil
	} else if len(c.rest) == 0 {
		switch {
		case len(sh.hash) == 0 && !list && !sh.opts.has(optPosix):
			sh.out("hash: hash table empty\n")
		case len(sh.hash) > 0 && !list:
			sh.out("hits\tcommand\n")
		}
		for _, n := range slices.Sorted(maps.Keys(sh.hash)) {
			h := sh.hash[n]
			if list {
				sh.out("builtin hash -p " + h.path + " " + n + "\n")
			} else {
				sh.out(fmt.Sprintf("%4d\t%s\n", h.hits, h.path))
			}
		}
	}
	st := 0
	for _, n := range c.rest {
		h, known := sh.hash[n]
		p, set := c.arg('p')
		switch how := c.last("dt"); {
		case set:
			sh.remember(n, hashEntry{path: p})
		case how != 0 && !known:
			st = c.fail("%s: not found", n)
		case how == 'd':
			delete(sh.hash, n)
		case how == 't' && len(c.rest) > 1:
			sh.out(n + "\t" + h.path + "\n")
		case how == 't':
			sh.out(h.path + "\n")
		case strings.Contains(n, "/") || sh.builtin(n) != nil || sh.funcs.m[n] != nil:
		default:
			if f, _ := sh.searchPath(n, false); len(f) > 0 {
				sh.remember(n, hashEntry{path: f[0]})
			} else {
				st = c.fail("%s: not found", n)
			}
		}
	}
	return st
}

func builtinEnable(sh *shell, c call) int {
	off := c.has('n')
	if len(c.rest) == 0 {
		for _, n := range sh.builtinNames() {
			dis := sh.disabled[n]
			switch {
			case c.has('s') && !sh.isSpecialBuiltin(n) || !c.has('a') && dis != off:
			case dis:
				sh.out("enable -n " + n + "\n")
			default:
				sh.out("enable " + n + "\n")
			}
		}
		return 0
	}
	st := 0
	for _, n := range c.rest {
		if sh.run.builtins[n] == nil {
			st = c.fail("%s: not a shell builtin", n)
			continue
		}
		m := maps.Clone(sh.disabled) // subshells share the old one
		if m == nil {
			m = map[string]bool{}
		}
		m[n] = off
		sh.disabled = m
	}
	return st
}
