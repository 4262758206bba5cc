// Package column is the command column.
package column

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is column.
var Command = applet.Command{
	Name:     "column",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "columnate lists",
	Help: `  -t, --table                 create a table
  -J, --json                  use JSON output format for table
  -n, --table-name NAME       table name for JSON output
  -d, --table-noheadings      don't print header
  -N, --table-columns NAMES   comma separated columns names
  -R, --table-right COLUMNS   right align text in these columns
  -H, --table-hide COLUMNS    don't print the columns
  -O, --table-order COLUMNS   specify order of output columns
  -o, --output-separator STR  columns separator for table output (two spaces)
  -s, --separator STRING      possible table delimiters
  -l, --table-columns-limit N maximal number of input columns
  -c, --output-width WIDTH    width of output in number of characters
  -x, --fillrows              fill rows before columns
  -L, --keep-empty-lines      don't ignore empty lines`,
	Run: run,
}

type layout struct {
	table, rowsFirst, keepEmpty bool
	names, right, hide, order   []string
	joint                       string
	seps                        string // "" for white space
	width, limit                int
	json, bare                  bool // bare: without the names
	name                        string
}

func run(c *applet.Ctx) int {
	l := layout{joint: "  ", width: 80, name: "table"}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		l.width = n
	}
	list := func(p *[]string) func(string) error {
		return func(v string) error { *p = strings.Split(v, ","); return nil }
	}
	num := func(p *int, what string) func(string) error {
		return func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 {
				return errors.New(what + ": " + applet.Quote(v))
			}
			*p = n
			return nil
		}
	}
	files, status, ok := c.Parse(1,
		applet.Bool(&l.table, 't', "table"),
		applet.Do(func() { l.table, l.json = true, true }, 'J', "json"),
		applet.String(&l.name, 'n', "table-name"),
		applet.Bool(&l.bare, 'd', "table-noheadings"),
		applet.Func(list(&l.names), 'N', "table-columns"),
		applet.Func(list(&l.right), 'R', "table-right"),
		applet.Func(list(&l.hide), 'H', "table-hide"),
		applet.Func(list(&l.order), 'O', "table-order"),
		applet.String(&l.joint, 'o', "output-separator"),
		applet.String(&l.seps, 's', "separator"),
		applet.Func(num(&l.limit, "invalid columns limit argument"), 'l', "table-columns-limit"),
		applet.Func(num(&l.width, "invalid columns argument"), 'c', "output-width"),
		applet.Bool(&l.rowsFirst, 'x', "fillrows"),
		applet.Bool(&l.keepEmpty, 'L', "keep-empty-lines"),
	)
	if !ok {
		return status
	}
	if l.table && l.rowsFirst {
		c.Warn("mutually exclusive arguments: --table --fillrows")
		return 1
	}
	if l.json && len(l.names) == 0 {
		c.Warn("option --table-columns required for --json")
		return 1
	}
	if l.width == 0 {
		l.width = 1 << 30
	}
	var lines []string
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			c.Warn(name, ": ", applet.Reason(err))
			ok = false
			continue
		}
		in := applet.NewLines(r, '\n')
		for {
			line, more := in.Next()
			if !more {
				break
			}
			text := printable(line)
			if strings.TrimSpace(text) == "" {
				if !l.keepEmpty {
					continue
				}
				text = ""
			}
			lines = append(lines, text)
		}
		if err := in.Err(); err != nil {
			c.Warn(name, ": ", applet.Reason(err))
			ok = false
		}
		r.Close()
	}
	var out []byte
	if l.table {
		var err error
		if out, err = l.asTable(lines); err != nil {
			c.Warn(err.Error())
			return 1
		}
	} else {
		out = l.asColumns(lines)
	}
	io.WriteString(c.Stdout, string(out))
	return applet.Status(ok)
}

// printable is a line as it is shown: bytes that are no text are written out,
// and a NUL ends it.
func printable(line []byte) string {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	if utf8.Valid(line) {
		return string(line)
	}
	var b []byte
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		if r == utf8.RuneError && n == 1 {
			b = append(b, '\\', 'x', "0123456789abcdef"[line[0]>>4], "0123456789abcdef"[line[0]&15])
		} else {
			b = append(b, line[:n]...)
		}
		line = line[n:]
	}
	return string(b)
}

// split splits a line into cells.
func (l *layout) split(line string) []string {
	if l.seps == "" {
		cells := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
		if l.limit > 0 && len(cells) > l.limit {
			rest := line
			for range l.limit - 1 {
				rest = strings.TrimLeft(rest, " \t")
				rest = rest[strings.IndexAny(rest, " \t"):]
			}
			return append(cells[:l.limit-1:l.limit-1], strings.TrimLeft(rest, " \t"))
		}
		return cells
	}
	var cells []string
	for {
		i := strings.IndexAny(line, l.seps)
		if i < 0 || l.limit > 0 && len(cells) == l.limit-1 {
			return append(cells, line)
		}
		cells = append(cells, line[:i])
		_, n := utf8.DecodeRuneInString(line[i:])
		line = line[i+n:]
	}
}

// column returns the index of the column that a name or number stands for.
func (l *layout) column(s string, n int) (int, error) {
	for i, name := range l.names {
		if name == s {
			return i, nil
		}
	}
	i, err := strconv.Atoi(s)
	if s == "-1" {
		return n - 1, nil
	}
	if err != nil || i < 1 || i > n {
		return 0, errors.New("undefined column name " + applet.Quote(s))
	}
	return i - 1, nil
}

func (l *layout) asTable(lines []string) ([]byte, error) {
	var rows [][]string
	n := len(l.names)
	if n > 0 {
		rows = append(rows, l.names)
	}
	for _, line := range lines {
		cells := l.split(line)
		n = max(n, len(cells))
		rows = append(rows, cells)
	}
	right := make([]bool, n)
	for _, name := range l.right {
		i, err := l.column(name, n)
		if err != nil {
			return nil, err
		}
		right[i] = true
	}
	hidden := make([]bool, n)
	for _, name := range l.hide {
		if name == "-" {
			for i := len(l.names); i < n; i++ {
				hidden[i] = true
			}
			continue
		}
		i, err := l.column(name, n)
		if err != nil {
			return nil, err
		}
		hidden[i] = true
	}
	var order []int
	placed := make([]bool, n)
	for _, name := range l.order {
		i, err := l.column(name, n)
		if err != nil {
			return nil, err
		}
		order = append(order, i)
		placed[i] = true
	}
	for i := range n {
		if !placed[i] {
			order = append(order, i)
		}
	}
	shown := order[:0]
	for _, i := range order {
		if !hidden[i] {
			shown = append(shown, i)
		}
	}
	if l.json {
		return l.asJSON(rows[1:], shown)
	}
	widths := make([]int, n)
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	if l.bare && len(l.names) > 0 {
		rows = rows[1:]
	}
	var out []byte
	for _, r := range rows {
		for k, i := range shown {
			cell := ""
			if i < len(r) {
				cell = r[i]
			}
			fill := widths[i] - columns(cell)
			last := k == len(shown)-1
			if right[i] {
				out = append(out, strings.Repeat(" ", fill)...)
			}
			out = append(out, cell...)
			if !right[i] && !last {
				out = append(out, strings.Repeat(" ", fill)...)
			}
			if !last {
				out = append(out, l.joint...)
			}
		}
		out = append(out, '\n')
	}
	return out, nil
}

func columns(s string) int {
	n := 0
	for _, r := range s {
		if r >= ' ' && r != 127 {
			n += applet.RuneWidth(r)
		}
	}
	return n
}

// asColumns fills the width with the lines, each in a column whose width is a
// multiple of 8.
func (l *layout) asColumns(lines []string) []byte {
	widest := 0
	for _, s := range lines {
		widest = max(widest, columns(s))
	}
	var out []byte
	cell := (widest + 8) &^ 7
	per := max(1, l.width/cell)
	if widest >= l.width || len(lines) == 0 {
		for _, s := range lines {
			out = append(append(out, s...), '\n')
		}
		return out
	}
	rows := (len(lines) + per - 1) / per
	cols := (len(lines) + rows - 1) / rows
	if l.rowsFirst {
		cols = per
	}
	for r := range rows {
		at := 0
		for k := range cols {
			i := k*rows + r
			next := i + rows
			if l.rowsFirst {
				i = r*cols + k
				next = i + 1
			}
			if i >= len(lines) {
				break
			}
			out = append(out, lines[i]...)
			at += columns(lines[i])
			if k == cols-1 || next >= len(lines) {
				break
			}
			for end := (k + 1) * cell; at < end; at = (at + 8) &^ 7 {
				out = append(out, '\t')
			}
		}
		out = append(out, '\n')
	}
	return out
}
