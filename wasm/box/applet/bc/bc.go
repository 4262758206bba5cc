// Package bc is the command bc: arithmetic with as many digits as asked for,
// as GNU bc has it.
package bc

import (
	"io"
	"os"
	"strconv"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is bc.
var Command = applet.Command{
	Name:     "bc",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "compute with numbers of any length; programs are read from FILEs, then standard input",
	Help: `  -i, --interactive  accepted; there is no terminal to be interactive with
  -l, --mathlib      define the functions s c a l e j, and work with 20 digits after the point
  -q, --quiet        accepted; there is no greeting
  -s, --standard     accepted
  -w, --warn         accepted
The number of digits after the point is the variable scale, 0 at first. Bases
are the variables ibase and obase. BC_LINE_LENGTH is where long output is
broken, 70 at first, 0 never.`,
	Run: run,
}

func run(c *applet.Ctx) int {
	var ignored, mathlib, told bool
	files, status, ok := c.Parse(1,
		applet.Bool(&ignored, 'i', "interactive"),
		applet.Bool(&mathlib, 'l', "mathlib"),
		applet.Bool(&ignored, 'q', "quiet"),
		applet.Bool(&ignored, 's', "standard"),
		applet.Bool(&ignored, 'w', "warn"),
		applet.Do(func() { told = true; c.ShowHelp() }, 'h', ""),
		applet.Do(func() { told = true; c.ShowVersion() }, 'v', ""),
	)
	if !ok || told {
		return status
	}
	m := newMachine(c.Stdout, c.Stderr)
	if mathlib {
		m.mathlib, m.scale = true, 20
	}
	input := newLexer(c.Stdin, "(standard_in)")
	m.in = input
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			io.WriteString(c.Stderr, "File "+name+" is unavailable.\n")
			return 1
		}
		over := m.program(c, newLexer(f, name))
		f.Close()
		if over {
			return 0
		}
	}
	m.program(c, input)
	return 0
}

// program runs the text of one file and tells whether it ended bc.
func (m *machine) program(c *applet.Ctx, l *lexer) (over bool) {
	p := &parser{lexer: l}
	for {
		p.newlines()
		if p.peek().kind == atEOF {
			return false
		}
		if m.line(p) {
			return true
		}
		if l.r.Buffered() == 0 { // whoever writes line by line waits for the answer
			if c.Flush() != nil {
				return true
			}
		}
	}
}

// line reads one line, or as many as a function or a block takes, and runs it.
func (m *machine) line(p *parser) (over bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case quit:
			over = true
		case syntaxError:
			io.WriteString(m.errs, p.file+" "+strconv.Itoa(r.line)+": syntax error\n")
			p.skip()
		case failure:
			m.depth = 0
			io.WriteString(m.errs, "Runtime error (func=(main), adr=0): "+string(r)+"\n")
		case outcome: // halt in a function
			over = true
		default:
			panic(r)
		}
	}()
	if p.has("define") {
		p.define(m)
		return false
	}
	for _, s := range p.statements() {
		if s(m) == halts {
			return true
		}
	}
	return false
}

// skip goes on after a syntax error: with the next line.
func (p *parser) skip() {
	p.ahead = true // also when the wrong token was taken: the end of the line may have been it
	for t := p.peek(); t.kind != atNewline && t.kind != atEOF; t = p.peek() {
		p.ahead = false
	}
	p.pushed, p.depth, p.loops, p.fn = nil, 0, 0, false
}
