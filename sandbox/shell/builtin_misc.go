package shell

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

func builtinLet(sh *shell, c call) int {
	if len(c.rest) > 0 && c.rest[0] == "--" {
		c.rest = c.rest[1:]
	}
	if len(c.rest) == 0 {
		return c.fail("expression expected")
	}
	defer sh.arithErrors("let: ")
	n := int64(0)
	for _, a := range c.rest {
		n = sh.arithString(a)
	}
	return int(b2i(n == 0))
}

func builtinUmask(sh *shell, c call) int {
	sym := c.has('S')
	if len(c.rest) > 0 {
		m := c.rest[0]
		if m != "" && m[0] >= '0' && m[0] <= '9' {
			n, err := strconv.ParseUint(m, 8, 32)
			if err != nil || n > 0o777 {
				return c.fail("%s: octal number out of range", m)
			}
			sh.mask = int(n)
			return 0
		}
		n, msg := parseMask(m, sh.mask)
		if msg != "" {
			return c.fail("%s", msg)
		}
		if sh.mask = n; !sym {
			return 0
		}
	}
	s := fmt.Sprintf("%04o", sh.mask)
	if sym {
		s = symbolicMask(sh.mask)
	}
	if c.has('p') && len(c.rest) == 0 {
		if sym {
			s = "-S " + s
		}
		s = "umask " + s
	}
	sh.out(s + "\n")
	return 0
}

func symbolicMask(mask int) string {
	var b strings.Builder
	for i, who := range []string{"u=", ",g=", ",o="} {
		b.WriteString(who)
		bits := ^mask >> (6 - 3*i) & 7
		for k, c := range "rwx" {
			if bits>>(2-k)&1 != 0 {
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}

// parseMask applies a symbolic mode to a mask.
func parseMask(s string, mask int) (int, string) {
	whose := map[byte]int{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}
	what := map[byte]int{'r': 0o444, 'w': 0o222, 'x': 0o111}
	perm := ^mask & 0o777
	for _, cl := range strings.Split(s, ",") {
		who, i := 0, 0
		for ; i < len(cl) && whose[cl[i]] != 0; i++ {
			who |= whose[cl[i]]
		}
		if who == 0 {
			who = 0o777
		}
		if i >= len(cl) || strings.IndexByte("+-=", cl[i]) < 0 {
			return 0, "`" + (cl + "\x00")[i:i+1] + "': invalid symbolic mode operator"
		}
		op, bits := cl[i], 0
		for i++; i < len(cl); i++ {
			if what[cl[i]] == 0 {
				return 0, "`" + cl[i:i+1] + "': invalid symbolic mode character"
			}
			bits |= what[cl[i]]
		}
		switch op {
		case '+':
			perm |= bits & who
		case '-':
			perm &^= bits & who
		default:
			perm = perm&^who | bits&who
		}
	}
	return ^perm & 0o777, ""
}

// builtinUlimit keeps limits as numbers: the sandbox has limits of its own,
// which a script cannot change.
func builtinUlimit(sh *shell, c call) int {
	get := func(l byte) string {
		if v, ok := sh.limits[l]; ok {
			return v
		}
		known := map[byte]string{'n': itoa(sh.run.lim.Files), 'u': itoa(sh.run.lim.Jobs), 'c': "0", 'p': "8", 's': "8192"}
		return firstOf(known[l], "unlimited")
	}
	if c.has('a') {
		for _, l := range []string{"core file size              (blocks, -c)", "data seg size               (kbytes, -d)", "file size                   (blocks, -f)",
			"open files                          (-n)", "pipe size                (512 bytes, -p)", "stack size                  (kbytes, -s)",
			"cpu time                   (seconds, -t)", "max user processes                  (-u)", "virtual memory              (kbytes, -v)"} {
			sh.out(l + " " + get(l[len(l)-2]) + "\n")
		}
		return 0
	}
	letter := byte('f')
	for _, o := range c.opts {
		if o.letter != 'H' && o.letter != 'S' {
			letter = o.letter
		}
	}
	if len(c.rest) == 0 {
		sh.out(get(letter) + "\n")
		return 0
	}
	v := c.rest[0]
	if n, ok := atoi(v); (!ok || n < 0) && v != "unlimited" && v != "hard" && v != "soft" {
		return c.fail("%s: invalid number", v)
	}
	if v != "hard" && v != "soft" {
		m := map[byte]string{}
		maps.Copy(m, sh.limits) // subshells share the old one
		m[letter] = v
		sh.limits = m
	}
	return 0
}

func builtinTimes(sh *shell, c call) int {
	sh.out("0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n")
	return 0
}

func builtinHelp(sh *shell, c call) int {
	rest := c.rest
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		sh.out("Builtin commands: " + strings.Join(sh.builtinNames(), " ") + "\n")
		return 0
	}
	st := 1
	for _, n := range rest {
		if b := sh.run.builtins[n]; b != nil || isKeyword(n) {
			usage := n
			if b != nil && b.usage != "" {
				usage += " " + b.usage
			}
			sh.out(n + ": " + usage + "\n    A command of the shell itself; see bash's manual.\n")
			st = 0
		}
	}
	if st != 0 {
		c.fail("no help topics match `%s'.  Try `help help' or `man -k %s' or `info %s'.", rest[0], rest[0], rest[0])
	}
	return st
}

// builtinHistory keeps a list that only history -s adds to: scripts have no
// history of their own.
func builtinHistory(sh *shell, c call) int {
	const most = 10000 // lines kept
	list := func(from int) int {
		for i := max(from, 0); i < len(sh.history); i++ {
			sh.out(fmt.Sprintf("%5d  %s\n", i+1, sh.history[i]))
		}
		return 0
	}
	if len(c.rest) == 0 {
		return list(0)
	}
	a, rest := c.rest[0], c.rest[1:]
	n, ok := atoi(a)
	switch {
	case a == "-c":
		sh.history = nil
	case a == "-s":
		line := strings.Join(rest, " ")
		sh.charge(int64(len(line)) + elementCost)
		if len(sh.history) > most {
			sh.charge(-int64(len(sh.history[0])) - elementCost)
			sh.history = sh.history[1:]
		}
		sh.history = append(sh.history[:len(sh.history):len(sh.history)], line)
	case a == "-d" && len(rest) == 0:
		return c.fail("-d: option requires an argument")
	case a == "-d":
		if n, ok = atoi(rest[0]); n < 0 {
			n += int64(len(sh.history)) + 1
		}
		if !ok || n < 1 || n > int64(len(sh.history)) {
			return c.fail("%s: history position out of range", rest[0])
		}
		sh.history = append(append([]string(nil), sh.history[:n-1]...), sh.history[n:]...)
	case a == "-p":
		for _, s := range rest {
			sh.out(s + "\n")
		}
	case a == "-a" || a == "-n" || a == "-r" || a == "-w":
	case strings.HasPrefix(a, "-"):
		return c.misuse("%s: invalid option", a)
	case !ok:
		return c.fail("%s: numeric argument required", a)
	case len(rest) > 0:
		return c.fail("too many arguments")
	default:
		return list(len(sh.history) - int(n))
	}
	return 0
}

func builtinFc(sh *shell, c call) int {
	if len(sh.history) == 0 {
		return c.fail("no command found")
	}
	return c.fail("editing commands is not supported in the sandbox")
}

// builtinBind does nothing: there is no line editing.
func builtinBind(sh *shell, c call) int {
	c.fail("warning: line editing not enabled")
	return 0
}
