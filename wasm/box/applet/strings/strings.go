// Package strings is the command strings.
package strings

import (
	"errors"
	"io"
	"strconv"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is strings.
var Command = applet.Command{
	Name:     "strings",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "print the sequences of printable characters in files",
	Help: `  -a, --all                 (accepted: the whole file is always scanned)
  -f, --print-file-name     print the name of the file before each string
  -n, --bytes=NUMBER        print sequences of at least NUMBER characters
  -NUMBER                   likewise
  -t, --radix={o,d,x}       print the location of the string in base 8, 10 or 16
  -o                        an alias for --radix=o
  -w, --include-all-whitespace  include all whitespace as valid characters
  -s, --output-separator=STRING  string used to separate strings in output`,
	Run: run,
}

type finder struct {
	least int
	radix int
	names bool
	white bool
	sep   string
	out   []byte
}

func run(c *applet.Ctx) int {
	f := finder{least: 4, sep: "\n"}
	all := false
	number := func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return errors.New("invalid integer argument " + v)
		}
		if n < 1 {
			return errors.New("invalid minimum string length " + v)
		}
		f.least = n
		return nil
	}
	for i, a := range c.Args {
		if a == "--" {
			break
		}
		if len(a) > 1 && a[0] == '-' && a[1] >= '0' && a[1] <= '9' {
			c.Args[i] = "-n" + a[1:]
		}
	}
	files, status, ok := c.Parse(1,
		applet.Bool(&all, 'a', "all"),
		applet.Bool(&f.names, 'f', "print-file-name"),
		applet.Func(number, 'n', "bytes"),
		applet.Func(func(v string) error {
			switch v {
			case "o":
				f.radix = 8
			case "d":
				f.radix = 10
			case "x":
				f.radix = 16
			default:
				return applet.UsageError("invalid radix " + v)
			}
			return nil
		}, 't', "radix"),
		applet.Do(func() { f.radix = 8 }, 'o', ""),
		applet.Bool(&f.white, 'w', "include-all-whitespace"),
		applet.String(&f.sep, 's', "output-separator"),
	)
	if !ok {
		return status
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			c.Warn(applet.Quote(name), ": ", "No such file")
			ok = false
			continue
		}
		title := name
		if name == "-" {
			title = "{standard input}"
		}
		if err := f.find(c.Stdout, r, title); err != nil {
			c.WarnName(name, err)
			ok = false
		}
		r.Close()
	}
	return applet.Status(ok)
}

func (f *finder) find(w io.Writer, r io.Reader, name string) error {
	buf := make([]byte, applet.BufSize)
	var cur []byte
	var pos, start int64
	end := func() {
		if len(cur) >= f.least {
			if f.names {
				f.out = append(append(f.out, name...), ": "...)
			}
			if f.radix != 0 {
				f.out = append(applet.AppendPad(f.out, strconv.FormatInt(start, f.radix), 7), ' ')
			}
			f.out = append(append(f.out, cur...), f.sep...)
		}
		cur = cur[:0]
	}
	for {
		n, err := r.Read(buf)
		for i, b := range buf[:n] {
			if b >= ' ' && b < 127 || b == '\t' || f.white && (b == '\n' || b == '\r' || b == '\v' || b == '\f') {
				if len(cur) == 0 {
					start = pos + int64(i)
				}
				cur = append(cur, b)
			} else if len(cur) > 0 {
				end()
			}
		}
		pos += int64(n)
		if err != nil {
			end()
		}
		if _, werr := w.Write(f.out); werr != nil {
			return nil
		}
		f.out = f.out[:0]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
