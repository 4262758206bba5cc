// Package cat is the command cat.
package cat

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is cat.
var Command = applet.Command{
	Name:     "cat",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "concatenate files to standard output",
	Help: `  -A, --show-all           equivalent to -vET
  -b, --number-nonblank    number nonempty output lines, overrides -n
  -e                       equivalent to -vE
  -E, --show-ends          display $ at end of each line
  -n, --number             number all output lines
  -s, --squeeze-blank      suppress repeated empty output lines
  -t                       equivalent to -vT
  -T, --show-tabs          display TAB characters as ^I
  -u                       (ignored)
  -v, --show-nonprinting   use ^ and M- notation, except for LFD and TAB`,
	Run: run,
}

// shower rewrites text as the display options ask. Its state runs on from
// file to file.
type shower struct {
	ends, tabs, nonprinting, squeeze, number, nonblank bool

	line  int64
	blank int  // empty lines in a row so far
	start bool // at the start of a line
	cr    bool // a \r was held back, it may stand before a \n
	out   []byte
}

func run(c *applet.Ctx) int {
	var s shower
	ignored := false
	files, status, ok := c.Parse(1,
		applet.Do(func() { s.number, s.nonblank = true, true }, 'b', "number-nonblank"),
		applet.Do(func() { s.nonprinting, s.ends = true, true }, 'e', ""),
		applet.Bool(&s.number, 'n', "number"),
		applet.Bool(&s.squeeze, 's', "squeeze-blank"),
		applet.Do(func() { s.nonprinting, s.tabs = true, true }, 't', ""),
		applet.Bool(&ignored, 'u', ""),
		applet.Bool(&s.nonprinting, 'v', "show-nonprinting"),
		applet.Bool(&s.ends, 'E', "show-ends"),
		applet.Bool(&s.tabs, 'T', "show-tabs"),
		applet.Do(func() { s.nonprinting, s.ends, s.tabs = true, true, true }, 'A', "show-all"),
	)
	if !ok {
		return status
	}
	s.start = true
	plain := !s.ends && !s.tabs && !s.nonprinting && !s.squeeze && !s.number
	buf := make([]byte, applet.BufSize)
	var writeErr error
	ok = c.Files(files, func(name string, r io.Reader) error {
		if writeErr != nil {
			return nil
		}
		if sameAsOutput(r) {
			return errors.New("input file is output file")
		}
		for {
			n, err := r.Read(buf)
			if n > 0 {
				text := buf[:n]
				if !plain {
					text = s.show(text)
				}
				// Whoever waits at the other end must see what came so far.
				_, writeErr = c.Stdout.Write(text)
				if writeErr == nil {
					writeErr = c.Flush()
				}
				if writeErr != nil {
					return nil
				}
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	if s.cr {
		c.Stdout.Write(s.heldCR(nil))
	}
	return applet.Status(ok)
}

// sameAsOutput guards against a file that grows for ever: cat f >> f.
func sameAsOutput(r io.Reader) bool {
	f, ok := r.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return false
	}
	in, err := f.Stat()
	if err != nil || !in.Mode().IsRegular() || in.Size() == 0 {
		return false
	}
	out, err := os.Stdout.Stat()
	return err == nil && out.Mode().IsRegular() && os.SameFile(in, out)
}

func (s *shower) heldCR(out []byte) []byte {
	s.cr = false
	if s.nonprinting {
		return append(out, '^', 'M')
	}
	return append(out, '\r')
}

// show returns text rewritten; the result is good until the next call.
func (s *shower) show(text []byte) []byte {
	out := s.out[:0]
	for len(text) > 0 {
		if s.cr && text[0] != '\n' {
			out = s.heldCR(out)
		}
		if s.start {
			if text[0] == '\n' {
				s.blank++
				if s.squeeze && s.blank > 1 && !s.cr {
					text = text[1:]
					continue
				}
			} else {
				s.blank = 0
			}
			if s.number && (!s.nonblank || text[0] != '\n') {
				s.line++
				out = append(applet.AppendNum(out, s.line, 6), '\t')
			}
			s.start = false
		}
		line, rest, found := bytes.Cut(text, []byte{'\n'})
		if len(line) > 0 {
			if s.ends && line[len(line)-1] == '\r' {
				s.cr = true
				line = line[:len(line)-1]
			}
			out = s.visible(out, line)
		}
		text = rest
		if found {
			if s.cr {
				s.cr = false
				out = append(out, '^', 'M')
			}
			if s.ends {
				out = append(out, '$')
			}
			out = append(out, '\n')
			s.start = true
		}
	}
	s.out = out
	return out
}

func (s *shower) visible(out, line []byte) []byte {
	if !s.nonprinting && !s.tabs {
		return append(out, line...)
	}
	for _, b := range line {
		switch {
		case b == '\t':
			if s.tabs {
				out = append(out, '^', 'I')
			} else {
				out = append(out, b)
			}
		case !s.nonprinting || b >= 32 && b < 127:
			out = append(out, b)
		case b < 32:
			out = append(out, '^', b+64)
		case b == 127:
			out = append(out, '^', '?')
		case b < 128+32:
			out = append(out, 'M', '-', '^', b-128+64)
		case b < 255:
			out = append(out, 'M', '-', b-128)
		default:
			out = append(out, 'M', '-', '^', '?')
		}
	}
	return out
}
