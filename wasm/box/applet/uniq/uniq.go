// Package uniq is the command uniq.
package uniq

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is uniq.
var Command = applet.Command{
	Name:     "uniq",
	Synopsis: "[OPTION]... [INPUT [OUTPUT]]",
	Summary:  "report or omit repeated lines",
	Help: `  -c, --count           prefix lines by the number of occurrences
  -d, --repeated        only print duplicate lines, one for each group
  -D                    print all duplicate lines
      --all-repeated[=METHOD]  like -D, but allow separating groups with an
                          empty line; METHOD={none(default),prepend,separate}
  -f, --skip-fields=N   avoid comparing the first N fields
      --group[=METHOD]  show all items, separating groups with an empty line;
                          METHOD={separate(default),prepend,append,both}
  -i, --ignore-case     ignore differences in case when comparing
  -s, --skip-chars=N    avoid comparing the first N characters
  -u, --unique          only print unique lines
  -w, --check-chars=N   compare no more than N characters in lines
  -z, --zero-terminated line delimiter is NUL, not newline`,
	Run: run,
}

type uniq struct {
	count, ignoreCase     bool
	noUnique, noRepeated  bool // -d, -u
	all                   bool
	method                int // of -D: none, prepend, separate
	group                 int // separate, prepend, append, both; -1 for none
	fields, chars, number int64
	delim                 byte
	out                   []byte
	w                     io.Writer
}

const (
	none = iota
	prepend
	separate
)

const (
	groupSeparate = iota
	groupPrepend
	groupAppend
	groupBoth
)

func run(c *applet.Ctx) int {
	u := uniq{group: -1, number: math.MaxInt64, delim: '\n', w: c.Stdout}
	num := func(p *int64, what string) func(string) error {
		return func(v string) error {
			n, err := applet.ParseSize(v, "")
			if err != nil && err != applet.ErrOverflow {
				return errors.New(v + ": invalid number of " + what)
			}
			*p = n
			return nil
		}
	}
	args, status, ok := c.Parse(1,
		applet.Bool(&u.count, 'c', "count"),
		applet.Bool(&u.noUnique, 'd', "repeated"),
		applet.Do(func() { u.noUnique, u.all = true, true }, 'D', ""),
		applet.Optional(func(v string, given bool) (err error) {
			u.noUnique, u.all = true, true
			if given {
				u.method, err = applet.Choose("--all-repeated", v, []string{"none"}, []string{"prepend"}, []string{"separate"})
			}
			return err
		}, 0, "all-repeated"),
		applet.Func(num(&u.fields, "fields to skip"), 'f', "skip-fields"),
		applet.Optional(func(v string, given bool) (err error) {
			u.group = groupSeparate
			if given {
				u.group, err = applet.Choose("--group", v, []string{"separate"}, []string{"prepend"}, []string{"append"}, []string{"both"})
			}
			return err
		}, 0, "group"),
		applet.Bool(&u.ignoreCase, 'i', "ignore-case"),
		applet.Func(num(&u.chars, "bytes to skip"), 's', "skip-chars"),
		applet.Bool(&u.noRepeated, 'u', "unique"),
		applet.Func(num(&u.number, "bytes to compare"), 'w', "check-chars"),
		applet.Do(func() { u.delim = 0 }, 'z', "zero-terminated"),
	)
	if !ok {
		return status
	}
	optional := u.count || u.noUnique || u.noRepeated
	switch {
	case len(args) > 2:
		return c.ExtraOperand(args[2])
	case u.group >= 0 && optional:
		return c.Usage("--group is mutually exclusive with -c/-d/-D/-u")
	case u.count && u.all:
		return c.Usage("printing all duplicated lines and repeat counts is meaningless")
	}
	in := "-"
	if len(args) > 0 {
		in = args[0]
	}
	r, err := c.Open(in)
	if err != nil {
		c.WarnName(in, err)
		return 1
	}
	defer r.Close()
	if len(args) == 2 && args[1] != "-" {
		f, err := os.Create(args[1])
		if err != nil {
			c.WarnName(args[1], err)
			return 1
		}
		defer f.Close()
		u.w = f
	}
	lines := applet.NewLines(r, u.delim)
	u.run(lines)
	if err := u.flush(); err != nil && len(args) == 2 {
		c.Warn("write error: ", applet.Reason(err))
		return 1
	}
	if err := lines.Err(); err != nil {
		if in == "-" {
			c.Warn("error reading 'standard input'")
		} else {
			c.Warn("error reading ", applet.Quote(in))
		}
		return 1
	}
	return 0
}

func (u *uniq) flush() error {
	_, err := u.w.Write(u.out)
	u.out = u.out[:0]
	return err
}

func (u *uniq) put(line []byte) bool {
	u.out = append(append(u.out, line...), u.delim)
	if len(u.out) >= applet.BufSize {
		return u.flush() == nil
	}
	return true
}

func (u *uniq) run(lines *applet.Lines) {
	if u.group >= 0 {
		u.groups(lines)
		return
	}
	var first []byte // a copy of the group's first line
	var key []byte   // what is compared of it
	var held []byte  // a copy of the line before, for -D -u
	n := int64(0)
	begun := false
	for {
		line, ok := lines.Next()
		if ok && n > 0 && u.same(key, u.key(line)) {
			n++
			if u.all {
				if n == 2 {
					if u.method == prepend || u.method == separate && begun {
						u.out = append(u.out, u.delim)
					}
					begun = true
					u.put(first)
				}
				// -u leaves out the last of the group.
				if n > 2 && u.noRepeated && !u.put(held) || !u.noRepeated && !u.put(line) {
					return
				}
				if u.noRepeated {
					held = append(held[:0], line...)
				}
			}
			continue
		}
		if n > 0 && !u.all && (n > 1 && !u.noRepeated || n == 1 && !u.noUnique) {
			if u.count {
				u.out = append(applet.AppendNum(u.out, n, 7), ' ')
			}
			if !u.put(first) {
				return
			}
		}
		if !ok {
			return
		}
		first = append(first[:0], line...)
		key = u.key(first)
		n = 1
	}
}

func (u *uniq) groups(lines *applet.Lines) {
	var key []byte
	any := false
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		k := u.key(line)
		if !any || !u.same(key, k) {
			if any || u.group == groupPrepend || u.group == groupBoth {
				u.out = append(u.out, u.delim)
			}
			any = true
			key = append(key[:0], k...)
		}
		if !u.put(line) {
			return
		}
	}
	if any && (u.group == groupAppend || u.group == groupBoth) {
		u.out = append(u.out, u.delim)
	}
}

func (u *uniq) same(a, b []byte) bool {
	if !u.ignoreCase {
		return bytes.Equal(a, b)
	}
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 32
	}
	return b
}

// key returns the part of a line that is compared.
func (u *uniq) key(line []byte) []byte {
	i := 0
	for f := int64(0); f < u.fields && i < len(line); f++ {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
	}
	line = line[i:]
	line = line[min(int64(len(line)), u.chars):]
	return line[:min(int64(len(line)), u.number)]
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }
