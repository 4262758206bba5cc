// Package fmt is the command fmt.
package fmt

import (
	"bufio"
	"io"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is fmt.
var Command = applet.Command{
	Name:     "fmt",
	Synopsis: "[-WIDTH] [OPTION]... [FILE]...",
	Summary:  "reformat each paragraph in the FILEs, writing to standard output",
	Help: `  -c, --crown-margin    preserve indentation of first two lines
  -p, --prefix=STRING   reformat only lines beginning with STRING, reattaching
                          the prefix to reformatted lines
  -s, --split-only      split long lines, but do not refill
  -t, --tagged-paragraph  indentation of first line different from second
  -u, --uniform-spacing one space between words, two after sentences
  -w, --width=WIDTH     maximum line width (default of 75 columns)
  -g, --goal=WIDTH      goal width (default of 93% of width)`,
	Run: run,
}

// Bounds that decide where a long paragraph is cut: GNU's buffers.
const (
	maxChars = 5000
	maxWords = 1000
)

func run(c *applet.Ctx) int {
	f := formatter{out: c.Out(), width: 75}
	width, goal := "", ""
	if len(c.Args) > 0 && len(c.Args[0]) > 1 && c.Args[0][0] == '-' && isDigit(c.Args[0][1]) {
		width, c.Args = c.Args[0][1:], c.Args[1:]
	}
	opts := []applet.Opt{
		applet.Bool(&f.crown, 'c', "crown-margin"), applet.Bool(&f.split, 's', "split-only"), applet.Bool(&f.tagged, 't', "tagged-paragraph"),
		applet.Bool(&f.uniform, 'u', "uniform-spacing"), applet.String(&width, 'w', "width"), applet.String(&goal, 'g', "goal"),
		applet.Func(func(v string) error { f.setPrefix(v); return nil }, 'p', "prefix"),
	}
	names, status, ok := c.Parse(1, opts...)
	if !ok {
		return status
	}
	number := func(v string, most int) (int, bool) {
		n, err := applet.ParseSize(v, "")
		if err == nil && n > int64(most) {
			err = applet.ErrRange
		}
		if err != nil {
			c.Warn(applet.Complain("invalid width", v, err).Error())
			return 0, false
		}
		return int(n), true
	}
	if width != "" {
		if f.width, ok = number(width, maxChars/2); !ok {
			return 1
		}
	}
	f.goal = f.width * (2*(100-7) + 1) / 200
	if goal != "" {
		if f.goal, ok = number(goal, f.width); !ok {
			return 1
		}
		if width == "" {
			f.width = f.goal + 10
		}
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		r, err := c.Open(name)
		if err != nil {
			c.Warn("cannot open ", applet.Quote(name), " for reading: ", applet.Reason(err))
			status = 1
			continue
		}
		err = f.format(r)
		r.Close()
		if err != nil {
			c.WarnName(name, err)
			status = 1
		}
	}
	return status
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// setPrefix cuts the blanks round a prefix off, and remembers them.
func (f *formatter) setPrefix(v string) {
	text := strings.TrimLeft(v, " ")
	f.lead, f.full = len(v)-len(text), len(text)
	f.prefix = strings.TrimRight(text, " ")
}

// eof is what peek returns at the end.
const eof = -1

// formatter reads paragraphs and writes them anew. Columns are bytes, as GNU
// fmt has them.
type formatter struct {
	crown, split, tagged, uniform bool
	width, goal                   int
	prefix                        string // without the blanks round it
	lead, full                    int    // blanks before it; its length with those behind

	out *bufio.Writer
	in  *bufio.Reader
	err error

	tabs         bool // the input has some: so may the output
	column       int  // of the input
	nextIndent   int  // of the prefix in the next line
	next         int  // the character that the next line begins with
	indent       int  // of the prefix in the paragraph
	first, other int  // indentation of its first line and of the others
	words        []word
	chars        int // in the words, and in the one that is being read
	lastLength   int // of the line written last
	outColumn    int
}

func (f *formatter) get() int {
	b, err := f.in.ReadByte()
	if err != nil {
		if err != io.EOF {
			f.err = err
		}
		return eof
	}
	return int(b)
}

func (f *formatter) format(r io.Reader) error {
	f.in, f.err = bufio.NewReaderSize(r, applet.BufSize), nil
	f.tabs, f.other = false, 0
	f.next = f.prefixOf()
	for f.paragraph() {
		f.breakLines()
		f.write(len(f.words))
	}
	return f.err
}

// paragraph reads the next one, and copies what lies before it.
func (f *formatter) paragraph() bool {
	f.lastLength = 0
	c := f.next
	for c == '\n' || c == eof || f.nextIndent < f.lead || f.column < f.nextIndent+f.full {
		if c = f.copyRest(c); c == eof {
			f.next = eof
			return false
		}
		f.out.WriteByte('\n')
		c = f.prefixOf()
	}
	f.indent, f.first = f.nextIndent, f.column
	f.words, f.chars = f.words[:0], 0
	c = f.line(c)
	f.setOther(f.same(c))
	switch {
	case f.split:
	case f.tagged && !f.crown && f.column == f.first:
	default:
		for f.same(c) && f.column == f.other {
			c = f.line(c)
		}
	}
	last := &f.words[len(f.words)-1]
	last.period, last.final = true, true
	f.next = c
	return true
}

// same tells whether the line that begins with c may belong to the paragraph.
func (f *formatter) same(c int) bool {
	return f.nextIndent == f.indent && f.column >= f.nextIndent+f.full && c != '\n' && c != eof
}

func (f *formatter) setOther(same bool) {
	switch {
	case f.split:
		f.other = f.first
	case f.crown:
		if f.other = f.first; same {
			f.other = f.column
		}
	case f.tagged:
		switch {
		case same && f.column != f.first:
			f.other = f.column
		case f.other == f.first && f.first == 0:
			f.other = 3
		case f.other == f.first:
			f.other = 0
		}
	default:
		f.other = f.first
	}
}

// copyRest copies a line that is not to be formatted.
func (f *formatter) copyRest(c int) int {
	f.outColumn = 0
	if f.column > f.nextIndent || c != '\n' && c != eof {
		f.space(f.nextIndent)
		for i := 0; f.outColumn != f.column && i < len(f.prefix); i++ {
			f.out.WriteByte(f.prefix[i])
			f.outColumn++
		}
		if c != eof && c != '\n' {
			f.space(f.column - f.outColumn)
		}
		if c == eof && f.column >= f.nextIndent+len(f.prefix) {
			f.out.WriteByte('\n')
		}
	}
	for ; c != '\n' && c != eof; c = f.get() {
		f.out.WriteByte(byte(c))
	}
	return c
}

// line reads the words of a line, and the prefix of the next.
func (f *formatter) line(c int) int {
	for {
		var w word
		for {
			if f.chars == maxChars {
				f.setOther(true)
				w.text = f.flush(w.text)
			}
			w.text = append(w.text, byte(c))
			f.chars++
			if c = f.get(); c == eof || isSpace(c) {
				break
			}
		}
		f.column += len(w.text)
		w.look()
		start := f.column
		c = f.blanks(c)
		w.space = f.column - start
		w.final = c == eof || w.period && (c == '\n' || w.space > 1)
		if c == '\n' || c == eof || f.uniform {
			if w.space = 1; w.final {
				w.space = 2
			}
		}
		if len(f.words) == maxWords-2 {
			f.setOther(true)
			f.flush(nil)
		}
		f.words = append(f.words, w)
		if c == '\n' || c == eof {
			return f.prefixOf()
		}
	}
}

func isSpace(c int) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// prefixOf reads the indentation and the prefix of a line.
func (f *formatter) prefixOf() int {
	f.column = 0
	c := f.blanks(f.get())
	if f.prefix == "" {
		f.nextIndent = min(f.lead, f.column)
		return c
	}
	f.nextIndent = f.column
	for i := 0; i < len(f.prefix); i++ {
		if c != int(f.prefix[i]) {
			return c
		}
		f.column++
		c = f.get()
	}
	return f.blanks(c)
}

func (f *formatter) blanks(c int) int {
	for ; ; c = f.get() {
		switch c {
		case ' ':
			f.column++
		case '\t':
			f.tabs = true
			f.column = (f.column/8 + 1) * 8
		default:
			return c
		}
	}
}
