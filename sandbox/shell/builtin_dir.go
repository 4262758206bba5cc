package shell

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"
)

// physical tells whether -P was given last, or is the shell's option.
func (c *call) physical() bool {
	how := c.last("LP")
	return how == 'P' || how == 0 && c.sh.opts.has(optPhysical)
}

func builtinCd(sh *shell, c call) int {
	if len(c.rest) > 1 {
		return c.fail("too many arguments")
	}
	dir, show := "", false
	switch {
	case len(c.rest) == 0:
		h, ok := sh.getSet("HOME")
		if !ok {
			return c.fail("HOME not set")
		}
		if dir = h; dir == "" {
			return 0
		}
	case c.rest[0] == "-":
		if dir, show = sh.get("OLDPWD"), true; dir == "" {
			return c.fail("OLDPWD not set")
		}
	default:
		dir = firstOf(c.rest[0], ".")
		if first, _, _ := strings.Cut(dir, "/"); first != "" && first != "." && first != ".." {
			for _, p := range strings.Split(sh.get("CDPATH"), ":") {
				if fi, err := sh.run.host.Stat(sh.ctx, sh.abs(p+"/"+dir)); p != "" && err == nil && fi.IsDir() {
					dir, show = p+"/"+dir, true
					break
				}
			}
		}
	}
	if err := sh.chdir(dir, c.physical()); err != nil {
		if isFatal(err) {
			throw(err)
		}
		if errors.Is(err, ErrDenied) {
			return sh.execError("cd", err)
		}
		return c.fail("%s: %s", dir, errText(err))
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

func builtinPwd(sh *shell, c call) int {
	d := sh.dir
	if c.physical() {
		d = sh.realPath(d)
	}
	sh.out(d + "\n")
	return 0
}

// allDirs is the folder stack, the working folder first.
func (sh *shell) allDirs() []string { return append([]string{sh.dir}, sh.dirStack...) }

// shortDirs is allDirs with the home as ~.
func (sh *shell) shortDirs() []string {
	all := sh.allDirs()
	for i, d := range all {
		all[i] = sh.homeShort(d)
	}
	return all
}

func (sh *shell) homeShort(d string) string {
	h := sh.get("HOME")
	if h == "" || h == "/" || d != h && !strings.HasPrefix(d, h+"/") {
		return d
	}
	return "~" + d[len(h):]
}

// dirIndex is the place in the folder stack that +N, from the left, or -N,
// from the right, means. is tells whether s has that form.
func (sh *shell) dirIndex(s string) (i int, is, found bool) {
	if len(s) < 2 || s[0] != '+' && s[0] != '-' {
		return 0, false, false
	}
	n, ok := atoi(s[1:])
	if !ok || s[1] == '-' || s[1] == '+' {
		return 0, false, false
	}
	if s[0] == '-' {
		n = int64(len(sh.dirStack)) - n
	}
	return int(n), true, n >= 0 && n <= int64(len(sh.dirStack))
}

func builtinDirs(sh *shell, c call) int {
	var letters, at string
	for _, a := range c.rest {
		if _, is, _ := sh.dirIndex(a); is {
			at = a
		} else if a != "--" {
			if len(a) != 2 || a[0] != '-' || strings.IndexByte("clpv", a[1]) < 0 {
				return c.misuse("%s: invalid option", a)
			}
			letters += a[1:]
		}
	}
	if strings.Contains(letters, "c") {
		sh.dirStack = nil
		return 0
	}
	dirs := sh.shortDirs()
	if strings.Contains(letters, "l") {
		dirs = sh.allDirs()
	}
	first := 0
	if at != "" {
		i, _, found := sh.dirIndex(at)
		if !found {
			if len(sh.dirStack) == 0 {
				return c.fail("directory stack empty")
			}
			return c.fail("%s: directory stack index out of range", at[1:])
		}
		dirs, first = dirs[i:i+1], i
	}
	switch {
	case strings.Contains(letters, "v"):
		for i, d := range dirs {
			dirs[i] = fmt.Sprintf("%2d  %s", first+i, d)
		}
		fallthrough
	case strings.Contains(letters, "p"):
		sh.out(strings.Join(dirs, "\n") + "\n")
	default:
		sh.out(strings.Join(dirs, " ") + "\n")
	}
	return 0
}

// builtinPushd is pushd and popd.
func builtinPushd(sh *shell, c call) int {
	const most = 10000 // folders on the stack
	noCd := false
	var rest []string
	for i, a := range c.rest {
		if a == "--" {
			rest = append(rest, c.rest[i+1:]...)
			break
		}
		_, is, _ := sh.dirIndex(a)
		switch {
		case a == "-n":
			noCd = true
		case is || a == "-" || !strings.HasPrefix(a, "-"):
			rest = append(rest, a)
		default:
			return c.misuse("%s: invalid number", a)
		}
	}
	pop := c.args[0] == "popd"
	all := sh.allDirs()
	if len(rest) > 1 {
		return c.fail("too many arguments") + int(b2i(pop))
	}
	idx, is := 0, false
	if len(rest) == 1 {
		var found bool
		if idx, is, found = sh.dirIndex(rest[0]); is && !found {
			if len(all) == 1 {
				return c.fail("directory stack empty")
			}
			return c.fail("%s: directory stack index out of range", rest[0])
		}
	}
	next := all
	switch {
	case pop && len(rest) == 1 && !is:
		return c.misuse("%s: invalid argument", rest[0])
	case pop && len(all) == 1:
		return c.fail("directory stack empty")
	case pop:
		if idx == 0 && noCd {
			idx = 1 // the working folder stays where it is
		}
		next = append(append([]string(nil), all[:idx]...), all[idx+1:]...)
		noCd = noCd || idx > 0
	case len(rest) == 0 && len(all) == 1:
		return c.fail("no other directory")
	case len(rest) == 0:
		next = append([]string{all[1], all[0]}, all[2:]...)
	case is:
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
	if len(next) > most {
		return c.fail("directory stack too large")
	}
	if !noCd {
		if err := sh.chdir(next[0], false); err != nil {
			return c.fail("%s: %s", next[0], errText(err))
		}
	}
	sh.dirStack = append([]string(nil), next[1:]...)
	return builtinDirs(sh, call{sh: sh, args: []string{"dirs"}})
}
