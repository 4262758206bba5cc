package shell

import (
	"fmt"
	"strings"
	"time"

	"github.com/donax-sh/donax/cformat"
)

// run runs time: what it measured goes to stderr.
func (c *timeCmd) run(sh *shell) {
	start := sh.run.host.Now()
	if c.body != nil {
		sh.runStmt(c.body)
	} else {
		sh.status = 0
	}
	d := sh.run.host.Now().Sub(start)
	if c.posix {
		sh.stderr(fmt.Sprintf("real %.2f\nuser %.2f\nsys %.2f\n", d.Seconds(), 0.0, 0.0))
		return
	}
	f, ok := sh.getSet("TIMEFORMAT")
	if !ok {
		f = "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS"
	}
	if f == "" {
		return
	}
	sh.stderr(timeFormat(f, d) + "\n")
}

// timeFormat formats TIMEFORMAT. The sandbox has one clock: user and system
// time are not known and read as 0.
func timeFormat(f string, real time.Duration) string {
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		if f[i] != '%' || i+1 == len(f) {
			b.WriteByte(f[i])
			continue
		}
		i++
		prec, long := 3, false
		if f[i] >= '0' && f[i] <= '9' {
			prec = min(int(f[i]-'0'), 3)
			i++
		}
		if i < len(f) && f[i] == 'l' {
			long = true
			i++
		}
		if i >= len(f) {
			break
		}
		d := time.Duration(0)
		switch f[i] {
		case '%':
			b.WriteByte('%')
			continue
		case 'P':
			b.WriteString("0.00")
			continue
		case 'R':
			d = real
		case 'U', 'S':
		default:
			b.WriteByte('%')
			b.WriteByte(f[i])
			continue
		}
		s := d.Seconds()
		if long {
			m := int(s) / 60
			fmt.Fprintf(&b, "%dm%.*fs", m, prec, s-float64(m*60))
		} else {
			fmt.Fprintf(&b, "%.*f", prec, s)
		}
	}
	return b.String()
}

// runSelect runs a select loop: the menu goes to stderr.
func (sh *shell) runSelect(c *forCmd) {
	var items []string
	if !sh.protect(func() { items = sh.loopItems(c) }) {
		return
	}
	sh.status = 0
	if len(items) == 0 {
		return
	}
	sh.traceHead(c.text)
	sh.loops++
	defer func() { sh.loops-- }()
	menu := true
	for {
		line, got := "", false
		ok := sh.protect(func() {
			sh.tick()
			if menu {
				for i, it := range items {
					sh.stderr(itoa(i+1) + ") " + it + "\n")
				}
			}
			ps3, set := sh.getSet("PS3")
			if !set {
				ps3 = "#? "
			}
			sh.stderr(ps3)
			f := sh.fd(0)
			if f == nil {
				return
			}
			b, err := f.readUntil(sh.ctx, nil, '\n', int(sh.run.lim.Expansion))
			if got = err == nil || len(b) > 0; !got {
				sh.stderr("\n")
				return
			}
			line = strings.TrimSuffix(string(b), "\n")
			sh.assignTo("REPLY", nil, line, false)
		})
		if !ok || !got {
			if sh.flow == flowNone {
				sh.status = 1
			}
			return
		}
		line = strings.Trim(line, " \t")
		if menu = line == ""; menu {
			continue
		}
		val := ""
		if n, isNum := atoi(line); isNum && n >= 1 && n <= int64(len(items)) {
			val = items[n-1]
		}
		sh.protect(func() { sh.setLoopVar(c.name, val) })
		if sh.flow != flowNone {
			return
		}
		sh.runList(c.body)
		if sh.loopDone() {
			return
		}
	}
}

// allParts tells whether ok holds for ps and for all that they hold.
func allParts(ps []part, ok func(part) bool) bool {
	for _, p := range ps {
		if !ok(p) {
			return false
		}
		var inner [][]part
		switch p := p.(type) {
		case *dqPart:
			inner = [][]part{p.parts}
		case *arithPart:
			inner = [][]part{p.x.parts}
		case *paramPart:
			for _, w := range []*word{p.arg, p.with} {
				if w != nil {
					inner = append(inner, w.parts)
				}
			}
			if p.sub != nil {
				inner = append(inner, p.sub.key.parts, p.sub.expr.parts)
			}
			for _, a := range []*arith{p.off, p.n} {
				if a != nil {
					inner = append(inner, a.parts)
				}
			}
		}
		for _, in := range inner {
			if !allParts(in, ok) {
				return false
			}
		}
	}
	return true
}

// pureParts tells whether expanding has no effect.
func pureParts(ps []part) bool {
	return allParts(ps, func(p part) bool {
		switch p := p.(type) {
		case *litPart, *quotedPart, *tildePart, *dqPart:
			return true
		case *paramPart:
			return p.op != opAssign && p.op != opError && p.sub == nil && !p.slice && p.name != "RANDOM"
		}
		return false
	})
}

// harmless tells whether parts run no commands, also not inside arguments.
func harmless(ps []part) bool {
	return allParts(ps, func(p part) bool {
		switch p.(type) {
		case *cmdSubPart, *procPart:
			return false
		}
		return true
	})
}

// prompt expands ${x@P} and PS4: backslash escapes, then parameters. Command
// substitutions stay text, because the string is a value.
func (sh *shell) prompt(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		now := sh.run.host.Now()
		if layout, ok := map[byte]string{'d': "Mon Jan 02", 't': "15:04:05", 'T': "03:04:05", '@': "03:04 PM", 'A': "15:04"}[s[i]]; ok {
			b.WriteString(now.Format(layout))
			continue
		}
		if text, ok := map[byte]string{'a': "\a", 'e': "\x1b", 'l': "tty", 'n': "\n", 'r': "\r", 's': "bash", 'v': "5.2", 'V': "5.2.15", '!': "1", '#': "1", '[': "", ']': "", '\\': "\\"}[s[i]]; ok {
			b.WriteString(text)
			continue
		}
		switch s[i] {
		case 'D':
			if end := strings.IndexByte(s[i:], '}'); strings.HasPrefix(s[i:], "D{") && end > 0 {
				b.Write(cformat.AppendTime(nil, firstOf(s[i+2:i+end], "%X"), now))
				i += end
			} else {
				b.WriteString("\\D")
			}
		case 'h', 'H':
			h := sh.get("HOSTNAME")
			if s[i] == 'h' {
				h, _, _ = strings.Cut(h, ".")
			}
			b.WriteString(h)
		case 'j':
			b.WriteString(itoa(len(sh.jobs)))
		case 'u':
			b.WriteString(sh.get("USER"))
		case 'w', 'W':
			d := sh.homeShort(sh.dir)
			if s[i] == 'W' && d != "/" {
				d = d[strings.LastIndexByte(d, '/')+1:]
			}
			b.WriteString(d)
		case '$':
			if sh.run.ids.UID == 0 {
				b.WriteByte('#')
			} else {
				b.WriteByte('$')
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			j, v := i, 0
			for j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '7' {
				v = v*8 + int(s[j]-'0')
				j++
			}
			b.WriteByte(byte(v))
			i = j - 1
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	out := b.String()
	if strings.IndexByte(out, '$') < 0 || !sh.opts.has(optPromptvars) {
		return out
	}
	return sh.valueText(out)
}

// valueText expands the parameters in text that came from a value. Anything
// that would run a command is left as text.
func (sh *shell) valueText(s string) string {
	lw := &lowerer{sh: sh, src: &source{}}
	parts := lw.sub(s).parts(nil, lw.fragment(s), ctxHeredoc)
	if !harmless(parts) {
		return s
	}
	return sh.text(parts)
}
