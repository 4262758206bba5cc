package shell

import "strings"

func builtinEcho(sh *shell, args []string) int {
	newline, esc := true, sh.opts.has(optXpgEcho)
	i := 1
next:
	for ; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' {
			break
		}
		for _, c := range a[1:] {
			if c != 'n' && c != 'e' && c != 'E' {
				break next
			}
		}
		for _, c := range a[1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				esc = true
			case 'E':
				esc = false
			}
		}
	}
	var b strings.Builder
	for k, a := range args[i:] {
		if k > 0 {
			b.WriteByte(' ')
		}
		if !esc {
			b.WriteString(a)
			continue
		}
		s, stop := unescapeC(a, escEcho)
		b.WriteString(s)
		if stop {
			newline = false
			break
		}
	}
	if newline {
		b.WriteByte('\n')
	}
	if f := sh.fd(1); f == nil || !f.writable() {
		return sh.builtinError("echo", "write error: Bad file descriptor")
	}
	sh.out(b.String())
	return 0
}
