package grep

import (
	"bytes"
	"strconv"
)

var nl = []byte("\n")

func itoa(n int) string { return strconv.Itoa(n) }

func (g *grep) write(parts ...[]byte) {
	for _, p := range parts {
		g.c.Stdout.Write(p)
	}
}

// colored writes s with the colour of its kind.
func (g *grep) colored(sgr, s string) {
	if g.o.color && s != "" {
		s = "\x1b[" + sgr + "m\x1b[K" + s + "\x1b[m\x1b[K"
	}
	g.c.Stdout.Write([]byte(s))
}

func (g *grep) fileName() { g.colored("35", g.name) }

func (g *grep) nameEnd(sep byte) {
	if g.o.nullName {
		g.write([]byte{0})
		return
	}
	g.colored("36", string(sep))
}

func (g *grep) groupSeparator() {
	g.colored("36", g.o.groupSep)
	g.write(nl)
}

// head writes what comes before a line: name, number, offset.
func (g *grep) head(offset int, sep byte, empty bool) {
	o := g.o
	any := false
	switch {
	case g.withName && o.heading:
		g.title()
	case g.withName:
		g.fileName()
		if o.nullName {
			g.write([]byte{0})
		} else {
			any = true
		}
	}
	field := func(n int) {
		if any {
			g.colored("36", string(sep))
		}
		s := itoa(n)
		if o.tab {
			for len(s) < g.wide {
				s = " " + s
			}
		}
		g.colored("32", s)
		any = true
	}
	if o.lineNumber {
		field(g.lines + 1)
	}
	if g.column > 0 && o.column {
		field(g.column)
	}
	if o.byteOffset {
		field(offset)
	}
	if any {
		g.colored("36", string(sep))
	}
	if o.tab && !empty && (any || o.nullName && g.withName) {
		g.write([]byte("\t"))
	}
}

// title writes the name of the file above the first of its lines.
func (g *grep) title() {
	if g.titled {
		return
	}
	if g.before {
		g.write(nl)
	}
	g.titled, g.before = true, true
	g.fileName()
	g.nameEndLine()
}

// line prints one line of text, with its separator, sep telling whether it is
// selected or context.
func (g *grep) line(text []byte, start, end int, sep byte) error {
	o := g.o
	line := text[start:end]
	body := line
	if n := len(line); n > 0 && line[n-1] == g.sep {
		body = line[:n-1]
	}
	if sep == '-' && !o.only && o.binary != "text" && !valid(line) {
		g.hide()
		return nil
	}
	switch {
	case o.only:
		if g.printed, g.lastEnd = true, g.offset+end; sep == ':' && !o.invert {
			return g.parts(body, g.offset+start)
		}
		return nil
	case o.color:
		if err := g.colorLine(body, g.offset+start, sep); err != nil {
			return err
		}
		g.write([]byte{g.sep})
	case o.each && sep == ':' && !o.invert:
		for pos := 0; pos <= len(body); {
			s, e, ok, err := g.m.Find(body, pos)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			g.column = s + 1
			g.whole(line, body, g.offset+start, sep)
			pos = max(e, s+1)
		}
	default:
		if g.column = 0; o.column && sep == ':' && !o.invert {
			s, _, _, err := g.m.Find(body, 0)
			if err != nil {
				return err
			}
			g.column = s + 1
		}
		g.whole(line, body, g.offset+start, sep)
	}
	g.printed = true
	g.lastEnd = g.offset + end
	if o.lineBuffered {
		g.c.Flush()
	}
	return nil
}

// whole prints a line; body is it without its separator, which it may lack.
func (g *grep) whole(line, body []byte, offset int, sep byte) {
	o := g.o
	if g.withName || o.lineNumber || o.byteOffset || o.tab {
		g.head(offset, sep, len(body) == 0)
	}
	switch {
	case o.longest > 0 && len(line) > o.longest && sep == ':':
		g.c.Stdout.Write([]byte("[Omitted long matching line]"))
	case o.longest > 0 && len(line) > o.longest:
		g.c.Stdout.Write([]byte("[Omitted long context line]"))
	case o.trim:
		g.c.Stdout.Write(bytes.TrimLeft(body, " \t\v\f\r"))
	default:
		g.c.Stdout.Write(line)
		if len(body) < len(line) {
			return
		}
	}
	g.write([]byte{g.sep})
}

// contextLine prints a remembered line; off is where it was, from the start
// of the buffer at hand.
func (g *grep) contextLine(line []byte, off int) {
	saved := g.offset
	g.offset += off
	g.line(line, 0, len(line), '-')
	g.offset = saved
}

// parts prints the parts of a line that match, each on a line.
func (g *grep) parts(body []byte, offset int) error {
	for pos := 0; pos <= len(body); {
		s, e, ok, err := g.m.Find(body, pos)
		if err != nil || !ok {
			return err
		}
		if s == e {
			pos = e + 1
			continue
		}
		if g.o.binary != "text" && !valid(body[s:e]) {
			g.binaryHit, g.done = true, true
			return nil
		}
		g.column = s + 1
		g.head(offset+s, ':', false)
		g.colored(g.matchColor(':'), string(body[s:e]))
		g.write([]byte{g.sep})
		g.printed = true
		pos = e
	}
	if g.o.lineBuffered {
		g.c.Flush()
	}
	return nil
}

func (g *grep) matchColor(byte) string { return "01;31" }

func (g *grep) colorLine(body []byte, offset int, sep byte) error {
	g.head(offset, sep, len(body) == 0)
	pos := 0
	// With -v the lines that do not match are selected: the context holds
	// the matches.
	if (sep == ':') != g.o.invert {
		for at := 0; at <= len(body); {
			s, e, ok, err := g.m.Find(body, at)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if s == e {
				at = e + 1
				continue
			}
			g.write(body[pos:s])
			g.colored(g.matchColor(sep), string(body[s:e]))
			pos, at = e, e
		}
	}
	g.write(body[pos:])
	return nil
}
