package jqlang

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// Decoder reads JSON values one after the other.
type Decoder struct {
	r     io.Reader
	buf   []byte
	pos   int
	eof   bool
	err   error
	seq   bool // values may be marked with the RS character
	memo  *memo
	lines int // newlines consumed
	col   int
}

// memo shares what values have in common: short strings, small numbers, and
// the keys of objects of the same shape.
type memo struct {
	strings map[string]string
	ints    [256]any
	shapes  [8]*keySet // of the last object at each depth, about
	stack   []any      // elements of the arrays and objects being read
}

func newMemo() *memo { return &memo{strings: map[string]string{}} }

// NewDecoder returns a Decoder of r. With seq, RS characters (RFC 7464) may
// stand between values.
func NewDecoder(r io.Reader, seq bool) *Decoder {
	return &Decoder{r: r, seq: seq, memo: newMemo()}
}

// SyntaxError is an error in the JSON text.
type SyntaxError struct{ Msg string }

func (e *SyntaxError) Error() string { return e.Msg }

var errShort = errors.New("need more input")

const (
	maxNest   = 10000
	readSize  = 64 << 10
	keyCache  = 4096
	maxDigits = 17

	shortString = 10 // such strings are likely to come again
)

// Line returns the number of lines read so far: jq reads whole lines.
func (d *Decoder) Line() int {
	if bytes.IndexByte(d.buf[d.pos:], '\n') >= 0 {
		return d.lines + 1
	}
	return d.lines
}

// Next returns the next value; io.EOF after the last.
func (d *Decoder) Next() (any, error) {
	if d.err != nil {
		return nil, d.err
	}
	for {
		d.memo.stack = d.memo.stack[:0]
		p := jsonParser{b: d.buf[d.pos:], eof: d.eof, memo: d.memo, seq: d.seq}
		v, err := p.top()
		if err == errShort && !d.eof {
			if err := d.whole(); err != nil {
				d.err = err
				return nil, err
			}
			continue
		}
		if err == nil || err == io.EOF {
			d.count(d.buf[d.pos : d.pos+p.i])
			d.pos += p.i
		}
		if err == io.EOF && !d.eof {
			if err := d.fill(); err != nil {
				d.err = err
				return nil, err
			}
			continue
		}
		if err != nil && err != io.EOF {
			d.count(d.buf[d.pos : d.pos+min(p.i, len(p.b))])
			err = &SyntaxError{fmt.Sprintf("%s at line %d, column %d", err.Error(), d.lines+1, d.col)}
			if p.atEnd {
				err = &SyntaxError{fmt.Sprintf("%s at EOF at line %d, column %d", p.msg, d.lines+1, d.col)}
			}
		}
		d.err = err
		return v, err
	}
}

// whole reads on until the value at d.pos, an array or an object, is all
// there: only then is it worth parsing it again.
func (d *Decoder) whole() error {
	i, depth := 0, 0
	quoted := false
	for {
		b := d.buf[d.pos:]
		for ; i < len(b); i++ {
			switch c := b[i]; {
			case quoted:
				if c == '\\' {
					i++
				} else if c == '"' {
					quoted = false
				}
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth <= 0 {
					return nil
				}
			}
		}
		before := len(b)
		if err := d.fill(); err != nil || d.eof {
			return err
		}
		if depth == 0 && !quoted && len(d.buf)-d.pos > before {
			return nil // a number or a word
		}
	}
}

func (d *Decoder) count(b []byte) {
	for _, c := range b {
		if c == '\n' {
			d.lines++
			d.col = 0
		} else {
			d.col++
		}
	}
}

func (d *Decoder) fill() error {
	if d.pos > 0 {
		d.buf = append(d.buf[:0], d.buf[d.pos:]...)
		d.pos = 0
	}
	have := len(d.buf)
	// Twice as much each time: what is parsed again stays in proportion.
	want := max(have, readSize)
	if cap(d.buf)-have < want {
		nb := make([]byte, have, 2*have+want)
		copy(nb, d.buf)
		d.buf = nb
	}
	n, err := d.r.Read(d.buf[have : have+want])
	d.buf = d.buf[:have+n]
	if have == 0 && n >= 3 && string(d.buf[:3]) == "\xEF\xBB\xBF" { // a byte order mark
		d.pos = 3
	}
	if err == io.EOF {
		d.eof = true
		return nil
	}
	return err
}

// ParseJSON parses one value, which is all of s.
func ParseJSON(s string) (any, error) {
	p := jsonParser{b: []byte(s), eof: true, memo: newMemo()}
	v, err := p.top()
	if err == nil {
		p.space()
		if p.i < len(p.b) {
			err = errors.New("Unexpected extra JSON values")
			return nil, err
		}
		return v, nil
	}
	if err == io.EOF {
		return nil, nil
	}
	line, col := 1, 0
	for _, c := range p.b[:min(p.i, len(p.b))] {
		if col++; c == '\n' {
			line, col = line+1, 0
		}
	}
	if p.atEnd {
		return nil, fmt.Errorf("%s at EOF at line %d, column %d", p.msg, line, col)
	}
	return nil, fmt.Errorf("%s at line %d, column %d", err.Error(), line, col)
}

type jsonParser struct {
	b     []byte
	i     int
	eof   bool
	atEnd bool   // the error is that the text ends
	msg   string // what it says then
	memo  *memo
	seq   bool
	depth int
}

func (p *jsonParser) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\r', '\n':
		case 0x1E:
			if !p.seq {
				return
			}
		default:
			return
		}
		p.i++
	}
}

func (p *jsonParser) top() (any, error) {
	p.space()
	if p.i >= len(p.b) {
		return nil, io.EOF
	}
	return p.value()
}

// short is the error of a text that ends too early.
func (p *jsonParser) short(msg string) error {
	if !p.eof {
		return errShort
	}
	p.i = len(p.b)
	p.atEnd, p.msg = true, msg
	return errors.New(msg)
}

const unfinished = "Unfinished JSON term"

func (p *jsonParser) value() (any, error) {
	p.space()
	if p.i >= len(p.b) {
		return nil, p.short(unfinished)
	}
	switch c := p.b[p.i]; {
	case c == '"':
		s, err := p.str()
		if err != nil {
			return nil, err
		}
		return s, nil
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	case c == ']' || c == '}':
		p.i++
		return nil, errors.New("Unmatched '" + string(c) + "'")
	case c == ',' || c == ':':
		p.i++
		if c == ':' {
			return nil, errors.New("':' not as part of an object")
		}
		return nil, errors.New("Expected value before ','")
	}
	return p.word()
}

// wordByte tells whether c goes on with a number or a word: all that is
// neither white space nor punctuation, as jq reads them.
func wordByte(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '[', ']', '{', '}', ':', ',', '"', 0x1E:
		return false
	}
	return true
}

// badWord is the error of the word w, which ends at j.
func (p *jsonParser) badWord(w string, j int) error {
	msg := "Invalid numeric literal"
	if w != "" && (w[0] == 't' || w[0] == 'f' || w[0] == 'n' && len(w) != 3) {
		msg = "Invalid literal"
	}
	p.i = j
	if j < len(p.b) {
		p.i++
	} else {
		p.atEnd, p.msg = true, msg
	}
	return errors.New(msg)
}

func (p *jsonParser) word() (any, error) {
	j := p.i
	for j < len(p.b) && wordByte(p.b[j]) {
		j++
	}
	if j == len(p.b) && !p.eof {
		return nil, errShort
	}
	w := string(p.b[p.i:j])
	p.i = j
	switch w {
	case "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "nan", "NaN":
		return math.NaN(), nil
	}
	return nil, p.badWord(w, j)
}

func (p *jsonParser) number() (any, error) {
	start := p.i
	j := p.i
	neg := p.b[j] == '-'
	if neg {
		j++
	}
	n, digits := int64(0), 0
	for j < len(p.b) && '0' <= p.b[j] && p.b[j] <= '9' {
		if digits < maxDigits {
			n = n*10 + int64(p.b[j]-'0')
		}
		digits++
		j++
	}
	if j < len(p.b) && !wordByte(p.b[j]) && digits > 0 && digits <= 15 {
		p.i = j
		if neg {
			if n == 0 {
				return math.Copysign(0, -1), nil
			}
			n = -n
		}
		if 0 <= n && n < int64(len(p.memo.ints)) {
			if p.memo.ints[n] == nil {
				p.memo.ints[n] = float64(n)
			}
			return p.memo.ints[n], nil
		}
		return float64(n), nil
	}
	for j < len(p.b) && wordByte(p.b[j]) {
		j++
	}
	if j == len(p.b) && !p.eof {
		return nil, errShort
	}
	text := string(p.b[start:j])
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || !plainNumber(text) {
		return nil, p.badWord(text, j)
	}
	p.i = j
	if digits > maxDigits-2 && len(text) == digits || neg && digits > maxDigits-2 && len(text) == digits+1 {
		if string(appendNumber(nil, f)) != text {
			return Number{f, text}, nil
		}
	}
	return f, nil
}

// plainNumber tells whether text is digits, a point and an exponent: none of
// the hexadecimal and other forms that strconv reads.
func plainNumber(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9', c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return false
		}
	}
	return true
}

func (p *jsonParser) array() (any, error) {
	if p.depth++; p.depth > maxNest {
		return nil, errors.New("Exceeds depth limit for parsing")
	}
	p.i++
	p.space()
	if p.i < len(p.b) && p.b[p.i] == ']' {
		p.i++
		p.depth--
		return []any{}, nil
	}
	m := p.memo
	base := len(m.stack)
	for {
		if p.space(); len(m.stack) > base && p.i < len(p.b) && p.b[p.i] == ']' {
			p.i++
			return nil, errors.New("Expected another array element")
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		m.stack = append(m.stack, v)
		p.space()
		if p.i >= len(p.b) {
			return nil, p.short(unfinished)
		}
		c := p.b[p.i]
		p.i++
		switch c {
		case ',':
		case ']':
			p.depth--
			return m.take(base), nil
		default:
			return nil, p.unexpected(c)
		}
	}
}

func (p *jsonParser) unexpected(c byte) error {
	switch c {
	case ':':
		return errors.New("':' not as part of an object")
	case ']', '}':
		return errors.New("Unmatched '" + string(c) + "'")
	}
	p.i--
	if _, err := p.value(); err != nil {
		return err
	}
	if p.b[p.i-1] != '"' && p.b[p.i-1] != ']' && p.b[p.i-1] != '}' && p.i < len(p.b) {
		p.i++ // a word is known to end by what follows
	}
	return errors.New("Expected separator between values")
}

func (p *jsonParser) object() (any, error) {
	if p.depth++; p.depth > maxNest {
		return nil, errors.New("Exceeds depth limit for parsing")
	}
	p.i++
	p.space()
	if p.i < len(p.b) && p.b[p.i] == '}' {
		p.i++
		p.depth--
		return NewObject(0), nil
	}
	m := p.memo
	base := len(m.stack)
	b := shaper{known: m.shapes[p.depth%len(m.shapes)]}
	for {
		p.space()
		if p.i >= len(p.b) {
			return nil, p.short(unfinished)
		}
		if p.b[p.i] != '"' {
			if c := p.b[p.i]; c == '}' || c == ']' || c == ',' || c == ':' {
				p.i++
				switch c {
				case ':':
					return nil, errors.New("Expected string key before ':'")
				case '}':
					return nil, errors.New("Expected another key-value pair")
				case ']':
					return nil, errors.New("Unmatched ']'")
				}
				return nil, errors.New("Expected value before '" + string(c) + "'")
			}
			if _, err := p.value(); err != nil {
				return nil, err
			}
			return nil, errors.New("Object keys must be strings")
		}
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		p.space()
		if p.i >= len(p.b) {
			return nil, p.short(unfinished)
		}
		if c := p.b[p.i]; c != ':' {
			p.i++
			if c == ',' || c == '}' || c == ']' {
				return nil, errors.New("Objects must consist of key:value pairs")
			}
			return nil, p.unexpected(c)
		}
		p.i++
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if i := b.key(key, len(m.stack)-base); i >= 0 {
			m.stack[base+i] = v // the last of two equal keys counts
		} else {
			m.stack = append(m.stack, v)
		}
		p.space()
		if p.i >= len(p.b) {
			return nil, p.short(unfinished)
		}
		c := p.b[p.i]
		p.i++
		switch c {
		case ',':
		case '}':
			p.depth--
			o := &Object{keys: b.keys(), vals: m.take(base)}
			m.shapes[(p.depth+1)%len(m.shapes)] = o.keys
			return o, nil
		default:
			return nil, p.unexpected(c)
		}
	}
}

func (m *memo) str(raw []byte) string {
	s, ok := m.strings[string(raw)]
	if !ok {
		s = string(raw)
		if len(m.strings) < keyCache {
			m.strings[s] = s
		}
	}
	return s
}

// take takes the elements from base on off the stack.
func (m *memo) take(base int) []any {
	out := append(make([]any, 0, len(m.stack)-base), m.stack[base:]...)
	clear(m.stack[base:])
	m.stack = m.stack[:base]
	return out
}

// shaper finds the keys of an object: those of an earlier one as long as they
// are the same.
type shaper struct {
	known *keySet
	own   *keySet
}

// key adds the n-th key, or returns the place where it is already.
func (b *shaper) key(k string, n int) int {
	if b.own == nil {
		if b.known != nil && n < len(b.known.names) && b.known.names[n] == k {
			return -1 // names are all different
		}
		b.own = &keySet{names: make([]string, 0, max(n+1, 4))}
		if b.known != nil {
			b.own.names = append(b.own.names, b.known.names[:n]...)
		}
	}
	if i := b.own.at(k); i >= 0 {
		return i
	}
	b.own.add(k)
	return -1
}

func (b *shaper) keys() *keySet {
	if b.own != nil {
		return b.own
	}
	return b.known
}

// key reads a string; those seen before are shared.
func (p *jsonParser) key() (string, error) {
	for j := p.i + 1; j < len(p.b) && j < p.i+64; j++ {
		c := p.b[j]
		if c == '"' {
			s := p.memo.str(p.b[p.i+1 : j])
			p.i = j + 1
			return s, nil
		}
		if c == '\\' || c >= 0x80 || c < 0x20 {
			break
		}
	}
	return p.str()
}

func (p *jsonParser) str() (string, error) {
	j := p.i + 1
	simple := true
	for ; j < len(p.b); j++ {
		c := p.b[j]
		if c == '"' {
			break
		}
		if c == '\\' {
			simple = false
			j++
		} else if c >= 0x80 {
			simple = false
		}
	}
	if j >= len(p.b) {
		return "", p.short("Unfinished string")
	}
	raw := p.b[p.i+1 : j]
	p.i = j + 1
	if simple {
		if len(raw) <= shortString {
			return p.memo.str(raw), nil
		}
		return string(raw), nil
	}
	return unquote(raw)
}

func unquote(raw []byte) (string, error) {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		c := raw[i]
		if c >= 0x80 {
			r, n := utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		}
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		i++
		switch raw[i] {
		case '"', '\\', '/':
			out = append(out, raw[i])
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(raw[i+1:])
			if !ok {
				return "", errors.New("Invalid escape")
			}
			i += 4
			if 0xD800 <= r && r < 0xDC00 {
				if lo, ok := hex4(tail(raw, i+3)); ok && i+2 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' && 0xDC00 <= lo && lo < 0xE000 {
					r = 0x10000 + (r-0xD800)<<10 + (lo - 0xDC00)
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			return "", errors.New("Invalid escape")
		}
		i++
	}
	return string(out), nil
}

func tail(b []byte, i int) []byte {
	if i > len(b) {
		return nil
	}
	return b[i:]
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(n), err == nil
}

// Events are what --stream makes of a value: its leaves with their paths, and
// an event at the end of each array and object.
func Events(v any) []any {
	var out []any
	var walk func(v any, path []any)
	walk = func(v any, path []any) {
		key := func(k any) []any { return append(append(make([]any, 0, len(path)+1), path...), k) }
		var last any
		switch t := v.(type) {
		case []any:
			for i, x := range t {
				walk(x, key(float64(i)))
				last = float64(i)
			}
		case *Object:
			for i, x := range t.vals {
				walk(x, key(t.Key(i)))
				last = t.Key(i)
			}
		}
		if last == nil {
			out = append(out, []any{path, v})
			return
		}
		out = append(out, []any{key(last)})
	}
	walk(v, []any{})
	return out
}
