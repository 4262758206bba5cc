package sed

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// chunk is the text of one -e or -f.
type chunk struct {
	text string
	file string // of -f
}

// beforeFirst is n of the command 0r: the file comes before the first line.
const beforeFirst = 1

// block is a { that is open: its command, and the chunk that it stands in.
type block struct{ cmd, at int }

type addrKind uint8

const (
	addrNone addrKind = iota
	addrLine
	addrStep  // n~step
	addrLast  // $
	addrRegex // nil re: the last one used
	addrPlus  // +n
	addrMult  // ~n
)

type address struct {
	kind addrKind
	n    int
	step int
	re   *posixre.Regexp
}

type rangeState uint8

const (
	rangeOff rangeState = iota
	rangeOn
	rangeClosed
)

type command struct {
	name   byte
	a1, a2 address
	not    bool
	state  rangeState
	end    int // of the range being in force

	text  []byte // a i c e, label, file name
	n     int    // q Q l L: number; jumps: index
	out   *output
	subst *subst
	trans *[256][]byte // y
	wide  map[rune][]byte
}

type parser struct {
	o      *options
	e      *editor
	chunks []chunk
	at     int // chunk
	pos    int // in it
	cmds   []command
	blocks []block
	labels map[string]int
	quiet  bool // the script starts with #n
}

const eof = -1

func (p *parser) next() int {
	s := p.chunks[p.at].text
	if p.pos >= len(s) {
		return eof
	}
	p.pos++
	return int(s[p.pos-1])
}

func (p *parser) back(c int) {
	if c != eof {
		p.pos--
	}
}

func (p *parser) nonblank() int {
	for {
		if c := p.next(); c != ' ' && c != '\t' {
			return c
		}
	}
}

func (p *parser) bad(msg string) error {
	c := p.chunks[p.at]
	if c.file != "" {
		line := 1 + strings.Count(c.text[:p.pos], "\n")
		return fmt.Errorf("file %s line %d: %s", c.file, line, msg)
	}
	n := 0
	for _, k := range p.chunks[:p.at+1] {
		if k.file == "" {
			n++
		}
	}
	return fmt.Errorf("-e expression #%d, char %d: %s", n, p.pos, msg)
}

func isSpace(c int) bool { return c == ' ' || 9 <= c && c <= 13 }
func isDigit(c int) bool { return '0' <= c && c <= '9' }

func (p *parser) program() error {
	p.labels = map[string]int{}
	for p.at = 0; p.at < len(p.chunks); p.at++ {
		p.pos = 0
		for {
			c := p.next()
			for c == ';' || isSpace(c) {
				c = p.next()
			}
			if c == eof {
				break
			}
			if err := p.command(c); err != nil {
				return err
			}
		}
	}
	if n := len(p.blocks); n > 0 {
		p.at, p.pos = p.blocks[n-1].at, 0
		return p.bad("unmatched `{'")
	}
	p.at = len(p.chunks) - 1
	for _, c := range p.chunks {
		if c.file == "" {
			p.e.expressions++
		}
	}
	for i := range p.cmds {
		c := &p.cmds[i]
		if strings.IndexByte("btT", c.name) < 0 {
			continue
		}
		c.n = len(p.cmds)
		if len(c.text) > 0 {
			to, ok := p.labels[string(c.text)]
			if !ok {
				return &panicError{"can't find label for jump to `" + string(c.text) + "'"}
			}
			c.n = to
		}
	}
	return nil
}

func (p *parser) command(c int) error {
	var cmd command
	var err error
	var ok bool
	if cmd.a1, ok, err = p.address(c); err != nil {
		return err
	}
	if ok {
		if cmd.a1.kind == addrPlus || cmd.a1.kind == addrMult {
			return p.bad("invalid usage of +N or ~N as first address")
		}
		if c = p.nonblank(); c == ',' {
			if cmd.a2, ok, err = p.address(p.nonblank()); err != nil {
				return err
			}
			if !ok {
				return p.bad("unexpected `,'")
			}
			c = p.nonblank()
		}
		if cmd.a1.kind == addrLine && cmd.a1.n == 0 && cmd.a2.kind == addrNone && c == 'r' {
			cmd.a1.n, cmd.n = 1, beforeFirst
		}
		if cmd.a1.kind == addrLine && cmd.a1.n == 0 && (cmd.a2.kind != addrRegex || p.o.posix) {
			return p.bad("invalid usage of line address 0")
		}
		if cmd.a1.kind == addrLine && cmd.a1.n == 0 {
			cmd.state = rangeOn
		}
	}
	if c == '!' {
		cmd.not = true
		if c = p.nonblank(); c == '!' {
			return p.bad("multiple `!'s")
		}
	}
	if c == eof {
		return p.bad("missing command")
	}
	cmd.name = byte(c)
	return p.body(cmd)
}

// body parses what follows a command's name.
func (p *parser) body(cmd command) error {
	end := true // the command must end here
	switch cmd.name {
	case '#':
		if cmd.a1.kind != addrNone {
			return p.bad("comments don't accept any addresses")
		}
		c := p.next()
		if c == 'n' && p.at == 0 && p.pos == 2 { // whatever follows, as GNU sed has it
			p.quiet = true
		}
		for c != eof && c != '\n' {
			c = p.next()
		}
		return nil
	case '{':
		p.blocks = append(p.blocks, block{len(p.cmds), p.at})
		p.cmds = append(p.cmds, cmd)
		return nil
	case '}':
		if len(p.blocks) == 0 {
			return p.bad("unexpected `}'")
		}
		if cmd.a1.kind != addrNone {
			return p.bad("`}' doesn't want any addresses")
		}
		open := p.blocks[len(p.blocks)-1].cmd
		p.blocks = p.blocks[:len(p.blocks)-1]
		p.cmds[open].n = len(p.cmds)
		return p.end()
	case ':':
		if cmd.a1.kind != addrNone {
			return p.bad(": doesn't want any addresses")
		}
		label := p.label()
		if label == "" {
			return p.bad("\":\" lacks a label")
		}
		p.labels[label] = len(p.cmds)
		return nil
	case 'b', 't', 'T':
		cmd.text = []byte(p.label())
		end = false
	case 'v':
		if v := p.label(); newer(v) {
			return p.bad("expected newer version of sed")
		}
		return nil
	case 'a', 'i', 'c':
		if err := p.text(&cmd); err != nil {
			return err
		}
		end = false
	case 'e':
		if p.o.sandbox {
			return p.bad("e/r/w commands disabled in sandbox mode")
		}
		c := p.nonblank()
		if c != eof && c != '\n' {
			p.back(c)
			cmd.text = p.restOfLine()
		}
		end = false
	case 'r', 'R', 'w', 'W':
		if err := p.fileName(&cmd, cmd.name == 'w' || cmd.name == 'W'); err != nil {
			return err
		}
		end = false
	case 'q', 'Q', 'l', 'L':
		if cmd.a2.kind != addrNone && (cmd.name == 'q' || cmd.name == 'Q') {
			return p.bad("command only uses one address")
		}
		cmd.n = -1
		if c := p.nonblank(); isDigit(c) {
			cmd.n = p.number(c)
		} else {
			p.back(c)
		}
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'z', 'x':
	case 's':
		if err := p.substitute(&cmd); err != nil {
			return err
		}
		end = false
	case 'y':
		if err := p.transliterate(&cmd); err != nil {
			return err
		}
	default:
		return p.bad("unknown command: `" + string([]byte{cmd.name}) + "'")
	}
	p.cmds = append(p.cmds, cmd)
	if end {
		return p.end()
	}
	return nil
}

// end checks that nothing follows a command.
func (p *parser) end() error {
	switch c := p.nonblank(); c {
	case '}', '#':
		p.back(c)
	case eof, '\n', ';':
	default:
		return p.bad("extra characters after command")
	}
	return nil
}

func (p *parser) number(c int) int {
	n := 0
	for ; isDigit(c); c = p.next() {
		if n < 1<<50 {
			n = n*10 + c - '0'
		}
	}
	p.back(c)
	return n
}

func (p *parser) label() string {
	c := p.nonblank()
	start := p.pos - 1
	if c == eof {
		return ""
	}
	for c != eof && !isSpace(c) && c != ';' && c != '}' {
		c = p.next()
	}
	p.back(c)
	return p.chunks[p.at].text[start:p.pos]
}

// newer tells whether a version is above 4.9.
func newer(v string) bool {
	var a, b int
	fmt.Sscanf(v, "%d.%d", &a, &b)
	return a > 4 || a == 4 && b > 9
}

func (p *parser) restOfLine() []byte {
	var b []byte
	for c := p.next(); c != eof && c != '\n'; c = p.next() {
		b = append(b, byte(c))
	}
	return b
}

func (p *parser) fileName(cmd *command, write bool) error {
	if p.o.sandbox {
		return p.bad("e/r/w commands disabled in sandbox mode")
	}
	c := p.nonblank()
	p.back(c)
	name := p.restOfLine()
	if len(name) == 0 {
		return p.bad("missing filename in r/R/w/W commands")
	}
	cmd.text = name
	if write {
		out, err := p.e.open(string(name))
		if err != nil {
			return err
		}
		cmd.out = out
	}
	return nil
}

func (p *parser) address(c int) (a address, ok bool, err error) {
	switch {
	case c == '/' || c == '\\':
		if c == '\\' {
			c = p.next()
		}
		pat, ok := p.delimited(c, true)
		if !ok {
			return a, false, p.bad("unterminated address regex")
		}
		var fold, multi bool
		for {
			switch c := p.nonblank(); c {
			case 'I':
				fold = true
				continue
			case 'M':
				multi = true
				continue
			default:
				p.back(c)
			}
			break
		}
		a.kind = addrRegex
		a.re, err = p.regex(pat, fold, multi)
		return a, true, err
	case isDigit(c):
		a.kind, a.n = addrLine, p.number(c)
		if c = p.nonblank(); c != '~' || p.o.posix {
			p.back(c)
			return a, true, nil
		}
		c = p.nonblank()
		if !isDigit(c) {
			p.back(c)
			return a, true, nil
		}
		if a.step = p.number(c); a.step > 0 {
			a.kind = addrStep
		}
		return a, true, nil
	case (c == '+' || c == '~') && !p.o.posix:
		a.kind = addrPlus
		if c == '~' {
			a.kind = addrMult
		}
		if d := p.nonblank(); isDigit(d) {
			a.n = p.number(d)
		} else {
			p.back(d)
		}
		return a, true, nil
	case c == '$':
		a.kind = addrLast
		return a, true, nil
	}
	return a, false, nil
}

// delimited reads up to the delimiter. In a regular expression \n becomes a
// newline, and a delimiter between brackets does not count.
func (p *parser) delimited(delim int, regex bool) (string, bool) {
	if delim == eof || delim == '\n' || delim == '\\' {
		return "", false
	}
	var b []byte
	for {
		c := p.next()
		switch {
		case c == eof || c == '\n' && regex:
			p.back(c)
			return "", false
		case c == '\n':
			p.back(c)
			return "", false
		case c == delim:
			return string(b), true
		case c == '\\':
			c = p.next()
			switch {
			case c == eof:
				return "", false
			case c == delim:
				if !regex && c == '&' {
					b = append(b, '\\')
				}
			case c == 'n' && regex:
				c = '\n'
			case c == '\n' && regex:
			default:
				b = append(b, '\\')
			}
		case c == '[' && regex:
			if n := bracketLen(p.chunks[p.at].text[p.pos-1:]); n > 0 {
				in := p.chunks[p.at].text[p.pos-1 : p.pos-1+n]
				b = append(b, bracketEscapes(in)...)
				p.pos += n - 1
				continue
			}
			// No bracket closes it: then nothing ends the expression either.
			return p.unclosed()
		}
		b = append(b, byte(c))
	}
}

func (p *parser) unclosed() (string, bool) {
	s := p.chunks[p.at].text
	if i := strings.IndexByte(s[p.pos:], '\n'); i >= 0 {
		p.pos += i
	} else {
		p.pos = len(s)
	}
	return "", false
}

// bracketLen is the length of the bracket expression that s starts with, 0
// when it does not end on its line.
func bracketLen(s string) int {
	i := 1
	if i < len(s) && s[i] == '^' {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for i < len(s) && s[i] != '\n' {
		switch {
		case s[i] == ']':
			return i + 1
		case s[i] == '[' && i+1 < len(s) && strings.IndexByte(":.=", s[i+1]) >= 0:
			end := strings.Index(s[i+2:], s[i+1:i+2]+"]")
			if end < 0 {
				return 0
			}
			i += end + 4
		default:
			i++
		}
	}
	return 0
}

func (p *parser) regex(pat string, fold, multi bool) (*posixre.Regexp, error) {
	if pat == "" {
		if fold || multi {
			return nil, p.bad("cannot specify modifiers on empty regexp")
		}
		return nil, nil
	}
	opt := posixre.Options{Dialect: posixre.PosixBasic, Fold: fold, Multiline: multi && !p.o.null, Strict: p.o.posix}
	if p.o.extended {
		opt.Dialect = posixre.PosixExtended
	}
	re, err := posixre.Compile([]string{unescape(pat, true)}, opt)
	if err != nil {
		return nil, p.bad(err.Error())
	}
	return re, nil
}

// transliterate parses y/abc/xyz/.
func (p *parser) transliterate(cmd *command) error {
	delim := p.next()
	from, ok1 := p.delimited(delim, false)
	if !ok1 {
		return p.bad("unterminated `y' command")
	}
	to, ok2 := p.delimited(delim, false)
	if !ok2 {
		return p.bad("unterminated `y' command")
	}
	a, err := yChars(from)
	if err == nil {
		var b [][]byte
		if b, err = yChars(to); err == nil && len(a) != len(b) {
			err = errors.New("strings for `y' command are different lengths")
		}
		if err == nil {
			cmd.trans = new([256][]byte)
			cmd.wide = map[rune][]byte{}
			for i := range a {
				if len(a[i]) == 1 {
					if cmd.trans[a[i][0]] == nil {
						cmd.trans[a[i][0]] = b[i]
					}
				} else if r, _ := utf8.DecodeRune(a[i]); cmd.wide[r] == nil {
					cmd.wide[r] = b[i]
				}
			}
		}
	}
	if err != nil {
		return p.bad(err.Error())
	}
	return nil
}

// yChars splits an operand of y into characters.
func yChars(s string) ([][]byte, error) {
	s = unescape(s, false)
	var out [][]byte
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '\\':
				out = append(out, []byte{'\\'})
				i += 2
				continue
			case 'n':
				out = append(out, []byte{'\n'})
				i += 2
				continue
			case '\n', '&':
				out = append(out, []byte{s[i+1]})
				i += 2
				continue
			}
			return nil, errors.New("unknown command: ``\\'")
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		out = append(out, []byte(s[i:i+n]))
		i += n
	}
	return out, nil
}
