// Package wc is the command wc.
package wc

import (
	"io"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is wc.
var Command = applet.Command{
	Name:     "wc",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "print newline, word, and byte counts for each FILE",
	Help: `  -c, --bytes            print the byte counts
  -m, --chars            print the character counts
  -l, --lines            print the newline counts
      --files0-from=F    read input from the files named by NUL-terminated
                           names in file F; if F is -, from standard input
  -L, --max-line-length  print the maximum display width
  -w, --words            print the word counts`,
	Run: run,
}

// Which counts are printed, in this order.
const (
	lines = iota
	words
	chars
	size
	width
	kinds
)

type counts [kinds]int64

func run(c *applet.Ctx) int {
	var want [kinds]bool
	from := ""
	hasFrom := false
	files, status, ok := c.Parse(1,
		applet.Bool(&want[size], 'c', "bytes"),
		applet.Bool(&want[chars], 'm', "chars"),
		applet.Bool(&want[lines], 'l', "lines"),
		applet.Func(func(v string) error { from, hasFrom = v, true; return nil }, 0, "files0-from"),
		applet.Bool(&want[width], 'L', "max-line-length"),
		applet.Bool(&want[words], 'w', "words"),
	)
	if !ok {
		return status
	}
	if want == [kinds]bool{} {
		want[lines], want[words], want[size] = true, true, true
	}
	numbered := false
	if hasFrom {
		if len(files) > 0 {
			c.Warn("extra operand ", applet.Quote(files[0]))
			io.WriteString(c.Stderr, "file operands cannot be combined with --files0-from\n")
			return c.Usage()
		}
		r, err := c.Open(from)
		var list []byte
		if err == nil {
			list, err = io.ReadAll(r)
			r.Close()
		}
		if err != nil {
			c.Warn("cannot open ", applet.Quote(from), " for reading: ", applet.Reason(err))
			return 1
		}
		if text := strings.TrimSuffix(string(list), "\x00"); len(list) > 0 {
			files = strings.Split(text, "\x00")
		}
		numbered = true
	}
	named := len(files) > 0
	if !named && !numbered {
		files = []string{"-"}
	}
	p := printer{c: c, want: want, pad: padding(c, files, want)}
	var total counts
	ok = true
	for i, name := range files {
		if name == "" {
			if numbered {
				c.Warn(applet.Name(from), ":", itoa(int64(i+1)), ": invalid zero-length file name")
			} else {
				c.Warn("invalid zero-length file name")
			}
			ok = false
			continue
		}
		r, err := c.Open(name)
		if err != nil {
			c.WarnName(name, err)
			ok = false
			continue
		}
		n, err := count(r, want)
		r.Close()
		if err != nil {
			c.WarnName(name, err)
			ok = false
		}
		for k := range n {
			if k == width {
				total[k] = max(total[k], n[k])
			} else {
				total[k] += n[k]
			}
		}
		if named {
			p.print(n, " "+applet.Name(name))
		} else {
			p.print(n, "")
		}
	}
	if len(files) > 1 {
		p.print(total, " total")
	}
	return applet.Status(ok)
}

type printer struct {
	c    *applet.Ctx
	want [kinds]bool
	pad  int
}

func (p *printer) print(n counts, name string) {
	var b []byte
	for k, w := range p.want {
		if w {
			if len(b) > 0 {
				b = append(b, ' ')
			}
			b = applet.AppendNum(b, n[k], p.pad)
		}
	}
	b = append(append(b, name...), '\n')
	p.c.Stdout.Write(b)
}

// padding returns the width of the columns: that of the sum of the files'
// sizes, at least 7 when one of the inputs is not a regular file, and 1 for a
// single count of a single input.
func padding(c *applet.Ctx, files []string, want [kinds]bool) int {
	n := 0
	for _, w := range want {
		if w {
			n++
		}
	}
	if len(files) == 0 || len(files) == 1 && n == 1 {
		return 1
	}
	least, sum := 1, int64(0)
	for _, name := range files {
		fi, err := statFile(c, name)
		switch {
		case err != nil:
		case fi.Mode().IsRegular():
			sum += fi.Size()
		default:
			least = 7
		}
	}
	return max(least, len(itoa(sum)))
}

func statFile(c *applet.Ctx, name string) (os.FileInfo, error) {
	if name != "-" {
		return os.Stat(name)
	}
	if f, ok := c.Stdin.(interface{ Stat() (os.FileInfo, error) }); ok {
		return f.Stat()
	}
	return pipe{}, nil
}

// pipe is the file info of an input that is no file.
type pipe struct{ os.FileInfo }

func (pipe) Mode() os.FileMode { return os.ModeNamedPipe }

func itoa(n int64) string { return string(applet.AppendNum(nil, n, 0)) }
