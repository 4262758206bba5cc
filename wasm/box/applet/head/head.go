// Package head is the command head.
package head

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is head.
var Command = applet.Command{
	Name:     "head",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "print the first 10 lines of each FILE to standard output",
	Help: `  -c, --bytes=[-]NUM       print the first NUM bytes of each file;
                             with the leading '-', all but the last NUM
  -n, --lines=[-]NUM       print the first NUM lines instead of the first 10;
                             with the leading '-', all but the last NUM
  -q, --quiet, --silent    never print headers giving file names
  -v, --verbose            always print headers giving file names
  -z, --zero-terminated    line delimiter is NUL, not newline`,
	Run: run,
}

type header struct {
	count        int64
	bytes, butAt bool // count bytes; all but the last count
	delim        byte
	out          io.Writer
}

const units = "bkKmMGTPEZY"

func run(c *applet.Ctx) int {
	h := header{count: 10, delim: '\n', out: c.Stdout}
	quiet, verbose := false, false
	num := func(what string, isBytes bool) func(string) error {
		return func(v string) error {
			h.bytes = isBytes
			digits := strings.TrimPrefix(v, "-")
			h.butAt = digits != v
			n, err := applet.ParseSize(digits, units)
			if err != nil {
				return applet.Complain("invalid number of "+what, v, err)
			}
			h.count = n
			return nil
		}
	}
	if err := obsolete(c, &h, &quiet, &verbose); err != nil {
		c.Warn(err.Error())
		return 1
	}
	opts := []applet.Opt{
		applet.Func(num("bytes", true), 'c', "bytes"),
		applet.Func(num("lines", false), 'n', "lines"),
		applet.Do(func() { quiet, verbose = true, false }, 'q', "quiet"),
		applet.Do(func() { quiet, verbose = true, false }, 0, "silent"),
		applet.Do(func() { quiet, verbose = false, true }, 'v', "verbose"),
		applet.Do(func() { h.delim = 0 }, 'z', "zero-terminated"),
	}
	for d := '0'; d <= '9'; d++ {
		opts = append(opts, applet.Optional(func(string, bool) error {
			return applet.UsageError("invalid trailing option -- " + string(d))
		}, d, ""))
	}
	files, status, ok := c.Parse(1, opts...)
	if !ok {
		return status
	}
	titles := verbose || !quiet && len(files) > 1
	first := true
	ok = true
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			c.Warn("cannot open ", applet.Quote(name), " for reading: ", applet.Reason(err))
			ok = false
			continue
		}
		if titles {
			title := name
			if name == "-" {
				title = "standard input"
			}
			if !first {
				io.WriteString(c.Stdout, "\n")
			}
			io.WriteString(c.Stdout, "==> "+title+" <==\n")
			first = false
		}
		err = h.copy(r)
		r.Close()
		if err == errWrite {
			return 1
		}
		if err != nil {
			c.Warn("error reading ", applet.Quote(name), ": ", applet.Reason(err))
			ok = false
		}
	}
	return applet.Status(ok)
}

// obsolete takes the old form -NUM[bkm][clqvz] from the front of the
// arguments.
func obsolete(c *applet.Ctx, h *header, quiet, verbose *bool) error {
	if len(c.Args) == 0 {
		return nil
	}
	a := c.Args[0]
	if len(a) < 2 || a[0] != '-' || a[1] < '0' || a[1] > '9' {
		return nil
	}
	end := 1
	for end < len(a) && a[end] >= '0' && a[end] <= '9' {
		end++
	}
	num := a[1:end]
	for _, l := range a[end:] {
		switch l {
		case 'c':
			h.bytes = true
		case 'l':
			h.bytes = false
		case 'b', 'k', 'm':
			h.bytes = true
			num += string(l)
		case 'q':
			*quiet, *verbose = true, false
		case 'v':
			*quiet, *verbose = false, true
		case 'z':
			h.delim = 0
		default:
			return errors.New("invalid trailing option -- " + string(l) + "\nTry 'head --help' for more information.")
		}
	}
	n, err := applet.ParseSize(num, units)
	if err != nil && err != applet.ErrOverflow {
		return applet.Complain("invalid number of lines", num, err)
	}
	h.count = n
	c.Args = c.Args[1:]
	return nil
}

// errWrite ends the work: nobody reads, and the flush after Run says why.
var errWrite = errors.New("write error")

func (h *header) copy(r io.Reader) error {
	if h.butAt {
		return h.copyAllBut(r)
	}
	if h.count == 0 {
		return nil
	}
	if h.bytes {
		n, err := io.CopyBuffer(onlyWriter{h.out}, io.LimitReader(r, h.count), make([]byte, min(h.count, applet.BufSize)))
		if err != nil && n < h.count {
			return err
		}
		return nil
	}
	buf := make([]byte, applet.BufSize)
	left := h.count
	for {
		n, err := r.Read(buf)
		end := 0
		for left > 0 && end < n {
			i := bytes.IndexByte(buf[end:n], h.delim)
			if i < 0 {
				end = n
				break
			}
			end += i + 1
			left--
		}
		if _, werr := h.out.Write(buf[:end]); werr != nil {
			return errWrite
		}
		if left == 0 {
			// What was read too much belongs to the next reader of the same
			// file: { head -1; cat; } < file.
			if s, ok := r.(io.Seeker); ok && end < n {
				s.Seek(int64(end-n), io.SeekCurrent)
			}
			return nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// onlyWriter keeps io.Copy from looking for other methods.
type onlyWriter struct{ io.Writer }

// copyAllBut copies all but the last count bytes or lines and holds no more
// than those.
func (h *header) copyAllBut(r io.Reader) error {
	var held []byte
	lines := int64(0) // delimiters in held
	buf := make([]byte, applet.BufSize)
	for {
		n, err := r.Read(buf)
		held = append(held, buf[:n]...)
		cut := 0
		if h.bytes {
			cut = int(max(0, int64(len(held))-h.count))
		} else {
			lines += int64(bytes.Count(buf[:n], []byte{h.delim}))
			release := lines - h.count
			if err == io.EOF && len(held) > 0 && held[len(held)-1] != h.delim {
				release++ // an unfinished line counts as the last one
			}
			if h.count == 0 && err == io.EOF {
				cut, release = len(held), 0
			}
			for ; release > 0; release-- {
				i := bytes.IndexByte(held[cut:], h.delim)
				if i < 0 {
					break
				}
				cut += i + 1
				lines--
			}
		}
		if cut > 0 {
			if _, werr := h.out.Write(held[:cut]); werr != nil {
				return errWrite
			}
			held = held[:copy(held, held[cut:])]
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.count == math.MaxInt64 {
			held, lines = held[:0], 0
		}
	}
}
