package bc

import (
	"bufio"
	"io"
	"strings"
)

// A kind is what a token is.
type kind uint8

const (
	atEOF kind = iota
	atNewline
	atNumber
	atName // a name or a keyword
	atString
	atOp
)

type token struct {
	kind kind
	text string
}

// is tells whether t is this operator or keyword.
func (t token) is(text string) bool {
	return t.text == text && (t.kind == atOp || t.kind == atName)
}

// A lexer cuts the text of one file into tokens, as it arrives.
type lexer struct {
	r    *bufio.Reader
	file string // as messages name it
	line int
}

func (l *lexer) byte() byte {
	b, err := l.r.ReadByte()
	if err != nil {
		return 0
	}
	if b == '\n' {
		l.line++
	}
	return b
}

func (l *lexer) back(b byte) {
	if b == 0 {
		return
	}
	if b == '\n' {
		l.line--
	}
	_ = l.r.UnreadByte() // one byte has just been read
}

func (l *lexer) next() token {
	for {
		b := l.byte()
		switch {
		case b == 0:
			if _, err := l.r.Peek(1); err == nil {
				return token{atOp, "\x00"} // a NUL in the text is no end
			}
			return token{}
		case b == ' ' || b == '\t':
		case b == '\n':
			return token{atNewline, "\n"}
		case b == '\\':
			if c := l.byte(); c != '\n' {
				l.back(c)
				return token{atOp, `\`}
			}
		case b == '#':
			for c := b; c != 0; {
				if c = l.byte(); c == '\n' {
					l.back(c)
					break
				}
			}
		case b == '"':
			var s strings.Builder
			for c := l.byte(); c != '"' && c != 0; c = l.byte() {
				s.WriteByte(c)
			}
			return token{atString, s.String()}
		case b >= '0' && b <= '9' || b >= 'A' && b <= 'F' || b == '.':
			return l.number(b)
		case b >= 'a' && b <= 'z':
			s := []byte{b}
			for b = l.byte(); b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_'; b = l.byte() {
				s = append(s, b)
			}
			l.back(b)
			return token{atName, string(s)}
		case b == '/':
			if c := l.byte(); c != '*' {
				l.back(c)
				return l.operator(b)
			}
			for last, c := byte(0), l.byte(); c != 0 && (last != '*' || c != '/'); last, c = c, l.byte() {
			}
		default:
			return l.operator(b)
		}
	}
}

// number reads digits and one point; a lone point is the last value.
func (l *lexer) number(b byte) token {
	var s []byte
	point := false
	for {
		switch {
		case b >= '0' && b <= '9' || b >= 'A' && b <= 'F':
			s = append(s, b)
		case b == '.' && !point:
			point = true
			s = append(s, b)
		case b == '\\':
			c := l.byte()
			if c != '\n' {
				l.back(c)
				return token{atOp, `\`}
			}
		default:
			l.back(b)
			if string(s) == "." {
				return token{atName, "last"}
			}
			return token{atNumber, string(s)}
		}
		b = l.byte()
	}
}

// operator reads the longest operator that starts with b.
func (l *lexer) operator(b byte) token {
	c := l.byte()
	two := string([]byte{b, c})
	switch two {
	case "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=":
		return token{atOp, two}
	}
	l.back(c)
	return token{atOp, string([]byte{b})}
}

func newLexer(r io.Reader, file string) *lexer {
	return &lexer{r: bufio.NewReader(r), file: file, line: 1}
}
