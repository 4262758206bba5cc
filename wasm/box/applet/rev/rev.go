// Package rev is the command rev.
package rev

import (
	"io"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is rev.
var Command = applet.Command{
	Name:     "rev",
	Synopsis: "[FILE]...",
	Summary:  "reverse lines characterwise",
	Help:     `  -0, --zero   line delimiter is NUL, not newline`,
	Run:      run,
}

func run(c *applet.Ctx) int {
	end := byte('\n')
	files, status, ok := c.Parse(1, applet.Do(func() { end = 0 }, '0', "zero"))
	if !ok {
		return status
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	ok = true
	var out []byte
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			c.Warn("cannot open ", name, ": ", applet.Reason(err))
			ok = false
			continue
		}
		lines := applet.NewLines(r, end)
		for {
			line, more := lines.Next()
			if !more {
				break
			}
			for len(line) > 0 {
				_, n := utf8.DecodeLastRune(line)
				out = append(out, line[len(line)-n:]...)
				line = line[:len(line)-n]
			}
			if lines.Full() {
				out = append(out, end)
			}
			if len(out) >= applet.BufSize {
				if _, err := c.Stdout.Write(out); err != nil {
					return 1
				}
				out = out[:0]
			}
		}
		if err := lines.Err(); err != nil {
			c.WarnName(name, err)
			ok = false
		}
		r.Close()
	}
	io.WriteString(c.Stdout, string(out))
	return applet.Status(ok)
}
