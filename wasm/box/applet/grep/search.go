package grep

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/codec"
	"github.com/donax-sh/donax/wasm/box/applet/internal/scan"
)

// matcher finds patterns in lines.
type matcher interface {
	// Scan returns a position in the first line of text, at or after from,
	// that matches, or with unsure that may match; -1 when there is none.
	Scan(text []byte, from int) (pos int, unsure bool)
	Match(line []byte) (bool, error)
	Find(line []byte, from int) (start, end int, ok bool, err error)
}

type grep struct {
	c        *applet.Ctx
	o        *options
	m        matcher
	sep      byte
	withName bool
	failed   bool
	selected bool // in any file
	buf      []byte
	wide     int  // of numbers, with -T: as the size of a file needs
	printed  bool // a line, in any file: a group separator may be due
	column   int  // of what is printed, with --column; 0: none
	before   bool // some file's name stands above lines, with --heading
	titled   bool // this file's does

	// Of the file being searched.
	name      string
	lines     int // whole lines before the region at hand; counted with -n only
	offset    int // bytes before the buffer at hand
	count     int
	quiet     bool // print no lines
	binary    bool
	binaryHit bool
	pending   int // lines of context still to print
	history   [][]byte
	lastEnd   int // where in the file the last printed line ended
	done      bool
}

const (
	chunk   = 128 << 10
	maxLine = 1 << 30 // a longer line is refused, as memory would be
)

// input searches one stream.
func (g *grep) input(name string, r io.Reader) error {
	o := g.o
	*g = grep{c: g.c, o: o, m: g.m, sep: g.sep, withName: g.withName, failed: g.failed, selected: g.selected, buf: g.buf, printed: g.printed && !o.heading, before: g.before, name: name, lastEnd: -1, wide: 19}
	if o.unpack {
		var err error
		if r, err = codec.Unpacked(bufio.NewReaderSize(r, applet.BufSize)); err != nil {
			return err
		}
	}
	if f, ok := r.(*os.File); ok && o.tab {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			g.wide = len(itoa(int(fi.Size())))
		}
	}
	g.quiet = o.quiet || o.list != 0 || o.count
	if g.buf == nil {
		g.buf = make([]byte, chunk)
	}
	held := 0 // bytes at the start of buf: an unfinished line
	for !g.done {
		if held == len(g.buf) {
			if held >= maxLine {
				return errors.New("line too long")
			}
			g.buf = append(g.buf, make([]byte, len(g.buf))...)
		}
		n, err := r.Read(g.buf[held:])
		fresh := g.buf[held : held+n]
		if !o.null && o.binary != "text" && !g.binary && scan.IndexByte(fresh, 0) >= 0 {
			if o.binary == "without-match" {
				return nil
			}
			g.binary = true
		}
		if g.binary && !o.null { // what is between NULs counts as lines
			for i, b := range fresh {
				if b == 0 {
					fresh[i] = '\n'
				}
			}
		}
		eof := err == io.EOF
		if err != nil && !eof {
			return err
		}
		data := g.buf[:held+n]
		end := len(data)
		if !eof {
			if end = scan.LastIndexByte(fresh, g.sep) + 1; end == 0 {
				held = len(data)
				continue
			}
			end += held
		}
		if err := g.region(data[:end], r); err != nil {
			return err
		}
		g.offset += end
		held = copy(g.buf, data[end:])
		if eof {
			break
		}
	}
	return g.finish()
}

// region searches whole lines.
func (g *grep) region(text []byte, r io.Reader) error {
	for pos := 0; pos < len(text) && !g.done; {
		at, unsure := g.m.Scan(text, pos)
		if at < 0 {
			return g.run(text, pos, len(text), g.o.invert)
		}
		start := scan.LastIndexByte(text[pos:at], g.sep) + 1 + pos
		next := bytes.IndexByte(text[at:], g.sep) + 1 + at
		end := next - 1
		if next == at {
			next, end = len(text), len(text)
		}
		if unsure {
			ok, err := g.m.Match(text[start:end])
			if err != nil {
				return err
			}
			if !ok {
				if err := g.run(text, pos, next, g.o.invert); err != nil {
					return err
				}
				pos = next
				continue
			}
		}
		if err := g.run(text, pos, start, g.o.invert); err != nil {
			return err
		}
		if err := g.run(text, start, next, !g.o.invert); err != nil {
			return err
		}
		pos = next
		if g.done {
			g.giveBack(r, len(text)-pos)
		}
	}
	return nil
}

// giveBack leaves a file that was read too far at the line after the last
// one used, for who reads it next.
func (g *grep) giveBack(r io.Reader, unread int) {
	if f, ok := r.(*os.File); ok && g.o.maxCount >= 0 && f == os.Stdin && g.pending == 0 {
		f.Seek(-int64(unread), io.SeekCurrent)
	}
}

// run deals with the lines of text from start to end, all of them selected
// or none.
func (g *grep) run(text []byte, start, end int, selected bool) error {
	if start >= end || g.done {
		return nil
	}
	if !selected {
		g.others(text, start, end)
		return nil
	}
	if g.quiet && g.o.maxCount < 0 && g.o.list == 0 && !g.o.quiet {
		g.count += g.countLines(text[start:end])
		return nil
	}
	for start < end && !g.done {
		next := g.lineEnd(text, start, end)
		if err := g.selectLine(text, start, next); err != nil {
			return err
		}
		start = next
	}
	return nil
}

func (g *grep) lineEnd(text []byte, start, end int) int {
	if i := bytes.IndexByte(text[start:end], g.sep); i >= 0 {
		return start + i + 1
	}
	return end
}

func (g *grep) countLines(text []byte) int {
	n := 0
	for len(text) > 0 {
		text = text[g.lineEnd(text, 0, len(text)):]
		n++
	}
	return n
}

// others deals with lines that are not selected: context.
func (g *grep) others(text []byte, start, end int) {
	o := g.o
	for g.pending > 0 && start < end && !g.quiet && !g.done {
		next := g.lineEnd(text, start, end)
		g.pending--
		g.line(text, start, next, '-')
		if o.lineNumber {
			g.lines++
		}
		start = next
		if g.pending == 0 && o.maxCount >= 0 && g.count >= o.maxCount {
			g.done = true
		}
	}
	if start >= end {
		return
	}
	if o.before > 0 && !g.quiet {
		g.remember(text, start, end)
	}
	if o.lineNumber && !g.quiet {
		g.lines += g.countLines(text[start:end])
	}
}

// remember keeps the last lines before a match, copied: the buffer moves on.
func (g *grep) remember(text []byte, start, end int) {
	from := end
	for n := 0; n < g.o.before && from > start; n++ {
		i := scan.LastIndexByte(text[start:from-1], g.sep)
		from = start + i + 1
	}
	for from < end {
		next := g.lineEnd(text, from, end)
		g.history = append(g.history, append([]byte(nil), text[from:next]...))
		from = next
	}
	if extra := len(g.history) - g.o.before; extra > 0 {
		g.history = append(g.history[:0], g.history[extra:]...)
	}
}

// hide stands for a line that is no text.
func (g *grep) hide() { g.binaryHit = g.binaryHit || g.o.binary != "without-match" }

func (g *grep) selectLine(text []byte, start, end int) error {
	o := g.o
	g.count++
	if g.quiet {
		if o.list != 0 || o.quiet || o.maxCount >= 0 && g.count >= o.maxCount {
			g.done = true
		}
		return nil
	}
	line := text[start:end]
	if g.binary && o.binary == "without-match" { // found out too late to be silent about earlier lines
		g.count--
		g.done = true
		return nil
	}
	if g.binary { // a NUL makes the whole file binary, text that is no UTF-8 only its line
		g.binaryHit, g.printed = true, true
		if o.lineNumber {
			g.lines++
		}
		g.done = true
		return nil
	}
	// Context before, as far as it was not printed already.
	at := g.offset + start
	sum := 0
	for _, h := range g.history {
		sum += len(h)
	}
	separate := o.grouped && g.printed && g.lastEnd != at-sum && !o.noGroupSep
	if separate {
		g.groupSeparator()
	}
	if n := len(g.history); n > 0 {
		saved := g.lines
		g.lines -= n
		off := at - sum - g.offset
		for _, h := range g.history {
			g.contextLine(h, off)
			off += len(h)
			g.lines++
		}
		g.lines = saved
		g.history = g.history[:0]
	}
	if o.binary != "text" && !o.only && !valid(line) {
		g.hide()
		if g.printed = true; o.before > 0 {
			g.remember(text, start, end)
		}
		if o.after > 0 {
			g.lastEnd = g.offset + end
		}
	} else if err := g.line(text, start, end, ':'); err != nil {
		return err
	}
	if o.lineNumber {
		g.lines++
	}
	g.pending = o.after
	if o.maxCount >= 0 && g.count >= o.maxCount && g.pending == 0 {
		g.done = true
	}
	if o.maxCount >= 0 && g.count >= o.maxCount && g.pending > 0 {
		g.m = stopMatcher{invert: o.invert}
	}
	return nil
}

// stopMatcher selects nothing any more: only context is still to come.
type stopMatcher struct{ invert bool }

func (s stopMatcher) Scan(text []byte, from int) (int, bool) {
	if s.invert {
		return from, false
	}
	return -1, false
}
func (s stopMatcher) Match([]byte) (bool, error)               { return s.invert, nil }
func (s stopMatcher) Find([]byte, int) (int, int, bool, error) { return 0, 0, false, nil }

func valid(line []byte) bool { return scan.ASCII(line) || utf8.Valid(line) }

// finish prints what is known only at the end of a file.
func (g *grep) finish() error {
	o := g.o
	if g.binaryHit {
		g.c.Flush()
		g.c.Warn(g.name, ": binary file matches")
	}
	if o.count && !o.quiet && (o.list == 0) && (g.count > 0 || !o.foundOnly) {
		if g.withName {
			g.fileName()
			g.nameEnd(':')
		}
		g.write([]byte(itoa(g.count)), nl)
	}
	hit := g.count > 0
	g.selected = g.selected || hit
	if !o.quiet && (o.list == 'l' && hit || o.list == 'L' && !hit) {
		g.fileName()
		if o.nullName {
			g.write([]byte{0})
		} else {
			g.write(nl)
		}
	}
	return nil
}
