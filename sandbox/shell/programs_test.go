package shell

import (
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

// testPrograms are small stand-ins for the tools that the corpora call.
func testPrograms() map[string]func(*testProc) int {
	return map[string]func(*testProc) int{
		"true": func(*testProc) int { return 0 }, "false": func(*testProc) int { return 1 },
		"argv.py": progArgv, "printenv.py": progPrintenvPy, "cat": progCat, "rm": progRm, "mkdir": progMkdir, "touch": progTouch,
		"ls": progLs, "seq": progSeq, "sort": progSort, "head": progHead, "tail": progTail, "wc": progWc, "tr": progTr, "env": progEnv,
		"printenv": progPrintenv, "sleep": progSleep, "grep": progGrep, "egrep": progGrep, "uniq": progUniq, "cut": progCut, "rev": progRev,
		"basename": progBasename, "dirname": progDirname, "tee": progTee, "sh": progSh, "bash": progSh, "chmod": progChmod, "ln": progLn,
		"rmdir": progRmdir, "mv": progMv, "cp": progCp, "xargs": progXargs, "sed": progSed, "date": progDate, "echo": progEcho, "base64": progBase64,
		"yes": progYes, "mktemp": progMktemp, "od": progOd, "stdout_stderr.py": progOutErr, "printf": progPrintf, "test": progTest, "[": progTest,
		"hostname": progHostname, "find": func(*testProc) int { return 1 }, "fgrep": progGrep, "tty": func(p *testProc) int { p.out("not a tty\n"); return 1 }, "expr": progExpr, "mkfifo": func(*testProc) int { return 1 }, "diff": progDiff, "whoami": func(p *testProc) int { return p.out("root\n") }, "id": func(p *testProc) int { return p.out("0\n") },
		"pwd": func(p *testProc) int { return p.out(p.Dir + "\n") }, "timeout": progTimeout, "nl": progNl, "tac": progTac, "paste": progPaste,
		"realpath": func(p *testProc) int { return p.out(p.abs(p.Args[1]) + "\n") }, "time": progTimeCmd, "which": progWhich,
	}
}

func progExpr(p *testProc) int {
	a := p.Args[1:]
	if len(a) == 1 {
		return p.out(a[0] + "\n")
	}
	return p.sub(`echo $(( $1 $2 $3 ))`)
}

// progDiff only tells whether two files differ.
func progDiff(p *testProc) int {
	var names []string
	for _, a := range p.Args[1:] {
		if !strings.HasPrefix(a, "-") {
			names = append(names, a)
		}
	}
	x, _ := p.read(names[0])
	y, _ := p.read(names[1])
	if string(x) == string(y) {
		return 0
	}
	p.out("differ\n")
	return 1
}

func progHostname(p *testProc) int { return p.out("sandbox\n") }

func progArgv(p *testProc) int {
	q := make([]string, len(p.Args)-1)
	for i, a := range p.Args[1:] {
		q[i] = pyRepr(a)
	}
	return p.out("[" + strings.Join(q, ", ") + "]\n")
}

func lookupEnv(env []string, n string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, _ := strings.Cut(env[i], "="); k == n {
			return v, true
		}
	}
	return "", false
}

func progPrintenvPy(p *testProc) int {
	for _, n := range p.Args[1:] {
		v, ok := lookupEnv(p.Env, n)
		if !ok {
			v = "None"
		}
		p.out(v + "\n")
	}
	return 0
}

func progPrintenv(p *testProc) int {
	if len(p.Args) == 1 {
		return p.out(strings.Join(p.Env, "\n") + "\n")
	}
	st := 0
	for _, n := range p.Args[1:] {
		v, ok := lookupEnv(p.Env, n)
		if !ok {
			st = 1
			continue
		}
		p.out(v + "\n")
	}
	return st
}

func progCat(p *testProc) int {
	names := p.Args[1:]
	num := false
	for len(names) > 0 && strings.HasPrefix(names[0], "-") && len(names[0]) > 1 {
		num = num || strings.Contains(names[0], "n")
		names = names[1:]
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	st := 0
	line := 0
	for _, n := range names {
		r, err := p.open(n)
		if err != nil {
			st = p.fail("%s: %s", n, errText(err))
			continue
		}
		buf := make([]byte, 32<<10)
		for {
			k, err := r.Read(buf)
			s := string(buf[:k])
			if num {
				var b strings.Builder
				for _, l := range strings.SplitAfter(s, "\n") {
					if l != "" {
						line++
						b.WriteString(leftPad(strconv.Itoa(line), 6) + "\t" + l)
					}
				}
				s = b.String()
			}
			if x := p.out(s); x != 0 {
				return x
			}
			if err != nil {
				if err != io.EOF {
					if p.ctx.Err() != nil {
						return -1
					}
					st = p.fail("%s: %s", n, errText(err))
				}
				break
			}
		}
	}
	return st
}

func progRm(p *testProc) int {
	rec, force := false, false
	st := 0
	opts := true
	for _, a := range p.Args[1:] {
		if opts && a == "--" {
			opts = false
			continue
		}
		if opts && strings.HasPrefix(a, "-") && len(a) > 1 {
			rec = rec || strings.ContainsAny(a, "rR")
			force = force || strings.Contains(a, "f")
			continue
		}
		if err := p.remove(p.abs(a), rec); err != nil && !(force && os.IsNotExist(err)) {
			st = p.fail("cannot remove '%s': %s", a, errText(err))
		}
	}
	return st
}

func (p *testProc) remove(n string, rec bool) error {
	fi, err := p.h.fs.Lstat(n)
	if err != nil {
		return err
	}
	if fi.IsDir() && rec {
		es, _ := p.h.ReadDir(p.ctx, n)
		for _, e := range es {
			if err := p.remove(n+"/"+e.Name(), true); err != nil {
				return err
			}
		}
		return p.h.fs.Rmdir(n)
	}
	return p.h.fs.Remove(n)
}

func progMkdir(p *testProc) int {
	parents := false
	st := 0
	for i := 1; i < len(p.Args); i++ {
		a := p.Args[i]
		if a == "-m" {
			i++
			continue
		}
		if strings.HasPrefix(a, "-") {
			parents = parents || strings.Contains(a, "p")
			continue
		}
		n := p.abs(a)
		if parents {
			cur := ""
			for _, c := range strings.Split(strings.Trim(n, "/"), "/") {
				cur += "/" + c
				_ = p.h.fs.Mkdir(cur, 0o755)
			}
			continue
		}
		if err := p.h.fs.Mkdir(n, 0o755); err != nil {
			st = p.fail("cannot create directory '%s': %s", a, errText(err))
		}
	}
	return st
}

func progTouch(p *testProc) int {
	st := 0
	opts := true
	for i := 1; i < len(p.Args); i++ {
		a := p.Args[i]
		if opts && a == "--" {
			opts = false
			continue
		}
		if opts && (a == "-d" || a == "-t") {
			i++
			continue
		}
		if opts && strings.HasPrefix(a, "-") {
			continue
		}
		f, err := p.h.fs.Open(p.abs(a), os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			st = p.fail("cannot touch '%s': %s", a, errText(err))
			continue
		}
		f.Close()
		now := time.Now()
		_ = p.h.fs.Chtimes(p.abs(a), now, now)
	}
	return st
}

func progLs(p *testProc) int {
	all, dirOnly := false, false
	var names []string
	for _, a := range p.Args[1:] {
		if strings.HasPrefix(a, "-") {
			all = all || strings.ContainsAny(a, "aA")
			dirOnly = dirOnly || strings.Contains(a, "d")
			continue
		}
		names = append(names, a)
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	st := 0
	var files, dirs []string
	for _, n := range names {
		fi, err := p.h.fs.Stat(p.abs(n))
		if err != nil {
			p.fail("cannot access '%s': %s", n, errText(err))
			st = 2
			continue
		}
		if fi.IsDir() && !dirOnly {
			dirs = append(dirs, n)
		} else {
			files = append(files, n)
		}
	}
	sort.Strings(files)
	for _, f := range files {
		p.out(f + "\n")
	}
	for i, d := range dirs {
		if len(names) > 1 {
			if i > 0 || len(files) > 0 {
				p.out("\n")
			}
			p.out(d + ":\n")
		}
		es, _ := p.h.ReadDir(p.ctx, p.abs(d))
		var l []string
		for _, e := range es {
			if all || e.Name()[0] != '.' {
				l = append(l, e.Name())
			}
		}
		sort.Strings(l)
		for _, n := range l {
			p.out(n + "\n")
		}
	}
	return st
}

func progSeq(p *testProc) int {
	a := p.Args[1:]
	sep := "\n"
	if len(a) > 1 && a[0] == "-s" {
		sep = a[1]
		a = a[2:]
	}
	from, step, to := 1, 1, 0
	n := make([]int, len(a))
	for i := range a {
		n[i], _ = strconv.Atoi(a[i])
	}
	switch len(n) {
	case 1:
		to = n[0]
	case 2:
		from, to = n[0], n[1]
	case 3:
		from, step, to = n[0], n[1], n[2]
	}
	var b strings.Builder
	for i := from; step > 0 && i <= to || step < 0 && i >= to; i += step {
		if b.Len() > 0 || i != from {
			b.WriteString(sep)
		}
		b.WriteString(strconv.Itoa(i))
		if b.Len() > 1<<16 {
			if st := p.out(b.String()); st != 0 {
				return st
			}
			b.Reset()
			if step > 0 && i == to {
				return p.out("\n")
			}
		}
	}
	return p.out(b.String() + "\n")
}

func progYes(p *testProc) int {
	s := strings.Repeat("y\n", 512)
	if len(p.Args) > 1 {
		s = strings.Join(p.Args[1:], " ") + "\n"
	}
	for {
		if p.ctx.Err() != nil {
			return -1
		}
		if st := p.out(s); st != 0 {
			return st
		}
	}
}

func lines(s string) []string {
	l := strings.SplitAfter(s, "\n")
	if len(l) > 0 && l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}

func progSort(p *testProc) int {
	rev, num, uniq := false, false, false
	var names []string
	for _, a := range p.Args[1:] {
		if strings.HasPrefix(a, "-") && len(a) > 1 {
			rev = rev || strings.Contains(a, "r")
			num = num || strings.Contains(a, "n")
			uniq = uniq || strings.Contains(a, "u")
			continue
		}
		names = append(names, a)
	}
	s, st := p.inputs(names)
	l := lines(s)
	for i := range l {
		l[i] = strings.TrimSuffix(l[i], "\n")
	}
	lead := func(s string) float64 {
		s = strings.TrimLeft(s, " ")
		i := 0
		for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '-' || s[i] == '.') {
			i++
		}
		f, _ := strconv.ParseFloat(s[:i], 64)
		return f
	}
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i], l[j]
		if rev {
			a, b = b, a
		}
		if num && lead(a) != lead(b) {
			return lead(a) < lead(b)
		}
		return a < b
	})
	var b strings.Builder
	for i, x := range l {
		if uniq && i > 0 && l[i-1] == x {
			continue
		}
		b.WriteString(x + "\n")
	}
	p.out(b.String())
	return st
}

func progHead(p *testProc) int {
	n, bytesN := 10, -1
	var names []string
	a := p.Args[1:]
	for i := 0; i < len(a); i++ {
		switch {
		case a[i] == "-n" && i+1 < len(a):
			i++
			n, _ = strconv.Atoi(a[i])
		case a[i] == "-c" && i+1 < len(a):
			i++
			bytesN, _ = strconv.Atoi(a[i])
		case strings.HasPrefix(a[i], "-n"):
			n, _ = strconv.Atoi(a[i][2:])
		case strings.HasPrefix(a[i], "-c"):
			bytesN, _ = strconv.Atoi(a[i][2:])
		case strings.HasPrefix(a[i], "-") && len(a[i]) > 1:
			n, _ = strconv.Atoi(a[i][1:])
		default:
			names = append(names, a[i])
		}
	}
	r := p.Stdin
	if len(names) > 0 {
		var err error
		if r, err = p.open(names[0]); err != nil {
			return p.fail("%s: %s", names[0], errText(err))
		}
	}
	buf := make([]byte, 4096)
	for n > 0 || bytesN > 0 {
		k, err := r.Read(buf)
		s := string(buf[:k])
		if bytesN >= 0 {
			s = s[:min(len(s), bytesN)]
			bytesN -= len(s)
			p.out(s)
			if bytesN == 0 {
				return 0
			}
		} else {
			for _, l := range strings.SplitAfter(s, "\n") {
				if n == 0 {
					break
				}
				p.out(l)
				if strings.HasSuffix(l, "\n") {
					n--
				}
			}
		}
		if err != nil {
			break
		}
	}
	return 0
}

func progTail(p *testProc) int {
	n, plus := 10, false
	var names []string
	a := p.Args[1:]
	for i := 0; i < len(a); i++ {
		v := ""
		switch {
		case a[i] == "-n" && i+1 < len(a):
			i++
			v = a[i]
		case (a[i] == "-c" || a[i] == "--bytes") && i+1 < len(a):
			k, _ := strconv.Atoi(a[i+1])
			s, st := p.inputs(a[i+2:])
			p.out(s[max(0, len(s)-k):])
			return st
		case strings.HasPrefix(a[i], "-n"):
			v = a[i][2:]
		case strings.HasPrefix(a[i], "-") && len(a[i]) > 1:
			v = a[i][1:]
		default:
			names = append(names, a[i])
			continue
		}
		plus = strings.HasPrefix(v, "+")
		n, _ = strconv.Atoi(v)
	}
	s, st := p.inputs(names)
	l := lines(s)
	if plus {
		l = l[min(len(l), max(0, n-1)):]
	} else {
		l = l[max(0, len(l)-n):]
	}
	p.out(strings.Join(l, ""))
	return st
}

func progWc(p *testProc) int {
	what := ""
	var names []string
	for _, a := range p.Args[1:] {
		if strings.HasPrefix(a, "-") && len(a) > 1 {
			what += a[1:]
			continue
		}
		names = append(names, a)
	}
	s, st := p.inputs(names)
	if what == "" {
		what = "lwc"
	}
	var f []string
	for _, c := range "lwmc" {
		if !strings.ContainsRune(what, c) {
			continue
		}
		n := 0
		switch c {
		case 'l':
			n = strings.Count(s, "\n")
		case 'w':
			n = len(strings.Fields(s))
		case 'c':
			n = len(s)
		case 'm':
			n = charLen(s)
		}
		f = append(f, strconv.Itoa(n))
	}
	if len(f) > 1 {
		for i := range f {
			w := 7
			if len(names) > 0 {
				w = len(strconv.Itoa(len(s)))
			}
			f[i] = leftPad(f[i], w)
		}
	}
	if len(names) == 1 {
		f = append(f, names[0])
	}
	p.out(strings.Join(f, " ") + "\n")
	return st
}

func trSet(s string) []rune {
	for n, c := range map[string]string{"[:lower:]": "abcdefghijklmnopqrstuvwxyz", "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "[:digit:]": "0123456789", "[:space:]": " \t\n\v\f\r"} {
		s = strings.ReplaceAll(s, n, c)
	}
	s, _ = unescapeC(s, escB)
	r := []rune(s)
	var out []rune
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' {
			for c := r[i]; c <= r[i+2]; c++ {
				out = append(out, c)
			}
			i += 2
			continue
		}
		out = append(out, r[i])
	}
	return out
}

func progTr(p *testProc) int {
	a := p.Args[1:]
	del, squeeze, comp := false, false, false
	for len(a) > 0 && strings.HasPrefix(a[0], "-") && len(a[0]) > 1 {
		del = del || strings.Contains(a[0], "d")
		squeeze = squeeze || strings.Contains(a[0], "s")
		comp = comp || strings.ContainsAny(a[0], "cC")
		a = a[1:]
	}
	s, _ := p.inputs(nil)
	set := trSet(a[0])
	var to []rune
	if len(a) > 1 {
		to = trSet(a[1])
	}
	idx := map[rune]int{}
	for i, r := range set {
		if _, ok := idx[r]; !ok {
			idx[r] = i
		}
	}
	var b strings.Builder
	last := rune(-1)
	for i := 0; i < len(s); {
		r, n := decode(s, i)
		k, in := idx[r]
		hit := in != comp
		switch {
		case hit && del:
		case hit && to != nil:
			if comp {
				k = len(to) - 1
			}
			c := to[min(k, len(to)-1)]
			if !squeeze || c != last {
				b.WriteRune(c)
			}
			last = c
		case hit && squeeze && last == r:
		default:
			b.WriteString(s[i : i+n])
			last = r
		}
		i += n
	}
	return p.out(b.String())
}

func progEnv(p *testProc) int {
	env := p.Env
	a := p.Args[1:]
	for len(a) > 0 {
		if a[0] == "-i" || a[0] == "-" {
			env = nil
		} else if a[0] == "-u" && len(a) > 1 {
			var kept []string
			for _, e := range env {
				if !strings.HasPrefix(e, a[1]+"=") {
					kept = append(kept, e)
				}
			}
			env = kept
			a = a[1:]
		} else if strings.Contains(a[0], "=") {
			env = append(append([]string(nil), env...), a[0])
		} else {
			break
		}
		a = a[1:]
	}
	if len(a) == 0 {
		m := map[string]string{}
		for _, e := range env {
			k, v, _ := strings.Cut(e, "=")
			m[k] = v
		}
		for _, k := range sortedKeys(m) {
			p.out(k + "=" + m[k] + "\n")
		}
		return 0
	}
	return p.spawn(a, env)
}

func (p *testProc) spawn(a, env []string) int {
	c := *p.Command
	c.Args, c.Env = a, env
	c.Depth++
	c.Path = a[0]
	if !strings.Contains(a[0], "/") {
		c.Path = "/bin/" + a[0]
	} else {
		c.Path = p.abs(a[0])
	}
	if _, err := p.h.fs.Stat(c.Path); err != nil {
		p.fail("'%s': No such file or directory", a[0])
		return 127
	}
	err := p.h.Exec(p.ctx, &c)
	if err == nil {
		return 0
	}
	if st, ok := err.(ExitStatus); ok {
		return int(st)
	}
	return -1
}
