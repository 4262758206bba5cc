package awk

import (
	"strings"

	"github.com/benhoyt/goawk/lexer"
)

// prefix marks the functions of ours that stand in for a program's names.
const prefix = "donax_"

// standIns are the functions that goawk does not have, and system, which it
// would run on its own. The ones that end in $ are given the record first.
var standIns = map[string]string{
	"system": "system", "gensub": "gensub$", "strftime": "strftime", "systime": "systime", "mktime": "mktime",
	"strtonum": "strtonum", "and": "and", "or": "or", "xor": "xor", "compl": "compl", "lshift": "lshift", "rshift": "rshift",
}

// rewrite replaces calls of the functions in standIns by calls of ours. It
// reads the program with goawk's own lexer, so that strings, regular
// expressions and comments stay as they are. What the lexer does not
// understand is left to the parser to complain about.
func rewrite(source []byte) []byte {
	lines := lineStarts(source)
	type edit struct {
		at, end int
		text    string
	}
	var edits []edit
	own := map[string]bool{} // functions that the program defines itself
	lex := lexer.NewLexer(source)
	last := lexer.NEWLINE
	takesRegex := false // the last call's first argument may be a regular expression
	for {
		pos, tok, value := lex.Scan()
		if tok == lexer.EOF || tok == lexer.ILLEGAL {
			break
		}
		if (tok == lexer.DIV || tok == lexer.DIV_ASSIGN) && !endsOperand(last) {
			if _, tok, _ = lex.ScanRegex(); tok == lexer.ILLEGAL {
				break
			}
			// A regular expression that is an argument would be matched against
			// the record there and then: gensub gets its text.
			if last == lexer.LPAREN && takesRegex {
				at := lines[pos.Line-1] + pos.Column - 1
				text, end := regexText(source, at)
				edits = append(edits, edit{at, end, text})
			}
			last = lexer.REGEX
			continue
		}
		name := value
		if tok == lexer.F_SYSTEM {
			name = "system"
		}
		if last == lexer.FUNCTION {
			own[name] = true
		} else if to := standIns[name]; to != "" && (tok == lexer.NAME || tok == lexer.F_SYSTEM) && lex.PeekByte() == '(' {
			at := lines[pos.Line-1] + pos.Column - 1
			text, end := prefix+strings.TrimSuffix(to, "$"), at+len(name)
			if strings.HasSuffix(to, "$") {
				text, end = text+"($0,", end+1
			}
			edits = append(edits, edit{at, end, text})
			takesRegex = name == "gensub"
		} else if tok != lexer.LPAREN {
			takesRegex = false
		}
		last = tok
	}
	var out []byte
	done := 0
	for _, e := range edits {
		if own[strings.TrimSuffix(strings.TrimPrefix(e.text, prefix), "($0,")] || strings.HasPrefix(e.text, `"`) && own["gensub"] {
			continue
		}
		out = append(append(out, source[done:e.at]...), e.text...)
		done = e.end
	}
	return append(out, source[done:]...)
}

// regexText returns the regular expression at source[at], a slash, as a
// string literal, and where it ends.
func regexText(source []byte, at int) (literal string, end int) {
	b := []byte{'"'}
	for i := at + 1; i < len(source); i++ {
		switch c := source[i]; {
		case c == '/':
			return string(append(b, '"')), i + 1
		case c == '\\' && i+1 < len(source) && source[i+1] == '/':
			i++
			b = append(b, '/')
		case c == '\\' && i+1 < len(source):
			i++
			b = append(b, '\\', '\\', source[i])
		case c == '"':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"')), len(source)
}

func lineStarts(source []byte) []int {
	starts := []int{0}
	for i, b := range source {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// endsOperand tells whether a slash after tok divides; otherwise it begins a
// regular expression.
func endsOperand(tok lexer.Token) bool {
	switch tok {
	case lexer.NAME, lexer.NUMBER, lexer.STRING, lexer.REGEX, lexer.RPAREN, lexer.RBRACKET, lexer.DOLLAR, lexer.INCR, lexer.DECR, lexer.F_LENGTH:
		return true
	}
	return false
}
