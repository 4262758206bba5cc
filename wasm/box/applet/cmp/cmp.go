// Package cmp is the command cmp.
package cmp

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is cmp.
var Command = applet.Command{
	Name:      "cmp",
	NamedHint: true,
	Synopsis:  "[OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]",
	Summary:   "compare two files byte by byte",
	Help: `  -b, --print-bytes          print differing bytes
  -i, --ignore-initial=SKIP  skip first SKIP bytes of both inputs
  -i, --ignore-initial=SKIP1:SKIP2  skip so many bytes of each
  -l, --verbose              output byte numbers and differing byte values
  -n, --bytes=LIMIT          compare at most LIMIT bytes
  -s, --quiet, --silent      suppress all normal output`,
	Run: run,
}

// trouble is the status when the files cannot be compared.
const trouble = 2

type comparer struct {
	c                   *applet.Ctx
	show, verbose, mute bool
	limit               int64
	names               [2]string
	skip                [2]int64
}

func run(c *applet.Ctx) int {
	k := comparer{c: c, limit: math.MaxInt64}
	size := func(p *int64, what string) func(string) error {
		return func(v string) error {
			n, err := applet.ParseSize(v, "kKMGTPEZY")
			if err != nil && err != applet.ErrOverflow {
				return applet.UsageError("invalid " + what + " value " + applet.Quote(v))
			}
			*p = n
			return nil
		}
	}
	args, status, ok := c.Parse(trouble,
		applet.Bool(&k.show, 'b', "print-bytes"),
		applet.Func(func(v string) error {
			a, b, two := strings.Cut(v, ":")
			if !two {
				b = a
			}
			if err := size(&k.skip[0], "--ignore-initial")(a); err != nil {
				return err
			}
			return size(&k.skip[1], "--ignore-initial")(b)
		}, 'i', "ignore-initial"),
		applet.Bool(&k.verbose, 'l', "verbose"),
		applet.Func(size(&k.limit, "--bytes"), 'n', "bytes"),
		applet.Bool(&k.mute, 's', "quiet"),
		applet.Bool(&k.mute, 0, "silent"),
	)
	if !ok {
		return status
	}
	if k.mute && k.verbose {
		c.Usage("options -l and -s are incompatible")
		return trouble
	}
	switch {
	case len(args) == 0:
		c.Usage("missing operand after " + applet.Quote("cmp"))
		return trouble
	case len(args) > 4:
		c.Usage("extra operand " + applet.Quote(args[4]))
		return trouble
	}
	k.names = [2]string{args[0], "-"}
	if len(args) > 1 {
		k.names[1] = args[1]
	}
	for i := 2; i < len(args); i++ {
		if err := size(&k.skip[i-2], "SKIP")(args[i]); err != nil {
			c.Usage(err.Error())
			return trouble
		}
	}
	var in [2]io.Reader
	for i, name := range k.names {
		r, err := c.Open(name)
		if err == nil {
			defer r.Close()
			_, err = io.CopyN(io.Discard, r, k.skip[i])
			if err == io.EOF {
				err = nil
			}
		}
		if err != nil {
			if !k.mute {
				c.Warn(name, ": ", applet.Reason(err))
			}
			return trouble
		}
		in[i] = r
	}
	return k.compare(in[0], in[1])
}

func (k *comparer) compare(a, b io.Reader) int {
	bufA, bufB := make([]byte, applet.BufSize), make([]byte, applet.BufSize)
	pos, line := int64(0), int64(1) // bytes before, number of the line
	status := 0
	lastNewline := false
	width := 1
	if k.verbose {
		width = k.width()
	}
	for {
		want := min(int64(len(bufA)), k.limit-pos)
		na, errA := io.ReadFull(a, bufA[:want])
		nb, errB := io.ReadFull(b, bufB[:want])
		for i, err := range []error{errA, errB} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				if !k.mute {
					k.c.Warn(k.names[i], ": ", applet.Reason(err))
				}
				return trouble
			}
		}
		n := min(na, nb)
		if !bytes.Equal(bufA[:n], bufB[:n]) {
			status = 1
			if k.mute {
				return 1
			}
			var out []byte
			for i := range n {
				if bufA[i] == bufB[i] {
					continue
				}
				if !k.verbose {
					line += int64(bytes.Count(bufA[:i], []byte{'\n'}))
					out = append(out, k.names[0]+" "+k.names[1]+" differ: byte "+strconv.FormatInt(pos+int64(i)+1, 10)+", line "+strconv.FormatInt(line, 10)...)
					if k.show {
						out = append(out, " is "...)
						out = append(octal(out, bufA[i]), ' ')
						out = append(append(out, visible(bufA[i])...), ' ')
						out = append(octal(out, bufB[i]), ' ')
						out = append(out, visible(bufB[i])...)
					}
					k.c.Stdout.Write(append(out, '\n'))
					return 1
				}
				out = append(applet.AppendNum(out, pos+int64(i)+1, width), ' ')
				out = octal(out, bufA[i])
				if k.show {
					v := visible(bufA[i])
					out = append(append(append(out, ' '), v...), strings.Repeat(" ", 4-len(v))...)
				}
				out = octal(append(out, ' '), bufB[i])
				if k.show {
					out = append(append(out, ' '), visible(bufB[i])...)
				}
				out = append(out, '\n')
			}
			if _, err := k.c.Stdout.Write(out); err != nil {
				return 1
			}
		}
		line += int64(bytes.Count(bufA[:n], []byte{'\n'}))
		if n > 0 {
			lastNewline = bufA[n-1] == '\n'
		}
		pos += int64(n)
		if na != nb {
			if !k.mute {
				k.c.Flush()
				short := k.names[0]
				if nb < na {
					short = k.names[1]
				}
				k.eof(short, pos, line, lastNewline)
			}
			return 1
		}
		if int64(n) < want || pos >= k.limit {
			return status
		}
	}
}

func (k *comparer) eof(name string, pos, line int64, whole bool) {
	switch {
	case pos == 0:
		k.c.Warn("EOF on ", name, " which is empty")
	case k.verbose:
		k.c.Warn("EOF on ", name, " after byte ", strconv.FormatInt(pos, 10))
	case whole:
		k.c.Warn("EOF on ", name, " after byte ", strconv.FormatInt(pos, 10), ", line ", strconv.FormatInt(line-1, 10))
	default:
		k.c.Warn("EOF on ", name, " after byte ", strconv.FormatInt(pos, 10), ", in line ", strconv.FormatInt(line, 10))
	}
}

// width is that of the byte numbers of -l: the smaller file's size decides.
func (k *comparer) width() int {
	most := k.limit
	for i, name := range k.names {
		r, err := k.c.Open(name)
		if err != nil || name == "-" {
			continue
		}
		if s, ok := r.(io.Seeker); ok {
			if end, err := s.Seek(0, io.SeekEnd); err == nil {
				most = min(most, max(0, end-k.skip[i]))
			}
		}
		r.Close()
	}
	return len(strconv.FormatInt(most, 10))
}

func octal(b []byte, c byte) []byte {
	return applet.AppendPad(b, strconv.FormatUint(uint64(c), 8), 3)
}

// visible writes a byte as cat -v does.
func visible(c byte) string {
	s := ""
	if c >= 128 {
		s = "M-"
		c -= 128
	}
	switch {
	case c < 32:
		return s + "^" + string(rune(c+64))
	case c == 127:
		return s + "^?"
	}
	return s + string(rune(c))
}
