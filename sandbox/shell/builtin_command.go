package shell

import (
	"fmt"
	"sort"
	"strings"
)

func builtinBuiltin(sh *shell, args []string) int {
	o := newGetopt(args, "")
	if o.next() {
		return sh.usage(o, "builtin [shell-builtin [arg ...]]")
	}
	rest := o.rest()
	if len(rest) == 0 {
		return 0
	}
	b := builtinFor(rest[0])
	if b == nil {
		return sh.builtinError("builtin", "%s: not a shell builtin", rest[0])
	}
	defer sh.deeper()()
	return b(sh, rest)
}

const defaultPath = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"

func builtinCommand(sh *shell, args []string) int {
	o := newGetopt(args, "pvV")
	std, brief, verbose := false, false, false
	for o.next() {
		switch o.opt {
		case 'p':
			std = true
		case 'v':
			brief = true
		case 'V':
			verbose = true
		default:
			return sh.usage(o, "command [-pVv] command [arg ...]")
		}
	}
	rest := o.rest()
	if len(rest) == 0 {
		return 0
	}
	if brief || verbose {
		st := 1
		for _, n := range rest {
			if sh.describeCommand(n, "command", brief, false, "") {
				st = 0
			}
		}
		return st
	}
	defer sh.deeper()()
	if b := sh.builtin(rest[0]); b != nil {
		st := b(sh, rest)
		return st
	}
	if std {
		old, had := sh.getSet("PATH")
		sh.setStr("PATH", firstOf(defaultPath, old))
		defer func() {
			if had {
				sh.setStr("PATH", old)
			} else {
				sh.unsetVar("PATH")
			}
		}()
	}
	sh.external(rest, nil)
	return sh.status
}

// describeCommand prints what name would run. only filters by kind.
func (sh *shell) describeCommand(name, who string, brief, all bool, only string) bool {
	found := false
	show := func(kind, short, long string) bool {
		found = true
		switch {
		case only == "t":
			sh.out(kind + "\n")
		case brief:
			sh.out(short + "\n")
		default:
			sh.out(long + "\n")
		}
		return !all
	}
	if v, ok := sh.aliases[name]; ok && (sh.opts.has(optExpandAliases) || who == "command") && only != "f" && sh.opts.has(optExpandAliases) {
		if show("alias", strings.TrimSuffix(aliasLine(name, v), "\n"), name+" is aliased to `"+v+"'") {
			return true
		}
	}
	if isKeyword(name) {
		if show("keyword", name, name+" is a shell keyword") {
			return true
		}
	}
	if f := sh.funcs.m[name]; f != nil && only != "f" {
		if show("function", name, name+" is a function\n"+f.text) {
			return true
		}
	}
	if sh.builtin(name) != nil {
		text := name + " is a shell builtin"
		if isSpecialBuiltin(name) && sh.opts.has(optPosix) {
			text = name + " is a special shell builtin"
		}
		if show("builtin", name, text) {
			return true
		}
	}
	if strings.Contains(name, "/") {
		fi, err := sh.run.host.Stat(sh.ctx, sh.abs(name))
		if err == nil && !fi.IsDir() && sh.run.host.Access(sh.ctx, sh.abs(name), 1) == nil {
			show("file", name, name+" is "+name)
		}
	} else {
		if h, ok := sh.hash[name]; ok && !all {
			show("file", h.path, name+" is hashed ("+h.path+")")
			return true
		}
		paths, denied := sh.searchPath(name, all)
		if len(paths) == 0 && denied != "" && who == "type" {
			paths = []string{denied}
		}
		for _, p := range paths {
			if show("file", p, name+" is "+p) {
				return true
			}
		}
	}
	if !found && !brief && only == "" {
		sh.errorf("%s: %s: not found", who, name)
	}
	return found
}

func builtinType(sh *shell, args []string) int {
	o := newGetopt(args, "aftpP")
	all, noFunc, kind, path, force := false, false, false, false, false
	for o.next() {
		switch o.opt {
		case 'a':
			all = true
		case 'f':
			noFunc = true
		case 't':
			kind = true
		case 'p':
			path = true
		case 'P':
			path, force = true, true
		default:
			return sh.usage(o, "type [-afptP] name [name ...]")
		}
	}
	st := 0
	for _, n := range o.rest() {
		ok := false
		switch {
		case path:
			_, isAlias := sh.aliases[n]
			other := isAlias && sh.opts.has(optExpandAliases) || isKeyword(n) || sh.funcs.m[n] != nil && !noFunc || sh.builtin(n) != nil
			if other && !force {
				ok = true
				if !all {
					break
				}
			}
			paths, _ := sh.searchPath(n, all)
			if strings.Contains(n, "/") {
				if fi, err := sh.run.host.Stat(sh.ctx, sh.abs(n)); err == nil && !fi.IsDir() {
					paths = []string{n}
				}
			}
			for _, p := range paths {
				sh.out(p + "\n")
				ok = true
			}
		case kind:
			only := "t"
			if noFunc {
				f := sh.funcs.m[n]
				if f != nil {
					sh.ownFuncs()
					delete(sh.funcs.m, n)
					ok = sh.describeCommand(n, "type", true, all, only)
					sh.funcs.m[n] = f
					break
				}
			}
			ok = sh.describeCommand(n, "type", true, all, only)
		default:
			only := ""
			if noFunc {
				if f := sh.funcs.m[n]; f != nil {
					sh.ownFuncs()
					delete(sh.funcs.m, n)
					ok = sh.describeCommand(n, "type", false, all, "")
					sh.funcs.m[n] = f
					break
				}
			}
			ok = sh.describeCommand(n, "type", false, all, only)
		}
		if !ok {
			st = 1
		}
	}
	return st
}

func builtinHash(sh *shell, args []string) int {
	o := newGetopt(args, "dlp:rt")
	del, list, tell, reset := false, false, false, false
	p := ""
	for o.next() {
		switch o.opt {
		case 'r':
			reset = true
		case 'd':
			del = true
		case 'l':
			list = true
		case 't':
			tell = true
		case 'p':
			p = o.arg
		default:
			return sh.usage(o, "hash [-lr] [-p pathname] [-dt] [name ...]")
		}
	}
	if reset {
		sh.hash = nil
	}
	rest := o.rest()
	if len(rest) == 0 {
		if reset {
			return 0
		}
		if len(sh.hash) == 0 {
			if !sh.opts.has(optPosix) && !list {
				sh.out("hash: hash table empty\n")
			}
			return 0
		}
		var names []string
		for n := range sh.hash {
			names = append(names, n)
		}
		sort.Strings(names)
		if !list {
			sh.out("hits\tcommand\n")
		}
		for _, n := range names {
			h := sh.hash[n]
			if list {
				sh.out("builtin hash -p " + h.path + " " + n + "\n")
			} else {
				sh.out(fmt.Sprintf("%4d\t%s\n", h.hits, h.path))
			}
		}
		return 0
	}
	st := 0
	for _, n := range rest {
		switch {
		case p != "":
			if sh.hash == nil {
				sh.hash = map[string]hashEntry{}
			}
			sh.hash[n] = hashEntry{path: p}
		case del:
			if _, ok := sh.hash[n]; !ok {
				st = sh.builtinError("hash", "%s: not found", n)
			}
			delete(sh.hash, n)
		case tell:
			h, ok := sh.hash[n]
			if !ok {
				st = sh.builtinError("hash", "%s: not found", n)
				continue
			}
			if len(rest) > 1 {
				sh.out(n + "\t" + h.path + "\n")
			} else {
				sh.out(h.path + "\n")
			}
		default:
			if strings.Contains(n, "/") || sh.builtin(n) != nil || sh.funcs.m[n] != nil {
				continue
			}
			f, _ := sh.searchPath(n, false)
			if len(f) == 0 {
				st = sh.builtinError("hash", "%s: not found", n)
				continue
			}
			if sh.hash == nil {
				sh.hash = map[string]hashEntry{}
			}
			sh.hash[n] = hashEntry{path: f[0]}
		}
	}
	return st
}

func builtinEnable(sh *shell, args []string) int {
	o := newGetopt(args, "anps")
	off, all, special := false, false, false
	for o.next() {
		switch o.opt {
		case 'n':
			off = true
		case 'a':
			all = true
		case 's':
			special = true
		case 'p':
		default:
			return sh.usage(o, "enable [-a] [-dnps] [-f filename] [name ...]")
		}
	}
	rest := o.rest()
	if len(rest) == 0 {
		for _, n := range strings.Fields(builtinNames) {
			dis := sh.disabled[n]
			if special && !isSpecialBuiltin(n) || !all && dis != off {
				continue
			}
			if dis {
				sh.out("enable -n " + n + "\n")
			} else {
				sh.out("enable " + n + "\n")
			}
		}
		return 0
	}
	st := 0
	for _, n := range rest {
		if builtinFor(n) == nil {
			st = sh.builtinError("enable", "%s: not a shell builtin", n)
			continue
		}
		m := map[string]bool{}
		for k, v := range sh.disabled { // subshells share the old one
			m[k] = v
		}
		m[n] = off
		sh.disabled = m
	}
	return st
}
