// Package shuf is the command shuf.
package shuf

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is shuf.
var Command = applet.Command{
	Name:     "shuf",
	Synopsis: "[OPTION]... [FILE] | -e [OPTION]... [ARG]... | -i LO-HI [OPTION]...",
	Summary:  "write a random permutation of the input lines to standard output",
	Help: `  -e, --echo                treat each ARG as an input line
  -i, --input-range=LO-HI   treat each number LO through HI as an input line
  -n, --head-count=COUNT    output at most COUNT lines
      --random-source=FILE  get random bytes from FILE
  -o, --output=FILE         write result to FILE instead of standard output
  -r, --repeat              output lines can be repeated
  -z, --zero-terminated     line delimiter is NUL, not newline`,
	Run: run,
}

func run(c *applet.Ctx) int {
	var echo, repeat, hasRange, hasCount bool
	var lo, hi uint64
	count := int64(1<<63 - 1)
	output, bytesFrom := "", ""
	end := byte('\n')
	args, status, ok := c.Parse(1,
		applet.Bool(&echo, 'e', "echo"),
		applet.Func(func(v string) error {
			if hasRange {
				return errors.New("multiple -i options specified")
			}
			a, b, dash := strings.Cut(v, "-")
			var err1, err2 error
			lo, err1 = strconv.ParseUint(a, 10, 64)
			hi, err2 = strconv.ParseUint(b, 10, 64)
			if !dash || err1 != nil || err2 != nil || lo > hi+1 {
				return errors.New("invalid input range: " + applet.Curly(v))
			}
			hasRange = true
			return nil
		}, 'i', "input-range"),
		applet.Func(func(v string) error {
			n, err := applet.ParseSize(v, "")
			if err != nil && err != applet.ErrOverflow {
				return errors.New("invalid line count: " + applet.Curly(v))
			}
			count, hasCount = min(count, n), true
			return nil
		}, 'n', "head-count"),
		applet.String(&output, 'o', "output"),
		applet.String(&bytesFrom, 0, "random-source"),
		applet.Bool(&repeat, 'r', "repeat"),
		applet.Do(func() { end = 0 }, 'z', "zero-terminated"),
	)
	switch {
	case !ok:
		return status
	case echo && hasRange:
		return c.Usage("cannot combine -e and -i options")
	case hasRange && len(args) > 0:
		return c.ExtraOperand(args[0])
	case !echo && len(args) > 1:
		return c.ExtraOperand(args[1])
	}
	var random source = system{}
	bytes := &file{}
	if bytesFrom != "" {
		f, err := os.Open(bytesFrom)
		if err != nil {
			c.WarnName(bytesFrom, err)
			return 1
		}
		defer f.Close()
		bytes.r = bufio.NewReader(f)
		random = bytes
	}
	var lines []string
	sample := false // take only as many lines as are wanted, while they are read
	switch {
	case echo:
		lines = args
	case !hasRange:
		name := "-"
		if len(args) == 1 {
			name = args[0]
		}
		r, err := c.Open(name)
		sample = hasCount && !repeat && large(r)
		var text []byte
		if err == nil {
			text, err = io.ReadAll(r)
			r.Close()
		}
		if err != nil {
			c.WarnName(name, err)
			return 1
		}
		if s := strings.TrimSuffix(string(text), string(rune(end))); len(text) > 0 {
			lines = strings.Split(s, string(rune(end)))
		}
	}
	w := c.Stdout
	if output != "" {
		f, err := os.Create(output)
		if err != nil {
			c.WarnName(output, err)
			return 1
		}
		defer f.Close()
		w = f
	}
	total := uint64(len(lines))
	if hasRange {
		total = hi - lo + 1
	}
	item := func(b []byte, i uint64) []byte {
		if hasRange {
			b = strconv.AppendUint(b, lo+i, 10)
		} else {
			b = append(b, lines[i]...)
		}
		return append(b, end)
	}
	if repeat {
		if total == 0 {
			if count == 0 {
				return 0
			}
			c.Warn("no lines to repeat")
			return 1
		}
		var out []byte
		for i := int64(0); !hasCount || i < count; i++ {
			if out = item(out, random.choose(total)); len(out) >= applet.BufSize {
				if _, err := w.Write(out); err != nil {
					return 1
				}
				out = out[:0]
			}
		}
		w.Write(out)
		return 0
	}
	if k := uint64(count); sample && k > 0 && total >= k {
		for i := k; i <= total; i++ { // GNU decides about a line before it finds that there is none
			if j := random.choose(i + 1); j < k && i < total {
				lines[j] = lines[i]
			}
		}
		total = k
	}
	n := min(uint64(count), total)
	// A sparse Fisher-Yates: what was moved is kept in a map, so that a few of
	// a huge range cost little.
	moved := map[uint64]uint64{}
	at := func(i uint64) uint64 {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	var out []byte
	for i := range n {
		j := i + random.choose(total-i)
		vi, vj := at(i), at(j)
		moved[j] = vi
		delete(moved, i)
		if out = item(out, vj); len(out) >= applet.BufSize {
			if _, err := w.Write(out); err != nil {
				return 1
			}
			out = out[:0]
		}
	}
	if bytes.err != nil {
		why := bytes.err.Error()
		if bytes.err != errNoMore {
			why = applet.Reason(bytes.err)
		}
		c.Warn(applet.Curly(bytesFrom), ": ", why)
		return 1
	}
	w.Write(out)
	return 0
}

// large tells whether GNU samples what it reads instead of keeping it.
func large(r io.Reader) bool {
	f, ok := r.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return true
	}
	fi, err := f.Stat()
	return err != nil || !fi.Mode().IsRegular() || fi.Size() > 8<<20
}
