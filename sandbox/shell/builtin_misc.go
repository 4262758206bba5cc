package shell

import (
	"fmt"
	"path"
	"sort"
	"strconv"
	"strings"
)

func builtinLet(sh *shell, args []string) int {
	if len(args) == 1 {
		return sh.builtinError("let", "expression expected")
	}
	defer sh.arithErrors("let: ")
	n := int64(0)
	rest := args[1:]
	if rest[0] == "--" {
		rest = rest[1:]
	}
	for _, a := range rest {
		n = sh.arithString(a)
	}
	return int(b2i(n == 0))
}

func builtinUmask(sh *shell, args []string) int {
	o := newGetopt(args, "pS")
	print, sym := false, false
	for o.next() {
		switch o.opt {
		case 'p':
			print = true
		case 'S':
			sym = true
		default:
			// A symbolic mode may begin with a dash.
			return sh.usage(o, "umask [-p] [-S] [mode]")
		}
	}
	rest := o.rest()
	show := func() {
		s := fmt.Sprintf("%04o", sh.mask)
		if sym {
			s = symbolicMask(sh.mask)
		}
		if print {
			f := "umask "
			if sym {
				f += "-S "
			}
			s = f + s
		}
		sh.out(s + "\n")
	}
	if len(rest) == 0 {
		show()
		return 0
	}
	m := rest[0]
	if m != "" && m[0] >= '0' && m[0] <= '9' {
		n, err := strconv.ParseUint(m, 8, 32)
		if err != nil || n > 0o777 {
			return sh.builtinError("umask", "%s: octal number out of range", m)
		}
		sh.mask = int(n)
		return 0
	}
	n, msg := parseMask(m, sh.mask)
	if msg != "" {
		return sh.builtinError("umask", "%s", msg)
	}
	sh.mask = n
	if sym {
		sh.out(symbolicMask(sh.mask) + "\n")
	}
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
	perm := ^mask & 0o777
	for _, cl := range strings.Split(s, ",") {
		who, i := 0, 0
		for i < len(cl) && strings.IndexByte("ugoa", cl[i]) >= 0 {
			switch cl[i] {
			case 'u':
				who |= 0o700
			case 'g':
				who |= 0o070
			case 'o':
				who |= 0o007
			case 'a':
				who |= 0o777
			}
			i++
		}
		if who == 0 {
			who = 0o777
		}
		if i >= len(cl) || strings.IndexByte("+-=", cl[i]) < 0 {
			c := "\x00"
			if i < len(cl) {
				c = cl[i : i+1]
			}
			return 0, "`" + c + "': invalid symbolic mode operator"
		}
		op := cl[i]
		bits := 0
		for i++; i < len(cl); i++ {
			switch cl[i] {
			case 'r':
				bits |= 0o444
			case 'w':
				bits |= 0o222
			case 'x':
				bits |= 0o111
			default:
				return 0, "`" + cl[i:i+1] + "': invalid symbolic mode character"
			}
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
func builtinUlimit(sh *shell, args []string) int {
	o := newGetopt(args, "HSabcdefiklmnpqrstuvxPRT")
	letter, all := byte('f'), false
	n := 0
	for o.next() {
		switch o.opt {
		case 'H', 'S':
		case 'a':
			all = true
		case '?':
			return sh.usage(o, "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]")
		default:
			letter = o.opt
			n++
		}
	}
	get := func(c byte) string {
		if v, ok := sh.limits[c]; ok {
			return v
		}
		switch c {
		case 'n':
			return itoa(sh.run.lim.Files)
		case 'u':
			return itoa(sh.run.lim.Jobs)
		case 'c':
			return "0"
		case 'p':
			return "8"
		case 's':
			return "8192"
		}
		return "unlimited"
	}
	if all {
		for _, l := range []struct {
			c    byte
			text string
		}{{'c', "core file size              (blocks, -c)"}, {'d', "data seg size               (kbytes, -d)"}, {'f', "file size                   (blocks, -f)"},
			{'n', "open files                          (-n)"}, {'p', "pipe size                (512 bytes, -p)"}, {'s', "stack size                  (kbytes, -s)"},
			{'t', "cpu time                   (seconds, -t)"}, {'u', "max user processes                  (-u)"}, {'v', "virtual memory              (kbytes, -v)"}} {
			sh.out(l.text + " " + get(l.c) + "\n")
		}
		return 0
	}
	rest := o.rest()
	if len(rest) == 0 {
		sh.out(get(letter) + "\n")
		return 0
	}
	v := rest[0]
	if _, ok := atoi(v); (!ok || v[0] == '-') && v != "unlimited" && v != "hard" && v != "soft" {
		return sh.builtinError("ulimit", "%s: invalid number", v)
	}
	if v == "hard" || v == "soft" {
		return 0
	}
	m := map[byte]string{}
	for k, x := range sh.limits {
		m[k] = x
	}
	m[letter] = v
	sh.limits = m
	return 0
}

func builtinTimes(sh *shell, args []string) int {
	if len(args) > 1 && args[1] != "--" {
		sh.errorf("times: %s: invalid option", args[1])
		return 2
	}
	sh.out("0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n")
	return 0
}

func builtinHelp(sh *shell, args []string) int {
	rest := args[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		sh.out("Builtin commands: " + builtinNames + "\n")
		return 0
	}
	st := 1
	for _, r := range rest {
		for _, n := range strings.Fields(builtinNames + " " + keywordNames) {
			if n == r {
				sh.out(n + ": " + n + "\n    A command of the shell itself; see bash's manual.\n")
				st = 0
			}
		}
	}
	if st != 0 {
		sh.errorf("help: no help topics match `%s'.  Try `help help' or `man -k %s' or `info %s'.", rest[0], rest[0], rest[0])
	}
	return st
}

// builtinHistory keeps a list that only history -s adds to: scripts have no
// history of their own.
func builtinHistory(sh *shell, args []string) int {
	rest := args[1:]
	if len(rest) == 0 {
		for i, h := range sh.history {
			sh.out(fmt.Sprintf("%5d  %s\n", i+1, h))
		}
		return 0
	}
	switch a := rest[0]; {
	case a == "-c":
		sh.history = nil
		return 0
	case a == "-s":
		if len(sh.history) > 10000 {
			sh.history = sh.history[1:]
		}
		sh.history = append(sh.history, strings.Join(rest[1:], " "))
		return 0
	case a == "-d":
		if len(rest) < 2 {
			return sh.builtinError("history", "-d: option requires an argument")
		}
		n, ok := atoi(rest[1])
		if n < 0 {
			n += int64(len(sh.history)) + 1
		}
		if !ok || n < 1 || n > int64(len(sh.history)) {
			return sh.builtinError("history", "%s: history position out of range", rest[1])
		}
		sh.history = append(append([]string(nil), sh.history[:n-1]...), sh.history[n:]...)
		return 0
	case a == "-a" || a == "-n" || a == "-r" || a == "-w" || a == "-p":
		if a == "-p" {
			for _, s := range rest[1:] {
				sh.out(s + "\n")
			}
		}
		return 0
	case strings.HasPrefix(a, "-"):
		sh.errorf("history: %s: invalid option", a)
		return 2
	default:
		n, ok := atoi(a)
		if !ok {
			return sh.builtinError("history", "%s: numeric argument required", a)
		}
		if len(rest) > 1 {
			return sh.builtinError("history", "too many arguments")
		}
		from := max(0, len(sh.history)-int(n))
		for i := from; i < len(sh.history); i++ {
			sh.out(fmt.Sprintf("%5d  %s\n", i+1, sh.history[i]))
		}
		return 0
	}
}

func builtinFc(sh *shell, args []string) int {
	if len(sh.history) == 0 {
		return sh.builtinError("fc", "no command found")
	}
	return sh.builtinError("fc", "editing commands is not supported in the sandbox")
}

// builtinBind refuses: there is no line editing.
func builtinBind(sh *shell, args []string) int {
	sh.errorf("bind: warning: line editing not enabled")
	return 0
}

// builtinComplete keeps completion specifications, which only complete -p
// shows: nothing in a script completes.
func builtinComplete(sh *shell, args []string) int {
	if args[0] == "compopt" {
		return sh.builtinError("compopt", "not currently executing completion function")
	}
	o := newGetopt(args, "abcdefgjksuvprDEIo:A:G:W:F:C:X:P:S:")
	print, remove, special := false, false, ""
	var spec []string
	for o.next() {
		switch o.opt {
		case 'p':
			print = true
		case 'r':
			remove = true
		case 'D', 'E', 'I':
			special = "-" + string(rune(o.opt))
		case '?':
			return sh.usage(o, "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]")
		default:
			t := "-" + string(rune(o.opt))
			if strings.IndexByte("oAGWFCXPS", o.opt) >= 0 {
				if o.opt == 'W' || o.opt == 'G' || o.opt == 'X' {
					t += " " + singleQuote(o.arg)
				} else {
					t += " " + setQuote(o.arg)
				}
				if o.opt == 'A' && !validAction(o.arg) {
					sh.errorf("complete: %s: invalid action name", o.arg)
					return 2
				}
				if o.opt == 'o' && !validCompOpt(o.arg) {
					sh.errorf("complete: %s: invalid option name", o.arg)
					return 2
				}
			}
			spec = append(spec, t)
		}
	}
	names := o.rest()
	if special != "" {
		names = []string{special}
	}
	m := map[string]string{}
	for k, v := range sh.completions {
		m[k] = v
	}
	switch {
	case remove:
		st := 0
		if len(names) == 0 {
			m = nil
		}
		for _, n := range names {
			if _, ok := m[n]; !ok {
				st = sh.builtinError("complete", "%s: no completion specification", n)
			}
			delete(m, n)
		}
		sh.completions = m
		return st
	case print || len(names) == 0 && len(spec) == 0:
		if len(names) == 0 {
			for n := range m {
				names = append(names, n)
			}
			sort.Strings(names)
		}
		st := 0
		for _, n := range names {
			s, ok := m[n]
			if !ok {
				st = sh.builtinError("complete", "%s: no completion specification", n)
				continue
			}
			sh.out(strings.TrimRight("complete "+s, " ") + " " + n + "\n")
		}
		return st
	case len(names) == 0:
		sh.stderr("complete: usage: complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]\n")
		return 2
	}
	for _, n := range names {
		m[n] = strings.Join(spec, " ")
	}
	sh.completions = m
	return 0
}

const actionNames = "alias arrayvar binding builtin command directory disabled enabled export file function group helptopic hostname job keyword running service setopt shopt signal stopped user variable"

func validAction(s string) bool { return contains(strings.Fields(actionNames), s) }

func validCompOpt(s string) bool {
	return contains(strings.Fields("bashdefault default dirnames filenames noquote nosort nospace plusdirs"), s)
}

func contains(l []string, s string) bool {
	for _, x := range l {
		if x == s {
			return true
		}
	}
	return false
}

func builtinCompgen(sh *shell, args []string) int {
	o := newGetopt(args, "abcdefgjksuvo:A:G:W:F:C:X:P:S:V:")
	var actions []string
	var words, globs []string
	prefix, suffix, filter, fn := "", "", "", ""
	for o.next() {
		switch o.opt {
		case 'A':
			if !validAction(o.arg) {
				sh.errorf("compgen: %s: invalid action name", o.arg)
				return 2
			}
			actions = append(actions, o.arg)
		case 'o':
			if !validCompOpt(o.arg) {
				sh.errorf("compgen: %s: invalid option name", o.arg)
				return 2
			}
		case 'G':
			globs = append(globs, o.arg)
		case 'W':
			b := &builder{sh: sh}
			b.split(sh.plainVars(o.arg))
			b.endWord()
			words = append(words, b.out...)
		case 'F':
			fn = o.arg
		case 'C':
		case 'X':
			filter = o.arg
		case 'P':
			prefix = o.arg
		case 'S':
			suffix = o.arg
		case '?':
			return sh.usage(o, "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]")
		default:
			m := map[byte]string{'a': "alias", 'b': "builtin", 'c': "command", 'd': "directory", 'e': "export", 'f': "file", 'g': "group", 'j': "job", 'k': "keyword", 's': "service", 'u': "user", 'v': "variable"}
			if a, ok := m[o.opt]; ok {
				actions = append(actions, a)
			}
		}
	}
	word := ""
	if r := o.rest(); len(r) > 0 {
		word = r[0]
	}
	var out []string
	add := func(l []string) {
		for _, s := range l {
			if strings.HasPrefix(s, word) {
				out = append(out, s)
			}
		}
	}
	for _, a := range actions {
		add(sh.completionsOf(a, word))
	}
	for _, g := range globs {
		gl := globber{sh: sh}
		out = append(out, sortedStrings(gl.match(g))...)
	}
	add(words)
	if fn != "" {
		sh.errorf("compgen: warning: -F option may not work as you expect")
		if f := sh.funcs.m[fn]; f != nil {
			sh.assignArray("COMPREPLY", nil, false)
			sh.call(f, []string{fn, "compgen", word, ""})
			out = append(out, sh.elements("COMPREPLY")...)
		}
	}
	if filter != "" {
		neg := strings.HasPrefix(filter, "!")
		p := sh.compilePattern(strings.TrimPrefix(filter, "!"))
		kept := out[:0]
		for _, s := range out {
			if p.match(s) == neg {
				kept = append(kept, s)
			}
		}
		out = kept
	}
	for _, s := range out {
		sh.out(prefix + s + suffix + "\n")
	}
	if len(out) == 0 {
		return 1
	}
	return 0
}

func sortedStrings(l []string) []string { sort.Strings(l); return l }

// completionsOf lists what an action of compgen generates.
func (sh *shell) completionsOf(action, word string) []string {
	var out []string
	switch action {
	case "alias":
		for n := range sh.aliases {
			out = append(out, n)
		}
	case "builtin", "enabled":
		for _, n := range strings.Fields(builtinNames) {
			if !sh.disabled[n] {
				out = append(out, n)
			}
		}
		return out
	case "disabled":
		for n, d := range sh.disabled {
			if d {
				out = append(out, n)
			}
		}
	case "keyword":
		return strings.Fields(keywordNames)
	case "function":
		for n := range sh.funcs.m {
			out = append(out, n)
		}
	case "variable", "arrayvar", "export":
		for n, v := range sh.vars.m {
			if action == "variable" && v.attr&(attrSet|attrArray|attrAssoc|attrDynamic) != 0 ||
				action == "arrayvar" && v.attr&(attrArray|attrAssoc) != 0 || action == "export" && v.attr&attrExport != 0 {
				out = append(out, n)
			}
		}
	case "setopt":
		for _, x := range sortedOptions(false) {
			out = append(out, optionTable()[x].name)
		}
	case "shopt":
		for _, x := range sortedOptions(true) {
			out = append(out, optionTable()[x].name)
		}
	case "signal":
		for n := 0; n <= 64; n++ {
			if s := signalName(n); s != "" && (n < sigDEBUG || n == 64) {
				if n > 0 {
					s = "SIG" + s
				}
				out = append(out, s)
			}
		}
		return out
	case "helptopic":
		return strings.Fields(builtinNames)
	case "user":
		return []string{firstOf(sh.get("USER"), "root")}
	case "hostname":
		return []string{sh.get("HOSTNAME")}
	case "job", "running":
		for _, j := range sh.jobs {
			if !j.gone {
				w, _, _ := strings.Cut(j.text, " ")
				out = append(out, w)
			}
		}
		return out
	case "file", "directory", "command":
		if action == "command" {
			for _, a := range []string{"alias", "keyword", "builtin", "function"} {
				out = append(out, sh.completionsOf(a, word)...)
			}
			for _, d := range strings.Split(sh.get("PATH"), ":") {
				es, _ := sh.run.host.ReadDir(sh.ctx, sh.abs(firstOf(d, ".")))
				for _, e := range es {
					if !e.IsDir() && strings.HasPrefix(e.Name(), word) {
						out = append(out, e.Name())
					}
				}
			}
			return out
		}
		dir, _ := path.Split(word)
		es, _ := sh.run.host.ReadDir(sh.ctx, sh.abs(firstOf(dir, ".")))
		for _, e := range es {
			if action == "directory" && !e.IsDir() {
				continue
			}
			out = append(out, dir+e.Name())
		}
	}
	sort.Strings(out)
	return out
}
