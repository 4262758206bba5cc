package applettest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// step is one command line with what it must do.
type step struct {
	before  []string // comments and empty lines, kept for updates
	except  []string // names of runners
	command string
	line    int
	want    outcome
}

// outcome is what a command line does.
type outcome struct {
	stdout string
	stderr string // the first line
	status int
}

func parseScript(text string) (steps []step, tail []string, err error) {
	var before, except []string
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var last *step
		if len(steps) > 0 && len(before) == 0 && len(except) == 0 {
			last = &steps[len(steps)-1]
		}
		bad := func(why string) error { return fmt.Errorf("line %d: %s: %q", i+1, why, l) }
		mark, rest := "", ""
		if l != "" {
			mark, rest = l[:1], l[1:]
		}
		if last == nil && strings.Contains("|:\"!?", mark) && mark != "" {
			return nil, nil, bad("no command before it")
		}
		switch mark {
		case "", "#":
			before = append(before, l)
		case "@":
			f := strings.Fields(rest)
			if len(f) < 2 || f[0] != "no" {
				return nil, nil, bad("unknown directive")
			}
			except = append(except, f[1:]...)
		case "$":
			steps = append(steps, step{before: before, except: except, command: strings.TrimPrefix(rest, " "), line: i + 1})
			before, except = nil, nil
		case "|":
			last.want.stdout += rest + "\n"
		case ":":
			last.want.stdout += rest
		case `"`:
			s, err := strconv.Unquote(l)
			if err != nil {
				return nil, nil, bad(err.Error())
			}
			last.want.stdout += s
		case "!":
			last.want.stderr = strings.TrimPrefix(rest, " ")
		case "?":
			n, err := strconv.Atoi(strings.TrimSpace(rest))
			if err != nil {
				return nil, nil, bad(err.Error())
			}
			last.want.status = n
		default:
			return nil, nil, bad("unknown mark")
		}
	}
	return steps, before, nil
}

func formatScript(steps []step, tail []string) string {
	var b strings.Builder
	for _, s := range steps {
		for _, l := range s.before {
			b.WriteString(l + "\n")
		}
		for _, e := range s.except {
			b.WriteString("@ no " + e + "\n")
		}
		b.WriteString("$ " + s.command + "\n" + s.want.String())
	}
	for _, l := range tail {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// String writes an outcome as it stands in an archive.
func (o outcome) String() string {
	var b strings.Builder
	text := o.stdout
	if isPlain(text) {
		for text != "" {
			l, rest, found := strings.Cut(text, "\n")
			if found {
				b.WriteString("|" + l + "\n")
			} else {
				b.WriteString(":" + l + "\n")
			}
			text = rest
		}
	} else {
		for text != "" {
			n := strings.IndexByte(text, '\n') + 1
			if n == 0 || n > 100 {
				n = min(len(text), 100)
			}
			b.WriteString(strconv.QuoteToASCII(text[:n]) + "\n")
			text = text[n:]
		}
	}
	if o.stderr != "" {
		b.WriteString("! " + o.stderr + "\n")
	}
	if o.status != 0 {
		fmt.Fprintf(&b, "? %d\n", o.status)
	}
	return b.String()
}

func isPlain(s string) bool {
	if !utf8.ValidString(s) || strings.Contains(s, "\n-- ") {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) && r != '\n' && r != '\t' }) < 0
}

// firstLine returns the first line of stderr, cut to what all runners agree
// on: a program's name instead of its path.
func firstLine(stderr []byte, name string) string {
	l, _, _ := bytes.Cut(stderr, []byte("\n"))
	s := string(l)
	if prog, rest, ok := strings.Cut(s, ": "); ok && strings.HasSuffix(prog, "/"+name) {
		s = name + ": " + rest
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
