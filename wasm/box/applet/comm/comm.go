// Package comm is the command comm.
package comm

import (
	"bytes"
	"io"
	"strconv"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is comm.
var Command = applet.Command{
	Name:     "comm",
	Synopsis: "[OPTION]... FILE1 FILE2",
	Summary:  "compare sorted files FILE1 and FILE2 line by line",
	Help: `  -1                      suppress column 1 (lines unique to FILE1)
  -2                      suppress column 2 (lines unique to FILE2)
  -3                      suppress column 3 (lines that appear in both files)
      --check-order       check that the input is correctly sorted
      --nocheck-order     do not check that the input is correctly sorted
      --output-delimiter=STR  separate columns with STR
      --total             output a summary
  -z, --zero-terminated   line delimiter is NUL, not newline`,
	Run: run,
}

// side is one of the two inputs.
type side struct {
	lines    *applet.Lines
	line     []byte
	more     bool
	previous []byte
	before   []byte // the line before that
	count    int    // of the lines read
	any      bool
	disorder bool // has been reported
}

type comparer struct {
	c            *applet.Ctx
	hide         [3]bool
	joint        string
	end          byte
	check, force bool // complain about disorder; at once
	sides        [2]side
	unpairable   bool
	out          []byte
	failed       bool
}

func run(c *applet.Ctx) int {
	k := comparer{c: c, joint: "\t", end: '\n', check: true}
	total := false
	names, status, ok := c.Parse(1,
		applet.Bool(&k.hide[0], '1', ""),
		applet.Bool(&k.hide[1], '2', ""),
		applet.Bool(&k.hide[2], '3', ""),
		applet.Do(func() { k.check, k.force = true, true }, 0, "check-order"),
		applet.Do(func() { k.check, k.force = false, false }, 0, "nocheck-order"),
		applet.Func(func(v string) error {
			if k.joint = v; v == "" {
				k.joint = "\x00"
			}
			return nil
		}, 0, "output-delimiter"),
		applet.Bool(&total, 0, "total"),
		applet.Do(func() { k.end = 0 }, 'z', "zero-terminated"),
	)
	switch {
	case !ok:
		return status
	case len(names) < 2:
		return c.MissingOperand(names)
	case len(names) > 2:
		return c.ExtraOperand(names[2])
	}
	for i, name := range names {
		r, err := c.Open(name)
		if err != nil {
			c.WarnName(name, err)
			return 1
		}
		defer r.Close()
		k.sides[i].lines = applet.NewLines(r, k.end)
	}
	counts := k.run()
	if total && !k.failed {
		for _, n := range counts {
			k.out = append(append(k.out, strconv.FormatInt(n, 10)...), k.joint...)
		}
		k.out = append(append(k.out, "total"...), k.end)
	}
	c.Stdout.Write(k.out)
	for i, name := range names {
		if err := k.sides[i].lines.Err(); err != nil {
			c.WarnName(name, err)
			return 1
		}
	}
	if k.sides[0].disorder || k.sides[1].disorder {
		if !k.force {
			c.Flush()
			c.Warn("input is not in sorted order")
		}
		return 1
	}
	return 0
}

// next reads the next line of a side and looks whether it is in order.
func (k *comparer) next(i int) {
	s := &k.sides[i]
	if s.any {
		s.before, s.previous = s.previous, append(s.before[:0], s.line...)
	}
	s.line, s.more = s.lines.Next()
	wrong := s.more && s.any && bytes.Compare(s.previous, s.line) > 0
	if !s.more { // what was not asked of the last two lines is asked now
		wrong = s.count > 1 && bytes.Compare(s.before, s.previous) > 0
	}
	s.count++
	if wrong && k.check && !s.disorder && (k.force || k.unpairable) {
		s.disorder = true
		k.c.Stdout.Write(k.out)
		k.out = k.out[:0]
		k.c.Flush()
		io.WriteString(k.c.Stderr, "comm: file "+strconv.Itoa(i+1)+" is not in sorted order\n")
		k.failed = k.force
	}
	s.any = s.any || s.more
}

func (k *comparer) run() (counts [3]int64) {
	k.next(0)
	k.next(1)
	a, b := &k.sides[0], &k.sides[1]
	for !k.failed && (a.more || b.more) {
		r := 0
		switch {
		case !a.more:
			r = 1
		case !b.more:
			r = -1
		default:
			r = bytes.Compare(a.line, b.line)
		}
		if r != 0 {
			k.unpairable = true
		}
		column := 2
		line := a.line
		if r < 0 {
			column = 0
		} else if r > 0 {
			column, line = 1, b.line
		}
		counts[column]++
		if !k.put(column, line) {
			break
		}
		if r <= 0 {
			k.next(0)
		}
		if r >= 0 && !k.failed {
			k.next(1)
		}
	}
	return counts
}

func (k *comparer) put(column int, line []byte) bool {
	if k.hide[column] {
		return true
	}
	for i := range column {
		if !k.hide[i] {
			k.out = append(k.out, k.joint...)
		}
	}
	k.out = append(append(k.out, line...), k.end)
	if len(k.out) >= applet.BufSize {
		_, err := k.c.Stdout.Write(k.out)
		k.out = k.out[:0]
		return err == nil
	}
	return true
}
