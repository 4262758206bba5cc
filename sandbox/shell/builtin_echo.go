package shell

import "strings"

func builtinEcho(sh *shell, c call) int {
	newline, esc, rest := true, sh.opts.has(optXpgEcho), c.rest
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' && strings.Trim(rest[0][1:], "neE") == "" {
		for _, o := range rest[0][1:] {
			switch o {
			case 'n':
				newline = false
			default:
				esc = o == 'e'
			}
		}
		rest = rest[1:]
	}
	var b strings.Builder
	for k, a := range rest {
		if k > 0 {
			b.WriteByte(' ')
		}
		stop := false
		if esc {
			a, stop = unescapeC(a, escEcho)
		}
		b.WriteString(a)
		if stop {
			newline = false
			break
		}
	}
	if newline {
		b.WriteByte('\n')
	}
	if f := sh.fd(1); f == nil || !f.writable() {
		return c.fail("write error: Bad file descriptor")
	}
	sh.out(b.String())
	return 0
}
