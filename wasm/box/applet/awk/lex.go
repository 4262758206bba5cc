package awk

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// token is one of the program. Operators and keywords have themselves for
// kind; the others are below.
type token struct {
	kind  string
	text  string
	n     float64
	pos   int
	space bool // blanks stand before it
}

const (
	tEOF     = "end of program"
	tNewline = "newline"
	tNumber  = "number"
	tString  = "string"
	tRegex   = "regex"
	tName    = "name"
	tCall    = "call" // a name with a ( right behind it
	tBuiltin = "builtin"
)

var keywords = map[string]bool{"BEGIN": true, "END": true, "BEGINFILE": true, "ENDFILE": true, "function": true, "func": true, "if": true, "else": true, "while": true,
	"for": true, "do": true, "break": true, "continue": true, "next": true, "nextfile": true, "exit": true, "return": true, "delete": true, "in": true,
	"getline": true, "print": true, "printf": true, "switch": true, "case": true, "default": true}

// operators, longest first.
var operators = []string{"**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", "!~", ">>", "|&",
	"{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "=", "@"}

type lexer struct {
	src string
	pos int
	tok token
}

// next reads the next token; a / begins a regular expression where operand
// says that a value is expected.
func (p *parser) next() {
	l := &p.lexer
	operand := true
	switch l.tok.kind {
	case tName, tNumber, tString, tRegex, ")", "]", "$", "++", "--", tBuiltin:
		operand = false
	}
	space := false
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case c == '\\' && strings.HasPrefix(l.src[l.pos+1:], "\n"):
			l.pos += 2
		case c == '\\' && strings.HasPrefix(l.src[l.pos+1:], "\r\n"):
			l.pos += 3
		case c == '#':
			if n := strings.IndexByte(l.src[l.pos:], '\n'); n >= 0 {
				l.pos += n
			} else {
				l.pos = len(l.src)
			}
		default:
			l.tok = p.scan(operand)
			l.tok.space = space
			return
		}
		space = true
	}
	l.tok = token{kind: tEOF, pos: l.pos}
}

func (p *parser) scan(operand bool) token {
	l := &p.lexer
	start := l.pos
	rest := l.src[start:]
	c := rest[0]
	t := token{pos: start}
	switch {
	case c == '\n':
		l.pos++
		t.kind = tNewline
	case c == '"':
		t.kind = tString
		t.text = p.quoted('"')
	case c == '/' && operand:
		t.kind = tRegex
		t.text = p.regexText()
	case c-'0' < 10 || c == '.' && len(rest) > 1 && rest[1]-'0' < 10:
		t.kind = tNumber
		var n int
		t.n, n = literalNumber(rest)
		l.pos += n
	case isLetter(c):
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || rest[n]-'0' < 10) {
			n++
		}
		l.pos += n
		t.text = rest[:n]
		switch {
		case keywords[t.text]:
			if t.kind = t.text; t.kind == "func" {
				t.kind = "function"
			}
		case p.builtins[t.text] != nil:
			t.kind = tBuiltin
		case n < len(rest) && rest[n] == '(':
			t.kind = tCall
		default:
			t.kind = tName
		}
	default:
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				l.pos += len(op)
				t.kind = op
				if op == "**" || op == "**=" {
					t.kind = "^" + op[2:]
				}
				return t
			}
		}
		p.fail("syntax error")
	}
	return t
}

// literalNumber reads a number of the program, where 0x and 0 begin
// hexadecimal and octal ones.
func literalNumber(s string) (float64, int) {
	n := 0
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		for n = 2; n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0; n++ {
		}
		u, _ := strconv.ParseUint(s[2:n], 16, 64)
		return float64(u), n
	}
	if s[0] == '0' {
		for n = 1; n < len(s) && s[n]-'0' < 8; n++ {
		}
		if n > 1 && (n == len(s) || s[n] != '.' && s[n]|0x20 != 'e' && s[n]-'0' >= 10) {
			u, _ := strconv.ParseUint(s[:n], 8, 64)
			return float64(u), n
		}
	}
	return parseNumber(s)
}

// quoted reads a string up to its closing quote.
func (p *parser) quoted(end byte) string {
	l := &p.lexer
	start := l.pos
	for l.pos++; l.pos < len(l.src) && l.src[l.pos] != end; l.pos++ {
		switch l.src[l.pos] {
		case '\\':
			l.pos++
		case '\n':
			p.fail("unterminated string")
		}
	}
	if l.pos >= len(l.src) {
		l.pos = start
		p.fail("unterminated string")
	}
	l.pos++
	s := l.src[start+1 : l.pos-1]
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		i++
		if _, _, ok := escape(s[i:]); !ok && strings.IndexByte("\\\"\n\r", s[i]) < 0 {
			p.warn("escape sequence `\\" + s[i:i+1] + "' treated as plain `" + s[i:i+1] + "'")
		}
	}
	return unescape(s)
}

// regexText reads a regular expression up to its closing slash.
func (p *parser) regexText() string {
	l := &p.lexer
	start := l.pos
	class := false
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; {
		case c == '\n':
			l.pos = start
			p.fail("unterminated regexp")
		case c == '\\':
			l.pos++
		case class && c == '[' && l.pos+1 < len(l.src) && strings.IndexByte(":.=", l.src[l.pos+1]) >= 0:
			if n := strings.Index(l.src[l.pos+2:], l.src[l.pos+1:l.pos+2]+"]"); n >= 0 {
				l.pos += n + 3
			}
		case c == '[' && !class:
			class = true
			if l.pos+1 < len(l.src) && l.src[l.pos+1] == '^' {
				l.pos++
			}
			if l.pos+1 < len(l.src) && l.src[l.pos+1] == ']' {
				l.pos++
			}
		case c == ']':
			class = false
		case c == '/' && !class:
			l.pos++
			return strings.ReplaceAll(l.src[start+1:l.pos-1], "\\\n", "")
		}
	}
	l.pos = start
	p.fail("unterminated regexp")
	return ""
}

// unescape replaces the escapes of a string.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			i++
		}
		if c, n, ok := escape(s[i:]); ok {
			b = append(b, c...)
			i += n - 1
			continue
		}
		if s[i] != '\n' {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// escape reads the escape that stands behind a backslash: what it means and
// how long it is.
func escape(s string) (string, int, bool) {
	if i := strings.IndexByte("abfnrtv", s[0]); i >= 0 {
		return "\a\b\f\n\r\t\v"[i : i+1], 1, true
	}
	v, n := 0, 0
	switch {
	case s[0]-'0' < 8:
		for n < len(s) && n < 3 && s[n]-'0' < 8 {
			v = v*8 + int(s[n]-'0')
			n++
		}
		return string([]byte{byte(v)}), n, true
	case s[0] == 'x' || s[0] == 'u':
		most := 3
		if s[0] == 'u' {
			most = 9
		}
		for n = 1; n < len(s) && n < most; n++ {
			d := strings.IndexByte("0123456789abcdef", s[n]|0x20)
			if d < 0 || s[n] < '0' {
				break
			}
			v = v*16 + d
		}
		if n == 1 {
			return "", 0, false
		}
		if s[0] == 'u' {
			return string(utf8.AppendRune(nil, rune(v))), n, true
		}
		return string([]byte{byte(v)}), n, true
	}
	return "", 0, false
}
