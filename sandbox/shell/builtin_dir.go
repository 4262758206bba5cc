package shell

import (
	"errors"
	"path"
	"strings"
	"syscall"
)

func builtinCd(sh *shell, args []string) int {
	o := newGetopt(args, "LPe@")
	phys := sh.opts.has(optPhysical)
	for o.next() {
		switch o.opt {
		case 'L':
			phys = false
		case 'P':
			phys = true
		case 'e', '@':
		default:
			return sh.usage(o, "cd [-L|[-P [-e]] [-@]] [dir]")
		}
	}
	rest := o.rest()
	if len(rest) > 1 {
		return sh.builtinError("cd", "too many arguments")
	}
	show := false
	var dir string
	switch {
	case len(rest) == 0:
		h, ok := sh.getSet("HOME")
		if !ok {
			return sh.builtinError("cd", "HOME not set")
		}
		dir = h
		if dir == "" {
			return 0
		}
	case rest[0] == "-":
		old, ok := sh.getSet("OLDPWD")
		if !ok || old == "" {
			return sh.builtinError("cd", "OLDPWD not set")
		}
		dir, show = old, true
	default:
		dir = rest[0]
		if dir == "" {
			dir = "."
		}
		if !strings.HasPrefix(dir, "/") && dir != "." && dir != ".." && !strings.HasPrefix(dir, "./") && !strings.HasPrefix(dir, "../") {
			for _, p := range strings.Split(sh.get("CDPATH"), ":") {
				if p == "" {
					continue
				}
				if fi, err := sh.run.host.Stat(sh.ctx, sh.abs(p+"/"+dir)); err == nil && fi.IsDir() {
					dir, show = p+"/"+dir, true
					break
				}
			}
		}
	}
	if err := sh.chdir(dir, phys); err != nil {
		if isFatal(err) {
			throw(err)
		}
		if errors.Is(err, ErrDenied) {
			return sh.execError("cd", err)
		}
		return sh.builtinError("cd", "%s: %s", dir, errText(err))
	}
	if show {
		sh.out(sh.dir + "\n")
	}
	return 0
}

// chdir changes the working folder and PWD, OLDPWD.
func (sh *shell) chdir(dir string, phys bool) error {
	to := sh.abs(dir)
	if !strings.HasPrefix(dir, "/") && strings.Contains(dir, "..") {
		// Each folder on the way to a .. must exist.
		cur := sh.dir
		for _, c := range strings.Split(dir, "/") {
			if c == ".." {
				if fi, err := sh.run.host.Stat(sh.ctx, cur); err != nil || !fi.IsDir() {
					return syscall.ENOENT
				}
			}
			cur = path.Join(cur, c)
		}
	}
	fi, err := sh.run.host.Stat(sh.ctx, to)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return syscall.ENOTDIR
	}
	if err := sh.run.host.Access(sh.ctx, to, 1); err != nil {
		return err
	}
	if phys {
		to = sh.realPath(to)
	}
	if strings.HasPrefix(dir, "//") && !strings.HasPrefix(dir, "///") && to != "/" {
		to = "/" + to
	}
	old := sh.dir
	sh.dir = path.Clean(to)
	if v := sh.lookup("OLDPWD"); !v.has(attrReadonly) {
		sh.setStr("OLDPWD", firstOf(sh.get("PWD"), old))
	}
	if v := sh.lookup("PWD"); !v.has(attrReadonly) {
		sh.setStr("PWD", to)
	}
	return nil
}

// realPath resolves the symlinks of an absolute path.
func (sh *shell) realPath(p string) string {
	out := "/"
	rest := strings.Split(strings.Trim(p, "/"), "/")
	for links := 0; len(rest) > 0; {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case "", ".":
			continue
		case "..":
			out = path.Dir(out)
			continue
		}
		next := path.Join(out, c)
		t, err := sh.run.host.Readlink(sh.ctx, next)
		if err != nil || links > 40 {
			out = next
			continue
		}
		links++
		if strings.HasPrefix(t, "/") {
			out = "/"
		}
		rest = append(strings.Split(strings.Trim(t, "/"), "/"), rest...)
	}
	return out
}

func builtinPwd(sh *shell, args []string) int {
	o := newGetopt(args, "LPW")
	phys := sh.opts.has(optPhysical)
	for o.next() {
		switch o.opt {
		case 'L':
			phys = false
		case 'P':
			phys = true
		default:
			return sh.usage(o, "pwd [-LP]")
		}
	}
	d := sh.dir
	if phys {
		d = sh.realPath(d)
	}
	sh.out(d + "\n")
	return 0
}

// dirStackEntry is an entry of the folder stack, from the left or the right.
func (sh *shell) dirStackEntry(n int, right bool) (string, bool) {
	all := sh.allDirs()
	if right {
		n = len(all) - 1 - n
	}
	if n < 0 || n >= len(all) {
		return "", false
	}
	return all[n], true
}

// allDirs is the folder stack, the working folder first.
func (sh *shell) allDirs() []string {
	out := []string{sh.dir}
	for i := len(sh.dirStack) - 1; i >= 0; i-- {
		out = append(out, sh.dirStack[i])
	}
	return out
}

func (sh *shell) setDirs(all []string) {
	sh.dirStack = sh.dirStack[:0:0]
	for i := len(all) - 1; i >= 1; i-- {
		sh.dirStack = append(sh.dirStack, all[i])
	}
}

func builtinDirs(sh *shell, args []string) int {
	long, lines, num := false, false, false
	var rest []string
	for _, a := range args[1:] {
		switch {
		case a == "-c":
			sh.dirStack = nil
			return 0
		case a == "--":
		case len(a) > 1 && (a[0] == '+' || a[0] == '-') && a[1] >= '0' && a[1] <= '9':
			rest = append(rest, a)
		case len(a) > 1 && a[0] == '-':
			for _, c := range a[1:] {
				switch c {
				case 'l':
					long = true
				case 'p':
					lines = true
				case 'v':
					lines, num = true, true
				case 'c':
					sh.dirStack = nil
					return 0
				default:
					sh.errorf("dirs: -%c: invalid option", c)
					sh.stderr("dirs: usage: dirs [-clpv] [+N] [-N]\n")
					return 2
				}
			}
		default:
			sh.errorf("dirs: %s: invalid option", a)
			sh.stderr("dirs: usage: dirs [-clpv] [+N] [-N]\n")
			return 1
		}
	}
	show := func(d string) string {
		if long {
			return d
		}
		return sh.homeShort(d)
	}
	if len(rest) > 0 {
		n, ok := atoi(rest[0][1:])
		d, found := sh.dirStackEntry(int(n), rest[0][0] == '-')
		if !ok || !found {
			return sh.builtinError("dirs", "%s: directory stack index out of range", rest[0])
		}
		sh.out(show(d) + "\n")
		return 0
	}
	var b strings.Builder
	for i, d := range sh.allDirs() {
		switch {
		case num:
			b.WriteString(leftPad(itoa(i), 2) + "  " + show(d) + "\n")
		case lines:
			b.WriteString(show(d) + "\n")
		default:
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(show(d))
		}
	}
	if !lines {
		b.WriteByte('\n')
	}
	sh.out(b.String())
	return 0
}

func leftPad(s string, n int) string {
	for len(s) < n {
		s = " " + s
	}
	return s
}

// builtinPushd is pushd and popd.
func builtinPushd(sh *shell, args []string) int {
	cmd := args[0]
	noCd := false
	var rest []string
	for i := 1; i < len(args); i++ {
		a := args[i]
		if a == "-n" {
			noCd = true
			continue
		}
		if a == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(a) > 1 && a[0] == '-' && (a[1] < '0' || a[1] > '9') {
			sh.errorf("%s: %s: invalid option", cmd, a)
			sh.stderr(cmd + ": usage: " + cmd + " [-n] [+N | -N]\n")
			return 2
		}
		rest = append(rest, a)
	}
	all := sh.allDirs()
	if len(rest) > 1 {
		sh.errorf("%s: too many arguments", cmd)
		return 1 + int(b2i(cmd == "popd"))
	}
	idx := -1
	if len(rest) == 1 && (rest[0][:min(1, len(rest[0]))] == "+" || rest[0][:min(1, len(rest[0]))] == "-") && len(rest[0]) > 1 {
		n, ok := atoi(rest[0][1:])
		if !ok {
			return sh.builtinError(cmd, "%s: invalid number", rest[0])
		}
		idx = int(n)
		if rest[0][0] == '-' {
			idx = len(all) - 1 - idx
		}
		if idx < 0 || idx >= len(all) {
			if len(all) == 1 && cmd == "popd" {
				return sh.builtinError(cmd, "directory stack empty")
			}
			return sh.builtinError(cmd, "%s: directory stack index out of range", rest[0])
		}
	}
	if cmd == "popd" {
		if len(rest) == 1 && idx < 0 {
			sh.errorf("popd: %s: invalid argument", rest[0])
			sh.stderr("popd: usage: popd [-n] [+N | -N]\n")
			return 2
		}
		if len(all) == 1 {
			return sh.builtinError("popd", "directory stack empty")
		}
		if idx <= 0 && !(noCd && idx < 0) {
			if noCd {
				idx = 1
			} else {
				if err := sh.chdir(all[1], false); err != nil {
					return sh.builtinError("popd", "%s: %s", all[1], errText(err))
				}
				sh.setDirs(append([]string{sh.dir}, all[2:]...))
				return builtinDirs(sh, []string{"dirs"})
			}
		}
		if idx < 0 {
			idx = 1
		}
		sh.setDirs(append(append([]string(nil), all[:idx]...), all[idx+1:]...))
		return builtinDirs(sh, []string{"dirs"})
	}
	var next []string
	switch {
	case len(rest) == 0:
		if len(all) == 1 {
			return sh.builtinError("pushd", "no other directory")
		}
		next = append([]string{all[1], all[0]}, all[2:]...)
	case idx >= 0:
		next = append(append([]string(nil), all[idx:]...), all[:idx]...)
	default:
		d := rest[0]
		if d == "-" {
			d = sh.get("OLDPWD")
		}
		if noCd {
			next = append([]string{all[0], sh.abs(d)}, all[1:]...)
		} else {
			next = append([]string{d}, all...)
		}
	}
	if !noCd {
		if err := sh.chdir(next[0], false); err != nil {
			return sh.builtinError("pushd", "%s: %s", next[0], errText(err))
		}
		next[0] = sh.dir
	}
	if len(next) > 10000 {
		return sh.builtinError("pushd", "directory stack too large")
	}
	sh.setDirs(next)
	return builtinDirs(sh, []string{"dirs"})
}
