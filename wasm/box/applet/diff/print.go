package diff

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

func (c *comparer) print(p *pair, changes []change, a, b string, ta, tb time.Time) {
	switch c.o.style {
	case unified, context:
		c.header(a, b, ta, tb)
		for _, h := range p.hunks(changes, c.o.lines) {
			if c.o.style == unified {
				c.unified(p, h)
			} else {
				c.context(p, h)
			}
		}
	case sideBySide:
		c.columns(p, changes)
	case ed:
		for _, ch := range slices.Backward(changes) { // so that numbers of lines stay true
			if !p.trivial(ch) {
				c.ed(p, ch)
			}
		}
	case rcs:
		for _, ch := range changes {
			if !p.trivial(ch) {
				c.rcs(p, ch)
			}
		}
	default:
		for _, ch := range changes {
			if !p.trivial(ch) {
				c.normal(p, ch)
			}
		}
	}
}

// line writes a line after its mark, and says when it lacks its newline.
func (c *comparer) line(mark string, l []byte) {
	out := c.c.Stdout
	text, nl := bytes.CutSuffix(l, []byte("\n"))
	if c.o.initialTab {
		mark = strings.TrimSuffix(mark, " ") + "\t"
	}
	if c.o.expand {
		text = expandTabs(nil, text)
	}
	out.Write([]byte(mark))
	out.Write(text)
	out.Write([]byte("\n"))
	if !nl {
		out.Write([]byte("\\ No newline at end of file\n"))
	}
}

// span is a range of lines in the normal format.
func span(start, n int) string {
	switch n {
	case 0:
		return strconv.Itoa(start)
	case 1:
		return strconv.Itoa(start + 1)
	}
	return strconv.Itoa(start+1) + "," + strconv.Itoa(start+n)
}

// ed writes a change as commands of ed. A line that is a dot, which would end
// the input, is written as two and then mended.
func (c *comparer) ed(p *pair, ch change) {
	op := "c"
	switch {
	case ch.adds == 0:
		c.say(span(ch.a, ch.dels), "d")
		return
	case ch.dels == 0:
		op = "a"
	}
	c.say(span(ch.a, ch.dels), op)
	open := true
	for _, l := range p.b[ch.b : ch.b+ch.adds] {
		if !open {
			c.say("a")
			open = true
		}
		if string(l) == ".\n" {
			c.say("..\n.\ns/.//")
			open = false
			continue
		}
		c.c.Stdout.Write(l)
	}
	if open {
		c.say(".")
	}
}

// rcs writes a change as RCS keeps it.
func (c *comparer) rcs(p *pair, ch change) {
	if ch.dels > 0 {
		c.say("d", strconv.Itoa(ch.a+1), " ", strconv.Itoa(ch.dels))
	}
	if ch.adds > 0 {
		c.say("a", strconv.Itoa(ch.a+ch.dels), " ", strconv.Itoa(ch.adds))
	}
	for _, l := range p.b[ch.b : ch.b+ch.adds] {
		c.c.Stdout.Write(l)
	}
}

func (c *comparer) normal(p *pair, ch change) {
	op := "c"
	if ch.dels == 0 {
		op = "a"
	} else if ch.adds == 0 {
		op = "d"
	}
	c.say(span(ch.a, ch.dels), op, span(ch.b, ch.adds))
	for _, l := range p.a[ch.a : ch.a+ch.dels] {
		c.line("< ", l)
	}
	if op == "c" {
		c.say("---")
	}
	for _, l := range p.b[ch.b : ch.b+ch.adds] {
		c.line("> ", l)
	}
}

func (c *comparer) header(a, b string, ta, tb time.Time) {
	m1, m2 := "--- ", "+++ "
	if c.o.style == context {
		m1, m2 = "*** ", "--- "
	}
	name := func(i int, file string, t time.Time) string {
		if i < len(c.o.labels) {
			return c.o.labels[i]
		}
		return file + "\t" + gnudate.Format("%F %T.%N %z", t.In(c.zone))
	}
	c.say(m1, name(0, a, ta))
	c.say(m2, name(1, b, tb))
}

// hunk is a run of changes with the lines around them.
type hunk struct {
	a0, a1, b0, b1 int
	changes        []change
}

// hunks puts changes that are close together into one.
func (p *pair) hunks(changes []change, around int) []hunk {
	var out []hunk
	threshold := 2*around + 1
	for i := 0; i < len(changes); {
		j := i + 1
		for j < len(changes) {
			gap := changes[j].a - (changes[j-1].a + changes[j-1].dels)
			limit := threshold
			if p.trivial(changes[j]) { // an ignored change is taken along only when it is near
				limit = around
			}
			if gap >= limit {
				break
			}
			j++
		}
		group := changes[i:j]
		i = j
		counts := false
		for _, c := range group {
			counts = counts || !p.trivial(c)
		}
		if !counts {
			continue
		}
		first, last := group[0], group[len(group)-1]
		h := hunk{changes: group}
		h.a0, h.b0 = max(first.a-around, 0), max(first.b-around, 0)
		h.a1 = min(last.a+last.dels+around, len(p.a))
		h.b1 = min(last.b+last.adds+around, len(p.b))
		out = append(out, h)
	}
	return out
}

// function is the text of the last line before a hunk that starts a function.
func (c *comparer) heading(p *pair, h hunk) string {
	if c.o.function == nil {
		return ""
	}
	for i := h.a0 - 1; i >= 0; i-- {
		l := bytes.TrimSuffix(p.a[i], []byte("\n"))
		if ok, err := c.o.function.Match(l); ok && err == nil {
			l = bytes.TrimRight(l[:min(len(l), 40)], " \t")
			return " " + string(l)
		}
	}
	return ""
}

func (c *comparer) unified(p *pair, h hunk) {
	r := func(from, to int) string {
		switch to - from {
		case 0:
			return strconv.Itoa(from) + ",0"
		case 1:
			return strconv.Itoa(from + 1)
		}
		return strconv.Itoa(from+1) + "," + strconv.Itoa(to-from)
	}
	c.say("@@ -", r(h.a0, h.a1), " +", r(h.b0, h.b1), " @@", c.heading(p, h))
	i := h.a0
	for _, ch := range h.changes {
		for ; i < ch.a; i++ {
			c.line(" ", p.a[i])
		}
		for ; i < ch.a+ch.dels; i++ {
			c.line("-", p.a[i])
		}
		for _, l := range p.b[ch.b : ch.b+ch.adds] {
			c.line("+", l)
		}
	}
	for ; i < h.a1; i++ {
		c.line(" ", p.a[i])
	}
}

func (c *comparer) context(p *pair, h hunk) {
	r := func(from, to int) string {
		if to-from <= 1 {
			return strconv.Itoa(to)
		}
		return strconv.Itoa(from+1) + "," + strconv.Itoa(to)
	}
	c.say("***************", c.heading(p, h))
	c.say("*** ", r(h.a0, h.a1), " ****")
	side := func(lines [][]byte, from, to int, mark string, at func(change) (int, int), both func(change) bool) {
		any := false
		for _, ch := range h.changes {
			_, n := at(ch)
			any = any || n > 0
		}
		if !any {
			return
		}
		i := from
		for _, ch := range h.changes {
			start, n := at(ch)
			for ; i < start; i++ {
				c.line("  ", lines[i])
			}
			m := mark
			if both(ch) {
				m = "! "
			}
			for ; i < start+n; i++ {
				c.line(m, lines[i])
			}
		}
		for ; i < to; i++ {
			c.line("  ", lines[i])
		}
	}
	both := func(ch change) bool { return ch.dels > 0 && ch.adds > 0 }
	side(p.a, h.a0, h.a1, "- ", func(ch change) (int, int) { return ch.a, ch.dels }, both)
	c.say("--- ", r(h.b0, h.b1), " ----")
	side(p.b, h.b0, h.b1, "+ ", func(ch change) (int, int) { return ch.b, ch.adds }, both)
}

// columns prints both files beside each other.
func (c *comparer) columns(p *pair, changes []change) {
	tab := 8
	if c.o.expand {
		tab = 1
	}
	// The halves as GNU diff lays them out: the right one starts at a tab stop.
	w := c.o.width
	t := (w + tab + 3) / (2 * tab) * tab
	half := max(0, min(t-3, w-t))
	right := t
	if half == 0 {
		right = w
	}
	row := func(left, rightText []byte, mark byte) {
		out := c.c.Stdout
		col := 0
		if left != nil {
			col = c.half(left, half)
		}
		if mark != ' ' {
			col = c.tabTo(col, (half+right-1)/2)
			if mark == '|' && bytes.HasSuffix(left, nl) != bytes.HasSuffix(rightText, nl) {
				mark = '/'
				if !bytes.HasSuffix(left, nl) {
					mark = '\\'
				}
			}
			out.Write([]byte{mark})
			col++
		}
		if rightText != nil {
			if text := bytes.TrimSuffix(rightText, nl); len(text) > 0 {
				c.tabTo(col, right)
				c.half(rightText, half)
			}
		}
		if bytes.HasSuffix(left, nl) || bytes.HasSuffix(rightText, nl) {
			out.Write(nl)
		}
	}
	i, j := 0, 0
	common := func(to int) {
		for ; i < to; i, j = i+1, j+1 {
			switch {
			case c.o.noCommon:
			case c.o.leftColumn:
				row(p.a[i], nil, '(')
			default:
				row(p.a[i], p.b[j], ' ')
			}
		}
	}
	for _, ch := range changes {
		common(ch.a)
		for k := 0; k < max(ch.dels, ch.adds); k++ {
			switch {
			case k < ch.dels && k < ch.adds:
				row(p.a[ch.a+k], p.b[ch.b+k], '|')
			case k < ch.dels:
				row(p.a[ch.a+k], nil, '<')
			default:
				row(nil, p.b[ch.b+k], '>')
			}
		}
		i, j = ch.a+ch.dels, ch.b+ch.adds
	}
	common(len(p.a))
}

var nl = []byte("\n")

// half prints as much of a line as fits and returns the column it ends in.
func (c *comparer) half(line []byte, width int) int {
	text := bytes.TrimSuffix(line, nl)
	col := 0
	var b []byte
	for i := 0; i < len(text); {
		if text[i] == '\t' {
			n := 8 - col%8
			if col+n > width {
				n = width - col
				if n <= 0 {
					break
				}
			}
			if c.o.expand || col+8-col%8 > width {
				b = append(b, bytes.Repeat([]byte(" "), n)...)
			} else {
				b = append(b, '\t')
			}
			col += n
			i++
			continue
		}
		_, n := utf8.DecodeRune(text[i:])
		if col+1 > width {
			break
		}
		b = append(b, text[i:i+n]...)
		col++
		i += n
	}
	c.c.Stdout.Write(b)
	return col
}

// tabTo moves from a column to another with tabs and spaces.
func (c *comparer) tabTo(from, to int) int {
	var b []byte
	if !c.o.expand {
		for from+8-from%8 <= to {
			from += 8 - from%8
			b = append(b, '\t')
		}
	}
	for ; from < to; from++ {
		b = append(b, ' ')
	}
	c.c.Stdout.Write(b)
	return from
}
