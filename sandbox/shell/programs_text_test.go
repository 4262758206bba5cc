package shell

import (
	"context"
	"encoding/base64"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/cformat"
)

func progSleep(p *testProc) int {
	d, _ := strconv.ParseFloat(strings.TrimSuffix(p.Args[1], "s"), 64)
	select {
	case <-time.After(time.Duration(d * float64(time.Second))):
		return 0
	case <-p.ctx.Done():
		return -1
	}
}

func progGrep(p *testProc) int {
	var names []string
	pat, have := "", false
	inv, quiet, fixed, count, only, fold, ext := false, false, p.Args[0] == "fgrep", false, false, false, p.Args[0] == "egrep"
	a := p.Args[1:]
	for i := 0; i < len(a); i++ {
		x := a[i]
		if x == "--color=never" || x == "-a" {
			continue
		}
		if x == "-e" {
			i++
			pat, have = a[i], true
			continue
		}
		if x == "--" {
			continue
		}
		if strings.HasPrefix(x, "-") && len(x) > 1 && !have {
			for _, c := range x[1:] {
				switch c {
				case 'v':
					inv = true
				case 'q':
					quiet = true
				case 'F':
					fixed = true
				case 'E':
					ext = true
				case 'c':
					count = true
				case 'o':
					only = true
				case 'i':
					fold = true
				}
			}
			continue
		}
		if !have {
			pat, have = x, true
			continue
		}
		names = append(names, x)
	}
	if fixed {
		pat = regexp.QuoteMeta(pat)
	} else if !ext {
		pat = breToERE(pat)
	}
	if fold {
		pat = "(?i)" + pat
	}
	re, err := regexp.Compile(pat)
	if err != nil {
		return 2
	}
	s, st := p.inputs(names)
	n := 0
	for _, l := range lines(s) {
		t := strings.TrimSuffix(l, "\n")
		if re.MatchString(t) == inv {
			continue
		}
		n++
		if quiet || count {
			continue
		}
		if only {
			for _, m := range re.FindAllString(t, -1) {
				p.out(m + "\n")
			}
			continue
		}
		p.out(t + "\n")
	}
	if count {
		p.out(strconv.Itoa(n) + "\n")
	}
	if st != 0 {
		return 2
	}
	if n == 0 {
		return 1
	}
	return 0
}

func breToERE(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && strings.IndexByte("(){}|+?", s[i+1]) >= 0:
			b.WriteByte(s[i+1])
			i++
		case c == '\\' && i+1 < len(s):
			b.WriteString(s[i : i+2])
			i++
		case strings.IndexByte("(){}|+?", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '*' && i == 0:
			b.WriteString(`\*`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func progUniq(p *testProc) int {
	count := false
	var names []string
	for _, a := range p.Args[1:] {
		if a == "-c" {
			count = true
		} else {
			names = append(names, a)
		}
	}
	s, st := p.inputs(names)
	l := lines(s)
	for i := 0; i < len(l); {
		j := i
		for j < len(l) && strings.TrimSuffix(l[j], "\n") == strings.TrimSuffix(l[i], "\n") {
			j++
		}
		if count {
			p.out(leftPad(strconv.Itoa(j-i), 7) + " ")
		}
		p.out(strings.TrimSuffix(l[i], "\n") + "\n")
		i = j
	}
	return st
}

func progCut(p *testProc) int {
	d, f := "\t", ""
	mode := 'f'
	var names []string
	a := p.Args[1:]
	for i := 0; i < len(a); i++ {
		x := a[i]
		if !strings.HasPrefix(x, "-") || len(x) < 2 {
			names = append(names, x)
			continue
		}
		v := x[2:]
		if v == "" && i+1 < len(a) {
			i++
			v = a[i]
		}
		switch x[1] {
		case 'd':
			d = v
		case 'f', 'c', 'b':
			f = v
			mode = rune(x[1])
		}
	}
	s, st := p.inputs(names)
	in := func(n int) bool {
		for _, r := range strings.Split(f, ",") {
			lo, hi, rng := strings.Cut(r, "-")
			x, _ := strconv.Atoi(lo)
			y := x
			if rng {
				if y, _ = strconv.Atoi(hi); hi == "" {
					y = 1 << 30
				}
			}
			if n >= x && n <= y {
				return true
			}
		}
		return false
	}
	for _, l := range lines(s) {
		l = strings.TrimSuffix(l, "\n")
		var parts, out []string
		if mode == 'f' {
			if !strings.Contains(l, d) {
				p.out(l + "\n")
				continue
			}
			parts = strings.Split(l, d)
		} else {
			for i := 0; i < len(l); i++ {
				parts = append(parts, l[i:i+1])
			}
		}
		for i, x := range parts {
			if in(i + 1) {
				out = append(out, x)
			}
		}
		sep := d
		if mode != 'f' {
			sep = ""
		}
		p.out(strings.Join(out, sep) + "\n")
	}
	return st
}

func progRev(p *testProc) int {
	s, st := p.inputs(p.Args[1:])
	for _, l := range lines(s) {
		r := []rune(strings.TrimSuffix(l, "\n"))
		for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
			r[i], r[j] = r[j], r[i]
		}
		p.out(string(r) + "\n")
	}
	return st
}

func progTac(p *testProc) int {
	s, st := p.inputs(p.Args[1:])
	l := lines(s)
	for i := len(l) - 1; i >= 0; i-- {
		p.out(l[i])
	}
	return st
}

func progPaste(p *testProc) int {
	d := "\t"
	serial := false
	var names []string
	for _, a := range p.Args[1:] {
		switch {
		case a == "-s":
			serial = true
		case strings.HasPrefix(a, "-s") && len(a) > 2 && a[2] == 'd':
			serial = true
			d = a[3:]
		case strings.HasPrefix(a, "-d"):
			d = a[2:]
		default:
			names = append(names, a)
		}
	}
	if !serial {
		return 2
	}
	if len(names) == 1 && names[0] == "," {
		d, names = ",", nil
	}
	s, st := p.inputs(names)
	p.out(strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", d) + "\n")
	return st
}

func progNl(p *testProc) int {
	s, st := p.inputs(p.Args[1:])
	for i, l := range lines(s) {
		p.out(leftPad(strconv.Itoa(i+1), 6) + "\t" + l)
	}
	return st
}

func progBasename(p *testProc) int {
	s := strings.TrimRight(p.Args[1], "/")
	s = s[strings.LastIndexByte(s, '/')+1:]
	if len(p.Args) > 2 && s != p.Args[2] {
		s = strings.TrimSuffix(s, p.Args[2])
	}
	return p.out(s + "\n")
}

func progDirname(p *testProc) int {
	s := strings.TrimRight(p.Args[1], "/")
	i := strings.LastIndexByte(s, '/')
	switch {
	case i < 0:
		s = "."
	case i == 0:
		s = "/"
	default:
		s = s[:i]
	}
	return p.out(s + "\n")
}

func progTee(p *testProc) int {
	app := os.O_TRUNC
	w := []io.Writer{p.Stdout}
	for _, a := range p.Args[1:] {
		if a == "-a" {
			app = os.O_APPEND
			continue
		}
		if rest, ok := strings.CutPrefix(a, "/dev/fd/"); ok {
			k, _ := strconv.Atoi(rest)
			if f := p.Files[k]; f != nil {
				w = append(w, f)
			}
			continue
		}
		if a == "/dev/stderr" {
			w = append(w, p.Stderr)
			continue
		}
		f, err := p.h.fs.Open(p.abs(a), os.O_WRONLY|os.O_CREATE|app, 0o644)
		if err != nil {
			return p.fail("%s: %s", a, errText(err))
		}
		defer f.Close()
		w = append(w, f)
	}
	_, _ = io.Copy(io.MultiWriter(w...), p.Stdin)
	return 0
}

func progSh(p *testProc) int {
	err := p.sh(func(c Config) (int, error) { return Main(p.ctx, c, p.Args) })
	if err == nil {
		return 0
	}
	if st, ok := err.(ExitStatus); ok {
		return int(st)
	}
	return -1
}

func progChmod(p *testProc) int {
	for _, n := range p.Args[2:] {
		fi, err := p.h.fs.Stat(p.abs(n))
		if err != nil {
			return p.fail("cannot access '%s': %s", n, errText(err))
		}
		m := fi.Mode().Perm()
		s := p.Args[1]
		if v, err := strconv.ParseUint(s, 8, 32); err == nil {
			m = os.FileMode(v)
		} else {
			bits := os.FileMode(0)
			for _, c := range s {
				switch c {
				case 'x':
					bits |= 0o111
				case 'w':
					bits |= 0o222
				case 'r':
					bits |= 0o444
				}
			}
			if strings.Contains(s, "-") {
				m &^= bits
			} else {
				m |= bits
			}
		}
		_ = p.h.fs.Chmod(p.abs(n), m)
	}
	return 0
}

func progLn(p *testProc) int {
	a := p.Args[1:]
	sym := false
	for len(a) > 0 && strings.HasPrefix(a[0], "-") {
		sym = sym || strings.Contains(a[0], "s")
		a = a[1:]
	}
	var err error
	if sym {
		err = p.h.fs.Symlink(a[0], p.abs(a[1]))
	} else {
		err = p.h.fs.Link(p.abs(a[0]), p.abs(a[1]))
	}
	if err != nil {
		return p.fail("%s", errText(err))
	}
	return 0
}

func progRmdir(p *testProc) int {
	st := 0
	for _, n := range p.Args[1:] {
		if err := p.h.fs.Rmdir(p.abs(n)); err != nil {
			st = p.fail("failed to remove '%s': %s", n, errText(err))
		}
	}
	return st
}

func progMv(p *testProc) int {
	a := p.Args[1:]
	for len(a) > 0 && strings.HasPrefix(a[0], "-") {
		a = a[1:]
	}
	to := p.abs(a[len(a)-1])
	fi, err := p.h.fs.Stat(to)
	for _, n := range a[:len(a)-1] {
		t := to
		if err == nil && fi.IsDir() {
			t += "/" + n[strings.LastIndexByte(n, '/')+1:]
		}
		if err := p.h.fs.Rename(p.abs(n), t); err != nil {
			return p.fail("cannot stat '%s': %s", n, errText(err))
		}
	}
	return 0
}

func progCp(p *testProc) int {
	a := p.Args[1:]
	for len(a) > 0 && strings.HasPrefix(a[0], "-") {
		a = a[1:]
	}
	b, err := p.read(a[0])
	if err != nil {
		return p.fail("cannot stat '%s': %s", a[0], errText(err))
	}
	to := p.abs(a[1])
	if fi, err := p.h.fs.Stat(to); err == nil && fi.IsDir() {
		to += "/" + a[0][strings.LastIndexByte(a[0], '/')+1:]
	}
	f, err := p.h.fs.Open(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return p.fail("%s", errText(err))
	}
	defer f.Close()
	_, _ = f.Write(b)
	return 0
}

func progXargs(p *testProc) int {
	n := 1 << 30
	a := p.Args[1:]
	nul := false
	for len(a) > 0 && strings.HasPrefix(a[0], "-") {
		switch {
		case a[0] == "-n":
			n, _ = strconv.Atoi(a[1])
			a = a[1:]
		case strings.HasPrefix(a[0], "-n"):
			n, _ = strconv.Atoi(a[0][2:])
		case a[0] == "-0":
			nul = true
		}
		a = a[1:]
	}
	if len(a) == 0 {
		a = []string{"echo"}
	}
	s, _ := p.inputs(nil)
	w := strings.Fields(s)
	if nul {
		w = strings.Split(strings.TrimSuffix(s, "\x00"), "\x00")
	}
	st := 0
	for len(w) > 0 {
		k := min(n, len(w))
		if x := p.spawn(append(append([]string(nil), a...), w[:k]...), p.Env); x != 0 {
			st = 123
		}
		w = w[k:]
	}
	return st
}

// progSed knows s/re/text/[g], p, d and q with -n, -e and -E.
func progSed(p *testProc) int {
	var exprs, names []string
	quiet, ext := false, false
	a := p.Args[1:]
	for i := 0; i < len(a); i++ {
		switch {
		case a[i] == "-n":
			quiet = true
		case a[i] == "-E" || a[i] == "-r":
			ext = true
		case a[i] == "-e":
			i++
			exprs = append(exprs, a[i])
		case exprs == nil:
			exprs = append(exprs, a[i])
		default:
			names = append(names, a[i])
		}
	}
	s, st := p.inputs(names)
	for _, l := range lines(s) {
		l = strings.TrimSuffix(l, "\n")
		show := !quiet
		for _, e := range exprs {
			for _, c := range strings.Split(e, ";") {
				c = strings.TrimSpace(c)
				if c == "" {
					continue
				}
				if c[0] == '/' {
					end := strings.IndexByte(c[1:], '/') + 1
					re := regexp.MustCompile(sedRE(c[1:end], ext))
					if !re.MatchString(l) {
						continue
					}
					c = c[end+1:]
				}
				switch c[0] {
				case 'd':
					show = false
				case 'p':
					p.out(l + "\n")
				case 's':
					sep := c[1:2]
					f := strings.Split(strings.ReplaceAll(c[2:], "\\"+sep, "\x02"), sep)
					if len(f) < 2 {
						return 1
					}
					for k := range f {
						f[k] = strings.ReplaceAll(f[k], "\x02", sep)
					}
					re, err := regexp.Compile(sedRE(f[0], ext))
					if err != nil {
						return 1
					}
					to := regexp.MustCompile(`\\([0-9])`).ReplaceAllString(strings.ReplaceAll(f[1], "$", "$$"), "${$1}")
					to = strings.ReplaceAll(to, "&", "${0}")
					if len(f) > 2 && strings.Contains(f[2], "g") {
						l = re.ReplaceAllString(l, to)
					} else if m := re.FindStringSubmatchIndex(l); m != nil {
						l = l[:m[0]] + string(re.ExpandString(nil, to, l, m)) + l[m[1]:]
					}
				}
			}
		}
		if show {
			p.out(l + "\n")
		}
	}
	return st
}

func sedRE(s string, ext bool) string {
	if ext {
		return s
	}
	return breToERE(s)
}

func progDate(p *testProc) int {
	f := "%a %b %e %H:%M:%S %Z %Y"
	for _, a := range p.Args[1:] {
		if strings.HasPrefix(a, "+") {
			f = a[1:]
		}
	}
	return p.out(string(cformat.AppendTime(nil, f, time.Now().UTC())) + "\n")
}

func progEcho(p *testProc) int {
	return p.sub(`builtin echo "$@"`)
}

func progPrintf(p *testProc) int { return p.sub(`builtin printf "$@"`) }
func progTest(p *testProc) int {
	return p.sub(`builtin ` + p.Args[0][strings.LastIndexByte(p.Args[0], '/')+1:] + ` "$@"`)
}

func (p *testProc) sub(text string) int {
	c := Config{Host: p.h, Env: p.Env, Dir: p.Dir, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Params: p.Args[1:], Depth: p.Depth}
	st, _ := Run(p.ctx, c, text)
	return st
}

func progBase64(p *testProc) int {
	dec := false
	for _, a := range p.Args[1:] {
		dec = dec || a == "-d" || a == "-D"
	}
	s, _ := p.inputs(nil)
	if dec {
		b, _ := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
		return p.out(string(b))
	}
	return p.out(base64.StdEncoding.EncodeToString([]byte(s)) + "\n")
}

func progMktemp(p *testProc) int {
	n := "/tmp/tmp." + strconv.Itoa(int(time.Now().UnixNano()))
	if len(p.Args) > 1 && strings.Contains(p.Args[1], "d") {
		_ = p.h.fs.Mkdir(n, 0o700)
	} else if f, err := p.h.fs.Open(n, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.Close()
	}
	return p.out(n + "\n")
}

// progOd knows od -A n -t x1 and od -A n -t c.
func progOd(p *testProc) int {
	s, st := p.inputs(nil)
	args := strings.Join(p.Args, " ")
	chars := strings.Contains(args, "-t c") || strings.Contains(args, "-c")
	hex := !chars || strings.Contains(args, "-t x1")
	for i := 0; i < len(s); i += 16 {
		row := []byte(s[i:min(i+16, len(s))])
		if chars {
			for k := 0; k < len(row); k++ {
				c := row[k]
				t := string(rune(c))
				esc := map[byte]string{'\n': `\n`, 0: `\0`, '\t': `\t`, '\r': `\r`, 7: `\a`, 8: `\b`, 11: `\v`, 12: `\f`}
				if e, ok := esc[c]; ok {
					t = e
				} else if c < 32 || c > 126 {
					t = strconv.FormatInt(int64(c)+01000, 8)[1:]
				}
				p.out(leftPad(t, 4))
			}
			p.out("\n")
		}
		if hex {
			w := 3
			if chars {
				w = 4
			}
			for _, c := range row {
				p.out(leftPad(strconv.FormatInt(int64(c)+0x100, 16)[1:], w))
			}
			p.out("\n")
		}
	}
	return st
}

func progOutErr(p *testProc) int {
	a, b, st := "STDOUT", "STDERR", 0
	if len(p.Args) > 1 {
		a = p.Args[1]
	}
	if len(p.Args) > 2 {
		b = p.Args[2]
	}
	if len(p.Args) > 3 {
		st, _ = strconv.Atoi(p.Args[3])
	}
	p.out(a + "\n")
	_, _ = io.WriteString(p.Stderr, b+"\n")
	return st
}

func progTimeout(p *testProc) int {
	a := p.Args[1:]
	if len(a) < 2 {
		return 125
	}
	d, _ := strconv.ParseFloat(strings.TrimSuffix(a[0], "s"), 64)
	ctx, cancel := context.WithTimeout(p.ctx, time.Duration(d*float64(time.Second)))
	defer cancel()
	q := *p
	q.ctx = ctx
	st := q.spawn(a[1:], p.Env)
	if ctx.Err() != nil && p.ctx.Err() == nil {
		return 124
	}
	return st
}

func progTimeCmd(p *testProc) int { return p.spawn(p.Args[1:], p.Env) }

func progWhich(p *testProc) int {
	if _, err := p.h.fs.Stat("/usr/bin/" + p.Args[1]); err != nil {
		return 1
	}
	return p.out("/usr/bin/" + p.Args[1] + "\n")
}
