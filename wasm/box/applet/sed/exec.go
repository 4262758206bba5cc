package sed

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// output is one place that lines go to.
type output struct {
	w       io.Writer
	f       *os.File
	b       *bufio.Writer
	sep     byte
	end     [1]byte // sep, where Write finds it without new memory
	missing bool    // the last line lacked its newline: more output needs it
	err     error
}

func newFileOutput(f *os.File, sep byte) *output {
	b := bufio.NewWriterSize(f, 64<<10)
	return &output{w: b, f: f, b: b, sep: sep}
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

func (o *output) newline() {
	if o.missing {
		o.missing = false
		o.separate()
	}
}

func (o *output) separate() {
	o.end[0] = o.sep
	o.Write(o.end[:])
}

// line writes a line and its separator, unless the input lacked it.
func (o *output) line(text []byte, chomped bool) {
	o.newline()
	o.Write(text)
	if chomped {
		o.separate()
	} else {
		o.missing = true
	}
}

// ended writes the text of i or c, whose last newline is a separator.
func (o *output) ended(text []byte) {
	o.newline()
	if n := len(text); n > 0 && text[n-1] == '\n' && o.sep != '\n' {
		o.Write(text[:n-1])
		text = []byte{o.sep}
	}
	o.Write(text)
}

func (o *output) flush() error {
	if o.b != nil {
		if err := o.b.Flush(); o.err == nil {
			o.err = err
		}
	}
	return o.err
}

type appended struct {
	kind byte // a: text, r: the name of a file
	text []byte
}

type editor struct {
	c      *applet.Ctx
	o      *options
	prog   []command
	in     *input
	sep    byte
	quiet  bool
	status int
	fatal  int

	stdout, out *output
	files       map[string]*output
	readers     map[string]*lineReader

	space    []byte // the pattern space
	hold     []byte
	chomped  bool // the pattern space was read with its newline
	held     bool // the same of the hold space
	replaced bool // for t
	again    bool // D: the next cycle reads no line
	queue    []appended
	lastRE   *posixre.Regexp

	expressions int // of -e
	nl          []byte
}

func (e *editor) warn(parts ...string) {
	e.c.Flush()
	e.c.Warn(parts...)
}

// open opens a file of w, once; the special names are the streams.
func (e *editor) open(name string) (*output, error) {
	switch name {
	case "/dev/stdout": // which knows for itself whether its last line was whole
		if e.files[name] == nil {
			e.files[name] = &output{w: e.stdout, sep: e.sep}
		}
		return e.files[name], nil
	case "/dev/stderr":
		if e.files[name] == nil {
			e.files[name] = &output{w: e.c.Stderr, sep: e.sep}
		}
		return e.files[name], nil
	}
	if o := e.files[name]; o != nil {
		return o, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, &panicError{"couldn't open file " + name + ": " + applet.Reason(err)}
	}
	e.files[name] = newFileOutput(f, e.sep)
	return e.files[name], nil
}

func (e *editor) close() {
	for _, o := range e.files {
		if o.f != nil {
			o.flush()
			o.f.Close()
		}
	}
}

// noRegexError is that // came first, in a program of so many expressions.
type noRegexError int

func (n noRegexError) Error() string {
	return "-e expression #" + strconv.Itoa(int(n)) + ", char 0: no previous regular expression"
}

// errQuit ends the program.
var errQuit = errors.New("quit")

func (e *editor) run() int {
	e.nl = []byte{'\n'}
	e.held = true
	quit := 0
	for e.fatal == 0 {
		if !e.again {
			var ok bool
			if e.space, e.chomped, ok = e.in.next(e.space[:0]); !ok {
				break
			}
		}
		e.again = false
		code, err := e.cycle()
		if err == errQuit {
			quit = code
			e.in.closeFile() // as GNU sed: what was not read of a file edited in place goes
			break
		}
		if err != nil {
			e.in.abandon()
			e.warn(err.Error())
			if _, ok := err.(noRegexError); ok {
				return badUsage
			}
			return panicked
		}
		if e.o.unbuffered {
			e.c.Flush()
		}
		if e.stdout.err != nil {
			e.in.abandon()
			if !errors.Is(e.stdout.err, syscall.EPIPE) {
				e.c.Warn("couldn't write to stdout: ", applet.Reason(e.stdout.err))
			}
			return panicked
		}
	}
	e.in.abandon()
	for name, o := range e.files {
		if err := o.flush(); err != nil {
			e.warn("couldn't write to ", name, ": ", applet.Reason(err))
			return panicked
		}
	}
	switch {
	case e.fatal != 0:
		return e.fatal
	case quit != 0:
		return quit
	}
	return e.status
}

// endCycle prints the pattern space and what a, r and R queued.
func (e *editor) endCycle() {
	if !e.quiet {
		e.out.line(e.space, e.chomped)
	}
	e.dump()
}

func (e *editor) dump() {
	for _, a := range e.queue {
		e.out.newline()
		if a.kind == 'r' {
			e.copyFile(string(a.text))
		} else {
			e.out.Write(a.text)
		}
	}
	e.queue = e.queue[:0]
}

// firstLine is the pattern space up to its first newline.
func (e *editor) firstLine() (line []byte, chomped bool) {
	if i := bytes.IndexByte(e.space, e.sep); i >= 0 {
		return e.space[:i], true
	}
	return e.space, e.chomped
}

func (e *editor) copyFile(name string) {
	var r io.Reader
	if name == "/dev/stdin" {
		r = e.c.Stdin
	} else {
		if o := e.files[name]; o != nil {
			o.flush()
		}
		f, err := os.Open(name)
		if err != nil {
			return // a file that is not there is an empty one
		}
		defer f.Close()
		r = f
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			e.out.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (e *editor) regex(re *posixre.Regexp) (*posixre.Regexp, error) {
	if re != nil {
		e.lastRE = re
		return re, nil
	}
	if e.lastRE == nil {
		return nil, noRegexError(e.expressions)
	}
	return e.lastRE, nil
}

func (e *editor) matchAddr(a *address) (bool, error) {
	switch a.kind {
	case addrLine:
		return e.in.line == a.n, nil
	case addrStep:
		return e.in.line >= a.n && (e.in.line-a.n)%a.step == 0, nil
	case addrLast:
		return e.in.last(), nil
	case addrRegex:
		re, err := e.regex(a.re)
		if err != nil {
			return false, err
		}
		return re.Match(e.space)
	}
	return false, nil
}

// selects tells whether the command applies to the line at hand.
func (e *editor) selects(c *command) (bool, error) {
	if c.a1.kind == addrNone {
		return true, nil
	}
	if c.a2.kind == addrNone {
		return e.matchAddr(&c.a1)
	}
	l := e.in.line
	if c.state != rangeOn {
		if c.a1.kind == addrLine { // its line may have gone by, read by n or N
			if c.state == rangeClosed || l < c.a1.n {
				return false, nil
			}
		} else if ok, err := e.matchAddr(&c.a1); !ok || err != nil {
			return false, err
		}
		switch c.a2.kind {
		case addrLine:
			c.end = c.a2.n
		case addrPlus:
			c.end = l + c.a2.n
		case addrMult:
			c.end = l
			if c.a2.n > 0 {
				c.end = (l/c.a2.n + 1) * c.a2.n
			}
		case addrLast: // the last line may be the only one
			if c.state = rangeOn; e.in.last() {
				c.state = rangeClosed
			}
			return true, nil
		default:
			c.state = rangeOn
			return true, nil
		}
		if c.end > l {
			c.state = rangeOn
			return true, nil
		}
		c.state = rangeClosed
		return c.a1.kind != addrLine || c.a2.kind != addrLine || l <= c.a2.n || l == c.a1.n, nil
	}
	switch c.a2.kind {
	case addrLine, addrPlus, addrMult:
		if c.end <= l {
			c.state = rangeClosed
		}
		return l <= c.end || c.a2.kind != addrLine, nil
	}
	ok, err := e.matchAddr(&c.a2)
	if ok {
		c.state = rangeClosed
	}
	return true, err
}

// cycle runs the program over the pattern space.
func (e *editor) cycle() (int, error) {
	for pc := 0; pc < len(e.prog); pc++ {
		c := &e.prog[pc]
		if c.a1.kind != addrNone || c.not {
			ok, err := e.selects(c)
			if err != nil {
				return 0, err
			}
			if ok == c.not {
				if c.name == '{' {
					pc = c.n - 1
				}
				continue
			}
		}
		switch c.name {
		case 's':
			if err := e.substitute(c.subst); err != nil {
				return 0, err
			}
		case '{':
		case 'p':
			e.out.line(e.space, e.chomped)
		case 'd':
			e.dump()
			return 0, nil
		case 'D':
			i := bytes.IndexByte(e.space, e.sep)
			if i < 0 {
				e.dump()
				return 0, nil
			}
			e.dump()
			e.space = append(e.space[:0], e.space[i+1:]...)
			e.again = true
			return 0, nil
		case 'n':
			if e.in.last() {
				e.endCycle()
				return 0, nil
			}
			if e.nextLine(false) {
				return 0, nil
			}
		case 'N':
			if e.in.last() || e.nextLine(true) {
				if e.o.posix {
					e.dump()
				} else {
					e.endCycle()
				}
				return 0, nil
			}
		case 'b':
			pc = c.n - 1
		case 't', 'T':
			if e.replaced == (c.name == 't') {
				pc = c.n - 1
			}
			e.replaced = false
		case 'q':
			e.endCycle()
			e.out.newline()
			return max(c.n, 0), errQuit
		case 'Q':
			return max(c.n, 0), errQuit
		case 'c':
			if c.a2.kind == addrNone || c.state != rangeOn || c.not {
				e.out.ended(c.text)
			}
			e.dump()
			return 0, nil
		default:
			if err := e.simple(c); err != nil {
				return 0, err
			}
		}
	}
	e.endCycle()
	return 0, nil
}

// nextLine reads the next line, for n in place of the pattern space, for N
// after it. It returns true when there is none.
func (e *editor) nextLine(add bool) (ended bool) {
	var ok bool
	if add {
		e.dump()
		n := len(e.space)
		e.space = append(e.space, e.sep)
		if e.space, e.chomped, ok = e.in.next(e.space); !ok {
			e.space = e.space[:n]
		}
		return !ok
	}
	e.endCycle()
	e.space, e.chomped, ok = e.in.next(e.space[:0])
	return !ok
}

// simple runs the commands that leave the course of the program alone.
func (e *editor) simple(c *command) error {
	switch c.name {
	case '=':
		e.out.newline()
		e.out.Write(append(strconv.AppendInt(nil, int64(e.in.line), 10), e.sep))
	case 'F':
		e.out.newline()
		e.out.Write(append([]byte(e.in.name), e.sep))
	case 'g':
		e.space, e.chomped = append(e.space[:0], e.hold...), e.held
	case 'G':
		e.space, e.chomped = append(append(e.space, e.sep), e.hold...), e.held
	case 'h':
		e.hold, e.held = append(e.hold[:0], e.space...), e.chomped
	case 'H':
		e.hold, e.held = append(append(e.hold, e.sep), e.space...), e.chomped
	case 'x':
		e.space, e.hold = e.hold, e.space
		e.chomped, e.held = e.held, e.chomped
	case 'z':
		e.space = e.space[:0]
	case 'P':
		e.out.line(e.firstLine())
	case 'a':
		e.queue = append(e.queue, appended{'a', c.text})
	case 'i':
		e.out.ended(c.text)
	case 'r':
		if c.n == beforeFirst {
			e.copyFile(string(c.text))
			break
		}
		e.queue = append(e.queue, appended{'r', c.text})
	case 'R':
		if line, ok := e.readLine(string(c.text)); ok {
			e.queue = append(e.queue, appended{'a', line})
		}
	case 'w':
		c.out.line(e.space, e.chomped)
		return c.out.err
	case 'W':
		c.out.line(e.firstLine())
		return c.out.err
	case 'l', 'L':
		n := c.n
		if n < 0 {
			n = e.o.lineLen
		}
		e.list(n)
	case 'y':
		e.transliterate(c)
	case 'e':
		return e.execute(c.text)
	}
	return nil
}

func (e *editor) substitute(s *subst) error {
	re, err := e.regex(s.re)
	if err != nil {
		return err
	}
	done, err := s.apply(re, e.space)
	if err != nil || !done {
		return err
	}
	e.replaced = true
	e.space, s.buf = s.buf, e.space
	if s.print == 2 { // pe and ep differ
		e.out.line(e.space, e.chomped)
	}
	if s.eval {
		out, err := e.capture(string(e.space))
		if err != nil {
			return err
		}
		e.space = append(e.space[:0], bytes.TrimSuffix(out, e.nl)...)
	}
	if s.print == 1 {
		e.out.line(e.space, e.chomped)
	}
	if s.out != nil {
		s.out.line(e.space, e.chomped)
		return s.out.err
	}
	return nil
}

func (e *editor) transliterate(c *command) {
	out := make([]byte, 0, len(e.space))
	for i := 0; i < len(e.space); {
		b := e.space[i]
		if b < utf8.RuneSelf || len(c.wide) == 0 {
			if t := c.trans[b]; t != nil {
				out = append(out, t...)
			} else {
				out = append(out, b)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(e.space[i:])
		if t, ok := c.wide[r]; ok && (r != utf8.RuneError || n > 1) {
			out = append(out, t...)
		} else {
			out = append(out, e.space[i:i+n]...)
		}
		i += n
	}
	e.space = out
}

// list prints the pattern space unambiguously.
func (e *editor) list(width int) {
	e.out.newline()
	var b []byte
	col := 0
	for _, c := range e.space {
		var esc string
		switch c {
		case '\\':
			esc = `\\`
		case '\a':
			esc = `\a`
		case '\b':
			esc = `\b`
		case '\f':
			esc = `\f`
		case '\n':
			esc = `\n`
		case '\r':
			esc = `\r`
		case '\t':
			esc = `\t`
		case '\v':
			esc = `\v`
		default:
			esc = string([]byte{c})
			if c < 0x20 || c >= 0x7F {
				esc = "\\" + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7})
			}
		}
		if width > 0 && col+len(esc) > width-1 {
			b = append(b, '\\', e.sep)
			col = 0
		}
		b = append(b, esc...)
		col += len(esc)
	}
	e.out.Write(append(b, '$', e.sep))
}
