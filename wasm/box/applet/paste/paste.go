// Package paste is the command paste.
package paste

import (
	"errors"
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is paste.
var Command = applet.Command{
	Name:     "paste",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "write lines consisting of the sequentially corresponding lines from each FILE",
	Help: `  -d, --delimiters=LIST   reuse characters from LIST instead of TABs
  -s, --serial            paste one file at a time instead of in parallel
  -z, --zero-terminated   line delimiter is NUL, not newline`,
	Run: run,
}

// none in a list of delimiters stands for an empty one.
const none = -1

type source struct {
	name  string
	r     io.ReadCloser
	lines *applet.Lines
	done  bool
}

func run(c *applet.Ctx) int {
	delims := []int{'\t'}
	serial := false
	end := byte('\n')
	names, status, ok := c.Parse(1,
		applet.Func(func(v string) (err error) { delims, err = parse(v); return err }, 'd', "delimiters"),
		applet.Bool(&serial, 's', "serial"),
		applet.Do(func() { end = 0 }, 'z', "zero-terminated"),
	)
	if !ok {
		return status
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	if serial {
		return applet.Status(c.Files(names, func(_ string, r io.Reader) error { return onebyone(c, r, delims, end) }))
	}
	var sources []*source
	var stdin *applet.Lines // shared by all that are "-"
	for _, name := range names {
		r, err := c.Open(name)
		if err != nil {
			c.WarnName(name, err)
			return 1
		}
		s := &source{name: name, r: r}
		if name == "-" {
			if stdin == nil {
				stdin = applet.NewLines(r, end)
			}
			s.lines = stdin
		} else {
			s.lines = applet.NewLines(r, end)
		}
		defer r.Close()
		sources = append(sources, s)
	}
	return applet.Status(parallel(c, sources, delims, end))
}

func parse(v string) ([]int, error) {
	var out []int
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' {
			out = append(out, int(v[i]))
			continue
		}
		if i++; i == len(v) {
			return nil, errors.New("delimiter list ends with an unescaped backslash: " + v)
		}
		switch v[i] {
		case '0':
			out = append(out, none)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'v':
			out = append(out, '\v')
		default:
			out = append(out, int(v[i]))
		}
	}
	if len(out) == 0 {
		out = []int{none}
	}
	return out, nil
}

func add(out []byte, d int) []byte {
	if d == none {
		return out
	}
	return append(out, byte(d))
}

func onebyone(c *applet.Ctx, r io.Reader, delims []int, end byte) error {
	lines := applet.NewLines(r, end)
	var out []byte
	for n := 0; ; n++ {
		line, more := lines.Next()
		if !more {
			break
		}
		if n > 0 {
			out = add(out, delims[(n-1)%len(delims)])
		}
		out = append(out, line...)
		if len(out) >= applet.BufSize {
			if _, err := c.Stdout.Write(out); err != nil {
				return nil
			}
			out = out[:0]
		}
	}
	c.Stdout.Write(append(out, end))
	return lines.Err()
}

func parallel(c *applet.Ctx, sources []*source, delims []int, end byte) bool {
	ok := true
	var out []byte
	for {
		start := len(out)
		any := false
		for i, s := range sources {
			if i > 0 {
				out = add(out, delims[(i-1)%len(delims)])
			}
			if s.done {
				continue
			}
			line, more := s.lines.Next()
			if !more {
				s.done = true
				if err := s.lines.Err(); err != nil {
					c.WarnName(s.name, err)
					ok = false
				}
				continue
			}
			any = true
			out = append(out, line...)
		}
		if !any {
			c.Stdout.Write(out[:start])
			return ok
		}
		out = append(out, end)
		if len(out) >= applet.BufSize {
			if _, err := c.Stdout.Write(out); err != nil {
				return ok
			}
			out = out[:0]
		}
	}
}
