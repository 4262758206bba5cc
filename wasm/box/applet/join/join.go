// Package join is the command join.
package join

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is join.
var Command = applet.Command{
	Name:     "join",
	Synopsis: "[OPTION]... FILE1 FILE2",
	Summary:  "join lines of two sorted files on a common field",
	Help: `  -a FILENUM             also print unpairable lines from file FILENUM
      --check-order      check that the input is correctly sorted
      --nocheck-order    do not check that the input is correctly sorted
  -e STRING              replace missing input fields with STRING
      --header           treat the first line in each file as field headers
  -i, --ignore-case      ignore differences in case when comparing fields
  -j FIELD               equivalent to '-1 FIELD -2 FIELD'
  -o FORMAT              obey FORMAT while constructing output line
  -t CHAR                use CHAR as input and output field separator
  -v FILENUM             like -a FILENUM, but suppress joined output lines
  -1 FIELD               join on this FIELD of file 1
  -2 FIELD               join on this FIELD of file 2
  -z, --zero-terminated  line delimiter is NUL, not newline
FORMAT is one or more comma or blank separated specifications, each being
FILENUM.FIELD or 0; or 'auto'.`,
	Run: run,
}

// row is a line with its fields.
type row struct {
	text   []byte
	fields [][]byte
}

// input is one of the files.
type input struct {
	lines    *applet.Lines
	name     string
	key      int   // field, counted from 0
	cur      *row  // the row at hand, nil at the end
	group    []row // those with the same key
	last     []byte
	any      bool
	number   int
	unpaired bool // its unpairable lines are printed
	disorder bool
}

type place struct{ file, field int }

type joiner struct {
	c          *applet.Ctx
	in         [2]input
	sep        []byte // nil: blanks
	end        byte
	empty      []byte
	format     []place
	auto       bool
	ignoreCase bool
	pairs      bool
	header     bool
	check      bool
	force      bool
	seen       bool // an unpairable line
	out        []byte
}

func run(c *applet.Ctx) int {
	j := joiner{c: c, end: '\n', pairs: true, check: true}
	keys := [2]int{-1, -1}
	file := func(v string) (int, error) {
		n, err := strconv.Atoi(v)
		if err != nil || n != 1 && n != 2 {
			return 0, errors.New("invalid field number: " + applet.Curly(v))
		}
		return n - 1, nil
	}
	field := func(v string) (int, error) {
		n, err := strconv.ParseUint(strings.TrimPrefix(v, "+"), 10, 62)
		if err != nil && !errors.Is(err, strconv.ErrRange) || err == nil && n == 0 {
			return 0, errors.New("invalid field number: " + applet.Curly(v))
		}
		return int(min(n, 1<<31)) - 1, nil
	}
	setKey := func(which ...int) func(string) error {
		return func(v string) error {
			n, err := field(v)
			for _, w := range which {
				if err == nil && keys[w] >= 0 && keys[w] != n {
					return errors.New("incompatible join fields " + strconv.Itoa(keys[w]+1) + ", " + strconv.Itoa(n+1))
				}
				keys[w] = n
			}
			return err
		}
	}
	args, status, ok := c.Parse(1,
		applet.Func(func(v string) error {
			i, err := file(v)
			j.in[i].unpaired = err == nil || j.in[i].unpaired
			return err
		}, 'a', ""),
		applet.Do(func() { j.check, j.force = true, true }, 0, "check-order"),
		applet.Do(func() { j.check, j.force = false, false }, 0, "nocheck-order"),
		applet.Func(func(v string) error { j.empty = []byte(v); return nil }, 'e', ""),
		applet.Bool(&j.header, 0, "header"),
		applet.Bool(&j.ignoreCase, 'i', "ignore-case"),
		applet.Func(setKey(0, 1), 'j', ""),
		applet.Func(func(v string) error { return j.setFormat(v, field) }, 'o', ""),
		applet.Func(func(v string) error {
			switch {
			case v == "":
				j.sep = []byte{j.end}
			case v == `\0`:
				j.sep = []byte{0}
			case len(v) > 1:
				return errors.New("multi-character tab " + applet.Curly(v))
			default:
				j.sep = []byte(v)
			}
			return nil
		}, 't', ""),
		applet.Func(func(v string) error {
			i, err := file(v)
			j.in[i].unpaired = err == nil || j.in[i].unpaired
			j.pairs = false
			return err
		}, 'v', ""),
		applet.Func(setKey(0), '1', ""),
		applet.Func(setKey(1), '2', ""),
		applet.Do(func() { j.end = 0 }, 'z', "zero-terminated"),
	)
	switch {
	case !ok:
		return status
	case len(args) < 2:
		return c.MissingOperand(args)
	case len(args) > 2:
		return c.Usage("extra operand ", applet.Quote(args[2]))
	case args[0] == "-" && args[1] == "-":
		c.Warn("both files cannot be standard input")
		return 1
	}
	for i, name := range args {
		r, err := c.Open(name)
		if err != nil {
			c.WarnName(name, err)
			return 1
		}
		defer r.Close()
		in := &j.in[i]
		in.lines, in.name, in.key = applet.NewLines(r, j.end), name, max(0, keys[i])
	}
	done := j.run()
	c.Stdout.Write(j.out)
	for i := range j.in {
		if err := j.in[i].lines.Err(); err != nil {
			c.Warn(applet.Name(args[i]), ": read error: ", applet.Reason(err))
			return 1
		}
	}
	if !done {
		return 1
	}
	if j.in[0].disorder || j.in[1].disorder {
		c.Flush()
		c.Warn("input is not in sorted order")
		return 1
	}
	return 0
}

func (j *joiner) setFormat(v string, field func(string) (int, error)) error {
	if v == "auto" {
		j.auto = true
		return nil
	}
	for _, item := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if item == "0" {
			j.format = append(j.format, place{file: -1})
			continue
		}
		if item[0] == '0' {
			return errors.New("invalid field specifier: " + applet.Curly(item))
		}
		a, b, dot := strings.Cut(item, ".")
		if a != "1" && a != "2" {
			return errors.New("invalid file number in field spec: " + applet.Curly(item))
		}
		if !dot {
			return errors.New("invalid field specifier: " + applet.Curly(item))
		}
		n, err := field(b)
		if err != nil {
			return err
		}
		j.format = append(j.format, place{int(a[0] - '1'), n})
	}
	return nil
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

func (j *joiner) split(text []byte) [][]byte {
	if len(text) == 0 {
		return nil
	}
	if j.sep != nil {
		return bytes.Split(text, j.sep)
	}
	var fields [][]byte
	for i := 0; ; {
		for i < len(text) && isBlank(text[i]) {
			i++
		}
		if i == len(text) {
			if fields != nil { // blanks at the end have an empty field behind them
				fields = append(fields, text[i:])
			}
			return fields
		}
		start := i
		for i < len(text) && !isBlank(text[i]) {
			i++
		}
		if fields = append(fields, text[start:i]); i == len(text) {
			return fields
		}
	}
}

func (r *row) field(i int) []byte {
	if i < len(r.fields) {
		return r.fields[i]
	}
	return nil
}

func (j *joiner) compare(a, b []byte) int {
	if j.ignoreCase {
		return bytes.Compare(bytes.ToLower(a), bytes.ToLower(b))
	}
	return bytes.Compare(a, b)
}

// read reads one row; false at the end, or when disorder ends the run.
func (j *joiner) read(in *input) *row {
	line, more := in.lines.Next()
	if !more {
		return nil
	}
	in.number++
	text := bytes.Clone(line)
	r := &row{text, j.split(text)}
	key := r.field(in.key)
	if j.check && in.any && !in.disorder && (j.force || j.seen) && j.compare(in.last, key) > 0 {
		in.disorder = true
		j.c.Stdout.Write(j.out)
		j.out = j.out[:0]
		j.c.Flush()
		j.c.Warn(applet.Name(in.name), ":", strconv.Itoa(in.number), ": is not sorted: ", string(text))
	}
	in.last, in.any = key, true
	return r
}

// collect makes the group of the row at hand and those after it with its key,
// and goes behind them.
func (j *joiner) collect(in *input) {
	first := in.cur
	in.group = append(in.group[:0], *first)
	for {
		in.cur = j.read(in)
		if in.cur == nil || j.stopped() || j.compare(first.field(in.key), in.cur.field(in.key)) != 0 {
			return
		}
		in.group = append(in.group, *in.cur)
	}
}

// stopped tells that disorder ends the run.
func (j *joiner) stopped() bool { return j.force && (j.in[0].disorder || j.in[1].disorder) }

// run joins the files; false when disorder ended it.
func (j *joiner) run() bool {
	a, b := &j.in[0], &j.in[1]
	a.cur, b.cur = j.read(a), j.read(b)
	if j.auto {
		j.format = append(j.format, place{file: -1})
		for f, in := range []*input{a, b} {
			if in.cur == nil {
				continue
			}
			for i := range in.cur.fields {
				if i != in.key {
					j.format = append(j.format, place{f, i})
				}
			}
		}
	}
	if j.header {
		if a.cur != nil || b.cur != nil {
			j.put(a.cur, b.cur)
		}
		a.any, b.any = false, false
		a.cur, b.cur = j.read(a), j.read(b)
	}
	for a.cur != nil && b.cur != nil {
		r := j.compare(a.cur.field(a.key), b.cur.field(b.key))
		switch {
		case r < 0:
			j.single(0)
		case r > 0:
			j.single(1)
		default:
			j.collect(a)
			if !j.stopped() {
				j.collect(b)
			}
			for i := range a.group {
				for k := range b.group {
					if j.pairs {
						j.put(&a.group[i], &b.group[k])
					}
				}
			}
		}
		if j.stopped() {
			return false
		}
		if len(j.out) >= applet.BufSize && !j.flush() {
			return true
		}
	}
	// The rest is read also to find out whether it is in order.
	for i, in := range []*input{a, b} {
		for in.cur != nil && (in.unpaired || j.check && !in.disorder) {
			j.single(i)
			if j.stopped() {
				return false
			}
			if len(j.out) >= applet.BufSize && !j.flush() {
				return true
			}
		}
	}
	return true
}

func (j *joiner) flush() bool {
	_, err := j.c.Stdout.Write(j.out)
	j.out = j.out[:0]
	return err == nil
}

// single handles a row without a counterpart.
func (j *joiner) single(i int) {
	in := &j.in[i]
	if in.unpaired {
		if i == 0 {
			j.put(in.cur, nil)
		} else {
			j.put(nil, in.cur)
		}
	}
	in.cur = j.read(in) // as in GNU join, before order counts for it
	if j.in[1-i].cur != nil {
		j.seen = true
	}
}

func (j *joiner) put(a, b *row) {
	sep := j.sep
	if sep == nil {
		sep = []byte{' '}
	}
	add := func(field []byte, first bool) {
		if !first {
			j.out = append(j.out, sep...)
		}
		if len(field) == 0 {
			field = j.empty
		}
		j.out = append(j.out, field...)
	}
	key := func() []byte {
		if a != nil {
			return a.field(j.in[0].key)
		}
		return b.field(j.in[1].key)
	}
	if j.format != nil {
		for i, p := range j.format {
			switch {
			case p.file < 0:
				add(key(), i == 0)
			case p.file == 0 && a != nil:
				add(a.field(p.field), i == 0)
			case p.file == 1 && b != nil:
				add(b.field(p.field), i == 0)
			default:
				add(nil, i == 0)
			}
		}
		j.out = append(j.out, j.end)
		return
	}
	add(key(), true)
	for f, r := range []*row{a, b} {
		if r == nil {
			continue
		}
		for i := range r.fields {
			if i != j.in[f].key {
				add(r.fields[i], false)
			}
		}
	}
	j.out = append(j.out, j.end)
}
