// Package fold is the command fold.
package fold

import (
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is fold.
var Command = applet.Command{
	Name:     "fold",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "wrap input lines in each FILE, writing to standard output",
	Help: `  -b, --bytes         count bytes rather than columns
  -s, --spaces        break at spaces
  -w, --width=WIDTH   use WIDTH columns instead of 80`,
	Run: run,
}

type folder struct {
	bytes, spaces bool
	width         int
}

func run(c *applet.Ctx) int {
	f := folder{width: 80}
	width := func(v string) error {
		n, err := applet.ParseSize(v, "")
		if err == nil && n == 0 {
			err = applet.ErrRange
		}
		if err != nil {
			return applet.Complain("invalid number of columns", v, err)
		}
		f.width = int(min(n, 1<<40))
		return nil
	}
	for i, a := range c.Args { // the old form -WIDTH
		if a == "--" {
			break
		}
		if len(a) > 1 && a[0] == '-' && a[1] >= '0' && a[1] <= '9' {
			c.Args[i] = "-w" + a[1:]
		}
	}
	files, status, ok := c.Parse(1,
		applet.Bool(&f.bytes, 'b', "bytes"),
		applet.Bool(&f.spaces, 's', "spaces"),
		applet.Func(width, 'w', "width"),
	)
	if !ok {
		return status
	}
	return applet.Status(c.Files(files, func(_ string, r io.Reader) error {
		lines := applet.NewLines(r, '\n')
		w := c.Out()
		for {
			line, more := lines.Next()
			if !more {
				return lines.Err()
			}
			f.line(w, line)
			if lines.Full() {
				w.WriteByte('\n')
			}
			if _, err := w.Write(nil); err != nil {
				return nil
			}
		}
	}))
}

// advance returns the column after c.
func (f *folder) advance(column int, c byte) int {
	if f.bytes {
		return column + 1
	}
	switch c {
	case '\b':
		return max(0, column-1)
	case '\r':
		return 0
	case '\t':
		return column + 8 - column%8
	}
	return column + 1
}

func (f *folder) line(w io.Writer, line []byte) {
	for {
		column, i := 0, 0
		for i < len(line) {
			next := f.advance(column, line[i])
			if next > f.width && i > 0 {
				break
			}
			column = next
			i++
		}
		if i == len(line) {
			w.Write(line)
			return
		}
		if f.spaces {
			for k := i; k > 0; k-- {
				if line[k-1] == ' ' || line[k-1] == '\t' {
					i = k
					break
				}
			}
		}
		w.Write(line[:i])
		w.Write([]byte{'\n'})
		line = line[i:]
	}
}
